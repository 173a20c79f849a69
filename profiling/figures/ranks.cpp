#include "profiling/figures/ranks.h"

#include <cmath>
#include <set>

#include "kernels/base/text.h"

namespace attn {

Result<void> check_ranks(const Ranks& ranks, const Problem& p, const std::string& where) {
  if (ranks.devices.size() < 2 || ranks.devices.size() > kMaxRanks) {
    return bad_input(phrase("{}: {} ranks; 2 to {} can be.", where, ranks.devices.size(), kMaxRanks));
  }
  std::set<Tensor> seen;
  const std::vector<TensorSpec> specs = tensors_of(p);
  for (const Tensor t : ranks.travels) {
    // Parts travel where keys are dealt; a problem has them whatever the number of parts.
    const bool part = t == Tensor::partial_o || t == Tensor::partial_lse;
    if (!part && find(specs, t) == nullptr) {
      return bad_input(phrase("{}: {} travels, which {} does not have.", where, words_of(t), describe(p)));
    }
    if (!seen.insert(t).second) return bad_input(phrase("{}: {} travels twice.", where, words_of(t)));
  }
  for (std::size_t n = 0; n < ranks.devices.size(); ++n) {
    const Rank& r = ranks.devices[n];
    if (std::isfinite(r.start_us) && std::isfinite(r.end_us) && r.start_us >= 0 && r.end_us >= r.start_us) continue;
    return bad_input(phrase("{}: rank {} runs from {} to {} us.", where, n, r.start_us, r.end_us));
  }
  return ok();
}

}  // namespace attn
