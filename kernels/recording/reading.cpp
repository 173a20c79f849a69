#include "kernels/recording/reading.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

#include "kernels/model/order_row.h"

namespace attn {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

bool is_score(Slot s) {
  return slot_row(s).score;
}

// -inf that stands for a hidden key, whichever sign the scale has; not an infinite product.
bool is_hidden(const Recording& rec, const Version& v, std::size_t element, float held) {
  if (held != -kInfinity) return false;
  const auto at = static_cast<std::int32_t>(element);
  return !rec.problem.visible(rec.events[v.made_by].id.b, v.first_row + at / v.cols, v.first_col + at % v.cols);
}

}  // namespace

bool differs_from_formulas(const Recording& rec) {
  return std::ranges::any_of(rec.versions, [](const Version& v) {
    return v.holds.partial || (is_score(v.slot) && (!v.holds.scaled || v.holds.base2));
  });
}

Recording formula_reading(const Recording& rec) {
  Recording out = rec;
  out.arena.clear();
  for (VersionId id = 0; id < out.versions.size(); ++id) {
    const std::span<const float> held = rec.values(id);
    Version& v = out.versions[id];
    v.offset = out.arena.size();
    // A kernel may begin with a finite m, so that no difference of two of them is NaN.
    const bool is_m = v.slot == Slot::m_old || v.slot == Slot::m_new;
    const float nothing_yet = is_m && rec.gpu ? rec.gpu->first_m : -kInfinity;
    const double factor = is_score(v.slot) ? rec.factor_to_formula(v.holds) : 1;
    const auto lanes = static_cast<std::size_t>(v.holds.partial ? v.cols : 1);
    for (std::size_t n = 0; n < held.size(); n += lanes) {
      double x = 0;
      for (const float part : held.subspan(n, lanes)) x += static_cast<double>(part);
      const bool none = is_m ? held[n] == nothing_yet : v.slot == Slot::s && is_hidden(rec, v, n, held[n]);
      out.arena.push_back(none ? -kInfinity : factor == 1 ? static_cast<float>(x) : static_cast<float>(x * factor));
    }
    if (v.holds.partial) v.cols = 1;
    v.holds.partial = false;
    if (is_score(v.slot)) {
      v.holds.scaled = true;
      v.holds.base2 = false;
    }
  }
  if (out.gpu) {
    out.gpu->slack = static_cast<float>(rec.factor_to_formula({.base2 = rec.gpu->exp2}) * rec.gpu->slack);
    out.gpu->first_m = -kInfinity;
    out.gpu->sign_in_q = false;
  }
  return out;
}

}  // namespace attn
