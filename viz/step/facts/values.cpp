#include "viz/step/facts/values.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "kernels/model/order_row.h"
#include "viz/draw/number_text.h"
#include "viz/step/facts/conditions.h"

namespace attn {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kResultDigits = 5;
// Results so small that they take an exponent: the eye reads the power, not the fifth digit.
constexpr int kSmallDigits = 3;

int result_digits(double x) {
  return format_of(x, kResultDigits).exponent ? kSmallDigits : kResultDigits;
}

// Whether `recorded` is another number than the rule makes of the recorded operands, and not its rounding.
bool breaks_the_rule(double computed, double recorded, double within) {
  // Beyond sums of f16 in another order, and beyond what is left where terms of size 1 cancel.
  constexpr double kFarFromRounding = 1e-2, kNoise = 1e-5;
  if (std::isnan(computed) || std::isnan(recorded)) return std::isnan(computed) != std::isnan(recorded);
  if (std::isinf(computed) || std::isinf(recorded)) return computed != recorded;
  const double size = std::max(std::abs(computed), std::abs(recorded));
  return std::abs(computed - recorded) > std::max({8 * within, kFarFromRounding * size, kNoise});
}

struct Collector {
  const Recording& rec;
  const StepPlace& at;
  const ExactTile* exact;
  StepValues& out;

  std::optional<double> live(Slot slot, std::int32_t col = 0) const {
    const auto x = live_value(rec, at.event, slot, at.row, col);
    if (!x) return std::nullopt;
    return static_cast<double>(*x);
  }
  double bound(Slot slot, std::int32_t col = 0) const {
    const VersionId id = rec.after(at.event, slot);
    if (id == kNoVersion) return 0;
    const Version& v = rec.version(id);
    const std::int64_t n = static_cast<std::int64_t>(at.row - v.first_row) * v.cols + (col - v.first_col);
    return n < 0 ? 0 : bound_of(rec, exact, id, static_cast<std::size_t>(n));
  }
  void put(const std::string& name, std::string text, Ink ink = Token::text) const {
    out.numbers[name] = {std::move(text), ink, false};
  }
  void put(const std::string& name, std::int64_t n) const { put(name, std::to_string(n)); }
  void put_value(const std::string& name, std::string text, Ink ink) const {
    out.numbers[name] = {std::move(text), ink, true};
  }
  void put_number(const std::string& name, double x, Ink ink, double within = 0) const {
    put_value(name, significant_text(x, result_digits(x), within), ink);
  }

  struct Operand {
    const char* name;
    double value;
    Ink ink;
  };
  // Operands with as many digits as the result's text takes, and no fewer than `least`.
  template <class Formula>
  void work(std::initializer_list<Operand> operands, const char* result_name, double result, Ink ink, double within,
            const Formula& formula, int least = 4) const {
    std::vector<double> values;
    for (const Operand& o : operands) values.push_back(o.value);
    const WorkedFormula w = worked_formula(formula, values, result, within, result_digits(result), least);
    std::size_t n = 0;
    for (const Operand& o : operands) put_value(o.name, w.operands[n++], o.ink);
    out.agrees = w.agrees;
    if (breaks_the_rule(formula(std::span<const double>(values)), result, within)) {
      put_number(result_name, result, ink);
      out.numbers[result_name].differs = true;
      return;
    }
    // A sum that cancelled to rounding noise: no printed digits lead to it.
    put_value(result_name, w.agrees ? w.result : "≈ " + w.result, ink);
  }

  double dot() const;
  double score_before() const;
  double bias() const;
  void work_shape() const;
  double row_sum(bool from_scores) const;
  double weighted_value() const;
  std::optional<double> row_max() const;
  void choose_key(const Selection& selection) const;
  void add_places() const;
};

double Collector::dot() const {
  const auto q = row_of(rec, rec.after(at.event, Slot::q), at.row),
             k = row_of(rec, rec.after(at.event, Slot::k), out.key);
  double sum = 0;
  for (std::size_t n = 0; n < std::min(q.size(), k.size()); ++n) sum += static_cast<double>(q[n]) * k[n];
  return sum;
}

// The scaled score before the mask phase; a GPU that stores S masks it before, and keeps no other.
double Collector::score_before() const {
  const VersionId before = rec.before(at.event, Slot::s);
  if (before != kNoVersion && before != rec.after(at.event, Slot::s) && at.event > 0) {
    if (const auto s = live_value(rec, at.event - 1, Slot::s, at.row, out.key)) return static_cast<double>(*s);
  }
  return dot() * rec.problem.effective_scale();
}

double Collector::bias() const {
  if (!rec.inputs.bias) return 0;
  return static_cast<double>(rec.inputs.bias->get(rec.problem.bias_index(at.b, at.h, at.row, out.key)));
}

// What softcap, bias and ALiBi make of the score that is followed, as far as the problem has them.
void Collector::work_shape() const {
  using enum TensorColour;
  using Values = std::span<const double>;
  const Problem& problem = rec.problem;
  const auto score = live(Slot::s, out.key);
  if (!problem.shapes_scores() || !score || !out.conditions.contains("kept")) return;
  const double slope = problem.alibi ? static_cast<double>(problem.slope(at.b, at.h)) : 0;
  const auto distance = static_cast<double>(std::abs(at.row + problem.Lk - problem.Lq - out.key));
  const bool caps = problem.softcap.has_value();
  work({{"s_in", score_before(), s},
        {"cap", problem.softcap.value_or(1), Token::text},
        {"added", bias(), Token::text},
        {"slope", slope, Token::text},
        {"distance", distance, Token::text}},
       "s", *score, s, bound(Slot::s, out.key),
       [caps](Values x) { return (caps ? x[1] * std::tanh(x[0] / x[1]) : x[0]) + x[2] - x[3] * x[4]; });
  // As they were typed: no zeros behind them.
  if (caps) put_value("cap", fmt::format("{}", *problem.softcap), Token::text);
  put_value("distance", fmt::format("{}", distance), Token::text);
}

double Collector::row_sum(bool from_scores) const {
  double sum = 0;
  if (!from_scores) {
    for (const float p : row_of(rec, rec.after(at.event, Slot::p), at.row)) sum += p;
    return sum;
  }
  const double m = live(Slot::m_new).value_or(0);
  for (const float s : row_of(rec, rec.after(at.event, Slot::s), at.row)) {
    if (s != -std::numeric_limits<float>::infinity()) sum += std::exp(s - m);
  }
  return sum;
}

double Collector::weighted_value() const {
  const auto p = row_of(rec, rec.after(at.event, Slot::p), at.row);
  double sum = 0;
  for (std::size_t c = 0; c < p.size(); ++c) {
    const auto v = live_value(rec, at.event, Slot::v, at.first_key + static_cast<std::int32_t>(c), out.col);
    if (v) sum += static_cast<double>(p[c]) * *v;
  }
  return sum;
}

std::optional<double> Collector::row_max() const {
  const auto s = row_of(rec, rec.after(at.event, Slot::s), at.row);
  if (s.empty()) return std::nullopt;
  // NaN never wins, as in the kernels (kernels/arithmetic/vector_ops.h).
  double best = -kInfinity;
  for (const float x : s) best = static_cast<double>(x) > best ? x : best;
  return best;
}

void Collector::choose_key(const Selection& selection) const {
  const Problem& p = rec.problem;
  out.key = at.first_key;
  const bool pinned = selection.slot == Slot::s || selection.slot == Slot::p;
  const std::int32_t wanted = selection.col;
  if (pinned && wanted >= at.first_key && wanted < at.first_key + at.keys && p.visible(at.b, at.row, wanted)) {
    out.key = wanted;
  } else {
    const auto s = row_of(rec, rec.after(at.event, Slot::s), at.row);
    float best = -std::numeric_limits<float>::infinity();
    bool any = false;
    for (std::size_t c = 0; c < s.size(); ++c) {
      const std::int32_t key = at.first_key + static_cast<std::int32_t>(c);
      if (!p.visible(at.b, at.row, key) || (any && !(s[c] > best) && !std::isnan(s[c]))) continue;
      best = s[c];
      out.key = key;
      any = true;
      if (std::isnan(best)) break;  // what a NaN does to its row is the story of that row
    }
  }
  const bool column = selection.slot == Slot::o_new || selection.slot == Slot::o_old;
  if (column && selection.col >= 0 && selection.col < p.Dv) out.col = selection.col;
}

void Collector::add_places() const {
  const Problem& p = rec.problem;
  put("row", at.row);
  put("i", std::max(at.i, 0));
  put("j", std::max(at.j, 0));
  put("rows", at.rows);
  put("keys", at.keys);
  put("first_row", at.first_row);
  put("last_row", at.first_row + at.rows - 1);
  put("first_key", at.first_key);
  put("last_key", at.first_key + at.keys - 1);
  put("D", p.D);
  put("Dv", p.Dv);
  put("Lq", p.Lq);
  put("Lk", p.Lk);
  put("accumulate", std::string(name_of(rec.options.accumulate)));
  std::int64_t visible = 0;
  for (std::int32_t c = 0; c < at.keys; ++c) visible += p.visible(at.b, at.row, at.first_key + c) ? 1 : 0;
  put("visible", visible);
  put("element_bytes", static_cast<std::int64_t>(size_of(p.dtype)));
  put("bytes", static_cast<std::int64_t>(event_bytes(rec, at.event)));
  put("key", out.key);
  put("col", out.col);
  put_value("scale", scale_words(p), Token::text);
}

// The formula of a phase: which numbers it joins.
struct PhaseWork {
  using Values = std::span<const double>;

  const Collector& c;
  double m_old, m_new, l_old, o_old;
  std::int32_t key = c.out.key, col = c.out.col;
  std::optional<double> score = c.live(Slot::s, key), weight = c.live(Slot::p, key), a = c.live(Slot::alpha);
  // After the last tile, new is old.
  std::optional<double> l_new = c.live(Slot::l_new) ? c.live(Slot::l_new) : c.live(Slot::l_old);
  std::optional<double> o_new = c.live(Slot::o_new, col);
  bool stored = order_row(c.rec.order).stores_scores, divides = order_row(c.rec.order).divides_each_turn;
  // What is rounded at every addition does not follow from the operands that stand in the formula.
  bool narrow = c.rec.options.accumulate != DType::f32;

  void scores() const;
  void mask() const { c.work_shape(); }
  void max() const;
  void rescale() const;
  void weights() const;
  void sum() const;
  void output() const;
  void normalise() const;
  void store() const;
};

void PhaseWork::scores() const {
  using enum TensorColour;
  if (score)
    c.work({{"dot", c.dot(), Token::text}, {"scale_value", c.rec.problem.effective_scale(), Token::text}}, "s", *score,
           s, c.bound(Slot::s, key), [](Values x) { return x[0] * x[1]; });
}

void PhaseWork::max() const {
  using enum TensorColour;
  if (const auto r = c.row_max())
    c.work(
        {{"m_old", m_old, m}, {"rowmax", *r, s}}, "m_new", m_new, m, c.bound(Slot::m_new),
        [&](Values x) {
          const bool stays = !c.rec.options.subtract_max || c.out.conditions.contains("below");
          return stays ? m_new : std::max(x[0], x[1]);
        },
        kResultDigits);
}

void PhaseWork::rescale() const {
  using enum TensorColour;
  if (a)
    c.work(
        {{"m_old", m_old, m}, {"m_new", m_new, m}}, "alpha", *a, alpha, c.bound(Slot::alpha),
        [](Values x) { return x[0] == x[1] ? 1.0 : std::exp(x[0] - x[1]); }, kResultDigits);
}

void PhaseWork::weights() const {
  using enum TensorColour;
  if (!score || !weight) return;
  if (stored) {
    c.work({{"s", *score, s}, {"m_new", m_new, m}, {"l_new", l_new.value_or(1), l}}, "p", *weight, p,
           c.bound(Slot::p, key), [](Values x) { return std::exp(x[0] - x[1]) / x[2]; });
  } else {
    c.work({{"s", *score, s}, {"m_new", m_new, m}}, "p", *weight, p, c.bound(Slot::p, key),
           [](Values x) { return std::exp(x[0] - x[1]); });
  }
}

void PhaseWork::sum() const {
  using enum TensorColour;
  if (!l_new) return;
  if (narrow) {
    c.put_number("rowsum", c.row_sum(false), p);
  } else if (stored) {
    c.work({{"l_old", l_old, l}, {"rowsum", c.row_sum(true), p}}, "l_new", *l_new, l, c.bound(Slot::l_new),
           [](Values x) { return x[0] + x[1]; });
  } else {
    c.work({{"alpha", a.value_or(1), alpha}, {"l_old", l_old, l}, {"rowsum", c.row_sum(false), p}}, "l_new", *l_new, l,
           c.bound(Slot::l_new), [](Values x) { return x[0] * x[1] + x[2]; });
  }
}

void PhaseWork::output() const {
  using enum TensorColour;
  if (!o_new) return;
  if (narrow) {
    c.put_number("pv", c.weighted_value(), v);
  } else if (stored) {
    c.work({{"o_old", o_old, o}, {"pv", c.weighted_value(), v}}, "o_new", *o_new, o, c.bound(Slot::o_new, col),
           [](Values x) { return x[0] + x[1]; });
  } else if (divides) {
    c.work({{"alpha", a.value_or(1), alpha},
            {"l_old", l_old, l},
            {"o_old", o_old, o},
            {"pv", c.weighted_value(), v},
            {"l_new", l_new.value_or(1), l}},
           "o_new", *o_new, o, c.bound(Slot::o_new, col),
           [](Values x) { return x[4] == 0 ? 0 : (x[0] * x[1] * x[2] + x[3]) / x[4]; });
  } else {
    c.work({{"alpha", a.value_or(1), alpha}, {"o_old", o_old, o}, {"pv", c.weighted_value(), v}}, "o_new", *o_new, o,
           c.bound(Slot::o_new, col), [](Values x) { return x[0] * x[1] + x[2]; });
  }
}

void PhaseWork::normalise() const {
  using enum TensorColour;
  if (o_new && l_new)
    c.work({{"o_old", o_old, o}, {"l_new", *l_new, l}}, "o_new", *o_new, o, c.bound(Slot::o_new, col),
           [](Values x) { return x[1] == 0 ? 0 : x[0] / x[1]; });
}

void PhaseWork::store() const {
  using enum TensorColour;
  const auto lse = c.live(Slot::lse);
  if (lse && l_new)
    c.work({{"m_new", m_new, m}, {"l_new", *l_new, l}}, "lse", *lse, l, c.bound(Slot::lse),
           [](Values x) { return x[1] == 0 ? -kInfinity : x[0] + std::log(x[1]); });
}

constexpr std::pair<Phase, void (PhaseWork::*)() const> kWorks[] = {
    {Phase::scores, &PhaseWork::scores},   {Phase::mask, &PhaseWork::mask},
    {Phase::max, &PhaseWork::max},         {Phase::rescale, &PhaseWork::rescale},
    {Phase::weights, &PhaseWork::weights}, {Phase::sum, &PhaseWork::sum},
    {Phase::output, &PhaseWork::output},   {Phase::normalise, &PhaseWork::normalise},
    {Phase::store_o, &PhaseWork::store},   {Phase::store_state, &PhaseWork::store},
};

}  // namespace

std::uint64_t event_bytes(const Recording& rec, EventIndex e) {
  std::uint64_t bytes = 0;
  for (std::size_t part = 0; part < rec.events[e].hbm_bytes.size(); ++part) {
    bytes += rec.events[e].hbm_bytes[part] - (e > 0 ? rec.events[e - 1].hbm_bytes[part] : 0);
  }
  return bytes;
}

StepValues step_values(const Recording& rec, const StepPlace& at, const Selection& selection, const ExactTile* exact) {
  using enum TensorColour;
  StepValues out;
  const Collector c{rec, at, exact, out};
  const Phase phase = rec.events[at.event].id.phase;
  c.choose_key(selection);
  c.add_places();
  // Before its first tile a row has m = -inf, l = 0, O = 0 (FlashAttention-2, algorithm 1), recorded or not.
  const double m_old = c.live(Slot::m_old).value_or(-kInfinity);
  const double m_new = c.live(Slot::m_new).value_or(m_old);
  const double l_old = c.live(Slot::l_old).value_or(0);
  double o_old = c.live(Slot::o_old, out.col).value_or(0);
  if (phase == Phase::normalise && at.event > 0) {
    const auto before = live_value(rec, at.event - 1, output_slot(rec, at.event - 1), at.row, out.col);
    if (before) o_old = *before;
  }
  out.conditions = step_conditions(rec, at, {out.key, out.col, m_old, m_new, l_old, o_old});
  c.put_number("m_old", m_old, m);
  c.put_number("m_new", m_new, m, c.bound(Slot::m_new));
  c.put_number("l_old", l_old, l, c.bound(Slot::l_old));
  c.put_number("o_old", o_old, o, c.bound(Slot::o_old, out.col));
  const auto put_live = [&](const char* name, Slot slot, std::int32_t col, Ink ink) {
    if (const auto x = c.live(slot, col)) c.put_number(name, *x, ink, c.bound(slot, col));
  };
  put_live("s", Slot::s, out.key, s);
  put_live("p", Slot::p, out.key, p);
  put_live("alpha", Slot::alpha, 0, alpha);
  put_live("l_new", c.live(Slot::l_new) ? Slot::l_new : Slot::l_old, 0, l);
  put_live("o_new", Slot::o_new, out.col, o);
  put_live("lse", Slot::lse, 0, l);
  if (const auto r = c.row_max()) c.put_number("rowmax", *r, s);
  const PhaseWork work{c, m_old, m_new, l_old, o_old};
  for (const auto& [of, member] : kWorks) {
    if (of == phase) (work.*member)();
  }
  return out;
}

}  // namespace attn
