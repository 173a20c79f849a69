#include "kernels/recording/replay/bounds.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "kernels/base/text.h"
#include "kernels/model/order_row.h"

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
  const bool keys = slot_row(slot).rows == SlotRows::keys;
  return RowsOfInput{at->second, keys ? (id.b * p.Hkv + p.kv_head(id.h)) * p.Lk : (id.b * p.Hq + id.h) * p.Lq};
}

std::string difference_words(EventIndex event, const EventId& id, Slot slot, std::int32_t row, std::int32_t col,
                             float recorded, double replayed) {
  return phrase("step {} (b {}, h {}, i {}, j {}, {}): {} [{}, {}] was recorded as {:.9g}, replay gives {:.9g}",
                event + 1, id.b, id.h, id.i, id.j, name_of(id.phase), name_of(slot), row, col, recorded, replayed);
}

}  // namespace attn
