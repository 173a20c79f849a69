// Commands that change what Bench shows, and what the program does for Bench beside its state.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

#include "kernels/ladder.h"
#include "viz/state/state.h"

namespace attn {

// Document: undoable, as in commands_step.h.
struct SetSweep {
  SweepSpec sweep;
  int gesture = 0;
};
// The problem of Step as the sweep's.
struct MeasureInBench {};
// The list of runs. `id` of ShowRun may be kPredictedRun; an empty one of CompareWithRun: with none.
struct ShowRun {
  std::string id;
  bool on = true;
};
struct RenameRun {
  std::string id, name;
};
struct RemoveRun {
  std::string id;
};
struct CompareWithRun {
  std::string id;
};

// Kernels of the user's own beside the ladder's. `replace`: in place of an earlier text of the same file; `choose`: the
// last is ticked and looked at.
constexpr std::size_t kMaxOwnKernels = 32;
struct TakeOwnKernels {
  gpu::OwnKernels kernels;
  bool replace = false, choose = false;
};
// Out of the list; its rows stay.
struct DropOwnKernel {
  std::string id;
};

// View: not undoable.
struct ChooseBenchMetric {
  std::string id;  // empty = the usual one of the chart's place
  std::size_t chart = kBenchCharts - 1;
  // The charts come back where another page is shown; undo leads back to that.
  bool show = false;
};
// What strip, table and Profile look at; Step stays where it is. Empty: Step's.
struct ChooseBenchKernel {
  std::string id;
};
struct ChooseBenchValue {
  std::int64_t value = 0;
};
struct ChooseBenchBaseline {
  std::string id;  // empty = the default of each device
};
// The rows that charts and table show, by an expression; empty: all.
struct FilterRows {
  std::string filter;
};
struct ChooseBenchPage {
  BenchPage page = BenchPage::charts;
};
// The sources of two kernels side by side, and the page that shows them. Empty ones: as in BenchView.
struct CompareSources {
  std::array<std::string, 2> kernels;
};

using BenchCommand = std::variant<SetSweep, TakeOwnKernels, DropOwnKernel, MeasureInBench, ShowRun, RenameRun,
                                  RemoveRun, CompareWithRun, ChooseBenchMetric, ChooseBenchKernel, ChooseBenchValue,
                                  ChooseBenchBaseline, FilterRows, ChooseBenchPage, CompareSources>;

// Goes on with the newest unfinished run of this very sweep, else starts one, which takes over the points that are
// finished in the runs of this machine where some are and others not. `restart`: a new run that measures all.
struct RunSweep {
  bool restart = false;
};
// The rows of one run, or of all that are shown.
struct ExportCsv {
  std::string run;
};
struct ExportJson {
  std::string run;
};
struct ExportTrace {
  std::string run;
};
// Ticks a run and sets the sweep up as it was.
struct TakeSweepOf {
  std::string id;
};
// Tries the tiles of the kernel that is chosen in Bench, on the problem of the value that is looked at.
struct TuneTiles {};
// Asks Python what it has for peers, once: nothing else in the window starts it before a sweep with peers runs.
struct LookForPeers {};
// What becomes of the kernels that a session brought (Model::offered).
struct AnswerOffer {
  bool take = false;
};
using BenchEffect =
    std::variant<RunSweep, AnswerOffer, ExportCsv, ExportJson, ExportTrace, TakeSweepOf, TuneTiles, LookForPeers>;

}  // namespace attn
