#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "kernels/base/text.h"
#include "kernels/judge/first_wrong.h"
#include "kernels/judge/verdict.h"

namespace attn {
namespace {

// What the wrong elements of an answer have in common.
class ResultPattern {
 public:
  void add(std::int64_t row, std::int64_t col, double recorded, double right) {
    ++count_;
    nans_ += std::isnan(recorded) ? 1 : 0;
    if (row != row_) {
      row_ = row;
      factor_ = 0;
    }
    if (col < 0 || !std::isfinite(recorded) || right == 0) return;
    const double factor = recorded / right;
    if (factor_ != 0 && std::fabs(factor - factor_) > 1e-3 * std::fabs(factor_)) one_factor_ = false;
    if (factor_ != 0) ++compared_;
    factor_ = factor;
  }
  std::string words() const {
    if (count_ > 0 && nans_ == count_) {
      return tr("Everything that differs is NaN: a row without a visible key (−∞ − (−∞)), 0 · ∞ or 0 / 0.");
    }
    if (one_factor_ && compared_ > 0) {
      return tr(
          "Each wrong row is off by one factor over all its columns: ℓ, or the division by it, is wrong rather than "
          "P V.");
    }
    return {};
  }

 private:
  std::int64_t count_ = 0, nans_ = 0, compared_ = 0, row_ = -1;
  double factor_ = 0;
  bool one_factor_ = true;
};

bool result_differs(double got, double right, double allowed) {
  if (std::isnan(right)) return !std::isnan(got);
  if (!std::isfinite(right)) return !std::isnan(got) && got != right;
  return !std::isfinite(got) || std::fabs(got - right) > allowed;
}

}  // namespace

std::optional<FirstWrongResult> find_first_wrong_result(const Problem& p, const ReferenceRows& ref, const Outputs& out,
                                                        double allowed, double lse_allowed) {
  std::optional<FirstWrongResult> first;
  ResultPattern pattern;
  std::int64_t differing = 0, of = 0;
  const auto look = [&](const RowId& id, std::int64_t col, double got, double right, double room) {
    ++of;
    if (!result_differs(got, right, room)) return;
    ++differing;
    pattern.add((id.b * p.Hq + id.h) * p.Lq + id.r, col, got, right);
    if (!first) first = FirstWrongResult{id.b, id.h, id.r, col, got, right, 0, 0, ""};
  };
  for (std::size_t n = 0; n < ref.rows.size(); ++n) {
    const RowId& id = ref.rows[n];
    const std::int64_t row = (id.b * p.Hq + id.h) * p.Lq + id.r;
    for (std::int64_t d = 0; d < p.Dv; ++d) {
      const std::size_t element = n * static_cast<std::size_t>(p.Dv) + static_cast<std::size_t>(d);
      if (!ref.unjudged.empty() && ref.unjudged[element] != 0) continue;
      if (std::isfinite(ref.out[element]) && !std::isfinite(ref.baseline[element])) continue;
      look(id, d, static_cast<double>(out.out.get(row * p.Dv + d)), ref.out[element], allowed);
    }
    if (ref.beyond_fp32[n] == 0) look(id, -1, static_cast<double>(out.lse.get(row)), ref.lse[n], lse_allowed);
  }
  if (!first) return first;
  first->differing = differing;
  first->of = of;
  first->cause = pattern.words();
  return first;
}

}  // namespace attn
