#include "viz/state/bench_runs.h"

#include <algorithm>

namespace attn {

bool is_shown(const BenchRuns& runs, std::string_view id) {
  return std::find(runs.shown.begin(), runs.shown.end(), id) != runs.shown.end();
}

void show_run(BenchRuns& runs, std::string_view id) {
  std::erase(runs.shown, id);
  runs.removed.erase(std::string(id));
  runs.shown.emplace_back(id);
  if (runs.shown.size() > kMaxShownRuns) runs.shown.erase(runs.shown.begin());
}

void hide_run(BenchRuns& runs, std::string_view id) {
  std::erase(runs.shown, id);
}

}  // namespace attn
