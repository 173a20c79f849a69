#include "viz/step/orders/work.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace attn {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Whether `recorded` is another number than the rule makes of the recorded operands, and not its rounding.
bool breaks_the_rule(double computed, double recorded, double within) {
  // Beyond sums of f16 in another order, and beyond what is left where terms of size 1 cancel.
  constexpr double kFarFromRounding = 1e-2, kNoise = 1e-5;
  if (std::isnan(computed) || std::isnan(recorded)) return std::isnan(computed) != std::isnan(recorded);
  if (std::isinf(computed) || std::isinf(recorded)) return computed != recorded;
  const double size = std::max(std::abs(computed), std::abs(recorded));
  return std::abs(computed - recorded) > std::max({8 * within, kFarFromRounding * size, kNoise});
}

}  // namespace

// Results so small that they take an exponent: the eye reads the power, not the fifth digit.
int StepWork::result_digits(double x) {
  constexpr int kSmallDigits = 3;
  return format_of(x, kResultDigits).exponent ? kSmallDigits : kResultDigits;
}

std::optional<double> StepWork::live(Slot slot, std::int32_t col) const {
  const auto x = live_value(rec, at.event, slot, at.row, col);
  if (!x) return std::nullopt;
  return static_cast<double>(*x);
}

double StepWork::bound(Slot slot, std::int32_t col) const {
  const VersionId id = rec.after(at.event, slot);
  if (id == kNoVersion) return 0;
  const Version& v = rec.version(id);
  const std::int64_t n = static_cast<std::int64_t>(at.row - v.first_row) * v.cols + (col - v.first_col);
  return n < 0 ? 0 : bound_of(rec, exact, id, static_cast<std::size_t>(n));
}

std::optional<double> StepWork::newest_sum() const {
  const auto fresh = live(Slot::l_new);
  return fresh ? fresh : live(Slot::l_old);
}

void StepWork::put(const std::string& name, std::string text, Ink ink) const {
  out.numbers[name] = {std::move(text), ink, false};
}

void StepWork::put_value(const std::string& name, std::string text, Ink ink) const {
  out.numbers[name] = {std::move(text), ink, true};
}

void StepWork::put_number(const std::string& name, double x, Ink ink, double within) const {
  put_value(name, significant_text(x, result_digits(x), within), ink);
}

void StepWork::put_result(const char* name, double result, Ink ink, double within, const WorkedFormula& w,
                          double computed) const {
  out.agrees = w.agrees;
  if (breaks_the_rule(computed, result, within)) {
    put_number(name, result, ink);
    out.numbers[name].differs = true;
    return;
  }
  // A sum that cancelled to rounding noise: no printed digits lead to it.
  put_value(name, w.agrees ? w.result : "≈ " + w.result, ink);
}

double StepWork::dot() const {
  const auto q = row_of(rec, rec.after(at.event, Slot::q), at.row),
             k = row_of(rec, rec.after(at.event, Slot::k), out.key);
  double sum = 0;
  for (std::size_t n = 0; n < std::min(q.size(), k.size()); ++n) sum += static_cast<double>(q[n]) * k[n];
  return sum;
}

double StepWork::score_before() const {
  const VersionId before = rec.before(at.event, Slot::s);
  if (before != kNoVersion && before != rec.after(at.event, Slot::s) && at.event > 0) {
    if (const auto s = live_value(rec, at.event - 1, Slot::s, at.row, out.key)) return static_cast<double>(*s);
  }
  return dot() * rec.problem.effective_scale();
}

double StepWork::bias() const {
  if (!rec.inputs.bias) return 0;
  return static_cast<double>(rec.inputs.bias->get(rec.problem.bias_index(at.b, at.h, at.row, out.key)));
}

double StepWork::row_sum(bool from_scores) const {
  double sum = 0;
  if (!from_scores) {
    for (const float p : row_of(rec, rec.after(at.event, Slot::p), at.row)) sum += p;
    return sum;
  }
  const double m = live(Slot::m_new).value_or(0);
  for (const VersionId read : rec.scores_read(at.event)) {
    for (const float s : row_of(rec, read, at.row)) {
      if (s != -std::numeric_limits<float>::infinity()) sum += std::exp(s - m);
    }
  }
  return sum;
}

double StepWork::weighted_value() const {
  double sum = 0;
  for (const auto& [weights, values] : rec.factors_read(at.event)) {
    const auto p = row_of(rec, weights, at.row);
    for (std::size_t c = 0; c < p.size(); ++c) {
      const std::int32_t key = rec.version(weights).first_col + static_cast<std::int32_t>(c);
      const auto v = row_of(rec, values, key);
      const auto col = static_cast<std::size_t>(out.col);
      if (col < v.size()) sum += static_cast<double>(p[c]) * static_cast<double>(v[col]);
    }
  }
  return sum;
}

std::optional<double> StepWork::row_max() const {
  std::optional<double> best;
  for (const VersionId read :
       takes_all_keys(rec, at.event) ? rec.scores_read(at.event) : std::vector{rec.after(at.event, Slot::s)}) {
    const auto s = row_of(rec, read, at.row);
    if (!s.empty() && !best) best = -kInfinity;
    // NaN never wins, as in the kernels (kernels/arithmetic/vector_ops.h).
    for (const float x : s) best = static_cast<double>(x) > *best ? x : *best;
  }
  return best;
}

}  // namespace attn
