// A decimal number that a double has room for: read by one division or product, where strtod() computes in more than
// doubles. WebAssembly does that in software.
#pragma once

#include <optional>

namespace attn {

// The number that `text` begins with, rounded once as strtod() rounds it, and where it ends; none where it has more
// digits or a greater power of ten than that is exact for, or is no plain decimal number.
std::optional<double> short_decimal(const char* text, const char*& end);

}  // namespace attn
