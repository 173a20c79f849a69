// A sweep: kernels x values of one axis, measured one point after the other, with progress, time left and cancel.
// A point that fails is a row with its reason; the sweep goes on.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/inputs.h"
#include "profiling/measurement.h"

namespace attn {

enum class Axis : std::uint8_t { L, B, H, D, br, bc, threads };
std::string_view name_of(Axis a);
Result<Axis> axis_from_name(std::string_view name);

struct SweepSpec {
  std::vector<std::string> kernels;
  Axis axis = Axis::L;
  std::vector<std::int64_t> values;
  Problem base;          // the axis overrides one extent (L: Lq and Lk; H: Hq and Hkv scale together)
  std::int64_t tokens = 0;  // with axis L: B = tokens / L, at least 1; 0 = B as in base
  Options options;       // where a kernel does not read an option it is ignored
  Generator generator = Generator::normal;  // random normal by default: zeros run faster and would lie
  std::uint64_t seed = 1;
  double seconds_per_point = 1.0;  // time limit of the repeats of one point
  std::int32_t least_repeats = 5;
  std::uint64_t memory_limit = 0;  // 0 = what the machine has free
  bool verify = true;
  bool verify_full = false;
};

// Axis values in range, kernels known: refused before anything runs.
Result<void> validate(const SweepSpec& s);
// The problem and options of one point.
Problem problem_at(const SweepSpec& s, std::int64_t value);
Options options_at(const SweepSpec& s, std::int64_t value);

// What will be asked of the machine, before it is: bytes of the largest point and a time from the FLOPs and this
// CPU's measured rate (0 when not measured yet).
struct SweepEstimate {
  std::uint64_t most_bytes = 0;
  double seconds = 0;
  std::string words;
};
SweepEstimate estimate(const SweepSpec& s);

struct SweepProgress {
  std::size_t done = 0, total = 0;
  std::string now;           // "cpu_flash, L = 512"
  double seconds_left = -1;  // -1 = not known yet
};

struct SweepCallbacks {
  std::function<void(const SweepProgress&)> progress;
  std::function<void(const Measurement&)> row;  // called once a point, in the sweeping thread
};

// Runs in the calling thread. Every finished row has been handed to `row` when it returns, cancelled or not.
Result<std::vector<Measurement>> run_sweep(const SweepSpec& s, const SweepCallbacks& callbacks, std::stop_token stop);

// One point.
Measurement measure_on_cpu(const KernelRow& row, const Problem& p, const Options& o, const SweepSpec& s,
                           std::stop_token stop);

// Baseline of the speed-up column: cpu_multicore among CPU kernels, naive among GPU kernels.
std::string_view baseline_of(Place place);

}  // namespace attn
