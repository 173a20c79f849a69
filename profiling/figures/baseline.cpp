#include "profiling/figures/baseline.h"

#include <string>

#include "kernels/ladder.h"
#include "profiling/figures/metrics.h"

namespace attn {
namespace {

// The row that `m` is set against: same problem, device and L2 state; best with as many threads.
const Measurement* baseline_for(const Measurement& m, std::span<const Measurement> rows, std::string_view id) {
  const Measurement* best = nullptr;
  for (const Measurement& row : rows) {
    const bool fits = row.key.kernel == id && row.state == RowState::done && row.time.n > 0 &&
                      row.key.problem == m.key.problem && row.key.l2 == m.key.l2 && row.key.device == m.key.device;
    if (!fits) continue;
    const bool best_matches = best != nullptr && best->key.options.threads == m.key.options.threads;
    if (!best_matches || row.key.options.threads == m.key.options.threads) best = &row;
  }
  return best;
}

void relate(Measurement& m, std::span<const Measurement> rows, std::string_view id) {
  const Measurement* baseline = baseline_for(m, rows, id);
  m.peaks.baseline = baseline != nullptr ? baseline->key.kernel : std::string();
  m.peaks.baseline_us = baseline != nullptr ? baseline->time.median : 0;
  fill_figures(m);
}

}  // namespace

void relate_to_baseline(Measurement& m, std::span<const Measurement> rows) {
  relate(m, rows, baseline_of(m.processor));
}

void relate_to_baseline(std::span<Measurement> rows, std::string_view chosen) {
  const auto row = find_kernel(chosen);
  for (Measurement& m : rows)
    relate(m, rows, row && (*row)->processor == m.processor ? chosen : baseline_of(m.processor));
}

void relate_to_baseline(std::span<Measurement> rows) {
  for (Measurement& m : rows) relate_to_baseline(m, rows);
}

}  // namespace attn
