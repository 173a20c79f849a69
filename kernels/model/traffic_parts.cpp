#include "kernels/model/traffic_parts.h"

#include "kernels/base/dtype.h"

namespace attn {
namespace {

constexpr std::uint64_t kFp32 = 4;

std::uint64_t as_bytes(std::int64_t elements, std::uint64_t size) {
  return static_cast<std::uint64_t>(elements) * size;
}

}  // namespace

TileBytes tile_bytes(const Problem& p, std::int64_t rows, std::int64_t cols) {
  const std::uint64_t e = size_of(p.dtype);
  std::int64_t bias = 0;
  if (p.has_bias()) bias = (p.bias_shape[2] == 1 ? 1 : rows) * (p.bias_shape[3] == 1 ? 1 : cols);
  return {as_bytes(rows * p.D, e),     as_bytes(cols * p.D, e),      as_bytes(cols * p.Dv, e),
          as_bytes(bias, kFp32),       as_bytes(rows * cols, kFp32), as_bytes(rows * cols, e),
          as_bytes(rows * p.Dv, e),    as_bytes(rows * p.Dv, kFp32), as_bytes(rows, kFp32),
          as_bytes(cols * p.D, kFp32), as_bytes(cols * p.Dv, kFp32), as_bytes(rows * p.D, kFp32)};
}

std::uint64_t Traffic::total() const {
  std::uint64_t sum = 0;
  for (std::size_t part = 0; part < kTrafficParts; ++part) sum += read[part] + written[part];
  return sum;
}

std::uint64_t Traffic::of(TrafficPart part) const {
  return read[static_cast<std::size_t>(part)] + written[static_cast<std::size_t>(part)];
}

Traffic& Traffic::operator+=(const Traffic& other) {
  for (std::size_t part = 0; part < kTrafficParts; ++part) {
    read[part] += other.read[part];
    written[part] += other.written[part];
  }
  return *this;
}

}  // namespace attn
