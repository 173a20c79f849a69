#include "app/control/bench/leftovers.h"

#include <memory>
#include <utility>

#include "profiling/figures/measurement.h"

namespace attn {

void free_in_pieces(std::vector<SweepRun> runs, Tasks& tasks) {
  if (!tasks.between_frames() || runs.empty()) return;
  const auto left = std::make_shared<std::vector<SweepRun>>(std::move(runs));
  tasks.start_sliced({}, [left](TaskHandle&) -> Result<bool> {
    std::vector<Measurement>& rows = left->back().rows;
    if (!rows.empty())
      rows.pop_back();
    else
      left->pop_back();
    return left->empty();
  });
}

}  // namespace attn
