#include "app/cli/verify_tuned.h"

#include <algorithm>

#include "profiling/tune/store.h"

namespace attn {

TunedCases tuned_cases(std::span<const KernelRow* const> kernels, const Device& device, std::span<const DType> dtypes,
                       std::int64_t longest) {
  TunedCases found;
  KeptTunings kept = kept_tunings(tuned_folder());
  found.refused = std::move(kept.refused);
  for (const TuneResult& tuned : kept.results) {
    if (longest != 0 && std::max(tuned.problem.Lq, tuned.problem.Lk) > longest) continue;
    const bool asked = std::ranges::find(kernels, tuned.kernel, &KernelRow::id) != kernels.end() &&
                       tuned.device == device.name && std::ranges::find(dtypes, tuned.problem.dtype) != dtypes.end();
    if (!asked || std::ranges::find(found.cases, tuned.problem, &CheckCase::problem) != found.cases.end()) continue;
    found.cases.push_back({tuned.problem, {Generator::normal, 1, {}, {}, {}, {}, {}}, MaskKind::none});
  }
  return found;
}

}  // namespace attn
