#include "app/cli/cli.h"
#include "app/system/posix.h"

int main(int argc, char** argv) {
  attn::hold_standard_streams();
  return attn::cli::run(argc, argv);
}
