// What the causes of a wrong step share: a cause is a formula, tried on every wrong number of the step. By phase they
// stand in cause_of_scores.cpp, cause_of_softmax.cpp and cause_of_sums.cpp. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/judge/first_wrong/operands.h"
#include "kernels/judge/found.h"
#include "kernels/recording/replay/replay.h"

namespace attn::causes {

using Elements = std::span<const WrongElement>;

// A cause as a formula for what it makes of one element.
struct Cause {
  std::string words;
  std::function<Value(std::int32_t row, std::int32_t col)> formula;
};

// The first cause that gives every number; empty where none does. A formula that has no value for an element does not
// fit, unless NaN is what it says.
std::string first_that_fits(const std::vector<Cause>& causes, Elements elements);
bool all_nan(Elements elements);
// Every number is the same multiple of what it should be.
std::optional<double> common_factor(Elements elements);
// Each number is one of a narrow type, within `steps` of its roundings: half its epsilon is one.
std::string narrow_cause(std::string_view letter, Elements elements, double steps);
// A reduction over the columns that takes some of them alone: `of` gives what it makes of those that `takes` names.
// `verb`: "ℓ sums".
using Columns = std::function<bool(std::int32_t col)>;
std::string part_of_columns(std::string_view verb, std::int32_t cols, Elements elements,
                            const std::function<Value(std::int32_t row, const Columns& takes)>& of);

// A wrong step: its operands, and the step of the right run that it is held against.
struct WrongPlace {
  const Recording& wrong;
  const Recording& right;
  const FirstWrong& at;
  EventIndex right_event;
  Elements elements;
  Operands in() const { return {wrong, at.event}; }
};

std::string load_cause(const Recording& wrong, const Recording& right, const FirstWrong& at, EventIndex right_event);
std::string scores_cause(const Operands& in, const Recording& right, EventIndex right_event, Elements elements);
std::string mask_cause(const Recording& rec, const FirstWrong& at, Elements elements);
std::string max_cause(const Operands& in, Elements elements);
std::string rescale_cause(const Operands& in, Elements elements);
std::string weights_cause(const Operands& in, Elements elements);
std::string sum_cause(const Operands& in, Elements elements);
std::string output_cause(const Operands& in, Elements elements);
std::string end_cause(const Operands& in, const FirstWrong& at, Elements elements);

}  // namespace attn::causes
