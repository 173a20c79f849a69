// Options that users of other attention libraries look for and that no kernel here takes: what to say of them.
#pragma once

#include <span>
#include <string>

namespace attn::cli {

// Why the first of these arguments that is one is not taken; empty: none is.
std::string why_not_taken(std::span<const char* const> arguments);

}  // namespace attn::cli
