#include "viz/step/beside/legend.h"

#include "kernels/base/text.h"
#include "kernels/model/order_row.h"
#include "viz/draw/number_text.h"

namespace attn {

std::vector<LegendEntry> cell_legend(LegendOf of) {
  std::vector<LegendEntry> entries{
      {LegendMark::empty, tr("not computed yet"), tr("to come")},
      {LegendMark::dropped, tr("was on chip, but no longer is"), tr("gone")},
      {LegendMark::masked, tr("masked, never used"), tr("masked")},
      {LegendMark::made, tr("made in this step"), tr("made")},
      of.gradients ? LegendEntry{LegendMark::gradient, tr("gradient, in its tensor's colour"), tr("gradient")}
                   : LegendEntry{LegendMark::largest, tr("largest in its row"), tr("largest")},
      {LegendMark::past_end, tr("outside the matrix"), tr("outside")},
      {LegendMark::not_finite, tr("∞ or nan"), tr("∞, nan")}};
  if (of.gauges) entries[5] = {LegendMark::gauge, tr("filled in proportion to α"), tr("α")};
  if (of.flights)
    entries.insert(entries.begin() + 1, {LegendMark::flight, tr("in flight, no number yet"), tr("in flight")});
  return entries;
}

LegendScale scale_legend(Slot slot, const TensorScales& scales) {
  const TensorScale& scale = scale_of(scales, slot);
  LegendScale out;
  out.hue = tensor_of(slot);
  out.letter = letter_of_slot(slot);
  if (!(scale.max >= scale.min)) return out;         // nothing finite was ever shown
  if (scale.max == 0 && scale.min == 0) return out;  // nor anything but 0, as before the answer to a question
  out.diverges = scale.diverges && !scale.narrow;
  out.min = significant_text(scale.min, 3);
  out.max = significant_text(scale.max, 3);
  out.first = scale.shade(scale.min);
  out.last = scale.shade(scale.max);
  if (out.diverges && scale.max > scale.min) out.zero = (0 - scale.min) / (scale.max - scale.min);
  return out;
}

}  // namespace attn
