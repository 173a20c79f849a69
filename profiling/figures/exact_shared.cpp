#include "profiling/figures/exact_shared.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "profiling/figures/counts.h"
#include "profiling/figures/metrics.h"

namespace attn {
namespace {

constexpr std::string_view kTurns = "shared_wavefronts_count", kConflicts = "shared_conflicts_count";

// What the whole range's counter said stays in the words.
void put(Measurement& m, std::string_view metric, double value, std::string method) {
  const auto at = find_metric(metric);
  if (!at || *at >= m.figures.size()) return;
  Figure& f = m.figures[*at];
  if (f.available()) method += fmt::format("; the counter for the whole range says {:.0f}", f.value);
  f = Figure{Origin::measured, value, std::move(method), "", false};
}

// Of no launch, neither laid out by the compiler nor asked for.
bool has_none(const Measurement& m) {
  const Figure &laid_out = figure(m, "shared_static_bytes"), &asked = figure(m, "shared_dynamic_bytes");
  return laid_out.available() && asked.available() && laid_out.value <= 0 && asked.value <= 0 &&
         !laid_out.min_of_launches && !asked.min_of_launches;
}

bool counted_there(const KernelCounts* counts) {
  return counts != nullptr && counts->has(InstructionCounter::shared) && counts->has(InstructionCounter::shared_ideal);
}

}  // namespace

bool exact_shared(const Measurement& m) {
  return counted_there(m.counts.get());
}

Measurement with_exact_shared(const Measurement& m) {
  Measurement exact = m;
  if (m.state != RowState::done || m.time.n == 0) return exact;
  const KernelCounts* const counts = m.counts.get();
  if (counted_there(counts)) {
    const CounterSums sums = sums_of(*counts);
    const std::string method = "counted at each instruction, " + counts->method;
    put(exact, kTurns, static_cast<double>(sums[InstructionCounter::shared]), method);
    const std::uint64_t ideal = sums[InstructionCounter::shared_ideal];
    put(exact, kConflicts, static_cast<double>(sums[InstructionCounter::shared]) - static_cast<double>(ideal),
        "passes minus those without conflicts, " + method);
  } else if (has_none(m) && figure(m, kTurns).available()) {
    for (const std::string_view metric : {kTurns, kConflicts})
      put(exact, metric, 0, marked("the kernel uses no shared memory"));
  }
  return exact;
}

}  // namespace attn
