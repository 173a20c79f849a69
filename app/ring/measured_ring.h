// A ring of processes timed and checked: `attnscope ring` and Bench's sweeps.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "app/ring/ring.h"
#include "kernels/base/result.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/model/kernel.h"
#include "profiling/figures/measurement.h"
#include "profiling/figures/ranks.h"
#include "profiling/figures/statistics.h"

namespace attn {

// How a ring is measured.
struct RingMeasure {
  // A rule for the repeats after the warm-up, which are told how long they took so far: true ends them.
  using Rule = std::function<bool(const RepeatsSoFar&)>;
  std::function<Rule()> rule;
  bool verify = true, verify_full = false;
  // Called as each stage begins ("start", "time", "link", "one rank", "verify"), and before each run of a ring, where 0
  // is the warm-up; may be empty.
  std::function<void(std::string_view)> stage = {};
  std::function<void(std::int64_t ranks, std::size_t run)> run = {};
  RingLimits limits = {};
  RingProcesses::Starter start = RingProcesses::start_program;
};

// What was asked, and the figures of all repeats.
struct MeasuredRing {
  Problem problem;
  const KernelRow* kernel = nullptr;
  Options options;  // resolved
  Ring ring;
  std::vector<RingRun> runs;
  TimeStatistics time;         // of the ring
  TimeStatistics one_rank;     // of one rank with as many threads
  double link_bytes_a_us = 0;  // 0: one rank
  bool same_bits = true;       // as one process that walks the ring; true where nothing was verified
  std::optional<Verdict> verdict;
};

// Options without a ring: one process with the whole problem.
Options of_one_rank(Options o);
// How such a ring is told of in a row; its `devices` are left to whoever knows them.
Ranks ranks_by_sockets(std::int64_t ranks, bool zigzag, Pass pass);
// One ring, run and checked; no process is left afterwards. `alone`: the time of one rank with as many threads,
// measured where it is not known yet.
Result<MeasuredRing> measure_ring(const KernelRow& row, const Problem& p, const Options& options, const Inputs& in,
                                  const RingMeasure& how, std::optional<TimeStatistics>& alone);
// The row of a session.
Measurement row_of_ring(const MeasuredRing& m);

}  // namespace attn
