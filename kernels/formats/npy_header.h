// The header of a .npy file: a Python dictionary literal (numpy.lib.format). Shared by the tensors of npy.h and the
// whole-number tables of recordings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/result.h"

namespace attn {

struct RawNpyHeader {
  std::string type;  // "<f4"
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
  std::uint64_t data_offset = 0;
};

// Longest header that is read, magic and length included; NumPy's own limit is 10000.
constexpr std::size_t kMaxNpyHeader = 64 * 1024;

// `head` is the beginning of the file: all of it, or at least kMaxNpyHeader bytes.
Result<RawNpyHeader> parse_raw_npy_header(std::span<const std::byte> head, const std::string& name);

// C order, and exactly as many bytes after the header as shape x item_size asks for: that number.
Result<std::uint64_t> npy_data_bytes(const RawNpyHeader& header, std::uint64_t item_size, std::uint64_t file_bytes,
                                     const std::string& name);

// Magic, version 1.0 and header, padded so that the data begins at a multiple of 64.
std::vector<std::byte> npy_header_bytes(std::string_view type, std::span<const std::int64_t> shape);

}  // namespace attn
