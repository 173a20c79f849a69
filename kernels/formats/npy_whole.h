// Tables of whole numbers in .npy files: i4 and i8, little or big endian, C order. Floats are npy.h's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "kernels/base/result.h"

namespace attn {

struct WholeNumbers {
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> values;
};

// Refused before anything is allocated where the numbers take more than `max_bytes`.
Result<WholeNumbers> read_npy_whole(const std::filesystem::path& file, std::uint64_t max_bytes);
Result<WholeNumbers> parse_npy_whole(std::span<const std::byte> bytes, const std::string& name,
                                     std::uint64_t max_bytes);

}  // namespace attn
