// Recomputes a recording's phases from the operands it holds: the proof that the pictures are the kernel's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/base/stop.h"
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

// Recomputes every phase of every event from its recorded operands with the kernel's own arithmetic, and the
// output and LSE from the recorded O, m, l; holds what is loaded against the inputs. Equal bit for bit (NaN to NaN) on
// the machine that recorded it. A GPU's recording is held against fp64, each phase within the bound that replay_gpu.cpp
// states. Nothing too where `stop` was asked for first.
std::optional<ReplayDifference> replay(const Recording& rec, const Stop& stop = {});
// Of a recording that a GPU made.
std::optional<ReplayDifference> replay_of_gpu(const Recording& rec, const Stop& stop);

}  // namespace attn
