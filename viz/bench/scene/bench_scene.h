// What Bench shows, as plain values with the text already in them: from state and measurements to lines, cells and
// sentences. Pure: no drawing, no clock. charts_draw.cpp, bench_table_draw.cpp and
// speed_verdict_draw.cpp draw it as it stands.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/result.h"
#include "profiling/figures/measurement.h"
#include "profiling/figures/metrics.h"
#include "viz/bench/runs/slice.h"
#include "viz/bench/scene/absent_kernel.h"
#include "viz/state/model.h"
#include "viz/state/state.h"

namespace attn {

// ---- charts

// Dotted: predicted, not measured, and nothing else (BenchChart::dotted says what). Constant: the kernel does not
// depend on the axis, drawn across all values.
struct BenchPoint {
  std::int64_t x = 0;
  double y = 0, low = 0, high = 0;  // quartiles; low = high = y where there are none
  std::string text;                 // "12.1 ms"
};
struct BenchLine {
  std::string kernel;  // empty: a line of no kernel ("each element once")
  std::string label;
  std::string id;         // kernel's id and, where several are shown, run: what is switched on and off
  std::size_t order = 0;  // of its run among those that are shown; each has a pattern of its own
  bool baseline = false, dotted = false, constant = false, emphasised = false;
  bool open = false;    // ran on the CPU
  bool hollow = false;  // loaded from a file
  bool beside = false;  // of a run beside the one that the sentences are about
  bool peer = false;    // attention of others: a reference, dashed and neutral
  bool bare = false;    // no marks: it stands beside a line of its kernel that has them
  bool bound = false;   // of no kernel: where something ends, such as a GPU's memory
  bool ideal = false;   // of no kernel: what would be at best, dashed
  std::vector<BenchPoint> points;
};
// How far two lines lie apart at the chosen value: drawn between them with the factor beside it.
struct BenchSpan {
  std::int64_t x = 0;
  double from = 0, to = 0;
  std::string text;  // "4.1×"
};
struct BenchChart {
  std::string id;      // "time": of its place, for widgets
  std::string metric;  // the id of what it shows
  std::string title;   // "Time"
  std::string unit;    // "ms"
  std::string note;    // unit and the rest: "ms, lower is better; whiskers: quartiles"
  std::string dotted;  // what dotted lines are: "predicted: the minimum for its order"; empty where there are none
  bool log_y = false;
  double y_min = 0, y_max = 1;
  std::vector<BenchLine> lines;
  // Where and when its figures were taken; in full, where `source` says it in short.
  std::string source, source_all;
  std::string empty;  // why nothing is drawn; empty when something is
  std::optional<BenchSpan> span;
};

// ---- table

struct BenchCell {
  std::string text = "–";  // the dash: not available, and `tip` says why
  std::string tip;
  double sort = 0;
  bool available = false;
};
struct BenchColumn {
  std::string id, title, tip;
};
enum class BenchMark : std::uint8_t { none, pass, fail };
struct BenchTableRow {
  std::string kernel;
  std::string id;                // of its line in the charts: BenchLine::id
  std::string name;              // what the kernel is called: shown_name()
  std::string label;             // the same, and the run's letter where several are shown
  std::int64_t value = 0;        // 0: the kernel does not read the axis
  std::vector<BenchCell> cells;  // parallel to the columns after the first; with a `reason`: compiled figures or none
  std::string reason;            // instead of figures: refused, failed, cancelled, not run
  Problem problem;               // for Step
  Options options;
  BenchMark mark = BenchMark::none;
  bool emphasised = false;
};
struct BenchTable {
  std::vector<BenchColumn> columns;
  std::vector<BenchTableRow> rows;
  std::string note;  // where the figures come from
};

// ---- the whole

// What a chart can show.
struct BenchMetric {
  std::string id, label, help;
  MetricGroup group = MetricGroup::time;
};
// The error names an id that is not known.
Result<void> check_chart_metric(std::string_view id);
Result<BenchMetric> bench_metric(std::string_view id);
// The one that the user chose for this chart, else the usual one of its place: time, DRAM bytes, occupancy (without a
// GPU's row the speed-up), throughput.
std::string metric_of_chart(const State& state, const BenchSlices& slices, std::size_t chart);

struct BenchVerdict {
  std::string kernel;            // whose colour marks the strip; empty = none
  std::string headline, reason;  // the reason: lines, some with a lead ("Limit: ...")
  bool asks_for_run = false;     // that Run be pressed
  bool answers = false;          // its first line is about a kernel that was asked for: never folded away
};
struct BenchTick {
  std::int64_t at = 0;
  std::string text;
};
struct BenchScene {
  BenchSlice slice;         // of the run that the sentences are about
  BenchSlices beside;       // the others that are shown, in the order of their letters
  std::string axis_letter;  // "L"
  bool log_x = true;
  double x_min = 0, x_max = 1;
  std::vector<BenchTick> ticks;
  std::optional<std::int64_t> chosen;  // the value that table and verdict look at
  std::vector<BenchMetric> metrics;    // those that some row has a figure of, by group
  std::vector<std::string> kernels;    // of the rows, in the order of the ladder
  std::array<BenchChart, kBenchCharts> charts;
  BenchTable table;
  BenchVerdict verdict;
  WayToKernel way;     // where the kernel that was asked for has no row here
  std::string filter;  // of the rows, as it stands in the state
};

// What the viewer has switched; no part of the state.
struct BenchSwitches {
  std::map<std::string, bool, std::less<>> log;  // by metric; none = what suits it
  bool all_values = false;                       // table: every value, not the chosen one alone
  std::optional<MetricGroup> group;              // table: every metric of this group; none = a choice from all
};

// `planned` stands in for the rows until the first is measured.
BenchScene bench_scene(const State& state, const Model& model, const BenchSwitches& switches,
                       std::string_view estimate_words, std::span<const Measurement> planned = {});

// Parts, each tested on its own.
BenchVerdict bench_verdict(const State& state, const Model& model, const BenchSlice& slice,
                           std::optional<std::int64_t> chosen, std::string_view estimate_words);
// As the strip says it: where the sweep is folded behind its button (`folded`), Run is there.
std::string strip_headline(const BenchVerdict& verdict, bool folded);
BenchTable bench_table(const State& state, const BenchSlices& slices, std::optional<std::int64_t> chosen,
                       const BenchSwitches& switches);
std::array<BenchChart, kBenchCharts> bench_charts(const State& state, const Model& model, const BenchSlices& slices,
                                                  const BenchSwitches& switches);
// That runs are shown beside one another which are of other problems, with both; empty where none is.
std::string unlike_words(const BenchSlice& slice, const BenchSlices& beside, std::optional<std::int64_t> chosen);
// How the chosen kernel does in the other runs, one sentence each.
std::string beside_words(const State& state, const BenchSlice& slice, const BenchSlices& beside,
                         std::optional<std::int64_t> chosen, std::string_view kernel);
// Between the baseline's line and the kernel of the verdict; none where either has no point there.
std::optional<BenchSpan> span_at(const BenchChart& chart, std::string_view kernel, std::int64_t value);

// ---- to take away: lines of cells with tabs between, numbers as they are shown

// The heads, then the rows; a figure that is not available is empty, a row without figures has its reason.
std::string table_tsv(const BenchTable& table);
std::string row_tsv(const BenchTable& table, std::size_t row);
// One line a value of the axis, one column a line that is not hidden.
std::string chart_tsv(const BenchScene& scene, const BenchChart& chart, const std::set<std::string>& hidden);

}  // namespace attn
