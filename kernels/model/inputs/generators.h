// How generated numbers are made: see Generator in inputs.h for what each is for.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

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
// `sentence`: of the generator `words`.
void generate(Generator g, const Problem& p, std::uint64_t seed, InputTensor t, Array& out,
              const TakePieces& take = in_turn, std::string_view sentence = {});

// Rows [first, last) of it, of all batches and heads. An element hangs on its index alone, so rows come in any order.
void generate_rows(Generator g, const Problem& p, std::uint64_t seed, InputTensor t, Array& out,
                   std::string_view sentence, std::int64_t first, std::int64_t last);

// The numbers of a sentence (sentence.cpp has the formulas).
class WordNumbers {
 public:
  explicit WordNumbers(std::string_view sentence);
  std::int64_t words() const { return static_cast<std::int64_t>(begins_.size()); }
  std::int64_t distinct_letters() const { return distinct_; }
  // Of Q, K or V in a head: the token at place `at`, one of `cols` columns.
  double value(InputTensor t, std::int64_t head, std::int64_t at, std::int64_t col, std::int64_t cols) const;

 private:
  std::vector<std::int64_t> begins_, letters_;  // of each word: which letter it begins with, how many it has
  std::int64_t distinct_ = 0;
};

}  // namespace attn
