#include "app/cli/verify/verify_tuned.h"

#include <algorithm>
#include <utility>

#include "profiling/tune/store.h"

namespace attn {

TunedCases tuned_cases(std::span<const KernelRow* const> kernels, const Device& device) {
  TunedCases found;
  KeptTunings kept = kept_tunings(tuned_folder());
  found.refused = std::move(kept.refused);
  for (const TuneResult& tuned : kept.results) {
    const bool asked =
        tuned.device == device.name && std::ranges::find(kernels, tuned.kernel, &KernelRow::id) != kernels.end();
    if (!asked || std::ranges::find(found.cases, tuned.problem, &CheckCase::problem) != found.cases.end()) continue;
    CheckCase& c = found.cases.emplace_back();
    c.problem = tuned.problem;
    c.inputs.generator = Generator::normal;
    c.inputs.seed = 1;
  }
  return found;
}

}  // namespace attn
