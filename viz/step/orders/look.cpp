#include "viz/step/orders/look.h"

#include <algorithm>
#include <string>

namespace attn {

TextRun run_of(const Phrase& piece) {
  return {std::string(tr_of(piece.text)), piece.face, piece.ink, piece.raise, false};
}

TextRuns woven(const Saying& saying, std::int64_t keys) {
  std::string words(tr_of(saying.words));
  const auto put = [&words](const std::string& name, const std::string& value) {
    for (std::size_t at = words.find(name); at != std::string::npos; at = words.find(name, at + value.size()))
      words.replace(at, name.size(), value);
  };
  put("{keys}", std::to_string(keys));
  TextRuns pieces;
  for (const Phrase& piece : saying.pieces) {
    put("{" + std::to_string(pieces.size()) + "}", place(pieces.size()));
    pieces.push_back(run_of(piece));
  }
  return woven(words, pieces);
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
