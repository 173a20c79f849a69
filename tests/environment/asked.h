// What tests/run.sh asks of the tests through the environment.
#pragma once

#include <cstddef>
#include <cstdlib>

namespace attn::test {

// ATTNSCOPE_LONG_TESTS: the long lists too. ATTNSCOPE_SANITIZED: all is several times slower, fewer cases will do.
inline bool asked(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

// Under a sanitizer one case in `every` will do, each time the same: the Release build takes them all.
inline bool left_to_release(std::size_t n, std::size_t every) {
  return asked("ATTNSCOPE_SANITIZED") && n % every != 0;
}

}  // namespace attn::test
