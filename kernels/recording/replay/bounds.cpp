#include "kernels/recording/replay/bounds.h"

#include <array>
#include <cstddef>

#include "kernels/base/text.h"
#include "kernels/model/order_row.h"

namespace attn {

std::optional<RowsOfInput> rows_of_input(const Recording& rec, const EventId& id, Slot slot) {
  const Problem& p = rec.problem;
  const std::array tensors{&rec.inputs.q, &rec.inputs.k, &rec.inputs.v};  // by slot
  const auto at = static_cast<std::size_t>(slot);
  if (at >= tensors.size()) return std::nullopt;
  const bool keys = slot_row(slot).rows == SlotRows::keys;
  return RowsOfInput{tensors[at], keys ? (id.b * p.Hkv + p.kv_head(id.h)) * p.Lk : (id.b * p.Hq + id.h) * p.Lq};
}

std::string difference_words(EventIndex event, const EventId& id, Slot slot, std::int32_t row, std::int32_t col,
                             float recorded, double replayed) {
  return phrase("step {} (b {}, h {}, i {}, j {}, {}): {} [{}, {}] was recorded as {:.9g}, replay gives {:.9g}",
                event + 1, id.b, id.h, id.i, id.j, name_of(id.phase), name_of(slot), row, col, recorded, replayed);
}

}  // namespace attn
