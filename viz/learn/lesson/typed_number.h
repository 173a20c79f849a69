// What a learner types where a number is asked for.
#pragma once

#include <optional>
#include <string_view>

namespace attn {

// A number as learners write one: "0.13", "0,13", "1/4", "3e-4", "2.1·10^-4", "−8", "40 %", "infinity"; or what stands
// on their paper: "3.5/sqrt(2)", "e^-4.24", "32768^2*2/10^9", "0.0144*0.1 + 0.3" with + - * / ^ ( ) exp ln sqrt. None
// where it is none.
std::optional<double> typed_number(std::string_view text);

}  // namespace attn
