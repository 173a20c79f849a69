#include "viz/state/run_words.h"

#include <algorithm>

#include "profiling/session/run.h"

namespace attn {

const ListedRun* find_run(const Model& model, std::string_view id) {
  const auto found = std::find_if(model.runs.begin(), model.runs.end(), [&](const auto& r) { return r.run.id == id; });
  return found == model.runs.end() ? nullptr : &*found;
}

std::vector<const ListedRun*> shown_runs(const BenchRuns& runs, const Model& model) {
  std::vector<const ListedRun*> shown;
  for (const std::string& id : runs.shown)
    if (const ListedRun* run = find_run(model, id); run != nullptr && !runs.removed.contains(id)) shown.push_back(run);
  return shown;
}

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
