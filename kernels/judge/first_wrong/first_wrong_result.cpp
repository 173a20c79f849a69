#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/base/text.h"
#include "kernels/judge/first_wrong/first_wrong.h"
#include "kernels/judge/verdict.h"
#include "kernels/model/order_row.h"

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
          "Each wrong row is off by the same factor in all its columns: ℓ, or the division by it, is wrong "
          "rather than P V.");
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
    if (!out.lse.empty() && ref.beyond_fp32[n] == 0)
      look(id, -1, static_cast<double>(out.lse.get(row)), ref.lse[n], lse_allowed);
  }
  if (!first) return first;
  first->differing = differing;
  first->of = of;
  first->cause = pattern.words();
  return first;
}

namespace {

bool has_columns(Slot s) {
  return slot_row(s).columns != SlotColumns::one;
}
bool is_by_key(Slot s) {
  return slot_row(s).rows == SlotRows::keys;
}

std::string number_words(double x) {
  if (std::isnan(x)) return "NaN";
  if (std::isinf(x)) return x > 0 ? "∞" : "−∞";
  return fmt::format("{:.6g}", x);
}

std::string tile_words(const EventId& id) {
  std::string words;
  if (id.b > 0) words += phrase(", batch {}", id.b);
  if (id.h > 0) words += phrase(", query head {}", id.h);
  if (id.i >= 0) words += phrase(", query tile {}", id.i);
  if (id.j >= 0) words += phrase(", key tile {}", id.j);
  return words.empty() ? words : words.substr(2);
}

// "rows 1, 2 and 3" or "rows 0 to 15".
std::string rows_words(const std::vector<std::int32_t>& rows, bool keys) {
  constexpr std::size_t kListed = 6;
  const std::int32_t from = rows.front(), to = rows.back();
  if (rows.size() == 1) return keys ? phrase("key {}", from) : phrase("row {}", from);
  if (rows.size() > kListed)
    return keys ? phrase("{} keys from {} to {}", rows.size(), from, to)
                : phrase("{} rows from {} to {}", rows.size(), from, to);
  const std::vector<std::int32_t> first(rows.begin(), rows.end() - 1);
  return keys ? phrase("keys {} and {}", fmt::join(first, ", "), to)
              : phrase("rows {} and {}", fmt::join(first, ", "), to);
}

std::string element_words(const FirstWrong& w) {
  const bool by_key = is_by_key(w.slot);
  std::string element = by_key ? phrase("{} of key {}", letter_of_slot(w.slot), w.row)
                               : phrase("{} of row {}", letter_of_slot(w.slot), w.row);
  if (slot_row(w.slot).columns == SlotColumns::keys) {
    element += phrase(", key {}", w.col);
  } else if (has_columns(w.slot)) {
    element += phrase(", column {}", w.col);
  }
  return w.written
             ? phrase("{} is stored as {} but should be {}", element, number_words(w.recorded), number_words(w.right))
             : phrase("{} is {}, should be {}", element, number_words(w.recorded), number_words(w.right));
}

}  // namespace

std::string place_words(const FirstWrong& w) {
  const std::string tile = tile_words(w.id);
  const std::string step = phrase("step {} ({}{}{})", w.event + 1, name_of(w.id.phase), tile.empty() ? "" : ", ", tile);
  switch (w.what) {
    case WrongStep::skipped:
      return phrase("{}: the correct run computes this tile", step);
    case WrongStep::extra:
      return phrase("{}: the correct run skips this tile; {}", step, element_words(w));
    case WrongStep::missing: {
      const std::string before = phrase("{}: the step '{}' should come first", step, w.missing);
      return w.differing == 0 ? before : fmt::format("{}; {}", before, element_words(w));
    }
    case WrongStep::number:
      break;
  }
  return fmt::format("{}: {}", step, element_words(w));
}

std::string spread_words(const FirstWrong& w) {
  if (w.what != WrongStep::number) return tr("All earlier steps are correct.");
  const bool by_key = is_by_key(w.slot);
  const std::string rows = rows_words(w.rows, by_key);
  if (w.differing == w.of) {
    return phrase("All {} numbers in {} differ in this step. All earlier steps are correct.", w.of,
                  letter_of_slot(w.slot));
  }
  return phrase("{} of {} numbers in {} differ in this step, in {}. All earlier steps are correct.", w.differing, w.of,
                letter_of_slot(w.slot), rows);
}

std::string place_words(const FirstWrongResult& w) {
  const std::string is = number_words(w.recorded), right = number_words(w.right);
  if (w.col < 0)
    return phrase("LSE of row {} (batch {}, query head {}) is {} but should be {}; {} of {} numbers differ", w.row, w.b,
                  w.h, is, right, w.differing, w.of);
  return phrase("O of row {}, column {} (batch {}, query head {}) is {} but should be {}; {} of {} numbers differ",
                w.row, w.col, w.b, w.h, is, right, w.differing, w.of);
}

}  // namespace attn
