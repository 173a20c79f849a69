// Runs of a file, shown in Bench: nothing is measured, so a page in a browser has it too.
#include <utility>

#include "app/control/bench/sweeps.h"
#include "app/state/apply/history.h"
#include "app/state/string/state_string.h"

namespace attn {

void Sweeps::show_runs(Session& session) {
  const HistoryEntry before = entry_of(context_.state);
  restore_bench(session.state, context_.state);
  runs_.add(std::move(session.runs), RunFrom::file);
  if (session.recordings.empty()) context_.state.view.workspace = Workspace::bench;
  context_.state.view.bench.value.reset();
  context_.history.changed(before, context_.state.document, 0);
}

}  // namespace attn
