// Which conditions of the texts hold in a step: what happened to the followed row, in the words of kStepConditions.
// Pure.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "kernels/recording/recording.h"
#include "viz/step/place/place.h"

namespace attn {

// What the texts follow, and what stood before the step.
struct Followed {
  std::int32_t key = 0, col = 0;  // of S and P; of O
  double m_old = 0, m_new = 0, l_old = 0, o_old = 0;
};
std::set<std::string, std::less<>> step_conditions(const Recording& rec, const StepPlace& at, const Followed& followed);

}  // namespace attn
