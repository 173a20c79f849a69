// The same mathematics written plainly in the input dtype: how far from the truth an honest, unclever implementation
// lands. Products and sums in fp32 in index order, P rounded to the dtype before PV, the result rounded to it.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/judge/plain_attention.h"

namespace attn::plain {

constexpr float kMaxFloat = std::numeric_limits<float>::max();

void baseline_group(const Problem& p, const Inputs& in, const Group& g, ReferenceRows& ref) {
  Scores<float> s = scores_of<float>(p, in, ref, g);
  for (std::size_t i = 0; i < g.count; ++i) {
    float* row = s.row(i);
    // A product that overflows before it is scaled, too.
    const bool overflows = std::any_of(row, row + s.keys, [](float x) { return std::isnan(x) || x > kMaxFloat; });
    if (overflows && std::isfinite(ref.lse[g.first + i])) ref.beyond_fp32[g.first + i] = 1;
    const float m = row_maximum(row, s.keys);
    if (m == -std::numeric_limits<float>::infinity()) {
      std::fill_n(row, s.keys, 0.0F);
      continue;
    }
    float sum = 0;
    for (std::int64_t c = 0; c < s.keys; ++c) sum += row[c] = std::exp(row[c] - m);
    for (std::int64_t c = 0; c < s.keys; ++c) row[c] = round_to(p.dtype, row[c] / sum);
  }
  const std::vector<float> out = weighted_values(p, in, g, s);
  for (std::size_t n = 0; n < out.size(); ++n) {
    ref.baseline[g.first * static_cast<std::size_t>(p.Dv) + n] = static_cast<double>(round_to(p.dtype, out[n]));
  }
}

}  // namespace attn::plain
