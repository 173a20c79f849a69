// How generated numbers are made: see Generator in inputs.h for what each is for.
#pragma once

#include <cstdint>

#include "kernels/base/array.h"
#include "kernels/base/pieces.h"
#include "kernels/model/inputs/input_spec.h"
#include "kernels/model/problem/problem.h"

namespace attn {

// Element `index` of the SplitMix64 sequence of `key` (Steele, Lea, Flood 2014): any element in constant time.
std::uint64_t random_bits(std::uint64_t key, std::uint64_t index);

// The key that `late_outlier` makes the largest score of.
std::int64_t late_outlier_key(std::int64_t lk);

// Fills `out`, whose shape is that of tensor `t` of problem `p`. The numbers do not depend on who takes the pieces.
void generate(Generator g, const Problem& p, std::uint64_t seed, InputTensor t, Array& out,
              const TakePieces& take = in_turn);

}  // namespace attn
