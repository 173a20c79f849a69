#include "app/cli/cli.h"

int main(int argc, char** argv) {
  return attn::cli::run(argc, argv);
}
