#include "viz/step/orders/look.h"

#include <algorithm>
#include <string>

namespace attn {

TextRun run_of(const Phrase& piece) {
  return {std::string(tr_of(piece.text)), piece.face, piece.ink, piece.raise, false};
}

const PhaseLook& OrderLook::phase(Phase p) const {
  static constexpr PhaseLook kPlain{};
  const std::uint8_t at = phase_at.at(static_cast<std::size_t>(p));
  return at == kNone ? kPlain : phases[at];
}

const SlotLook& OrderLook::slot(Slot s) const {
  static constexpr SlotLook kPlain{};
  const std::uint8_t at = slot_at.at(static_cast<std::size_t>(s));
  return at == kNone ? kPlain : slots[at];
}

const ColumnLook* OrderLook::column(Column c) const {
  const auto at = std::ranges::find(columns, c, &ColumnLook::column);
  return at == columns.end() ? nullptr : &*at;
}

bool OrderLook::shows(Slot s) const {
  return slot_at.at(static_cast<std::size_t>(s)) != kNone;
}

std::size_t OrderLook::column_count() const {
  std::size_t count = kNamedColumns;
  for (const ColumnLook& c : columns) count = std::max(count, static_cast<std::size_t>(c.column) + 1);
  return count;
}

}  // namespace attn
