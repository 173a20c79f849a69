#include "kernels/recording/replay/bounds.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "kernels/base/text.h"
#include "kernels/model/options.h"
#include "kernels/model/order_row.h"
#include "kernels/model/problem/pages.h"

namespace attn {

std::optional<RowsOfInput> rows_of_input(const Recording& rec, const EventId& id, Slot slot) {
  const Problem& p = rec.problem;
  const auto optional = [](const std::optional<Array>& a) { return a ? &*a : nullptr; };
  const std::pair<std::string_view, const Array*> tensors[] = {{"q", &rec.inputs.q},
                                                               {"k", &rec.inputs.k},
                                                               {"v", &rec.inputs.v},
                                                               {"o", optional(rec.inputs.o)},
                                                               {"do", optional(rec.inputs.d_o)},
                                                               {"lse", optional(rec.inputs.lse)}};
  const auto* const at = std::ranges::find(tensors, name_of(slot), [](const auto& each) { return each.first; });
  if (at == std::end(tensors) || at->second == nullptr) return std::nullopt;
  if (slot_row(slot).rows != SlotRows::keys) return RowsOfInput{at->second, (id.b * p.Hq + id.h) * p.Lq};
  const bool paged = p.storage.kind() == Storage::paged;
  return RowsOfInput{at->second, paged ? 0 : (id.b * p.Hkv + p.kv_head(id.h)) * p.Lk};
}

std::optional<std::vector<float>> tile_of_input(const Recording& rec, const EventId& id, Slot slot, VersionId tile) {
  const std::optional<RowsOfInput> from = rows_of_input(rec, id, slot);
  if (!from) return std::nullopt;
  const Version& v = rec.version(tile);
  std::vector<float> rows(static_cast<std::size_t>(v.rows) * static_cast<std::size_t>(v.cols));
  if (slot_row(slot).rows == SlotRows::keys) {
    const KeyHead head{id.b, rec.problem.kv_head(id.h)};
    read_keys(rec.problem, rec.inputs, *from->tensor, head, v.first_row, v.rows, rows.data(),
              zeroes_tail(rec.options) ? PageTail::zeroed : PageTail::as_it_lies);
  } else {
    from->tensor->read((from->first + v.first_row) * v.cols, std::ssize(rows), rows.data());
  }
  return rows;
}

std::string difference_words(EventIndex event, const EventId& id, Slot slot, std::int32_t row, std::int32_t col,
                             float recorded, double replayed) {
  return phrase("step {} (b {}, h {}, i {}, j {}, {}): {} [{}, {}] was recorded as {:.9g}, but the replay gives {:.9g}",
                event + 1, id.b, id.h, id.i, id.j, name_of(id.phase), name_of(slot), row, col, recorded, replayed);
}

}  // namespace attn
