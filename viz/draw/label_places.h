// Where names stand in a chart so that none lies on another: pure, in pixels.
#pragma once

#include <span>
#include <vector>

namespace attn {

struct LabelBox {
  float left = 0, top = 0, right = 0, bottom = 0;
  bool operator==(const LabelBox&) const = default;
};

// Pixels² that two boxes share.
float overlap(const LabelBox& a, const LabelBox& b);

// The first of the candidates that meets nothing of `taken`, else the one that meets the least; each is pushed into
// `inside` first. `candidates` holds one at least.
LabelBox place_label(std::span<const LabelBox> candidates, std::span<const LabelBox> taken, const LabelBox& inside);

struct LabelPoint {
  float x = 0, y = 0;
};

// Those of the candidates that, pushed into `inside`, are nearer to a mark of `own` than to any of `others`: what a
// name stands beside is what it is read as. All where none is.
std::vector<LabelBox> beside_own(std::span<const LabelBox> candidates, std::span<const LabelPoint> own,
                                 std::span<const LabelPoint> others, const LabelBox& inside);

// Those of the candidates that, pushed into `inside`, meet none of `words`: a line under a name leaves it legible,
// another name does not. All where none is.
std::vector<LabelBox> clear_of(std::span<const LabelBox> candidates, std::span<const LabelBox> words,
                               const LabelBox& inside);

// The middle of a label of `height` between `from` and `to`: as near to the middle between those as it meets none of
// `taken`; the middle itself where it meets one everywhere.
struct Reach {
  float from = 0, to = 0;
};
float clear_middle(Reach within, float height, std::span<const Reach> taken);

}  // namespace attn
