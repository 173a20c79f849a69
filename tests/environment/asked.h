// What tests/run.sh asks of the tests through the environment.
#pragma once

#include <cstdlib>

namespace attn::test {

// ATTNSCOPE_LONG_TESTS: the long lists too. ATTNSCOPE_SANITIZED: all is several times slower, fewer cases will do.
inline bool asked(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

}  // namespace attn::test
