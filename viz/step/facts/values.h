// The numbers of one step for the sentence and the formula: the texts agree with one another, printed inputs giving
// the printed result. Pure.
#pragma once

#include <map>
#include <set>
#include <string>

#include "kernels/recording/recording.h"
#include "kernels/recording/replay.h"
#include "viz/draw/inks.h"
#include "viz/state/state.h"
#include "viz/step/facts/place.h"

namespace attn {

struct StepNumber {
  std::string text;
  Ink ink;
  bool value = false;    // a number of the computation, not a count or an index
  bool differs = false;  // not what the formula makes of its operands: the kernel broke its rule (a museum piece)
};

struct StepValues {
  std::map<std::string, StepNumber, std::less<>> numbers;  // by placeholder; only what this step holds
  std::set<std::string, std::less<>> conditions;
  std::int32_t key = -1;  // the key that the text follows: the pinned one, else the row's largest visible score
  std::int32_t col = 0;   // the column of O that the text follows
  bool agrees = true;     // printed inputs give the printed result
};

StepValues step_values(const Recording& rec, const StepPlace& at, const Selection& selection, const ExactTile* exact);

// Bytes that the event asked of HBM.
std::uint64_t event_bytes(const Recording& rec, EventIndex e);

}  // namespace attn
