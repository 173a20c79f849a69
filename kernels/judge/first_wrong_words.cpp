#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/base/text.h"
#include "kernels/judge/first_wrong.h"
#include "kernels/model/order_row.h"

namespace attn {
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
std::string rows_words(const std::vector<std::int32_t>& rows, const char* what) {
  constexpr std::size_t kListed = 6;
  if (rows.size() == 1) return fmt::format("{} {}", what, rows.front());
  if (rows.size() > kListed) return phrase("{} {}s from {} to {}", rows.size(), what, rows.front(), rows.back());
  const std::vector<std::int32_t> first(rows.begin(), rows.end() - 1);
  return phrase("{}s {} and {}", what, fmt::join(first, ", "), rows.back());
}

std::string element_words(const FirstWrong& w) {
  const bool by_key = is_by_key(w.slot);
  std::string element = fmt::format("{} of {} {}", letter_of_slot(w.slot), by_key ? "key" : "row", w.row);
  if (slot_row(w.slot).columns == SlotColumns::keys) {
    element += phrase(", key {}", w.col);
  } else if (has_columns(w.slot)) {
    element += phrase(", column {}", w.col);
  }
  return phrase("{}{} is {}, right is {}", element, w.written ? tr(" as it was stored") : "", number_words(w.recorded),
                number_words(w.right));
}

}  // namespace

std::string place_words(const FirstWrong& w) {
  const std::string tile = tile_words(w.id);
  const std::string step = phrase("step {} ({}{}{})", w.event + 1, name_of(w.id.phase), tile.empty() ? "" : ", ", tile);
  switch (w.what) {
    case WrongStep::skipped:
      return phrase("{}: the right run computes this tile", step);
    case WrongStep::extra:
      return phrase("{}: the right run skips this tile; {}", step, element_words(w));
    case WrongStep::missing: {
      const std::string before = phrase("{}: the step '{}' should stand before it", step, w.missing);
      return w.differing == 0 ? before : fmt::format("{}; {}", before, element_words(w));
    }
    case WrongStep::number:
      break;
  }
  return fmt::format("{}: {}", step, element_words(w));
}

std::string spread_words(const FirstWrong& w) {
  if (w.what != WrongStep::number) return tr("Every step before it is right.");
  const bool by_key = is_by_key(w.slot);
  const std::string rows = rows_words(w.rows, by_key ? "key" : "row");
  if (w.differing == w.of) {
    return phrase("All {} numbers of {} in this step differ; every step before it is right.", w.of,
                  letter_of_slot(w.slot));
  }
  return phrase("{} of {} numbers of {} in this step differ, in {}; every step before it is right.", w.differing, w.of,
                letter_of_slot(w.slot), rows);
}

std::string place_words(const FirstWrongResult& w) {
  const std::string what = w.col < 0 ? "LSE" : phrase("O, column {},", w.col);
  return phrase("{} of row {} (batch {}, query head {}) is {}, right is {}; {} of {} numbers differ", what, w.row, w.b,
                w.h, number_words(w.recorded), number_words(w.right), w.differing, w.of);
}

}  // namespace attn
