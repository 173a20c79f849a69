#include "kernels/formats/npy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstring>

#include <fmt/format.h>

#include "kernels/base/bytes.h"
#include "kernels/base/files.h"
#include "kernels/base/text.h"
#include "kernels/formats/npy_header.h"

namespace attn {
namespace {

static_assert(std::endian::native == std::endian::little,
              "arrays are written as they lie in memory; a big-endian machine needs a swap in npy_bytes");

// A floating-point type as the file stores it.
struct Stored {
  std::size_t size = 4;
  bool swapped = false;
};

Result<Stored> stored_type(const std::string& type, const std::string& name) {
  const char order = type.empty() ? '?' : type[0];
  const std::string kind = type.empty() ? type : type.substr(1);
  if (order == '<' || order == '>' || order == '=') {
    for (std::size_t size : {2, 4, 8}) {
      if (kind == fmt::format("f{}", size)) return Stored{size, order == '>'};
    }
  }
  std::string why = tr("save it with .astype(np.float32)");
  if (kind.starts_with('O')) why = tr("objects are never loaded; save a plain array");
  if (kind == "u2" || kind == "i2")
    why =
        tr("turn bf16 bits into numbers with (x.view(np.uint16).astype(np.uint32) << 16).view(np.float32) "
           "and choose bf16 as the dtype; save integers with .astype(np.float32)");
  if (kind == "V2") why = tr("bf16 has no .npy type; save as float32 and choose bf16 as the dtype");
  return bad_input(phrase("{} cannot be read: its type is '{}', not f2, f4 or f8; {}.", name, type, why));
}

template <class Bits>
Bits load(const std::byte* at, bool swapped) {
  std::array<std::byte, sizeof(Bits)> bytes;
  std::memcpy(bytes.data(), at, sizeof(Bits));
  if (swapped) std::ranges::reverse(bytes);
  return std::bit_cast<Bits>(bytes);
}

void store16(Array& out, std::int64_t i, std::uint16_t bits) {
  std::memcpy(out.data() + 2 * i, &bits, sizeof bits);
}

// Each number is rounded once: fp64 to a 16-bit type does not pass through fp32.
void store(Array& out, std::int64_t i, double value) {
  switch (out.dtype()) {
    case DType::f32:
      out.set(i, static_cast<float>(value));
      break;
    case DType::f16:
      store16(out, i, f16_from_f64(value));
      break;
    case DType::bf16:
      store16(out, i, bf16_from_f64(value));
      break;
  }
}

// Numbers [first, first + count) of the array from their bytes in the file; how many were finite there and are not
// here.
std::int64_t decode(const std::byte* from, Stored type, std::int64_t first, std::int64_t count, Array& out) {
  if (count == 0) return 0;  // an array without elements has no memory to copy to
  const DType same = type.size == 2 ? DType::f16 : DType::f32;
  if (!type.swapped && type.size == size_of(out.dtype()) && out.dtype() == same) {
    const std::size_t size = size_of(same);
    std::memcpy(out.data() + static_cast<std::size_t>(first) * size, from, static_cast<std::size_t>(count) * size);
    return 0;
  }
  std::int64_t beyond = 0;
  for (std::int64_t i = 0; i < count; ++i, from += type.size) {
    double value = 0;
    switch (type.size) {
      case 2:
        out.set(first + i, f32_from_f16(load<std::uint16_t>(from, type.swapped)));
        continue;  // what f16 holds every type holds
      case 4:
        out.set(first + i, std::bit_cast<float>(load<std::uint32_t>(from, type.swapped)));
        value = static_cast<double>(std::bit_cast<float>(load<std::uint32_t>(from, type.swapped)));
        break;
      default:
        value = std::bit_cast<double>(load<std::uint64_t>(from, type.swapped));
        store(out, first + i, value);
        break;
    }
    if (std::isfinite(value) && !std::isfinite(out.get(first + i))) ++beyond;
  }
  return beyond;
}

// Zero-filled, once it is known to fit.
Result<Array> allocate(const NpyHeader& header, DType to, std::uint64_t max_bytes, const std::string& name) {
  const std::uint64_t bytes = static_cast<std::uint64_t>(element_count(header.shape)) * size_of(to);
  if (bytes > max_bytes) {
    return fail(ErrorKind::cannot_run, phrase("{} needs {} of memory as {}; the limit is {}.", name,
                                              format_bytes(bytes), name_of(to), format_bytes(max_bytes)));
  }
  return Array(to, header.shape);
}

}  // namespace

Result<NpyHeader> parse_npy_header(std::span<const std::byte> head, std::uint64_t file_bytes, const std::string& name) {
  const Result<RawNpyHeader> raw = parse_raw_npy_header(head, name);
  if (!raw) return tl::unexpected(raw.error());
  const Result<Stored> type = stored_type(raw->type, name);
  if (!type) return tl::unexpected(type.error());
  const Result<std::uint64_t> bytes = npy_data_bytes(*raw, type->size, file_bytes, name);
  if (!bytes) return tl::unexpected(bytes.error());
  return NpyHeader{raw->shape, raw->type, type->size == 2 ? DType::f16 : DType::f32, raw->data_offset, *bytes};
}

Result<NpyHeader> read_npy_header(const std::filesystem::path& file) {
  const Result<NpyFile> npy = NpyFile::open(file);
  if (!npy) return tl::unexpected(npy.error());
  return npy->header();
}

Result<Array> parse_npy(std::span<const std::byte> bytes, const std::string& name, std::uint64_t max_bytes,
                        std::optional<DType> to) {
  const Result<NpyHeader> header = parse_npy_header(bytes, bytes.size(), name);
  if (!header) return tl::unexpected(header.error());
  Result<Array> array = allocate(*header, to.value_or(header->dtype), max_bytes, name);
  if (!array) return array;
  decode(bytes.data() + header->data_offset, *stored_type(header->type, name), 0, array->size(), *array);
  return array;
}

Result<NpyFile> NpyFile::open(const std::filesystem::path& file) {
  Result<InputFile> in = InputFile::open(file);
  if (!in) return tl::unexpected(in.error());
  NpyFile npy(*std::move(in), file.string());
  npy.head_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(npy.in_.size(), kMaxNpyHeader)));
  if (auto r = npy.in_.read(npy.head_); !r) return tl::unexpected(r.error());
  Result<NpyHeader> header = parse_npy_header(npy.head_, npy.in_.size(), npy.name_);
  if (!header) return tl::unexpected(header.error());
  npy.header_ = *std::move(header);
  return npy;
}

Result<Array> NpyFile::read(std::uint64_t max_bytes, std::optional<DType> to) {
  Result<Array> array = allocate(header_, to.value_or(header_.dtype), max_bytes, name_);
  if (!array) return array;

  // In pieces, so that a large file takes no second copy of itself.
  const Stored type = *stored_type(header_.type, name_);
  std::vector<std::byte> bytes = std::move(head_);
  bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(header_.data_offset));
  std::uint64_t unread = header_.data_bytes - bytes.size();
  std::int64_t done = 0;
  while (done < array->size()) {
    const auto whole = static_cast<std::int64_t>(bytes.size() / type.size);
    beyond_ += decode(bytes.data(), type, done, whole, *array);
    done += whole;
    bytes.erase(bytes.begin(), bytes.begin() + whole * static_cast<std::ptrdiff_t>(type.size));
    constexpr std::uint64_t kPiece = 1 << 20;
    const std::size_t rest = bytes.size(), next = static_cast<std::size_t>(std::min(unread, kPiece));
    bytes.resize(rest + next);
    if (auto r = in_.read(std::span(bytes).subspan(rest)); !r) return tl::unexpected(r.error());
    unread -= next;
  }
  return array;
}

Result<Array> read_npy(const std::filesystem::path& file, std::uint64_t max_bytes, std::optional<DType> to) {
  Result<NpyFile> npy = NpyFile::open(file);
  if (!npy) return tl::unexpected(npy.error());
  return npy->read(max_bytes, to);
}

std::vector<std::byte> npy_bytes(const Array& a, std::span<const std::int64_t> shape) {
  assert(element_count(shape) == a.size());
  if (a.dtype() == DType::bf16) return npy_bytes(a.converted(DType::f32), shape);
  std::vector<std::byte> bytes = npy_header_bytes(a.dtype() == DType::f16 ? "<f2" : "<f4", shape);
  bytes.insert(bytes.end(), a.data(), a.data() + a.bytes());
  return bytes;
}

std::vector<std::byte> npy_bytes(std::span<const float> values) {
  const std::array<std::int64_t, 1> shape{static_cast<std::int64_t>(values.size())};
  std::vector<std::byte> bytes = npy_header_bytes("<f4", shape);
  const auto* first = reinterpret_cast<const std::byte*>(values.data());
  bytes.insert(bytes.end(), first, first + values.size_bytes());
  return bytes;
}

// In pieces: a large array is written without a second copy of itself.
Result<void> write_npy(const std::filesystem::path& file, const Array& a, std::span<const std::int64_t> shape) {
  assert(element_count(shape) == a.size());
  const std::vector<std::byte> header = npy_header_bytes(a.dtype() == DType::f16 ? "<f2" : "<f4", shape);
  if (a.dtype() != DType::bf16) {
    const std::array<std::span<const std::byte>, 2> pieces{header, std::span(a.data(), a.bytes())};
    return write_file_atomically(file, [&pieces, n = std::size_t{0}]() mutable {
      return n < pieces.size() ? pieces.at(n++) : std::span<const std::byte>();
    });
  }
  constexpr std::int64_t kPiece = 1 << 18;  // elements
  std::vector<float> widened;
  return write_file_atomically(file, [&, done = std::int64_t{-1}]() mutable -> std::span<const std::byte> {
    if (done < 0) {
      done = 0;
      return header;
    }
    widened.resize(static_cast<std::size_t>(std::min(kPiece, a.size() - done)));
    a.read(done, static_cast<std::int64_t>(widened.size()), widened.data());
    done += static_cast<std::int64_t>(widened.size());
    return std::as_bytes(std::span<const float>(widened));
  });
}

}  // namespace attn
