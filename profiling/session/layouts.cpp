#include "profiling/session/layouts.h"

namespace attn {

RowsOfRuns rows_among(const SweepRun& own, std::span<const SweepRun> runs) {
  RowsOfRuns among{own.rows};
  for (const SweepRun& run : runs)
    if (&run != &own) among.emplace_back(run.rows);
  return among;
}

void relate_to_layouts(std::span<SweepRun> runs) {
  for (SweepRun& own : runs) {
    const RowsOfRuns among = rows_among(own, runs);
    for (Measurement& m : own.rows) relate_to_layouts(m, among);
  }
}

}  // namespace attn
