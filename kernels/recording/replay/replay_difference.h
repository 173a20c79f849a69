// Where a recording and its recomputation differ.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/recording/recording.h"

namespace attn {

// One element of a version that is not what it should be.
struct WrongElement {
  std::int32_t row = 0, col = 0;  // in the tile
  double recorded = 0, right = 0;
};

// First difference between a recorded version and its recomputation, or nothing.
struct ReplayDifference {
  EventIndex event = 0;
  Slot slot = Slot::s;
  std::int32_t row = 0, col = 0;  // in the tile
  float recorded = 0, replayed = 0;
  std::string words;  // counts steps from 1, as the window does
  double bound = 0;   // how far a right number may be from `replayed`: of a GPU's recording
  // Of a GPU's recording every number of that version that differs, this one the first; else empty.
  std::vector<WrongElement> numbers = {};
};

}  // namespace attn
