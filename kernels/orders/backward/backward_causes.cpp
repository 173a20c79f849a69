// What may have gone wrong in a backward's steps, as formulas of their own operands.
#include <cmath>
#include <vector>

#include "kernels/base/text.h"
#include "kernels/judge/first_wrong/causes.h"
#include "kernels/orders/backward/names.h"
#include "kernels/orders/backward/sums.h"

namespace attn::orders::backward {
namespace {

using causes::Value;

// A number of a version that need not be live; 0 where there is none.
double number(const Recording& rec, VersionId id, std::int32_t row, std::int32_t col) {
  if (id == kNoVersion) return 0;
  return static_cast<double>(
      rec.values(id)[static_cast<std::size_t>(row) * static_cast<std::size_t>(rec.version(id).cols) +
                     static_cast<std::size_t>(col)]);
}

Value value(double x) {
  return {x, std::fabs(x)};
}

}  // namespace

std::string cause_of_load_rows(const causes::WrongPlace& w) {
  return w.at.slot == Slot::lse ? causes::narrow_cause("LSE", w.elements, 1) : std::string();
}

std::string cause_of_score_gradient(const causes::WrongPlace& w) {
  const causes::Operands in = w.in();
  const BackwardNames& n = backward_names();
  return causes::first_that_fits(
      {{tr("δ is missing: dS = P · dP."),
        [&](std::int32_t row, std::int32_t col) { return value(in.at(Slot::p, row, col) * in.at(n.dp, row, col)); }},
       {tr("δ was added instead of subtracted: dS = P · (dP + δ)."),
        [&](std::int32_t row, std::int32_t col) {
          const double dp = in.at(n.dp, row, col), delta = in.at(n.delta, row);
          return Value{in.at(Slot::p, row, col) * (dp + delta),
                       in.at(Slot::p, row, col) * (std::fabs(dp) + std::fabs(delta))};
        }}},
      w.elements);
}

std::string cause_of_query_gradient(const causes::WrongPlace& w) {
  const VersionId was = query_sum_before(w.wrong, w.at.event, backward_names().dq);
  return causes::first_that_fits(
      {{tr("This key tile's part of dQ is lost: another write overwrote it, as happens when two key tiles add without "
           "an atomic."),
        [&](std::int32_t row, std::int32_t col) { return value(number(w.wrong, was, row, col)); }}},
      w.elements);
}

std::string cause_of_store_dkv(const causes::WrongPlace& w) {
  const double scale = w.wrong.problem.effective_scale();
  const VersionId sum = key_sum_before(w.wrong, w.at.event, w.at.slot);
  const bool keys = w.at.slot == backward_names().dk;
  const auto times = [&](double factor) {
    return [&w, sum, factor](std::int32_t row, std::int32_t col) {
      return value(factor * number(w.wrong, sum, row, col));
    };
  };
  if (!keys)
    return causes::first_that_fits(
        {{tr("dV was multiplied by the scale, which applies only to the scores."), times(scale)}}, w.elements);
  return causes::first_that_fits({{tr("dK was multiplied by the scale twice."), times(scale * scale)},
                                  {tr("dK was not multiplied by the scale."), times(1)}},
                                 w.elements);
}

}  // namespace attn::orders::backward
