// How a run that was measured ends, and what a list had, for whoever comes after it.
#include <memory>
#include <utility>

#include "app/control/bench/run_list.h"
#include "app/control/bench/run_store.h"

namespace attn {

void RunList::ended(const std::string& id) {
  if (ListedRun* run = find(id)) run->growing = false;
  if (id != writing_) return;
  writer_.reset();
  writing_.clear();
}

std::vector<SweepRun> RunList::take_all() {
  std::vector<SweepRun> runs;
  const auto take = [&](std::vector<ListedRun>& listed) {
    for (ListedRun& each : listed) runs.push_back(std::move(each.run));
    listed.clear();
  };
  take(context_.model.runs);
  if (const auto search = search_.lock()) {
    FoundRuns found = search->take();
    take(found.runs);
  }
  return runs;
}

}  // namespace attn
