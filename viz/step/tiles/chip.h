// "Tiles on chip": the bytes of the tiles that are live at once.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/recording/recording.h"
#include "viz/draw/runs.h"

namespace attn {

struct ChipPart {
  TensorColour hue = TensorColour::q;
  std::uint64_t bytes = 0;
  Runs words;  // "Q 128"
};
struct ChipScene {
  std::uint64_t total = 0;      // 0: this order holds no tile
  std::vector<ChipPart> parts;  // those that hold something
  Runs sum;                     // "512 B of SRAM and registers"
  Runs note;                    // "P takes the place of S", where it does
};
ChipScene chip_scene(const Recording& rec);

}  // namespace attn
