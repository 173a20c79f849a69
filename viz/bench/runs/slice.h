// Which rows may stand beside one another in a chart, and where.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiling/figures/measurement.h"
#include "profiling/spec/sweep_spec.h"
#include "viz/state/model.h"
#include "viz/state/state.h"

namespace attn {

// Rows that may stand on one line a kernel: one device, one L2 state, problems that differ along `axis` alone.
struct BenchSlice {
  Axis axis = Axis::L;
  std::vector<std::int64_t> values;      // of the axis, rising
  std::vector<const Measurement*> rows;  // one a kernel and value, the last that was taken
  std::size_t left_out = 0;              // rows of other problems or devices
  bool of_this_sweep = true;             // false: rows of another problem than the sweep that is set up
  bool loaded = false;
  std::string run;       // its id; kPredictedRun where it is what is known before the run
  bool beside = false;   // beside the one that the sentences are about
  std::string letter;    // "A": tells it from the others that are shown; empty where it is alone
  std::string words;     // what the user calls it
  std::string listed;    // the same as short as the list of runs has it: "11-24 22:46"
  std::string file;      // where it was loaded from
  std::string date;      // ISO 8601
  std::string problem;   // of its family, in words
  std::string rule;      // "B·L = 16384": what follows the axis; empty where nothing does
  std::string driver;    // of the GPU, as the run has it
  bool planned = false;  // no row was timed: what is known before the run (viz/bench/sweep/planned.h)
  // The axis along which this run's rows differ, where they do not along `axis`: then none of them is here, since a
  // level across that axis would say that they were measured along it.
  std::optional<Axis> elsewhere;
};
// The axis is the sweep's where the rows differ along it, else the one along which they do. `as` names the axis and the
// problem of another slice, which these rows follow where they have any of them. Where no row is of the problem of the
// sweep, it is the one that `kernel` was measured on last.
BenchSlice slice_rows(const SweepSpec& sweep, std::span<const Measurement> rows, bool loaded,
                      const BenchSlice* as = nullptr, std::string_view kernel = {});
// The runs that are shown beside one another: the first is the one that the sentences are about, ticked last.
using BenchSlices = std::vector<BenchSlice>;
struct ShownSlices {
  std::vector<std::unique_ptr<std::vector<Measurement>>> rows;  // what the slices point to, or to the model's runs
  BenchSlices slices;
  std::size_t fit = 0, of = 0;  // rows of the runs that the filter leaves, of how many
};
// What stands on the charts: the runs that are ticked, else, or where that is ticked too, what is predicted. Of the
// rows those that fit `filter`, an expression that can be read.
ShownSlices shown_slices(const State& state, const Model& model, std::span<const Measurement> planned = {},
                         std::string_view filter = {});
// What speed-ups of a pass are over on this device: the user's choice where it takes both, else the usual one.
std::string baseline_shown(const State& state, Processor processor, Pass pass);
std::string baseline_shown(const State& state, const Measurement& m);
// Whether a kernel is the usual baseline of its device: drawn thick.
bool is_device_baseline(std::string_view kernel);
// "live: NVIDIA H100, 2026-11-21": drawn on every chart. Empty before anything was measured.
std::string source_words(const BenchSlice& slice);
std::string source_words(const BenchSlices& slices);
// "A: B=1 H=16 L=512 D=64 f32": the problem of a run that is shown, at one value or, without one, of all.
std::string problem_words(const BenchSlice& slice, std::optional<std::int64_t> value = std::nullopt);
// Whether two runs are of different problems: their times then stand on the same axes for nothing.
bool differ_in_problem(const BenchSlice& a, const BenchSlice& b);
// The GPU that the sweep asks for, as its rows name it; without a name where it is not here.
Device gpu_device(const SweepSpec& sweep, const GpuView& gpus);
// "NVIDIA H100 80GB HBM3" -> 80 GiB; 0 where its name does not say.
std::uint64_t memory_in_name(std::string_view name);
// The first axis along which rows of one kernel differ; none where there is none.
std::optional<Axis> varied_axis(std::span<const Measurement> rows);
// Where a row stands on an axis; 0 where its kernel does not read that option.
std::int64_t axis_value(const Axis& a, const Measurement& m);
const Measurement* row_at(const BenchSlice& s, std::string_view kernel, std::int64_t value);
// The value that was clicked, else the largest at which most kernels have a figure.
std::optional<std::int64_t> chosen_value(const BenchSlice& slice, std::optional<std::int64_t> clicked);
// Ids of the slice's kernels in the order of the ladder, those that this program does not know at the end.
std::vector<std::string> kernels_of(const BenchSlice& slice);
// What a row's kernel is called wherever it is shown: ours by its id, a peer by its title, "FlashAttention-2". Files,
// CSV and the command line name a peer by its id, "torch-flash", which tooltips have too.
std::string shown_name(const Measurement& m);
// "flash_simt", "flash_simt B" where several runs are shown, "flash_simt, predicted" beside measured ones: the same on
// lines and in the table.
std::string label_of(const BenchSlice& slice, const std::string& kernel);
// The same with the kernel's id: what a line is known by.
std::string line_id_of(const BenchSlice& slice, const std::string& kernel);
// Changes whenever the scene of these rows would.
std::uint64_t rows_fingerprint(const State& state, const Model& model);

}  // namespace attn
