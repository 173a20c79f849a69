// In which line of a JSON text each member stands, so that a refusal can say where. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "kernels/base/result.h"

namespace attn::gpu {

// By the member's way from the root: "entries[1].grid". Lines count from 1.
using JsonLines = std::map<std::string, std::int32_t, std::less<>>;

// Of a text that was parsed already. A name that stands twice in an object is refused, with the line of the second: a
// parser would have taken one of the two and left the other.
Result<JsonLines> json_lines(std::string_view text);

}  // namespace attn::gpu
