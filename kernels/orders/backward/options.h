// The options of a backward that its orders know of: which loop is outside, and two what-ifs.
#pragma once

#include "kernels/model/options.h"

namespace attn::orders::backward {

inline constexpr std::string_view kLoops[] = {"key_tile", "query_tile"};

// Which tile is outside: its sums stay on chip, those of the other come and go.
inline constexpr Option kOutside{.name = "outside",
                                 .title = marked("outside"),
                                 .help = marked("Which tiles the outer loop runs over"),
                                 .choices = kLoops,
                                 .compiled = false};
inline constexpr std::int64_t kKeysOutside = 0, kQueriesOutside = 1;

// What-if: dS = P dP, as if a row's weights could all rise at once.
inline constexpr Option kSubtractDelta{.name = "subtract_delta",
                                       .title = marked("subtract δ"),
                                       .help = marked("Whether δ is subtracted from dP"),
                                       .choices = known::kNoYes,
                                       .compiled = false};
// What-if: the LSE that the forward kept, rounded.
inline constexpr Option kLseType{.name = "lse_type",
                                 .title = marked("LSE in"),
                                 .help = marked("The type of LSE between the forward and backward passes"),
                                 .choices = known::kTypes,
                                 .compiled = false};

inline bool subtracts_delta(const Options& o) {
  return chosen(o, kSubtractDelta).value_or(1) != 0;
}
inline DType lse_type(const Options& o) {
  return static_cast<DType>(chosen(o, kLseType).value_or(0));
}
inline bool queries_outside(const Options& o) {
  return chosen(o, kOutside).value_or(kKeysOutside) == kQueriesOutside;
}

}  // namespace attn::orders::backward
