#include <bit>
#include <cstdint>
#include <functional>
#include <string>

#include "kernels/base/text.h"
#include "viz/bench/runs/slice.h"
#include "viz/state/run_words.h"

namespace attn {

std::uint64_t rows_fingerprint(const State& state, const Model& model) {
  std::uint64_t h = 0x9e3779b97f4a7c15ULL;
  const auto mix = [&](std::uint64_t x) { h = (h ^ x) * 0x100000001b3ULL + (h >> 29); };
  const auto mix_text = [&](const std::string& text) { mix(std::hash<std::string>{}(text)); };
  const BenchRuns& list = state.document.runs;
  mix_text(list.reference);
  for (const std::string& id : list.shown) mix_text(id);
  for (const ListedRun* r : shown_runs(list, model)) {
    mix(r->run.rows.size());
    for (const Measurement& m : r->run.rows) {
      mix_text(m.key.kernel);
      mix(static_cast<std::uint64_t>(m.state));
      mix(std::bit_cast<std::uint64_t>(m.time.median));
      mix(std::bit_cast<std::uint64_t>(m.peaks.baseline_us));
      mix(static_cast<std::uint64_t>(m.key.problem.Lq * 31 + m.key.problem.B));
      mix(m.verdict ? std::bit_cast<std::uint64_t>(m.verdict->error()) + 1 : 0);
      mix(std::hash<const void*>{}(m.samples.get()));
      mix(std::hash<const void*>{}(m.heartbeat.get()));
    }
    mix(r->run.provenance.loaded ? 1 : 0);
    mix_text(r->run.provenance.file + r->run.date + words_of(list, r->run));
  }
  if (const ListedRun* reference = find_run(model, list.reference)) mix(reference->run.rows.size());
  mix(model.gpu.looked ? model.gpu.gpus.size() + 1 : 0);
  mix(model.compiled.size());
  mix_text(model.compiled_for);
  mix_text(model.task.running ? tr("running") : model.task.error);
  return h;
}

}  // namespace attn
