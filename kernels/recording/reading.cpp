#include "kernels/recording/reading.h"

#include <algorithm>

namespace attn {
namespace {

bool is_score(Slot s) {
  return s == Slot::s || s == Slot::m_old || s == Slot::m_new;
}

// What a version's numbers lack to those of the formulas.
double factor_of(const Version& v, double scale) {
  constexpr double kLn2 = 0.6931471805599453;
  if (!is_score(v.slot)) return 1;
  return (v.holds.scaled ? 1 : scale) * (v.holds.base2 ? kLn2 : 1);
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
  const double scale = rec.problem.effective_scale();
  for (VersionId id = 0; id < out.versions.size(); ++id) {
    const std::span<const float> held = rec.values(id);
    Version& v = out.versions[id];
    v.offset = out.arena.size();
    const double factor = factor_of(v, scale);
    const auto lanes = static_cast<std::size_t>(v.holds.partial ? v.cols : 1);
    for (std::size_t n = 0; n < held.size(); n += lanes) {
      double x = 0;
      for (const float part : held.subspan(n, lanes)) x += static_cast<double>(part);
      out.arena.push_back(factor == 1 ? static_cast<float>(x) : static_cast<float>(x * factor));
    }
    if (v.holds.partial) v.cols = 1;
    v.holds.partial = false;
    if (is_score(v.slot)) {
      v.holds.scaled = true;
      v.holds.base2 = false;
    }
  }
  return out;
}

}  // namespace attn
