// Commands that change what Bench shows, and what the program does for Bench beside its state.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "viz/state/state.h"

namespace attn {

// Document: undoable, as in commands_step.h.
struct SetSweep {
  SweepSpec sweep;
  int gesture = 0;
};
// The problem of Step as the sweep's.
struct MeasureInBench {};

// View: not undoable.
struct ChooseBenchMetric {
  std::string id;
};
struct ChooseBenchValue {
  std::int64_t value = 0;
};
struct ChooseBenchBaseline {
  std::string id;  // empty = the default of each device
};

using BenchCommand = std::variant<SetSweep, MeasureInBench, ChooseBenchMetric, ChooseBenchValue, ChooseBenchBaseline>;

// Goes on from the rows there are where some of the sweep's points are finished and others not; `restart` measures all.
struct RunSweep {
  bool restart = false;
};
struct ExportCsv {};
struct ExportJson {};
using BenchEffect = std::variant<RunSweep, ExportCsv, ExportJson>;

}  // namespace attn
