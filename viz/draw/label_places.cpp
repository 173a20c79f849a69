#include "viz/draw/label_places.h"

#include <algorithm>
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

}  // namespace attn
