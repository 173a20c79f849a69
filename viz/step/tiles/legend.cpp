#include "viz/step/tiles/legend.h"

#include <array>
#include <cstddef>

#include "viz/draw/number_text.h"

namespace attn {
namespace {

// By TensorColour.
constexpr std::array<const char*, kTensorColourCount> kLetters{"Q", "K", "V", "S", "P", "m", "ℓ", "O", "α"};

}  // namespace

std::vector<LegendEntry> cell_legend() {
  return {
      {LegendMark::empty, "not computed yet", "to come"},     {LegendMark::dropped, "was on chip, is no more", "gone"},
      {LegendMark::masked, "masked, never used", "masked"},   {LegendMark::made, "made in this step", "made"},
      {LegendMark::largest, "largest in its row", "largest"}, {LegendMark::past_end, "outside the matrix", "outside"},
      {LegendMark::not_finite, "∞ or nan", "∞, nan"}};
}

LegendScale scale_legend(TensorColour hue, const TensorScales& scales) {
  const TensorScale& scale = scales[static_cast<std::size_t>(hue)];
  LegendScale out;
  out.hue = hue;
  out.letter = kLetters[static_cast<std::size_t>(hue)];
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
