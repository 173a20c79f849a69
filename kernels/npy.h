// NumPy's .npy files, format versions 1.0 to 3.0 (numpy.lib.format): f2, f4, f8 little or big endian, C order.
// Hostile and truncated files are refused with place and reason before anything of their size is allocated.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "kernels/array.h"
#include "kernels/result.h"

namespace attn {

// What the file holds; f8 is narrowed to f32 on reading, which `source_type` tells.
struct NpyFile {
  Array array;
  std::string source_type;  // "<f4"
};

// `max_bytes` bounds the decoded array.
Result<NpyFile> read_npy(const std::filesystem::path& file, std::uint64_t max_bytes);
// `name` is for messages.
Result<NpyFile> parse_npy(std::span<const std::byte> bytes, const std::string& name, std::uint64_t max_bytes);

// f32 as <f4, f16 as <f2; bf16 is widened to <f4. `shape` overrides the array's (same element count).
std::vector<std::byte> npy_bytes(const Array& a, std::span<const std::int64_t> shape);
// Written to a temporary name in the same folder, synced, renamed: the old file stays until the new one is whole.
Result<void> write_npy(const std::filesystem::path& file, const Array& a, std::span<const std::int64_t> shape);

}  // namespace attn
