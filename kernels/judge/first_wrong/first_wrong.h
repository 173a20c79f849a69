// Where a recorded run first goes wrong: the first step whose numbers are not those of the right run of the same
// problem, the first element of it, and what is likely behind it.
//
// A number is wrong where it differs from the right run's by more than rounding in fp32 explains (ExactTile,
// kernels/recording/replay/replay.h), or where one of the two is not finite. Later steps inherit what an earlier one
// did, so only the first is a finding. Numbers that were loaded must be the same to the bit. A step that one of the two
// runs has alone is wrong where it matters: a mask that hides nothing wrongly, or a hidden tile that is computed and
// masked, is none.
//
// What a GPU recorded rounds as its units do and holds m, l and O in its own way. There the first wrong step is the
// first that is not what its own operands give within the bounds of replay_of_gpu().
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/base/stop.h"
#include "kernels/judge/found.h"
#include "kernels/model/problem/problem.h"
#include "kernels/recording/recording.h"

namespace attn {

// `right`: of the same problem, inputs, tile and order (kernels/museum/right_run.h makes it). None where nothing
// differs. Refused where the two cannot be held against each other. Linear in the recording.
Result<std::optional<FirstWrong>> find_first_wrong(const Recording& wrong, const Recording& right, const Stop& stop);

// Of a recording that a GPU made; it needs no right run.
Result<std::optional<FirstWrong>> find_first_wrong_of_gpu(const Recording& rec, const Stop& stop);

// The same for an answer of which no step is known: the first element in the order of O, column by column, then LSE.
struct FirstWrongResult {
  std::int64_t b = 0, h = 0, row = 0, col = -1;  // col -1: the row's LSE
  double recorded = 0, right = 0;
  std::int64_t differing = 0, of = 0;
  std::string cause;  // what the differences have in common; empty where nothing is
};
struct ReferenceRows;
// `allowed`, `lse_allowed`: of the verdict on this answer. An answer without LSE is compared, and counted, by O alone.
std::optional<FirstWrongResult> find_first_wrong_result(const Problem& p, const ReferenceRows& ref, const Outputs& out,
                                                        double allowed, double lse_allowed);
std::string place_words(const FirstWrongResult& w);

}  // namespace attn
