// A test program, and what it starts of itself: where the program would start its worker, a test starts its own file,
// which compiles then as the worker does and runs no test.
#include <cstdio>
#include <string_view>

#include <gtest/gtest.h>

#include "app/system/child_process.h"
#include "app/worker/user_compiler.h"

int main(int count, char** arguments) {
  using std::string_view;
  if (count == 3 && string_view(arguments[1]) == "worker" && string_view(arguments[2]) == "--compile") {
    attn::Socket socket(attn::kChildSocket);
    return attn::compile_for_users(socket);
  }
  ::testing::InitGoogleTest(&count, arguments);
  if (count > 1) {
    std::fprintf(stderr, "%s: a test asks the program for '%s', and a test program does not have it\n", arguments[0],
                 arguments[1]);
    return 3;
  }
  return RUN_ALL_TESTS();
}
