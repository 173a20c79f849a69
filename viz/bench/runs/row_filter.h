// Which rows Bench shows, by an expression: "d == 64 and tflops > 100", "kernel != naive or not (dtype == f16)".
//
// The grammar is the one of expressions (kernels/formats/expression_grammar.h) with and, or, not. Names, in either
// case:
//   kernel dtype mask pass device l2 state answer     texts: ==, != with a name or a text in double quotes; = is ==
//   deal key_order merge ...                          options that are choices: the same, with one of their choices
//   L B H D Lq Lk Hq Hkv Dv ...                       extents and axes of the problem
//   br bc threads stages ...                          options
//   tflops time_us_median ...                         metrics, by their ids
// What a row does not have compares with nothing: no comparison with it holds. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/result.h"
#include "profiling/figures/measurement.h"

namespace attn {

constexpr std::size_t kMaxRowFilter = 500;  // characters

// Whether the row fits; the error says what cannot be read, and is the same for every row. An empty text fits all.
Result<bool> fits_filter(std::string_view filter, const Measurement& m);
// The error, without a row.
Result<void> check_row_filter(std::string_view filter);

// What the word at the end of `filter` may become, in the order of the names above: names, or behind "deal ==" the
// values of that. Nothing is offered before its first letter but values.
struct FilterWords {
  std::size_t begin = 0;           // of the word in `filter`
  std::vector<std::string> words;  // that begin so, in either case
};
FilterWords filter_words(std::string_view filter);

}  // namespace attn
