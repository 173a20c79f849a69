// One field of a CSV line.
#pragma once

#include <string>
#include <string_view>

namespace attn {

// RFC 4180: a field with a comma, quote or line end is quoted, quotes in it doubled. What a spreadsheet would compute
// gets an apostrophe in front.
std::string csv_field(std::string_view text);

}  // namespace attn
