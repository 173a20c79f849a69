// A GPU's run beside the CPU's of the same problem, inputs and tiles: of each phase the largest difference, and where.
// Pure.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/recording/recording.h"

namespace attn {

// Of one tensor as one phase makes it.
struct PhaseDifference {
  std::string_view letter;  // "S", "ℓ", "O/ℓ"
  Slot slot = Slot::s;
  double difference = 0;  // the largest |GPU - CPU|; inf where one of the two is not finite alone
  EventIndex event = 0;   // the step of the GPU's run, and the element of the tensor
  std::int32_t row = 0, col = 0;
  float gpu = 0, cpu = 0;
  std::int64_t compared = 0;  // elements
};
struct CpuComparison {
  std::string cpu;  // id of the kernel that ran on the CPU; empty = there is none
  std::string why;  // then the reason
  std::vector<PhaseDifference> phases;
  bool m_may_stay = false;  // the GPU's m need not be the maximum, so P, l and O so far have another measure
};

// The run of a CPU kernel in the same order on the same inputs; null with `why` where there is none.
std::shared_ptr<const Recording> record_on_cpu(const Recording& gpu, std::string& why);
// `gpu` as the formulas have it. Steps are matched by head, tiles and phase.
CpuComparison compare_with_cpu(const Recording& gpu, const Recording& cpu);

}  // namespace attn
