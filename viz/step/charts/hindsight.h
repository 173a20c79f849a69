// What only hindsight knows: after each key tile, how far O / l of the followed row stands from its final O. Drawn for
// the whole run wherever the cursor is, and labelled so.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "viz/draw/text_runs.h"
#include "viz/step/place/place.h"

namespace attn {

enum class HindsightLook : std::uint8_t {
  value,       // a difference, 0 included
  skipped,     // the mask skips this tile
  no_key,      // the row has seen no key yet: O / l is not defined
  not_finite,  // O / l or the final O is not a number
};
struct HindsightTile {
  std::int32_t key_tile = 0, first_key = 0, keys = 0;
  HindsightLook look = HindsightLook::value;
  double difference = 0;  // max over the columns of |O / l - O_final|; both as the kernel has them, in fp32
  std::int32_t col = 0;   // where it is largest
  EventIndex event = 0;   // the step that made this O
  std::string text;       // "0.031", "exactly 0", "no key yet"
  bool live = false;
  bool to_come = false;  // after the cursor's step
};
struct HindsightScene {
  std::int32_t row = 0;
  std::vector<HindsightTile> tiles;    // left to right in the order of the run
  int min_decade = 0, max_decade = 0;  // of the log axis: 10^least <= every difference that is not 0 <= 10^most
  bool any_value = false;              // a difference that is not 0
  bool right_to_left = false;
  TextRuns words;       // what is compared, in this order's terms
  std::string nothing;  // why there is nothing to draw; else empty
};
HindsightScene hindsight_scene(const Recording& rec, const StepPlace& at);

}  // namespace attn
