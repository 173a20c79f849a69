// Whole-number tables in .npy form: what the events and versions of a recording are stored as.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "kernels/base/text.h"
#include "kernels/formats/npy_header.h"

namespace attn {

template <class T>
constexpr std::string_view npy_integer_type() {
  static_assert(std::is_integral_v<T> && (sizeof(T) == 4 || sizeof(T) == 8));
  if constexpr (sizeof(T) == 4) return std::is_signed_v<T> ? "<i4" : "<u4";
  return std::is_signed_v<T> ? "<i8" : "<u8";
}

// Row-major; values.size() is a multiple of `columns`.
template <class T>
std::vector<std::byte> npy_table_bytes(std::span<const T> values, std::size_t columns) {
  const std::int64_t shape[2] = {static_cast<std::int64_t>(values.size() / columns),
                                 static_cast<std::int64_t>(columns)};
  std::vector<std::byte> bytes = npy_header_bytes(npy_integer_type<T>(), shape);
  const auto* first = reinterpret_cast<const std::byte*>(values.data());
  bytes.insert(bytes.end(), first, first + values.size_bytes());
  return bytes;
}

// Refuses another type, another number of columns, and more than `most_rows`.
template <class T>
Result<std::vector<T>> parse_npy_table(std::span<const std::byte> bytes, std::size_t columns, std::uint64_t max_rows,
                                       const std::string& name) {
  const Result<RawNpyHeader> header = parse_raw_npy_header(bytes, name);
  if (!header) return tl::unexpected(header.error());
  const bool fits = header->shape.size() == 2 && header->shape[1] == static_cast<std::int64_t>(columns) &&
                    static_cast<std::uint64_t>(header->shape[0]) <= max_rows;
  if (!fits || header->type != npy_integer_type<T>()) {
    return bad_input(phrase("{} must be a table of {} with {} columns and at most {} rows.", name,
                            npy_integer_type<T>(), columns, max_rows));
  }
  const Result<std::uint64_t> size = npy_data_bytes(*header, sizeof(T), bytes.size(), name);
  if (!size) return tl::unexpected(size.error());
  std::vector<T> values(static_cast<std::size_t>(*size) / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data() + header->data_offset, static_cast<std::size_t>(*size));
  return values;
}

}  // namespace attn
