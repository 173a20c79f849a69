// The bar over Step where a GPU's own run is shown: what its numbers are, as the kernel holds them or as the formulas
// have them, and how far each phase is from the CPU's run.
#pragma once

#include <string>
#include <vector>

#include "viz/state/commands.h"
#include "viz/state/state.h"
#include "viz/step/bars/cpu_comparison.h"

namespace attn {

struct GpuBarDifference {
  std::string letter, value;  // "S", "2.4e-7"
  std::string help;           // where, and both numbers
  Commands go_there;          // to the step and its element
};
struct GpuBarScene {
  bool shown = false;
  bool raw = false, can_be_raw = false;
  std::string numbers;  // what the numbers on show are
  std::string lead;     // "Largest difference from cpu_flash on the CPU:"
  std::vector<GpuBarDifference> differences;
};
// What the kernel holds in place of the formulas' numbers: "S without its scale, m in base 2, ..."; empty where
// it holds those. `held`: as it was recorded.
std::string held_words(const Recording& held);
// `held`: the run as it was recorded; `comparison`: of its formulas' reading.
GpuBarScene gpu_bar_scene(const State& state, const Recording& held, const CpuComparison& comparison);

}  // namespace attn
