#include "kernels/cpu/backward/workspace.h"

#include <algorithm>

#include "kernels/cpu/backward/rows.h"
#include "kernels/cpu/rows.h"

namespace attn::cpu {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

}  // namespace

std::int64_t Parts::take(std::initializer_list<std::int64_t> factors) {
  const std::int64_t at = next_;
  std::int64_t floats = 1;
  for (const std::int64_t factor : factors) {
    if (__builtin_mul_overflow(floats, factor, &floats)) floats = kMost;
  }
  floats = floats > kMost - kLanes ? kMost : padded(floats);
  if (__builtin_add_overflow(next_, floats, &next_)) next_ = kMost;
  return at;
}

std::uint64_t Parts::bytes() const {
  return next_ > kMost / 4 ? static_cast<std::uint64_t>(kMost) : static_cast<std::uint64_t>(next_) * sizeof(float);
}

std::int64_t keys_of(const Problem& p, std::int64_t b) {
  return p.mask.key_lengths.empty() ? p.Lk : p.mask.key_lengths[static_cast<std::size_t>(b)];
}

void widen_rows(const Problem& p, const Buffers& buffers, const HeadRows& of, std::int64_t first, std::int64_t count,
                std::int64_t last, MutTile to) {
  for (std::int64_t r = first; r < first + count; ++r) {
    float* row = to.data + (r - first) * to.ld;
    const std::int64_t filled = r < last ? of.dims : 0;
    if (filled > 0) widen(p.dtype, buffers.in[of.tensor], (of.head * of.rows + r) * of.dims, of.dims, row);
    std::fill(row + filled, row + to.ld, 0.0F);
  }
}

KernelRow backward_row() {
  KernelRow row;
  row.dtypes = kAllDTypes;
  row.passes = kBackwardAlone;
  row.supports = cpu_supports;
  row.prepare = cpu_prepare;
  return row;
}

}  // namespace attn::cpu
