// --peers, --peer and --peers-python: attention of others beside ours.
#pragma once

#include <string>
#include <vector>

#include "app/cli/arguments/parser.h"
#include "app/peers/bench.h"
#include "kernels/base/result.h"
#include "kernels/model/kernel.h"

namespace attn::cli {

struct PeerArguments {
  std::string peers;  // "all", or ids; empty: none
  std::string python;
  std::vector<std::string> files;
  double seconds = PeerSetup{}.seconds;

  void add_to(Parser parser);
  bool asked() const { return !peers.empty() || !files.empty(); }
  // Those of the processors that the sweep's kernels run on; of all, a package's where it is found. An id that is none,
  // or runs elsewhere, is refused.
  Result<std::vector<std::string>> ids(bool on_cpu, bool on_gpu) const;
  // As look_for_python() takes it: left out, that of the settings.
  std::string python_chosen() const;
  // A file that is not there is refused. `python`: left out, that of the settings.
  Result<PeerSetup> setup() const;
};

}  // namespace attn::cli
