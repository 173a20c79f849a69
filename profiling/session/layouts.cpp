#include "profiling/session/layouts.h"

#include "profiling/figures/baseline.h"

namespace attn {

void relate_to_layouts(std::span<SweepRun> runs) {
  for (SweepRun& own : runs) {
    RowsOfRuns among{own.rows};
    for (const SweepRun& run : runs)
      if (&run != &own) among.emplace_back(run.rows);
    for (Measurement& m : own.rows) relate_to_layouts(m, among);
  }
}

}  // namespace attn
