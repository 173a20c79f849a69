// "Tiles on chip": the bytes of the tiles that are live at this step, of those that are live at once at most, beside
// what an SM has.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "kernels/recording/recording.h"
#include "viz/draw/text_runs.h"

namespace attn {

struct ChipPart {
  TensorColour hue = TensorColour::q;
  std::uint64_t bytes = 0;  // at most; of an order that stores S: at most in this pass
  std::uint64_t now = 0;    // at this step
  TextRuns words;           // "Q 128"
};
struct ChipScene {
  std::uint64_t total = 0;  // 0: this order holds no tile
  std::uint64_t now = 0;
  std::vector<ChipPart> parts;  // those that hold something
  TextRuns sum;                 // "384 B of 512 B held now"
  TextRuns limit, short_limit;  // "0.041 % of the 227 KiB available to a block on sm_90a"
  TextRuns note;                // "P replaces S", where it does
};
// `arch`: the GPU that the limit is of; none is said of one that is not known.
ChipScene chip_scene(const Recording& rec, EventIndex e, std::string_view arch);

}  // namespace attn
