// What BenchUiState holds: for the files of the Bench workspace alone.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "profiling/sweep/estimate.h"
#include "profiling/sweep/finished.h"
#include "viz/bench/ladder/ladder.h"
#include "viz/bench/ranks/rank_lanes.h"
#include "viz/bench/scene/bench_scene.h"
#include "viz/bench/scene/bench_ui_state.h"
#include "viz/bench/sources/source_pair.h"
#include "viz/bench/sweep/sweep_fields.h"
#include "viz/bench/tiles/tile_map.h"
#include "viz/draw/field_draft.h"
#include "viz/state/commands.h"
#include "viz/state/model.h"
#include "viz/state/state.h"

namespace attn {

// The line under the pointer and, where one is, its point: charts and table show the same.
struct BenchPointed {
  std::string line;  // BenchLine::id, BenchTableRow::id
  std::optional<std::int64_t> value;
};

// The list of runs: its order stays as long as the window is open, its lines as long as the pointer is on one.
struct RunOrder {
  std::vector<std::string> ids;  // of all
  std::set<std::string> lines;   // ids of those that are in sight
  bool held = false;             // the pointer is on the list
};

// What viz/bench/runs/run_holds.h says of a run with so many rows.
struct RunHolds {
  std::size_t rows = 0, kernels = 0;
  std::vector<std::string> words;
  std::set<std::string> timed;
};

struct BenchCache {
  BenchSwitches switches;
  bool labels = true;                         // names at the ends of the lines
  std::set<std::string> hidden;               // ids of lines that are switched off
  bool all_runs = false;                      // the list of runs is open
  RunOrder run_order;                         // of its lines
  std::map<std::string, RunHolds> run_holds;  // by the run's id
  bool reason_open = false;                   // of the strip, where it is folded for want of height
  std::string run_name;                       // as it is being typed
  std::map<std::pair<SweepField, std::string>, FieldDraft> drafts;  // by field and option
  FieldDraft filter;                                                // of the rows, over the table
  std::string drafts_for;                                           // sweep_key() that the drafts were typed against
  float foot_height = 0;  // of Run and what stands around it, pixels, from the frame before

  BenchScene scene;  // its slice holds no rows: those belong to the model of the frame that made it
  std::string scene_key;
  LadderScene ladder;
  SourcePairScene sources;
  TuneMap tiles;
  RankLanesScene ranks;
  bool has_ranks = false;    // a row that is shown has lanes
  std::string tiles_kernel;  // whose tiles the button tunes
  std::string page_key;      // what ladder or sources were made for
  SourcePairUiState source_ui;

  SweepEstimate estimate;
  std::string why_not_run;  // empty: the sweep may run
  SweepCount count;         // how much of it the rows hold already
  std::string estimate_key;
  std::vector<Measurement> planned;  // of the sweep that the estimate is for

  // What every chart shows of the axis, so that they are looked at together; the height is each chart's own.
  double x_min = 0, x_max = 1;
  std::string x_fitted;  // the range of the data that it was last fitted to; empty: fit it
  std::array<std::string, kBenchCharts> y_fitted;
  std::array<std::pair<double, double>, kBenchCharts> y_shown;  // in the frame before

  std::optional<std::int64_t> hovered;  // the value under the pointer, in every chart
  std::optional<std::int64_t> hovered_next;
  std::optional<BenchPointed> pointed, pointed_next;
};

// Brings scene and estimate up to date; both are made anew only when what they show has changed.
BenchCache& refreshed(BenchUiState& ui, const State& state, const Model& model);
// Worked out once as long as the run has as many rows.
const RunHolds& held(const ListedRun& run, BenchCache& cache);
// The strip's words on the page that is shown.
BenchVerdict strip_words(const State& state, const BenchCache& cache);

}  // namespace attn
