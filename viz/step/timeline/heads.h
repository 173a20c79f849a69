// Batches and query heads as small multiples: the scores S of each head over the whole run, to pick one from; heads
// that share a key/value head stand side by side over its name.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/recording/recording.h"
#include "viz/step/facts/scales.h"
#include "viz/step/place/place.h"

namespace attn {

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
// The same tile and phase of another head, or that head's first event.
EventIndex event_of_head(const Recording& rec, const StepPlace& at, std::int32_t b, std::int32_t h);

}  // namespace attn
