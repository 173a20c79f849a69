#include "kernels/judge/likely_cause.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "kernels/base/dtype.h"
#include "kernels/judge/operands.h"
#include "kernels/model/traffic.h"

namespace attn {
namespace {

using causes::Operands;
using causes::Value;
constexpr double kInf = causes::kInf;

// A cause as a formula for what it makes of one element.
struct Cause {
  std::string words;
  std::function<Value(std::int32_t row, std::int32_t col)> formula;
};

bool fits(double recorded, const Value& v) {
  if (std::isnan(recorded) || std::isnan(v.x)) return std::isnan(recorded) && std::isnan(v.x);
  if (!std::isfinite(recorded) || !std::isfinite(v.x)) return recorded == v.x;
  return std::fabs(recorded - v.x) <= 1e-5 * std::max(v.size, std::fabs(v.x)) + 1e-30;
}

// The first cause that gives every number. A formula that has no value for an element does not fit, unless NaN is what
// it says.
std::string first_that_fits(const std::vector<Cause>& causes, std::span<const WrongElement> elements) {
  for (const Cause& cause : causes) {
    const bool all = std::ranges::all_of(
        elements, [&](const WrongElement& x) { return fits(x.recorded, cause.formula(x.row, x.col)); });
    if (all) return cause.words;
  }
  return {};
}

bool all_nan(std::span<const WrongElement> elements) {
  return std::ranges::all_of(elements, [](const WrongElement& x) { return std::isnan(x.recorded); });
}

// ---- loads

// The tile that the recorded numbers are, where they are another one's.
std::string load_cause(const Recording& wrong, const Recording& right, const FirstWrong& at) {
  const auto recorded = wrong.values(wrong.after(at.event, at.slot));
  const bool keys = at.slot == Slot::k || at.slot == Slot::v;
  for (const Version& v : right.versions) {
    if (v.slot != at.slot) continue;
    const auto other = std::span<const float>(right.arena)
                           .subspan(v.offset, static_cast<std::size_t>(v.rows) * static_cast<std::size_t>(v.cols));
    if (!std::ranges::equal(recorded, other)) continue;
    return fmt::format("{} is a stale tile: these are the {} from {} on, of another {} tile.", letter_of_slot(at.slot),
                       keys ? "keys" : "rows", v.first_row, keys ? "key" : "query");
  }
  return {};
}

// ---- S

// Every number is the same multiple of what it should be.
std::optional<double> common_factor(std::span<const WrongElement> elements) {
  double factor = 0;
  for (const WrongElement& x : elements) {
    if (!std::isfinite(x.recorded) || std::fabs(x.right) < 1e-6) return std::nullopt;
    const double now = x.recorded / x.right;
    if (factor != 0 && std::fabs(now - factor) > 1e-4 * std::fabs(factor)) return std::nullopt;
    factor = now;
  }
  return factor == 0 ? std::nullopt : std::optional(factor);
}

std::string factor_words(const Problem& p, double factor) {
  const double scale = p.effective_scale();
  const auto is = [factor](double x) { return std::fabs(factor - x) < 1e-3 * std::fabs(x); };
  if (is(1 / scale)) return "The scale is missing: S is Q Kᵀ as it stands.";
  if (is(scale)) return "The scale is applied twice.";
  constexpr double kLog2E = 1.4426950408889634;
  if (is(kLog2E)) return "S is kept in base 2 (times log2 e) and read as if it were in base e.";
  if (is(-1)) return "S has the wrong sign.";
  return fmt::format("All of S is off by the factor {:.6g}.", factor);
}

// Scores of this query tile with the keys of another tile.
std::string stale_scores(const Operands& in, std::span<const WrongElement> elements) {
  const Recording& rec = in.recording();
  const EventId& id = rec.events[in.event()].id;
  const double scale = rec.problem.effective_scale();
  for (std::int32_t j = 0; j < rec.key_tiles(); ++j) {
    if (j == id.j) continue;
    const std::int64_t c0 = static_cast<std::int64_t>(j) * rec.options.bc;
    const std::int64_t kv = id.b * rec.problem.Hkv + rec.problem.kv_head(id.h);
    const Cause cause{
        fmt::format("These are the scores of key tile {}: K was not replaced before S was computed (a stale "
                    "tile, or a barrier that is missing).",
                    j),
        [&](std::int32_t row, std::int32_t col) {
          Value v{0, 0};
          if (c0 + col >= rec.problem.Lk) return Value{};
          for (std::int32_t d = 0; d < in.cols(Slot::q); ++d) {
            const auto key =
                static_cast<double>(rec.inputs.k.get((kv * rec.problem.Lk + c0 + col) * rec.problem.D + d));
            const double term = scale * in.at(Slot::q, row, d) * key;
            v.x += term;
            v.size += std::fabs(term);
          }
          return v;
        }};
    if (std::string words = first_that_fits({cause}, elements); !words.empty()) return words;
  }
  return {};
}

std::string scores_cause(const Operands& in, std::span<const WrongElement> elements) {
  if (elements.size() > 1) {
    if (const auto factor = common_factor(elements)) return factor_words(in.recording().problem, *factor);
  }
  return stale_scores(in, elements);
}

// ---- mask

std::string mask_cause(const Recording& rec, const FirstWrong& at, std::span<const WrongElement> elements) {
  const Version& v = rec.version(rec.after(at.event, at.slot));
  bool shown = true, hidden = true, next = true, own = true;
  for (const WrongElement& x : elements) {
    const std::int64_t row = v.first_row + x.row, key = v.first_col + x.col;
    const KeyRange seen = rec.problem.visible_keys(at.id.b, row);
    const bool lets_see = x.right == -kInf && x.recorded != -kInf;
    shown = shown && lets_see;
    hidden = hidden && x.recorded == -kInf && x.right != -kInf;
    next = next && lets_see && (key == seen.last || key == seen.first - 1);
    own = own && x.recorded == -kInf && (key == seen.last - 1 || key == seen.first);
  }
  if (next) return "The mask is off by one: queries see one key beyond their last, the next one as well.";
  if (own) return "The mask is off by one: the last key that a query may see is hidden from it.";
  if (shown) return "The mask lets queries see keys that are hidden from them.";
  if (hidden) return "The mask hides keys that queries may see.";
  if (rec.problem.shapes_scores()) {
    return "Neither shown nor hidden wrongly: softcap, bias or ALiBi is wrong where keys are seen.";
  }
  return rec.problem.has_bias() ? "Neither shown nor hidden wrongly: the bias is wrong where keys are seen." : "";
}

// ---- m, α, P

std::string max_cause(const Operands& in, std::span<const WrongElement> elements) {
  const auto tile_max = [&in](std::int32_t r, std::int32_t) { return Value{in.row_max(r), 0}; };
  const auto all_rows = [&in](std::int32_t, std::int32_t) {
    double best = -kInf;
    for (std::int32_t r = 0; r < in.rows(Slot::s); ++r) best = std::max({best, in.row_max(r), in.at(Slot::m_old, r)});
    return Value{best, 0};
  };
  const bool all_zero = in.all_are(Slot::m_new, 0);
  return first_that_fits(
      {{"The old maximum is not carried over: m is that of this tile alone, so it can fall.", tile_max},
       {"m was not raised: it is the old one, and this tile has a larger score.",
        [&in](std::int32_t r, std::int32_t) {
          return Value{in.at(Slot::m_old, r), 0};
        }},
       {"The maximum is not taken: m stays 0, and exp can overflow.",
        [all_zero](std::int32_t, std::int32_t) {
          return all_zero ? Value{0, 0} : Value{};
        }},
       {in.first_tile_of_row() ? "m begins at 0 instead of −∞, or places past the last key count with a score of 0."
                               : "Places past the last key count with a score of 0.",
        [&in](std::int32_t r, std::int32_t) {
          return Value{std::max({0.0, in.row_max(r), in.at(Slot::m_old, r)}), 0};
        }},
       {"Rows share one maximum: m is the largest score of all rows of the tile.", all_rows}},
      elements);
}

std::string rescale_cause(const Operands& in, std::span<const WrongElement> elements) {
  const auto old = [&in](std::int32_t r) { return in.at(Slot::m_old, r); };
  const auto now = [&in](std::int32_t r) { return in.at(Slot::m_new, r); };
  const bool guard = std::ranges::all_of(elements, [&](const WrongElement& x) {
    return std::isnan(x.recorded) && old(x.row) == -kInf && now(x.row) == -kInf;
  });
  if (guard) return "−∞ − (−∞): no key was seen yet, m is −∞ before and after, and α lacks the guard that makes it 1.";
  return first_that_fits(
      {{"α was forgotten: it is 1 although m rose.",
        [](std::int32_t, std::int32_t) {
          return Value{1, 0};
        }},
       {"α is 0 although something was summed before: the old maximum was read as −∞, so it was not carried over.",
        [](std::int32_t, std::int32_t) {
          return Value{0, 0};
        }},
       {"α is upside down: exp(m_new − m_old).",
        [&](std::int32_t r, std::int32_t) {
          return Value{std::exp(now(r) - old(r)), 0};
        }},
       {"α is taken as 2^x where the maxima are in base e.",
        [&](std::int32_t r, std::int32_t) {
          return Value{std::exp2(old(r) - now(r)), 0};
        }},
       {"α is the ratio of the maxima; it has to be e to their difference.",
        [&](std::int32_t r, std::int32_t) {
          return Value{old(r) / now(r), 0};
        }}},
      elements);
}

std::string weights_cause(const Operands& in, std::span<const WrongElement> elements) {
  const auto s = [&in](std::int32_t r, std::int32_t c) { return in.at(Slot::s, r, c); };
  const auto m = [&in](std::int32_t r) { return in.at(Slot::m_new, r); };
  const bool guard =
      std::ranges::all_of(elements, [&](const WrongElement& x) { return std::isnan(x.recorded) && m(x.row) == -kInf; });
  if (guard)
    return "−∞ − (−∞): the row saw no key yet, its m is −∞, and exp(S − m) lacks the guard that takes 0 for m.";
  std::vector<Cause> causes{{"The maximum is not subtracted: P is exp(S).",
                             [&](std::int32_t r, std::int32_t c) {
                               return Value{std::exp(s(r, c)), 0};
                             }},
                            {"The old maximum was subtracted in place of the new one.",
                             [&](std::int32_t r, std::int32_t c) {
                               return Value{std::exp(s(r, c) - in.at(Slot::m_old, r)), 0};
                             }},
                            {"P is taken as 2^x where S and m are in base e.",
                             [&](std::int32_t r, std::int32_t c) {
                               return Value{std::exp2(s(r, c) - m(r)), 0};
                             }},
                            {"The exponential is missing: P is S − m.", [&](std::int32_t r, std::int32_t c) {
                               return Value{s(r, c) - m(r), std::fabs(s(r, c)) + std::fabs(m(r))};
                             }}};
  if (stores_scores(in.recording().order)) {
    causes.push_back({"P is not divided by ℓ.", [&](std::int32_t r, std::int32_t c) {
                        return Value{std::exp(s(r, c) - m(r)), 0};
                      }});
  }
  return first_that_fits(causes, elements);
}

// ---- ℓ, O

// A sum that is rounded after each of a tile's additions is further from the right one.
constexpr double kRoundingsOfTile = 4;

// Each number is one of a narrow type, within `steps` of its roundings: half its epsilon is one.
std::string narrow_cause(std::string_view letter, std::span<const WrongElement> elements, double steps) {
  for (const DType t : {DType::bf16, DType::f16}) {
    const bool all = std::ranges::all_of(elements, [t, steps](const WrongElement& x) {
      const auto recorded = static_cast<float>(x.recorded);
      const double room = steps * epsilon_of(t) / 2 * std::fabs(x.right);
      return round_to(t, recorded) == recorded && std::fabs(x.recorded - x.right) <= room;
    });
    if (all) {
      return fmt::format("{} is kept in {}: each of these numbers is one of that type, as near as it has one.", letter,
                         name_of(t));
    }
  }
  return {};
}

// Places past the last key are summed with a score of 0: ℓ has the same number of e^(0 − m) too much in every row.
std::string padding_cause(const Operands& in, std::span<const WrongElement> elements,
                          const std::function<double(std::int32_t)>& alpha) {
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
  return places == 0 ? ""
                     : fmt::format("{} {} past the last key {} with a score of 0: ℓ has e^(0 − m) too much for each.",
                                   places, places == 1 ? "place" : "places", places == 1 ? "counts" : "count");
}

std::string sum_cause(const Operands& in, std::span<const WrongElement> elements) {
  const bool stored = stores_scores(in.recording().order);
  const auto old = [&in](std::int32_t r) { return in.at(Slot::l_old, r); };
  const auto alpha = [&in, stored](std::int32_t r) { return stored ? 1.0 : in.at(Slot::alpha, r); };
  // Before the formulas: that 256 + 1 is 256 looks like a sum that was not added.
  if (std::string words = narrow_cause("ℓ", elements, 1); !words.empty()) return words;
  std::vector<Cause> causes;
  if (!stored) {
    causes.push_back({"ℓ was not multiplied by α: what was summed before still stands against the old maximum.",
                      [&](std::int32_t r, std::int32_t) {
                        return Value{old(r) + in.row_sum(r), 0};
                      }});
    causes.push_back({"α multiplies this tile's sum as well: ℓ is α (ℓ + Σ P).", [&](std::int32_t r, std::int32_t) {
                        return Value{alpha(r) * (old(r) + in.row_sum(r)), 0};
                      }});
  }
  causes.push_back(
      {"ℓ holds this tile's sum alone: what was summed before is lost.", [&](std::int32_t r, std::int32_t) {
         return Value{in.row_sum(r), 0};
       }});
  causes.push_back({"This tile's sum was not added to ℓ.", [&](std::int32_t r, std::int32_t) {
                      return Value{alpha(r) * old(r), 0};
                    }});
  if (std::string words = first_that_fits(causes, elements); !words.empty()) return words;
  if (std::string words = padding_cause(in, elements, alpha); !words.empty()) return words;
  return narrow_cause("ℓ", elements, kRoundingsOfTile);
}

// This tile's weights with the values of another tile. `l`: what O is kept divided by.
std::string stale_values(const Operands& in, std::span<const WrongElement> elements,
                         const std::function<double(std::int32_t)>& alpha,
                         const std::function<double(std::int32_t, Slot)>& l) {
  const Recording& rec = in.recording();
  const Problem& p = rec.problem;
  const EventId& id = rec.events[in.event()].id;
  const std::int64_t kv = id.b * p.Hkv + p.kv_head(id.h);
  for (std::int32_t j = 0; j < rec.key_tiles(); ++j) {
    if (j == id.j) continue;
    const std::int64_t c0 = static_cast<std::int64_t>(j) * rec.options.bc;
    const Cause cause{
        fmt::format("These are the values of key tile {}: V was not replaced before P V was added (a stale tile, or a "
                    "barrier that is missing).",
                    j),
        [&](std::int32_t row, std::int32_t col) {
          const Value pv = in.weighted_with(row, [&](std::int32_t c) {
            return c0 + c < p.Lk ? static_cast<double>(rec.inputs.v.get((kv * p.Lk + c0 + c) * p.Dv + col)) : 0.0;
          });
          const double before = alpha(row) * l(row, Slot::l_old) * in.at(Slot::o_old, row, col);
          const double l_new = l(row, Slot::l_new);
          return Value{(before + pv.x) / l_new, (std::fabs(before) + pv.size) / std::fabs(l_new)};
        }};
    if (std::string words = first_that_fits({cause}, elements); !words.empty()) return words;
  }
  return {};
}

std::string output_cause(const Operands& in, std::span<const WrongElement> elements) {
  const Recording& rec = in.recording();
  const bool stored = stores_scores(rec.order), flash1 = rec.order == Order::flash1;
  const auto l = [&](std::int32_t r, Slot s) { return flash1 ? in.at(s, r) : 1.0; };
  // (f O_old + g P V) / l_new, with the factors of the order; flash-1 keeps O divided by ℓ.
  const auto made = [&](std::int32_t r, std::int32_t c, double f, double g) {
    const Value pv = in.weighted(r, c);
    const double before = f * l(r, Slot::l_old) * in.at(Slot::o_old, r, c), l_new = l(r, Slot::l_new);
    return Value{(before + g * pv.x) / l_new, (std::fabs(before) + std::fabs(g) * pv.size) / std::fabs(l_new)};
  };
  const auto alpha = [&](std::int32_t r) { return stored ? 1.0 : in.at(Slot::alpha, r); };
  std::vector<Cause> causes;
  if (!stored) {
    causes.push_back({"O was not multiplied by α: it still holds the weights of the old maximum.",
                      [&](std::int32_t r, std::int32_t c) { return made(r, c, 1, 1); }});
    causes.push_back({"α multiplies this tile's P V as well: O is α (O + P V).",
                      [&](std::int32_t r, std::int32_t c) { return made(r, c, alpha(r), alpha(r)); }});
  }
  causes.push_back({"O holds this tile's P V alone: what was summed before is lost.",
                    [&](std::int32_t r, std::int32_t c) { return made(r, c, 0, 1); }});
  causes.push_back(
      {"This tile's P V was not added to O.", [&](std::int32_t r, std::int32_t c) { return made(r, c, alpha(r), 0); }});
  if (flash1) {
    causes.push_back({"O was not divided by the new ℓ.", [&](std::int32_t r, std::int32_t c) {
                        const Value v = made(r, c, alpha(r), 1);
                        return Value{v.x * in.at(Slot::l_new, r), v.size * std::fabs(in.at(Slot::l_new, r))};
                      }});
  }
  if (std::string words = first_that_fits(causes, elements); !words.empty()) return words;
  if (std::string words = stale_values(in, elements, alpha, l); !words.empty()) return words;
  return narrow_cause("O", elements, kRoundingsOfTile);
}

// ---- the end

std::string end_cause(const Operands& in, const FirstWrong& at, std::span<const WrongElement> elements) {
  const auto newest = [&in](Slot fresh, Slot old, std::int32_t r, std::int32_t c = 0) {
    return in.has(fresh) ? in.at(fresh, r, c) : in.at(old, r, c);
  };
  const auto l = [&](std::int32_t r) { return newest(Slot::l_new, Slot::l_old, r); };
  const auto m = [&](std::int32_t r) { return newest(Slot::m_new, Slot::m_old, r); };
  if (at.slot == Slot::lse) {
    return first_that_fits({{"The LSE lacks ln ℓ: it is m alone.",
                             [&](std::int32_t r, std::int32_t) {
                               return Value{m(r), 0};
                             }},
                            {"The LSE lacks m: it is ln ℓ alone.",
                             [&](std::int32_t r, std::int32_t) {
                               return Value{std::log(l(r)), 0};
                             }},
                            {"The LSE takes log2 ℓ for ln ℓ.",
                             [&](std::int32_t r, std::int32_t) {
                               return Value{m(r) + std::log2(l(r)), std::fabs(m(r))};
                             }}},
                           elements);
  }
  if (all_nan(elements)) {
    const bool empty = std::ranges::all_of(elements, [&](const WrongElement& x) { return l(x.row) == 0; });
    if (empty) return "0 / 0: a row without a visible key has ℓ = 0, and the division lacks its guard.";
  }
  const auto o = [&](std::int32_t r, std::int32_t c) { return newest(Slot::o_new, Slot::o_old, r, c); };
  std::vector<Cause> causes{{"O was not divided by ℓ.",
                             [&](std::int32_t r, std::int32_t c) {
                               return Value{o(r, c), 0};
                             }},
                            {"O was multiplied by ℓ.", [&](std::int32_t r, std::int32_t c) {
                               return Value{o(r, c) * l(r), 0};
                             }}};
  const Recording& rec = in.recording();
  const EventId& end = rec.events[in.event()].id;
  for (EventIndex e = 0; e < in.event(); ++e) {
    const EventId& id = rec.events[e].id;
    if (id.phase != Phase::sum || id.b != end.b || id.h != end.h || id.i != end.i) continue;
    const std::span<const float> sums = rec.values(rec.after(e, Slot::l_new));
    causes.push_back({fmt::format("O was divided by ℓ as it stood after key tile {}: the rest is missing.", id.j),
                      [&o, sums](std::int32_t r, std::int32_t c) {
                        const auto row = static_cast<std::size_t>(r);
                        return row < sums.size() ? Value{o(r, c) / static_cast<double>(sums[row]), 0} : Value{};
                      }});
  }
  return first_that_fits(causes, elements);
}

}  // namespace

std::string likely_cause(const Recording& wrong, const Recording& right, const FirstWrong& at, EventIndex right_event,
                         std::span<const WrongElement> elements) {
  if (at.written) return "The last step is right, and something else was stored: look at the way to memory.";
  const Operands in(wrong, at.event);
  switch (right.events[right_event].id.phase) {
    case Phase::load_q:
    case Phase::load_k:
    case Phase::load_v:
    case Phase::load_kv:
    case Phase::load_state:
      return load_cause(wrong, right, at);
    case Phase::scores:
      return scores_cause(in, elements);
    case Phase::mask:
      return mask_cause(wrong, at, elements);
    case Phase::max:
      return max_cause(in, elements);
    case Phase::rescale:
      return rescale_cause(in, elements);
    case Phase::weights:
      return weights_cause(in, elements);
    case Phase::sum:
      return sum_cause(in, elements);
    case Phase::output:
      return output_cause(in, elements);
    case Phase::normalise:
    case Phase::store_o:
      return end_cause(in, at, elements);
    default:
      return {};
  }
}

}  // namespace attn
