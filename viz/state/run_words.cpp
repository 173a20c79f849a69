#include "viz/state/run_words.h"

#include "profiling/session/run.h"

namespace attn {

std::string words_of(const BenchRuns& runs, const SweepRun& run) {
  const auto given = runs.names.find(run.id);
  if (given == runs.names.end()) return run_words(run);
  SweepRun named;
  named.name = given->second;
  named.date = run.date;
  named.provenance.device = run.provenance.device;
  named.provenance.date = run.provenance.date;
  return run_words(named);
}

}  // namespace attn
