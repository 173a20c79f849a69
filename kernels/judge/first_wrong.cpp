#include "kernels/judge/first_wrong.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/judge/likely_cause.h"
#include "kernels/judge/verdict.h"
#include "kernels/recording/replay.h"

namespace attn {
namespace {

// What an event can have made, in the order of the computation.
constexpr Slot kSlotsInTurn[] = {Slot::q,     Slot::k,     Slot::v, Slot::m_old, Slot::l_old, Slot::o_old, Slot::s,
                                 Slot::m_new, Slot::alpha, Slot::p, Slot::l_new, Slot::o_new, Slot::lse};

bool same(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) || (a != a && b != b);
}

// The reading of a version: what must agree before two numbers can be compared.
bool same_reading(const Version& a, const Version& b) {
  return a.holds.scaled == b.holds.scaled && a.holds.base2 == b.holds.base2 && a.holds.normalised == b.holds.normalised;
}

class Finder {
 public:
  Finder(const Recording& wrong, const Recording& right) : wrong_(wrong), right_(right) {}

  Result<std::optional<FirstWrong>> run(const std::stop_token& stop) {
    if (wrong_.problem != right_.problem || wrong_.order != right_.order || wrong_.options.br != right_.options.br ||
        wrong_.options.bc != right_.options.bc) {
      return bad_input("the two runs are not of the same problem, tile and order: nothing can be compared");
    }
    for (e_ = 0; e_ < wrong_.events.size() && !found_; ++e_) {
      if (stop.stop_requested()) return fail(ErrorKind::cancelled, "the search was cancelled");
      const auto at = right_.find(wrong_.events[e_].id, wrong_.events[e_].pass);
      if (!at) continue;  // work that the right run saves itself: what comes of it shows later
      right_e_ = *at;
      if (missing_step()) break;
      if (auto good = compare_event(); !good) return tl::unexpected(good.error());
    }
    return std::move(found_);
  }

 private:
  void put(FirstWrong w) {
    w.event = e_;
    w.id = wrong_.events[e_].id;
    found_ = std::move(w);
  }

  // The right run does something before this step that the other leaves out.
  bool missing_step() {
    if (right_e_ == 0) return false;
    const Event& before = right_.events[right_e_ - 1];
    if (before.id.phase == Phase::skipped || wrong_.find(before.id, before.pass)) return false;
    FirstWrong w;
    w.missing = name_of(before.id.phase);
    const bool skips = wrong_.find({before.id.b, before.id.h, before.id.i, before.id.j, Phase::skipped}).has_value();
    w.cause = skips                            ? "A tile was skipped of which some query sees a key."
              : before.id.phase == Phase::mask ? "The mask was left out of a tile that hides some of its keys."
                                               : fmt::format("The step '{}' of this tile was left out.", w.missing);
    put(std::move(w));
    return true;
  }

  Result<void> compare_event() {
    for (const Slot slot : kSlotsInTurn) {
      const VersionId id = right_.after(right_e_, slot);
      if (id == kNoVersion || right_.version(id).made_by != right_e_ || right_.version(id).slot != slot) continue;
      if (auto good = compare_version(slot, id); !good || found_) return good;
    }
    if (right_.events[right_e_].id.phase == Phase::store_o) compare_written();
    return ok();
  }

  Result<void> compare_version(Slot slot, VersionId right_id) {
    const VersionId id = wrong_.after(e_, slot);
    const Version& r = right_.version(right_id);
    if (id == kNoVersion) return bad_input(fmt::format("step {} has no {}", e_ + 1, letter_of_slot(slot)));
    const Version& w = wrong_.version(id);
    if (w.rows != r.rows || w.cols != r.cols || w.first_row != r.first_row || w.first_col != r.first_col) {
      return bad_input(fmt::format("step {}: its {} is of another tile", e_ + 1, letter_of_slot(slot)));
    }
    if (!same_reading(w, r)) {
      return bad_input(fmt::format("step {}: its {} is kept in another form than the right run's (scale or base)",
                                   e_ + 1, letter_of_slot(slot)));
    }
    elements_.clear();
    FirstWrong found;
    const auto recorded = wrong_.values(id), right = right_.values(right_id);
    for (std::size_t n = 0; n < recorded.size(); ++n) {
      if (!same(recorded[n], right[n])) look_at(slot, right_id, n, recorded[n], right[n], found);
    }
    if (elements_.empty()) return ok();
    finish(slot, w, found);
    return ok();
  }

  // A number that is not the right run's to the bit.
  void look_at(Slot slot, VersionId right_id, std::size_t n, float recorded, float right, FirstWrong& found) {
    const auto exact = exact_of(slot, right_id, n);
    const auto x = static_cast<double>(recorded), y = static_cast<double>(right);
    const bool rounding_alone = exact && std::isfinite(x) && std::isfinite(y);
    if (rounding_alone && !(std::fabs(x - exact->exact) > exact->bound)) return;
    const std::int32_t cols = right_.version(right_id).cols;
    const auto row = static_cast<std::int32_t>(n) / cols, col = static_cast<std::int32_t>(n) % cols;
    if (elements_.empty()) {
      found.recorded = x;
      found.right = rounding_alone ? exact->exact : y;
      found.bound = rounding_alone ? exact->bound : 0;
    }
    elements_.push_back({row, col, x, rounding_alone ? exact->exact : y});
  }

  std::optional<ExactNumber> exact_of(Slot slot, VersionId id, std::size_t n) {
    const EventId& made = right_.events[right_.version(id).made_by].id;
    if (slot == Slot::q || slot == Slot::k || slot == Slot::v || made.i < 0) return std::nullopt;
    if (b_ != made.b || h_ != made.h) exact_.clear();
    b_ = made.b;
    h_ = made.h;
    const auto [at, fresh] = exact_.try_emplace(made.i, right_, made.b, made.h, made.i, DType::f32);
    return at->second.at(id, n);
  }

  void finish(Slot slot, const Version& v, FirstWrong found) {
    found.slot = slot;
    found.row = v.first_row + elements_.front().row;
    found.col = v.first_col + elements_.front().col;
    found.differing = static_cast<std::int64_t>(elements_.size());
    found.of = static_cast<std::int64_t>(v.rows) * v.cols;
    for (const WrongElement& x : elements_) {
      if (found.rows.empty() || found.rows.back() != v.first_row + x.row) found.rows.push_back(v.first_row + x.row);
    }
    found.event = e_;
    found.id = wrong_.events[e_].id;
    found.cause = likely_cause(wrong_, right_, found, right_e_, elements_);
    put(std::move(found));
  }

  // The last step is right, and what lies in memory must be what it holds.
  void compare_written() {
    const VersionId o_new = right_.after(right_e_, Slot::o_new);
    const VersionId o = o_new != kNoVersion ? o_new : right_.after(right_e_, Slot::o_old);
    const VersionId lse = right_.after(right_e_, Slot::lse);
    if (o == kNoVersion || lse == kNoVersion) return;
    const Version& v = right_.version(o);
    const EventId& id = right_.events[right_e_].id;
    const std::int64_t first = (id.b * right_.problem.Hq + id.h) * right_.problem.Lq + v.first_row;
    elements_.clear();
    FirstWrong found;
    found.written = true;
    for (std::int64_t n = 0; n < static_cast<std::int64_t>(v.rows) * v.cols; ++n) {
      const std::int64_t at = first * v.cols + n;
      const float x = wrong_.outputs.out.get(at), y = right_.outputs.out.get(at);
      if (!same(x, y)) look_at(Slot::o_new, o, static_cast<std::size_t>(n), x, y, found);
    }
    if (!elements_.empty()) return finish(Slot::o_new, v, found);
    for (std::int64_t r = 0; r < v.rows; ++r) {
      const float x = wrong_.outputs.lse.get(first + r), y = right_.outputs.lse.get(first + r);
      if (!same(x, y)) look_at(Slot::lse, lse, static_cast<std::size_t>(r), x, y, found);
    }
    if (!elements_.empty()) finish(Slot::lse, right_.version(lse), found);
  }

  const Recording& wrong_;
  const Recording& right_;
  EventIndex e_ = 0, right_e_ = 0;
  std::vector<WrongElement> elements_;  // of the version that is looked at
  std::optional<FirstWrong> found_;
  std::int32_t b_ = -1, h_ = -1;
  std::map<std::int32_t, ExactTile> exact_;  // of that head, by query tile; made where something differs
};

bool has_columns(Slot s) {
  return s == Slot::q || s == Slot::k || s == Slot::v || s == Slot::s || s == Slot::p || s == Slot::o_old ||
         s == Slot::o_new;
}

std::string number_words(double x) {
  if (std::isnan(x)) return "NaN";
  if (std::isinf(x)) return x > 0 ? "∞" : "−∞";
  return fmt::format("{:.6g}", x);
}

std::string tile_words(const EventId& id) {
  std::string words;
  if (id.b > 0) words += fmt::format(", batch {}", id.b);
  if (id.h > 0) words += fmt::format(", query head {}", id.h);
  if (id.i >= 0) words += fmt::format(", query tile {}", id.i);
  if (id.j >= 0) words += fmt::format(", key tile {}", id.j);
  return words.empty() ? words : words.substr(2);
}

// "rows 1, 2 and 3" or "rows 0 to 15".
std::string rows_words(const std::vector<std::int32_t>& rows, const char* what) {
  constexpr std::size_t kListed = 6;
  if (rows.size() == 1) return fmt::format("{} {}", what, rows.front());
  if (rows.size() > kListed) return fmt::format("{} {}s from {} to {}", rows.size(), what, rows.front(), rows.back());
  const std::vector<std::int32_t> first(rows.begin(), rows.end() - 1);
  return fmt::format("{}s {} and {}", what, fmt::join(first, ", "), rows.back());
}

}  // namespace

std::string_view letter_of_slot(Slot s) {
  constexpr std::string_view kLetters[] = {"Q", "K", "V", "S", "P", "m", "m", "α", "ℓ", "ℓ", "O", "O", "LSE"};
  return kLetters[static_cast<std::size_t>(s)];
}

Result<std::optional<FirstWrong>> find_first_wrong(const Recording& wrong, const Recording& right,
                                                   const std::stop_token& stop) {
  return Finder(wrong, right).run(stop);
}

std::string place_words(const FirstWrong& w) {
  const std::string tile = tile_words(w.id);
  const std::string step =
      fmt::format("step {} ({}{}{})", w.event + 1, name_of(w.id.phase), tile.empty() ? "" : ", ", tile);
  if (!w.missing.empty()) return fmt::format("{}: the step '{}' should stand before it", step, w.missing);
  const bool by_key = w.slot == Slot::k || w.slot == Slot::v;
  std::string element = fmt::format("{} of {} {}", letter_of_slot(w.slot), by_key ? "key" : "row", w.row);
  if (w.slot == Slot::s || w.slot == Slot::p) {
    element += fmt::format(", key {}", w.col);
  } else if (has_columns(w.slot)) {
    element += fmt::format(", column {}", w.col);
  }
  return fmt::format("{}: {}{} is {}, right is {}", step, element, w.written ? " as it was stored" : "",
                     number_words(w.recorded), number_words(w.right));
}

std::string spread_words(const FirstWrong& w) {
  if (!w.missing.empty()) return "Every step before it is right.";
  const bool by_key = w.slot == Slot::k || w.slot == Slot::v;
  const std::string rows = rows_words(w.rows, by_key ? "key" : "row");
  if (w.differing == w.of) {
    return fmt::format("All {} numbers of {} in this step differ; every step before it is right.", w.of,
                       letter_of_slot(w.slot));
  }
  return fmt::format("{} of {} numbers of {} in this step differ, in {}; every step before it is right.", w.differing,
                     w.of, letter_of_slot(w.slot), rows);
}

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
      return "Everything that differs is NaN: a row without a visible key (−∞ − (−∞)), 0 · ∞ or 0 / 0.";
    }
    if (one_factor_ && compared_ > 0) {
      return "Each wrong row is off by one factor over all its columns: ℓ, or the division by it, is wrong rather than "
             "P V.";
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

std::string place_words(const FirstWrongResult& w) {
  const std::string what = w.col < 0 ? "LSE" : fmt::format("O, column {},", w.col);
  return fmt::format("{} of row {} (batch {}, query head {}) is {}, right is {}; {} of {} numbers differ", what, w.row,
                     w.b, w.h, number_words(w.recorded), number_words(w.right), w.differing, w.of);
}

}  // namespace attn
