#include "viz/step/beside/legend.h"

#include <algorithm>
#include <string_view>

#include "kernels/base/text.h"
#include "kernels/model/order_row.h"
#include "viz/draw/number_text.h"
#include "viz/step/facts/side_by_side.h"
#include "viz/step/orders/looks.h"

namespace attn {
namespace {

struct Row {
  LegendMark mark;
  std::string_view words, narrow;
};
constexpr Row kRows[kLegendMarks] = {
    {LegendMark::empty, marked("not computed yet"), marked("to come")},
    {LegendMark::flight, marked("in flight, no number yet"), marked("in flight")},
    {LegendMark::dropped, marked("was on chip, but no longer is"), marked("gone")},
    {LegendMark::masked, marked("masked, never used"), marked("masked")},
    {LegendMark::made, marked("made or loaded in this step"), marked("made, loaded")},
    {LegendMark::gradient, marked("gradient, in its tensor's colour"), marked("gradient")},
    {LegendMark::largest, marked("largest in its row"), marked("largest")},
    {LegendMark::gauge, marked("filled in proportion to α"), marked("α")},
    {LegendMark::past_end, marked("outside the matrix"), marked("outside")},
    {LegendMark::minus_infinity, marked("minus infinity"), marked("−∞")},
    {LegendMark::not_finite, marked("∞ or nan"), marked("∞, nan")},
    {LegendMark::partly, marked("partly masked"), marked("partly")},
    {LegendMark::turn, marked("computed in this turn"), marked("this turn")},
    {LegendMark::earlier, marked("computed in an earlier turn"), marked("earlier")}};

bool tiles_are_whole(const Recording& rec) {
  const auto fits = [](std::int64_t length, std::int64_t tile) {
    return tile <= 0 || tile >= length || length % tile == 0;
  };
  return fits(rec.problem.Lq, rec.options.br) && fits(rec.problem.Lk, rec.options.bc);
}

}  // namespace

LegendMarks legend_marks(const Recording& rec, const TensorScales& scales) {
  using enum LegendMark;
  const OrderLook& look = order_look(rec.order);
  const Problem& p = rec.problem;
  const bool backward = p.pass == Pass::backward, ring = order_row(rec.order).abreast == Abreast::ranks;
  LegendMarks marks;
  const auto put = [&](LegendMark mark, bool there) { marks.set(static_cast<std::size_t>(mark), there); };
  for (const LegendMark always : {empty, dropped, made}) put(always, true);
  put(masked, p.mask.any() || p.has_bias());
  put(gradient, backward);
  put(minus_infinity, std::ranges::any_of(scales, &TensorScale::minus_infinity));
  put(not_finite, std::ranges::any_of(scales, &TensorScale::overflows));
  if (ring) {
    put(flight, !backward);  // what a backward's ranks pass on is where it was
    put(partly, p.mask.any()), put(turn, true), put(earlier, true);
    return marks;
  }
  put(flight, side_by_side_of(rec).on_its_way != nullptr);
  put(largest, look.scores && look.maximum);
  put(gauge, std::ranges::any_of(look.columns, [&](const ColumnLook& c) { return look.slot(c.slot).gauge; }));
  put(past_end, !tiles_are_whole(rec));
  return marks;
}

std::vector<LegendEntry> cell_legend(LegendMarks marks) {
  std::vector<LegendEntry> entries;
  const bool ring = marks.test(static_cast<std::size_t>(LegendMark::turn));
  for (const Row& row : kRows)
    if (marks.test(static_cast<std::size_t>(row.mark)))
      entries.push_back({row.mark, std::string(tr_of(row.words)), std::string(tr_of(row.narrow)),
                         ring ? TensorColour::k : TensorColour::s});
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
