// Batches and query heads as small multiples: the scores S of each head over the whole run, to pick one from; heads that
// share a key/value head stand side by side over its name. Pure scene and its drawing.
#pragma once

#include <vector>

#include "viz/draw/canvas.h"
#include "viz/state/commands.h"
#include "viz/step/facts/place.h"

namespace attn {

struct TensorScale;

struct HeadPicture {
  std::int32_t b = 0, h = 0, kv = 0;
  std::vector<float> shades;  // rows x cols of the scene, on S's scale; NaN where the mask hides the key
};
// At most this many rows and columns; a larger S is sampled evenly.
constexpr std::int32_t kPictureSide = 12;
struct HeadsScene {
  std::int32_t batches = 1, heads = 1, groups = 1;
  std::int32_t rows = 0, cols = 0;
  std::vector<HeadPicture> pictures;  // by batch, then head
};
// Once a recording.
HeadsScene heads_scene(const Recording& rec, const TensorScale& scale);

// Width in pixels that the picker would like.
float heads_width(const HeadsScene& scene);
void draw_head_picker(const Box& box, const HeadsScene& scene, const Recording& rec, const StepPlace& at,
                      const Selection& selection, Commands& commands);

}  // namespace attn
