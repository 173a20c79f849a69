// A name for a text: 128 bits of FNV-1a (Fowler, Noll, Vo) from two starts. Against accidents, not against malice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace attn {

// 32 hexadecimal digits.
std::string hash_of(std::string_view text);
std::string hash_of(std::span<const std::byte> bytes);

}  // namespace attn
