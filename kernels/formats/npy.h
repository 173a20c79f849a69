// NumPy's .npy files, format versions 1.0 to 3.0 (numpy.lib.format): f2, f4, f8 little or big endian, C order.
// Hostile and truncated files are refused with place and reason before anything of their size is allocated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/array.h"
#include "kernels/base/files.h"
#include "kernels/base/result.h"

namespace attn {

// What a header says, before any number is read.
struct NpyHeader {
  std::vector<std::int64_t> shape;
  std::string type;               // "<f4"
  DType dtype = DType::f32;       // f2 -> f16; f4 and f8 -> f32
  std::uint64_t data_offset = 0;  // where the numbers begin
  std::uint64_t data_bytes = 0;   // as stored
};

// `name` is for messages; `file_bytes` is the size of the whole file, of which `head` holds at least the header.
Result<NpyHeader> parse_npy_header(std::span<const std::byte> head, std::uint64_t file_bytes, const std::string& name);
Result<NpyHeader> read_npy_header(const std::filesystem::path& file);

// A file that stays open between its header and its numbers: whoever decides by the header reads the numbers that stand
// under it, whatever the name stands for by then.
class NpyFile {
 public:
  static Result<NpyFile> open(const std::filesystem::path& file);
  const NpyHeader& header() const { return header_; }
  const std::string& name() const { return name_; }
  // As read_npy; once.
  Result<Array> read(std::uint64_t max_bytes, std::optional<DType> to = {});
  // Numbers that are finite in the file and beyond what they were read as.
  std::int64_t beyond() const { return beyond_; }

 private:
  NpyFile(InputFile in, std::string name) : in_(std::move(in)), name_(std::move(name)) {}

  InputFile in_;
  std::string name_;  // for messages
  NpyHeader header_;
  std::int64_t beyond_ = 0;
  std::vector<std::byte> head_;  // what was read already: the header and the first numbers
};

// The numbers, rounded once to `to` (none: NpyHeader::dtype). `max_bytes` bounds the decoded array.
Result<Array> read_npy(const std::filesystem::path& file, std::uint64_t max_bytes, std::optional<DType> to = {});
Result<Array> parse_npy(std::span<const std::byte> bytes, const std::string& name, std::uint64_t max_bytes,
                        std::optional<DType> to = {});

// f32 as <f4, f16 as <f2; bf16 is widened to <f4. `shape` overrides the array's (same element count).
std::vector<std::byte> npy_bytes(const Array& a, std::span<const std::int64_t> shape);
// One axis of f4.
std::vector<std::byte> npy_bytes(std::span<const float> values);
// Written to a temporary name in the same folder, synced, renamed: the old file stays until the new one is whole.
Result<void> write_npy(const std::filesystem::path& file, const Array& a, std::span<const std::int64_t> shape);

}  // namespace attn
