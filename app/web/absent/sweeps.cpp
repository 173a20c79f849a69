// Sweeps in a page: runs of a file are shown, nothing is measured.
#include "app/control/bench/sweeps.h"

#include <utility>

#include "app/state/apply/history.h"
#include "app/state/string/state_string.h"
#include "app/web/absent/words.h"

namespace attn {

void Sweeps::look_around() {
  context_.model.gpu.looked = true;
  context_.model.gpu.why_none = in_desktop(tr("A page in a browser has no GPU to measure."));
  runs_.look();
}

void Sweeps::look_for_peers() {
  context_.model.peers.looked = true;
  context_.model.peers.why_none = in_desktop(tr("Peers are Python's."));
}

void Sweeps::run(bool) {
  context_.log.warn(in_desktop(tr("Nothing is measured in a browser.")));
}

void Sweeps::look_ahead() {}

void Sweeps::show_runs(Session& session) {
  const HistoryEntry before = entry_of(context_.state);
  restore_bench(session.state, context_.state);
  runs_.add(std::move(session.runs), RunFrom::file);
  if (session.recordings.empty()) context_.state.view.workspace = Workspace::bench;
  context_.state.view.bench.value.reset();
  context_.history.changed(before, context_.state.document, 0);
}

}  // namespace attn
