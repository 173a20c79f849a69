// ℓ, O and what is stored.
#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "kernels/base/dtype.h"
#include "kernels/base/text.h"
#include "kernels/judge/first_wrong/causes.h"
#include "kernels/model/order_row.h"
#include "kernels/model/traffic.h"

namespace attn::causes {
namespace {

// A sum that is rounded after each of a tile's additions is further from the right one.
constexpr double kRoundingsOfTile = 4;

// Places past the last key are summed with a score of 0: ℓ has the same number of e^(0 − m) too much in every row.
std::string padding_cause(const Operands& in, Elements elements, const std::function<double(std::int32_t)>& alpha) {
  double places = 0;
  for (const WrongElement& x : elements) {
    const double m = in.at(stores_scores(in.recording().order) ? Slot::m_old : Slot::m_new, x.row);
    const double sum = alpha(x.row) * in.at(Slot::l_old, x.row) + in.row_sum(x.row);
    const double more = (x.recorded - sum) / std::exp(-m), count = std::round(more);
    const double room = 1e-4 * std::max(1.0, std::fabs(x.recorded) / std::exp(-m));
    if (!(count >= 1) || std::fabs(more - count) > std::min(room, 0.1)) return {};
    if (places != 0 && count != places) return {};
    places = count;
  }
  return places == 0
             ? ""
             : plural(
                   static_cast<std::int64_t>(places),
                   "{} position past the last key is counted with a score of 0, which adds e^(0 − m) to ℓ.",
                   "{} positions past the last key are counted with a score of 0, each of which adds e^(0 − m) to ℓ.");
}

}  // namespace

std::string sum_cause(const Operands& in, Elements elements) {
  const bool stored = stores_scores(in.recording().order);
  const auto old = [&in](std::int32_t r) { return in.at(Slot::l_old, r); };
  const auto alpha = [&in, stored](std::int32_t r) { return stored ? 1.0 : in.at(Slot::alpha, r); };
  // Before the formulas: that 256 + 1 is 256 looks like a sum that was not added.
  if (std::string words = narrow_cause("ℓ", elements, 1); !words.empty()) return words;
  std::vector<Cause> causes;
  if (!stored) {
    causes.push_back({tr("ℓ was not multiplied by α: the earlier sum still refers to the old maximum."),
                      [&](std::int32_t r, std::int32_t) {
                        return Value{old(r) + in.row_sum(r), 0};
                      }});
    causes.push_back({tr("α also multiplies this tile's sum: ℓ is α (ℓ + Σ P)."), [&](std::int32_t r, std::int32_t) {
                        return Value{alpha(r) * (old(r) + in.row_sum(r)), 0};
                      }});
  }
  causes.push_back({tr("ℓ holds only this tile's sum: the earlier sum is lost."), [&](std::int32_t r, std::int32_t) {
                      return Value{in.row_sum(r), 0};
                    }});
  causes.push_back({tr("This tile's sum was not added to ℓ."), [&](std::int32_t r, std::int32_t) {
                      return Value{alpha(r) * old(r), 0};
                    }});
  if (std::string words = first_that_fits(causes, elements); !words.empty()) return words;
  if (std::string words = padding_cause(in, elements, alpha); !words.empty()) return words;
  if (!stored) {
    std::string words =
        part_of_columns("ℓ sums", in.cols(Slot::p), elements, [&](std::int32_t r, const Columns& takes) {
          double sum = alpha(r) * old(r);
          for (std::int32_t c = 0; c < in.cols(Slot::p); ++c)
            if (takes(c)) sum += in.at(Slot::p, r, c);
          return Value{sum, 0};
        });
    if (!words.empty()) return words;
  }
  return narrow_cause("ℓ", elements, kRoundingsOfTile);
}

namespace {

// (f O_old + g P V) / l_new, with the factors of the order; some keep O divided by ℓ.
class NewOutput {
 public:
  explicit NewOutput(const Operands& in) : in_(in), divides_(order_row(in.recording().order).divides_each_turn) {}
  Value of(std::int32_t r, std::int32_t c, double f, double g) const { return of(r, c, f, g, in_.weighted(r, c)); }
  Value of(std::int32_t r, std::int32_t c, double f, double g, const Value& pv) const {
    const double l_old = divides_ ? in_.at(Slot::l_old, r) : 1, l_new = divides_ ? in_.at(Slot::l_new, r) : 1;
    const double before = f * l_old * in_.at(Slot::o_old, r, c);
    return Value{(before + g * pv.x) / l_new, (std::fabs(before) + std::fabs(g) * pv.size) / std::fabs(l_new)};
  }

 private:
  const Operands& in_;
  bool divides_;
};

// This tile's weights with the values of another tile.
std::string stale_values(const Operands& in, const NewOutput& made, const std::function<double(std::int32_t)>& alpha,
                         Elements elements) {
  const Recording& rec = in.recording();
  const Problem& p = rec.problem;
  const EventId& id = rec.events[in.event()].id;
  const std::vector<float> values = in.all_keys(rec.inputs.v);
  std::vector<Cause> causes;
  for (std::int32_t j = 0; j < rec.key_tiles(); ++j) {
    if (j == id.j) continue;
    causes.push_back({phrase("P was multiplied by the values of key tile {}: V was not replaced before P V was added "
                             "(a stale tile or a missing barrier).",
                             j),
                      [&, c0 = std::int64_t{j} * rec.options.bc](std::int32_t row, std::int32_t col) {
                        const Value pv = in.weighted_with(row, [&](std::int32_t c) {
                          return c0 + c < p.Lk
                                     ? static_cast<double>(values[static_cast<std::size_t>((c0 + c) * p.Dv + col)])
                                     : 0.0;
                        });
                        return made.of(row, col, alpha(row), 1, pv);
                      }});
  }
  return first_that_fits(causes, elements);
}

// O has the α of another row of the tile, as far away as lanes and fragments are.
std::string other_rows_alpha(const Operands& in, const NewOutput& made, Elements elements) {
  std::vector<Cause> causes;
  for (std::int32_t apart = 1; apart < in.rows(Slot::alpha); apart *= 2) {
    causes.push_back(
        {phrase("O is multiplied by another row's α, namely that of row r XOR {} of the tile.", apart),
         [&, apart](std::int32_t r, std::int32_t c) { return made.of(r, c, in.at(Slot::alpha, r ^ apart), 1); }});
  }
  return first_that_fits(causes, elements);
}

// V is read with the width of K's rows.
std::string other_width(const Operands& in, const NewOutput& made, const std::function<double(std::int32_t)>& alpha,
                        Elements elements) {
  const Problem& p = in.recording().problem;
  if (p.D == p.Dv) return {};
  const Cause cause{phrase("V is read as if its rows had {} numbers, like those of K, but they have {}.", p.D, p.Dv),
                    [&](std::int32_t r, std::int32_t c) {
                      const Value pv = in.weighted_with(r, [&](std::int32_t key) {
                        const std::int64_t n = key * p.D + c;
                        return in.at(Slot::v, static_cast<std::int32_t>(n / p.Dv), static_cast<std::int32_t>(n % p.Dv));
                      });
                      return made.of(r, c, alpha(r), 1, pv);
                    }};
  return first_that_fits({cause}, elements);
}

// NaN of operands that are finite, every one: the product took something that is not in the tile.
std::string nan_of_finite(const NewOutput& made, const std::function<double(std::int32_t)>& alpha, Elements elements) {
  const bool all = std::ranges::all_of(elements, [&](const WrongElement& x) {
    return std::isnan(x.recorded) && std::isfinite(made.of(x.row, x.col, alpha(x.row), 1).x);
  });
  if (!all) return {};
  return tr(
      "NaN although P, V and O are finite: positions past the last key entered the product, where 0 · "
      "NaN is NaN.");
}

}  // namespace

std::string output_cause(const Operands& in, Elements elements) {
  const Recording& rec = in.recording();
  const OrderRow& order = order_row(rec.order);
  const bool stored = order.stores_scores;
  const NewOutput made(in);
  const auto alpha = [&](std::int32_t r) { return stored ? 1.0 : in.at(Slot::alpha, r); };
  std::vector<Cause> causes;
  if (!stored) {
    causes.push_back({tr("O was not multiplied by α: the earlier sum still refers to the old maximum."),
                      [&](std::int32_t r, std::int32_t c) { return made.of(r, c, 1, 1); }});
    causes.push_back({tr("α also multiplies this tile's P V: O is α (O + P V)."),
                      [&](std::int32_t r, std::int32_t c) { return made.of(r, c, alpha(r), alpha(r)); }});
  }
  causes.push_back({tr("O holds only this tile's P V: the earlier sum is lost."),
                    [&](std::int32_t r, std::int32_t c) { return made.of(r, c, 0, 1); }});
  causes.push_back({tr("This tile's P V was not added to O."),
                    [&](std::int32_t r, std::int32_t c) { return made.of(r, c, alpha(r), 0); }});
  if (order.divides_each_turn) {
    causes.push_back({tr("O was not divided by the new ℓ."), [&](std::int32_t r, std::int32_t c) {
                        const Value v = made.of(r, c, alpha(r), 1);
                        return Value{v.x * in.at(Slot::l_new, r), v.size * std::fabs(in.at(Slot::l_new, r))};
                      }});
    causes.push_back(
        {tr("O was not multiplied by the old ℓ before P V was added, so it is still divided by the old ℓ."),
         [&](std::int32_t r, std::int32_t c) {
           const double before = alpha(r) * in.at(Slot::o_old, r, c), l_new = in.at(Slot::l_new, r);
           const Value pv = in.weighted(r, c);
           return Value{(before + pv.x) / l_new, (std::fabs(before) + pv.size) / std::fabs(l_new)};
         }});
  }
  if (std::string words = first_that_fits(causes, elements); !words.empty()) return words;
  if (std::string words = stale_values(in, made, alpha, elements); !words.empty()) return words;
  if (std::string words = other_rows_alpha(in, made, elements); !words.empty()) return words;
  if (std::string words = other_width(in, made, alpha, elements); !words.empty()) return words;
  if (std::string words = nan_of_finite(made, alpha, elements); !words.empty()) return words;
  return narrow_cause("O", elements, kRoundingsOfTile);
}

std::string end_cause(const Operands& in, const FirstWrong& at, Elements elements) {
  const auto newest = [&in](Slot fresh, Slot old, std::int32_t r, std::int32_t c = 0) {
    return in.has(fresh) ? in.at(fresh, r, c) : in.at(old, r, c);
  };
  const auto l = [&](std::int32_t r) { return newest(Slot::l_new, Slot::l_old, r); };
  const auto m = [&](std::int32_t r) { return newest(Slot::m_new, Slot::m_old, r); };
  if (at.slot == Slot::lse) {
    return first_that_fits({{tr("The LSE lacks ln ℓ: it is just m."),
                             [&](std::int32_t r, std::int32_t) {
                               return Value{m(r), 0};
                             }},
                            {tr("The LSE lacks m: it is just ln ℓ."),
                             [&](std::int32_t r, std::int32_t) {
                               return Value{std::log(l(r)), 0};
                             }},
                            {tr("The LSE uses log2 ℓ instead of ln ℓ."),
                             [&](std::int32_t r, std::int32_t) {
                               return Value{m(r) + std::log2(l(r)), std::fabs(m(r))};
                             }}},
                           elements);
  }
  if (all_nan(elements)) {
    const bool empty = std::ranges::all_of(elements, [&](const WrongElement& x) { return l(x.row) == 0; });
    if (empty) return tr("0 / 0: a row without a visible key has ℓ = 0, and the division lacks a guard for it.");
  }
  const auto o = [&](std::int32_t r, std::int32_t c) { return newest(Slot::o_new, Slot::o_old, r, c); };
  std::vector<Cause> causes{{tr("O was not divided by ℓ."),
                             [&](std::int32_t r, std::int32_t c) {
                               return Value{o(r, c), 0};
                             }},
                            {tr("O was multiplied by ℓ."), [&](std::int32_t r, std::int32_t c) {
                               return Value{o(r, c) * l(r), 0};
                             }}};
  const Recording& rec = in.recording();
  const EventId& end = rec.events[in.event()].id;
  for (EventIndex e = 0; e < in.event(); ++e) {
    const EventId& id = rec.events[e].id;
    if (id.phase != Phase::sum || id.b != end.b || id.h != end.h || id.i != end.i) continue;
    const std::span<const float> sums = rec.values(rec.after(e, Slot::l_new));
    causes.push_back({phrase("O was divided by ℓ as of key tile {}, so the rest of the sum is missing.", id.j),
                      [&o, sums](std::int32_t r, std::int32_t c) {
                        const auto row = static_cast<std::size_t>(r);
                        return row < sums.size() ? Value{o(r, c) / static_cast<double>(sums[row]), 0} : Value{};
                      }});
  }
  return first_that_fits(causes, elements);
}

}  // namespace attn::causes
