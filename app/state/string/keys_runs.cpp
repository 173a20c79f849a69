// What a state string says of the list of runs: runs=id/id, run_ref=id.
#include <string>
#include <string_view>

#include "app/state/string/key_makers.h"
#include "app/state/string/key_values.h"
#include "kernels/base/text.h"
#include "profiling/session/run.h"
#include "viz/state/bench_runs.h"

namespace attn {
namespace {

Result<void> read_runs(State& s, std::string_view text) {
  auto& shown = s.document.runs.shown;
  shown.clear();
  if (text == "none") return ok();
  for (const std::string_view id : split(text, '/')) {
    if (!is_run_id(id) && id != kPredictedRun)
      return bad_input(phrase("unknown run '{}'; use a run's id (16 digits) or {}", id, kPredictedRun));
    if (is_shown(s.document.runs, id)) return bad_input(phrase("{} appears twice", id));
    if (shown.size() >= kMaxShownRuns) return bad_input(phrase("the limit is {} runs", kMaxShownRuns));
    shown.emplace_back(id);
  }
  return ok();
}

Result<void> read_reference(State& s, std::string_view text) {
  s.document.runs.reference.clear();
  if (text == "none") return ok();
  if (!is_run_id(text)) return bad_input(phrase("invalid run id '{}'; use 16 digits, 0 to 9 and a to f", text));
  s.document.runs.reference = text;
  return ok();
}

}  // namespace

void add_run_keys(std::vector<StateKey>& keys) {
  keys.push_back({"runs", [](const State& s) { return list_text(s.document.runs.shown); }, read_runs});
  keys.push_back({"run_ref",
                  [](const State& s) {
                    const std::string& id = s.document.runs.reference;
                    return id.empty() ? std::string("none") : id;
                  },
                  read_reference});
}

}  // namespace attn
