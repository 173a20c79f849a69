// Where a recorded run first goes wrong: the first step whose numbers are not those of the right run of the same
// problem, the first element of it, and what is likely behind it.
//
// A number is wrong where it differs from the right run's by more than rounding in fp32 explains (ExactTile,
// kernels/recording/replay.h), or where one of the two is not finite. Later steps inherit what an earlier one did, so
// only the first is a finding. Numbers that were loaded must be the same to the bit. A step that one of the two runs
// has alone is wrong where it matters: a mask that hides nothing wrongly, or a hidden tile that is computed and masked,
// is none.
//
// What a GPU recorded rounds as its units do and holds m, l and O in its own way. There the first wrong step is the
// first that is not what its own operands give within the bounds of replay_of_gpu().
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/model/problem.h"
#include "kernels/recording/recording.h"
#include "kernels/recording/replay.h"

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

// `right`: of the same problem, inputs, tile and order (kernels/museum/right_run.h makes it). None where nothing
// differs. Refused where the two cannot be held against each other. Linear in the recording.
Result<std::optional<FirstWrong>> find_first_wrong(const Recording& wrong, const Recording& right,
                                                   const std::stop_token& stop);

// Of a recording that a GPU made; it needs no right run.
Result<std::optional<FirstWrong>> find_first_wrong_of_gpu(const Recording& rec, const std::stop_token& stop);

// "step 15, O of query tile 0, key tile 1: row 1, column 0 is -1.18111, right is -0.854932"
std::string place_words(const FirstWrong& w);
// "8 of 32 numbers of this step differ, in row 1; every step before it is right."
std::string spread_words(const FirstWrong& w);

// The same for an answer of which no step is known: the first element in the order of O, column by column, then LSE.
struct FirstWrongResult {
  std::int64_t b = 0, h = 0, row = 0, col = -1;  // col -1: the row's LSE
  double recorded = 0, right = 0;
  std::int64_t differing = 0, of = 0;
  std::string cause;  // what the differences have in common; empty where nothing is
};
struct ReferenceRows;
// `allowed`, `lse_allowed`: of the verdict on this answer.
std::optional<FirstWrongResult> find_first_wrong_result(const Problem& p, const ReferenceRows& ref, const Outputs& out,
                                                        double allowed, double lse_allowed);
std::string place_words(const FirstWrongResult& w);

}  // namespace attn
