#include "app/state/inputs/first_sight.h"

#include <algorithm>
#include <cstdint>

#include "app/state/inputs/document_inputs.h"
#include "kernels/model/order_row.h"
#include "viz/step/place/place.h"

namespace attn {

EventIndex first_sight(const Recording& rec, const Selection& selection) {
  if (!rec.labels.any() || selection.row == 0 || rec.events.empty()) return 0;
  const StepPlace at = place_of(rec, 0, selection);
  const std::int32_t i = selection.row / std::max(at.br, 1), j = selection.row / std::max(at.bc, 1);
  const Phase end = order_row(rec.order).ends_tile();
  return rec.find({at.b, at.h, i, std::min(j, rec.key_tiles() - 1), end}).value_or(0);
}

EventIndex first_sight(const Document& document) {
  if (document.inputs.generator != Generator::words) return 0;
  const auto rec = record_document(document, {});
  return rec ? first_sight(*rec, document.selection) : 0;
}

}  // namespace attn
