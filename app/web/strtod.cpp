// strtod() of the page (the linker puts it in the place of the library's): sessions are full of short decimals.
#include "kernels/formats/short_decimal.h"

extern "C" {

double __real_strtod(const char* text, char** end);  // NOLINT(bugprone-reserved-identifier): the linker's names

double __wrap_strtod(const char* text, char** end) {  // NOLINT(bugprone-reserved-identifier)
  const char* after = nullptr;
  const auto value = attn::short_decimal(text, after);
  if (!value) return __real_strtod(text, end);
  if (end != nullptr) *end = const_cast<char*>(after);  // NOLINT(cppcoreguidelines-pro-type-const-cast): as strtod's
  return *value;
}

}  // extern "C"
