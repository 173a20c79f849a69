// Names for texts and files by FNV-1a (Fowler, Noll, Vo). Against accidents, not against malice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace attn {

// 32 hexadecimal digits: 128 bits from two starts.
std::string hash_of(std::string_view text);
std::string hash_of(std::span<const std::byte> bytes);

// 16 hexadecimal digits: the 64 bits that the files of this program name (docs/attn.md, docs/formats.md).
std::string short_hash_of(std::string_view text);
std::string short_hash_of(std::span<const std::byte> bytes);

}  // namespace attn
