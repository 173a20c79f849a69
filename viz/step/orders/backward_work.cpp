#include "viz/step/orders/backward_work.h"

#include <cmath>
#include <optional>
#include <span>

#include "kernels/base/text.h"
#include "kernels/orders/backward/names.h"
#include "kernels/orders/backward/options.h"
#include "kernels/orders/backward/sums.h"
#include "kernels/orders/backward_ring/names.h"
#include "viz/draw/number_text.h"
#include "viz/step/orders/shared.h"

namespace attn::looks {
namespace {

using Values = std::span<const double>;

const orders::BackwardNames& names() {
  return orders::backward_names();
}

double recorded(const Recording& rec, VersionId id, std::int32_t row, std::int32_t col) {
  if (id == kNoVersion) return 0;
  const Version& v = rec.version(id);
  const std::int32_t r = row - v.first_row, c = col - v.first_col;
  if (r < 0 || r >= v.rows || c < 0 || c >= v.cols) return 0;
  return rec.values(id)[static_cast<std::size_t>(r) * static_cast<std::size_t>(v.cols) + static_cast<std::size_t>(c)];
}

// What the sum was, what this tile adds, and what it is.
void work_sum(const StepWork& c, Slot slot, const char* name, VersionId before, double part) {
  const Ink ink = tensor_of(slot);
  StepPlace at = c.at;
  if (slot_row(slot).rows == SlotRows::keys) at.row = c.out.key;
  const StepWork of_slot{c.rec, at, c.exact, c.out};
  const auto now = of_slot.live(slot, c.out.col);
  if (!now) return;
  const double was = recorded(c.rec, before, at.row, c.out.col);
  c.work({{"was", was, ink}, {"part", part, Token::text}}, name, *now, ink, of_slot.bound(slot, c.out.col),
         [](Values x) { return x[0] + x[1]; });
}

double product(std::optional<float> a, std::optional<float> b) {
  return a && b ? static_cast<double>(*a) * static_cast<double>(*b) : 0;
}

// The followed key's part of all rows of the tile: P^T dO, dS^T Q.
double part_of_rows(const StepWork& c, Slot weights, Slot rows) {
  double sum = 0;
  for (std::int32_t n = 0; n < c.at.rows; ++n) {
    const std::int32_t row = c.at.first_row + n;
    sum += product(live_value(c.rec, c.at.event, weights, row, c.out.key),
                   live_value(c.rec, c.at.event, rows, row, c.out.col));
  }
  return sum;
}

}  // namespace

void work_delta(const StepWork& c) {
  if (const auto delta = c.live(names().delta))
    c.put_number("delta", *delta, TensorColour::alpha, c.bound(names().delta));
}

void work_weights(const StepWork& c) {
  using enum TensorColour;
  const std::int32_t key = c.out.key;
  const auto score = c.live(Slot::s, key), weight = c.live(Slot::p, key), lse = c.live(Slot::lse);
  if (!score || !weight || !lse) return;
  c.work({{"s", *score, s}, {"lse", *lse, l}}, "p", *weight, p, c.bound(Slot::p, key),
         [](Values x) { return std::exp(x[0] - x[1]); });
}

void work_weight_gradient(const StepWork& c) {
  if (const auto dp = c.live(names().dp, c.out.key))
    c.put_number("dp", *dp, TensorColour::p, c.bound(names().dp, c.out.key));
}

void work_score_gradient(const StepWork& c) {
  using enum TensorColour;
  const std::int32_t key = c.out.key;
  const auto weight = c.live(Slot::p, key), dp = c.live(names().dp, key), delta = c.live(names().delta),
             ds = c.live(names().ds, key);
  // With a softcap its slope multiplies it, too.
  if (!weight || !dp || !delta || !ds || c.rec.problem.softcap) return;
  if (!orders::backward::subtracts_delta(c.rec.options)) {
    c.work({{"p", *weight, p}, {"dp", *dp, p}}, "ds", *ds, s, 0, [](Values x) { return x[0] * x[1]; });
    return;
  }
  c.work({{"p", *weight, p}, {"dp", *dp, p}, {"delta", *delta, alpha}}, "ds", *ds, s, c.bound(names().ds, key),
         [](Values x) { return x[0] * (x[1] - x[2]); });
}

void work_value_gradient(const StepWork& c) {
  work_sum(c, names().dv, "dv", orders::backward::key_sum_before(c.rec, c.at.event, names().dv),
           part_of_rows(c, Slot::p, names().d_o));
}

void work_key_gradient(const StepWork& c) {
  work_sum(c, names().dk, "dk", orders::backward::key_sum_before(c.rec, c.at.event, names().dk),
           part_of_rows(c, names().ds, Slot::q));
}

void work_query_gradient(const StepWork& c) {
  double sum = 0;
  for (std::int32_t n = 0; n < c.at.keys; ++n) {
    const std::int32_t key = c.at.first_key + n;
    sum += product(live_value(c.rec, c.at.event, names().ds, c.at.row, key),
                   live_value(c.rec, c.at.event, Slot::k, key, c.out.col));
  }
  work_sum(c, names().dq, "dq", orders::backward::query_sum_before(c.rec, c.at.event, names().dq), sum);
}

// dK: dV is added alike.
void work_add_sums(const StepWork& c) {
  const VersionId part = orders::backward::key_sum_before(c.rec, c.at.event, names().dk);
  work_sum(c, names().dk, "dk", c.rec.after(c.at.event, orders::backward_ring_names().dk_came),
           recorded(c.rec, part, c.out.key, c.out.col));
}

TextRuns say_weight(const StepWork& c, std::int32_t, std::int32_t col) {
  using enum TensorColour;
  const auto score = c.live(Slot::s, col), lse = c.live(Slot::lse);
  if (!score || !lse) return {};
  return {word("exp("), number(significant_text(*score, 6), s), word(" − "), number(significant_text(*lse, 6), l),
          word(")")};
}

TextRuns say_score_gradient(const StepWork& c, std::int32_t, std::int32_t col) {
  using enum TensorColour;
  const auto weight = c.live(Slot::p, col), dp = c.live(names().dp, col), delta = c.live(names().delta);
  if (!weight || !dp || !delta) return {};
  TextRuns words{number(significant_text(*weight, 5), p), word(" × ")};
  if (orders::backward::subtracts_delta(c.rec.options)) {
    words.insert(words.end(), {word("("), number(significant_text(*dp, 5), p), word(" − "),
                               number(significant_text(*delta, 5), alpha), word(")")});
  } else {
    words.push_back(number(significant_text(*dp, 5), p));
  }
  if (c.rec.problem.softcap) words.push_back(word(tr(", times the slope of the softcap")));
  return words;
}

TextRuns say_lse(const StepWork&, std::int32_t, std::int32_t) {
  return {word(tr("stored by the forward pass: the row's maximum plus the logarithm of its sum"))};
}

TextRuns say_output(const StepWork&, std::int32_t, std::int32_t) {
  return {word(tr("stored by the forward pass"))};
}

}  // namespace attn::looks
