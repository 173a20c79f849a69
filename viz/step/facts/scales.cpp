#include "viz/step/facts/scales.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "kernels/model/order_row.h"
#include "kernels/model/problem/pages.h"
#include "viz/draw/number_text.h"

namespace attn {
namespace {

// `none`: a finite number by which a kernel says that there is none yet. `masks`: -infinity is what a mask makes.
void widen(TensorScale& scale, std::span<const float> values, float none, bool masks) {
  for (const float x : values) {
    scale.minus_infinity = scale.minus_infinity || (x == -HUGE_VALF && !masks);
    scale.overflows = scale.overflows || x == HUGE_VALF || std::isnan(x);
    if (!std::isfinite(x) || x == none) continue;
    scale.min = std::min(scale.min, x);
    scale.max = std::max(scale.max, x);
  }
}

int natural_of(const Array& a) {
  std::vector<float> values(static_cast<std::size_t>(a.size()));
  if (!values.empty()) a.read(0, a.size(), values.data());
  // One decimal at least: inputs are numbers, not counts.
  const int decimals = natural_decimals(values);
  return decimals < 0 ? decimals : std::max(decimals, 1);
}

std::size_t place_of(Slot slot) {
  const SlotRow& row = slot_row(slot);
  return static_cast<std::size_t>(tensor_of(slot)) + (row.gradient || row.own_scale ? kTensorColourCount : 0);
}

}  // namespace

const TensorScale& scale_of(const TensorScales& scales, Slot slot) {
  return scales[place_of(slot)];
}

float TensorScale::shade(float value) const {
  if (std::isnan(value)) return 0;
  if (std::isinf(value)) return value > 0 ? 1.0F : -1.0F;
  // Half of the scale: the sign keeps its colours.
  if (narrow)
    return min > 0 ? std::clamp((value - min) / (max - min), 0.0F, 1.0F)
                   : -std::clamp((max - value) / (max - min), 0.0F, 1.0F);
  if (diverges) {
    const float reach = std::max(std::abs(min), std::abs(max));
    return reach > 0 ? std::clamp(value / reach, -1.0F, 1.0F) : 0;
  }
  if (!(max > min)) return 0;
  return std::clamp(2 * (value - min) / (max - min) - 1, -1.0F, 1.0F);
}

TensorScales scales_of(const Recording& rec) {
  TensorScales scales;
  constexpr float kMax = std::numeric_limits<float>::max();
  for (std::size_t n = 0; n < scales.size(); ++n)
    scales[n] = {kMax, -kMax, -1, n >= kTensorColourCount || is_signed(static_cast<TensorColour>(n))};
  const auto of = [&](TensorColour c) -> TensorScale& { return scales[static_cast<std::size_t>(c)]; };
  for (const TensorColour c : {TensorColour::p, TensorColour::alpha, TensorColour::l}) of(c).min = 0;
  for (const TensorColour c : {TensorColour::p, TensorColour::alpha}) of(c).max = 1;
  // Where no sum is made LSE alone has its colour.
  const bool sums = order_row(rec.order).has(Phase::sum);
  if (!sums) of(TensorColour::l).min = kMax;
  for (VersionId v = 0; v < rec.versions.size(); ++v) {
    const Slot slot = rec.versions[v].slot;
    if (slot == Slot::lse && sums) continue;
    const bool begins = rec.gpu && tensor_of(slot) == TensorColour::m;
    widen(scales[place_of(slot)], rec.values(v), begins ? rec.gpu->first_m : -std::numeric_limits<float>::infinity(),
          slot == Slot::s && (rec.problem.mask.any() || rec.problem.has_bias()));
  }
  // All of one sign and close together against their size: from the least to the most, else they are one shade.
  for (TensorScale& scale : scales) {
    const float reach = std::max(std::abs(scale.min), std::abs(scale.max));
    if (scale.diverges && scale.max > scale.min && scale.min * scale.max > 0)
      scale.narrow = scale.max - scale.min < 0.5F * reach;
  }
  const bool paged = rec.problem.storage.kind() == Storage::paged;
  const Inputs out_of_pages = paged ? gathered(rec.problem, rec.inputs) : Inputs();
  const Inputs& by_key = paged ? out_of_pages : rec.inputs;
  of(TensorColour::q).natural = natural_of(by_key.q);
  of(TensorColour::k).natural = natural_of(by_key.k);
  of(TensorColour::v).natural = natural_of(by_key.v);
  if (rec.inputs.d_o)
    scales[kTensorColourCount + static_cast<std::size_t>(TensorColour::o)].natural = natural_of(*rec.inputs.d_o);
  return scales;
}

}  // namespace attn
