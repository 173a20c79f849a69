#include "viz/draw/label_places.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstddef>

namespace attn {
namespace {

// What is longer than `inside` begins where that does.
LabelBox pushed_into(LabelBox box, const LabelBox& inside) {
  const float width = box.right - box.left, height = box.bottom - box.top;
  box.left = std::max(inside.left, std::min(box.left, inside.right - width));
  box.top = std::max(inside.top, std::min(box.top, inside.bottom - height));
  return {box.left, box.top, box.left + width, box.top + height};
}

float nearest(const LabelBox& box, std::span<const LabelPoint> points) {
  float least = FLT_MAX;
  for (const LabelPoint& p : points)
    least = std::min(
        least, std::hypot(p.x - std::clamp(p.x, box.left, box.right), p.y - std::clamp(p.y, box.top, box.bottom)));
  return least;
}

}  // namespace

float overlap(const LabelBox& a, const LabelBox& b) {
  const float width = std::min(a.right, b.right) - std::max(a.left, b.left);
  const float height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  return width > 0 && height > 0 ? width * height : 0;
}

LabelBox place_label(std::span<const LabelBox> candidates, std::span<const LabelBox> taken, const LabelBox& inside) {
  LabelBox best;
  float least = -1;
  for (const LabelBox& candidate : candidates) {
    const LabelBox box = pushed_into(candidate, inside);
    float met = 0;
    for (const LabelBox& other : taken) met += overlap(box, other);
    if (least >= 0 && met >= least) continue;
    best = box;
    least = met;
    if (met <= 0) break;
  }
  return best;
}

std::vector<LabelBox> beside_own(std::span<const LabelBox> candidates, std::span<const LabelPoint> own,
                                 std::span<const LabelPoint> others, const LabelBox& inside) {
  std::vector<LabelBox> beside;
  for (const LabelBox& candidate : candidates) {
    const LabelBox box = pushed_into(candidate, inside);
    if (nearest(box, own) < nearest(box, others)) beside.push_back(box);
  }
  if (beside.empty()) beside.assign(candidates.begin(), candidates.end());
  return beside;
}

std::vector<LabelBox> clear_of(std::span<const LabelBox> candidates, std::span<const LabelBox> words,
                               const LabelBox& inside) {
  std::vector<LabelBox> clear;
  for (const LabelBox& candidate : candidates) {
    const LabelBox box = pushed_into(candidate, inside);
    if (std::ranges::all_of(words, [&](const LabelBox& other) { return overlap(box, other) <= 0; }))
      clear.push_back(box);
  }
  if (clear.empty()) clear.assign(candidates.begin(), candidates.end());
  return clear;
}

float clear_middle(Reach within, float height, std::span<const Reach> taken) {
  const float low = std::min(within.from, within.to), high = std::max(within.from, within.to);
  const float middle = (low + high) / 2, most = (high - low - height) / 2;
  const auto clear = [&](float at) {
    return std::ranges::none_of(taken,
                                [&](const Reach& r) { return r.from < at + height / 2 && r.to > at - height / 2; });
  };
  for (float off = 0; off <= most; ++off)
    for (const float at : {middle - off, middle + off})
      if (clear(at)) return at;
  return middle;
}

}  // namespace attn
