#include "kernels/formats/npy_whole.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

#include "kernels/base/array.h"
#include "kernels/base/bytes.h"
#include "kernels/base/files.h"
#include "kernels/base/text.h"
#include "kernels/formats/npy_header.h"

namespace attn {
namespace {

struct StoredWhole {
  std::size_t size = 4;
  bool swapped = false;
};

Result<StoredWhole> stored_whole(const std::string& type, const std::string& name) {
  for (const std::size_t size : {4, 8}) {
    for (const char order : {'<', '=', '>'})
      if (type == std::string{order, 'i', static_cast<char>('0' + size)}) return StoredWhole{size, order == '>'};
  }
  return bad_input(
      phrase("{} cannot be read: its type is '{}', not i4 or i8; save it with .astype(np.int32).", name, type));
}

template <class Whole>
std::int64_t load_whole(const std::byte* at, bool swapped) {
  std::array<std::byte, sizeof(Whole)> bytes;
  std::memcpy(bytes.data(), at, sizeof(Whole));
  if (swapped) std::ranges::reverse(bytes);
  return std::bit_cast<Whole>(bytes);
}

}  // namespace

Result<WholeNumbers> parse_npy_whole(std::span<const std::byte> bytes, const std::string& name,
                                     std::uint64_t max_bytes) {
  const Result<RawNpyHeader> header = parse_raw_npy_header(bytes, name);
  if (!header) return tl::unexpected(header.error());
  const Result<StoredWhole> type = stored_whole(header->type, name);
  if (!type) return tl::unexpected(type.error());
  const Result<std::uint64_t> data = npy_data_bytes(*header, type->size, bytes.size(), name);
  if (!data) return tl::unexpected(data.error());
  const std::int64_t count = element_count(header->shape);
  const std::uint64_t takes = static_cast<std::uint64_t>(count) * sizeof(std::int64_t);
  if (takes > max_bytes)
    return fail(ErrorKind::cannot_run,
                phrase("{} takes {}; the limit is {}.", name, format_bytes(takes), format_bytes(max_bytes)));
  WholeNumbers whole{header->shape, {}};
  whole.values.reserve(static_cast<std::size_t>(count));
  const std::byte* at = bytes.data() + header->data_offset;
  for (std::int64_t n = 0; n < count; ++n, at += type->size)
    whole.values.push_back(type->size == 4 ? load_whole<std::int32_t>(at, type->swapped)
                                           : load_whole<std::int64_t>(at, type->swapped));
  return whole;
}

Result<WholeNumbers> read_npy_whole(const std::filesystem::path& file, std::uint64_t max_bytes) {
  Result<InputFile> in = InputFile::open(file);
  if (!in) return tl::unexpected(in.error());
  if (in->size() > max_bytes && in->size() - max_bytes > kMaxNpyHeader)
    return fail(ErrorKind::cannot_run, phrase("{} takes {}; the limit is {}.", file.string(), format_bytes(in->size()),
                                              format_bytes(max_bytes)));
  std::vector<std::byte> bytes(static_cast<std::size_t>(in->size()));
  if (auto r = in->read(bytes); !r) return tl::unexpected(r.error());
  return parse_npy_whole(bytes, file.string(), max_bytes);
}

}  // namespace attn
