// What was found where a run first goes wrong, as a value; kernels/judge/first_wrong/first_wrong.h finds it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/recording/recording.h"

namespace attn {

// What is wrong of a step.
enum class WrongStep : std::uint8_t {
  number,   // a number of it
  missing,  // the right run has a step before it that this run has not
  skipped,  // the right run computes the tile that is skipped here
  extra,    // the right run skips the tile that begins here, and what is computed of it is not hidden
};

struct FirstWrong {
  WrongStep what = WrongStep::number;
  EventIndex event = 0;
  EventId id;
  Slot slot = Slot::s;
  std::int32_t row = 0, col = 0;  // in the whole tensor; a key's index for S and P
  double recorded = 0;
  double right = 0;                    // fp64 where rounding is allowed for, else the right run's number
  double bound = 0;                    // how far rounding alone may go
  std::int64_t differing = 0, of = 0;  // elements of this tile; 0: the step itself is wrong, no number is named
  std::vector<std::int32_t> rows;      // of the whole tensor, that differ
  bool written = false;                // the answer that was stored is not what the last step holds
  std::string missing;                 // the step that is missing; else empty
  std::string cause;                   // a sentence; empty where no cause that is known fits every number
};

// "step 15, O of query tile 0, key tile 1: row 1, column 0 is -1.18111, right is -0.854932"
std::string place_words(const FirstWrong& w);
// "8 of 32 numbers of this step differ, in row 1; every step before it is right."
std::string spread_words(const FirstWrong& w);

}  // namespace attn
