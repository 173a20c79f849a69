// Sweeps in a page: nothing is measured. Runs of a file are shown as in the program (sweeps_shown.cpp).
#include "app/control/bench/sweeps.h"

#include <utility>

#include "app/web/absent/words.h"

namespace attn {

void Sweeps::look_around() {
  context_.model.gpu.looked = true;
  context_.model.gpu.why_nothing = in_desktop(tr("A browser cannot measure."));
  context_.model.gpu.why_none = in_desktop(tr("A web page cannot measure on a GPU."));
}

void Sweeps::look_for_peers() {
  context_.model.peers.looked = true;
  context_.model.peers.why_none = in_desktop(tr("Peers need Python."));
}

void Sweeps::run(bool) {
  context_.log.warn(in_desktop(tr("A browser cannot measure.")));
}

// Reading the bundled sessions takes a while here, and most who come want to step.
void Sweeps::look_ahead() {
  if (!std::exchange(asked_for_runs_, true)) runs_.look();
}

}  // namespace attn
