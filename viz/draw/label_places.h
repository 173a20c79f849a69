// Where names stand in a chart so that none lies on another: pure, in pixels.
#pragma once

#include <span>

namespace attn {

struct LabelBox {
  float left = 0, top = 0, right = 0, bottom = 0;
};

// Pixels² that two boxes share.
float overlap(const LabelBox& a, const LabelBox& b);

// The first of the candidates that meets nothing of `taken`, else the one that meets the least; each is pushed into
// `inside` first. `candidates` holds one at least.
LabelBox place_label(std::span<const LabelBox> candidates, std::span<const LabelBox> taken, const LabelBox& inside);

}  // namespace attn
