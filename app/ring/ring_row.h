// The repeats of a ring, on CPUs or on GPUs, and the row of a session that they become.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "app/ring/messages.h"
#include "kernels/model/kernel.h"
#include "profiling/figures/measurement.h"
#include "profiling/figures/ranks.h"
#include "profiling/figures/statistics.h"

namespace attn {

template <class Run>
std::vector<double> us_of_runs(const std::vector<Run>& runs) {
  std::vector<double> us;
  us.reserve(runs.size());
  for (const Run& run : runs) us.push_back(run.us());
  return us;
}

template <class Run>
TimeStatistics time_of_runs(const std::vector<Run>& runs) {
  return statistics_of(us_of_runs(runs));
}

// The run whose time is the median.
template <class Run>
const Run& middle_run(const std::vector<Run>& runs) {
  std::vector<const Run*> order;
  order.reserve(runs.size());
  for (const Run& run : runs) order.push_back(&run);
  std::ranges::sort(order, {}, &Run::us);
  return *order[(order.size() - 1) / 2];
}

// To a nanosecond: what a session needs of a span.
std::vector<RankSpan> kept_spans(std::vector<RankSpan> spans);

// What a session keeps of the ranks of a run: when each worked, what it sent. `device`: what each ran on.
template <class Run>
std::vector<Rank> ranks_of_run(const Run& run, const std::string& device) {
  std::vector<Rank> ranks;
  std::size_t spans = 0;
  for (const auto& times : run.ranks) spans += times.spans.size();
  for (const auto& times : run.ranks) {
    Rank& r = ranks.emplace_back(Rank{device, "", 0, 0, times.sent_bytes, us_of(times.spans, RankWork::send)});
    if (spans <= kMaxRankSpans) r.spans = kept_spans(times.spans);
    for (const RankSpan& s : times.spans) {
      r.start_us = &s == &times.spans.front() ? s.begin_us : std::min(r.start_us, s.begin_us);
      r.end_us = std::max(r.end_us, s.end_us);
    }
  }
  return ranks;
}

// What travels in a ring of several.
std::vector<Tensor> travelling(Pass pass);

// What was measured of a ring.
struct TakenRing {
  const KernelRow* kernel = nullptr;
  Options options;  // resolved
  Problem problem;
  std::string device, clock;
  L2State l2 = L2State::warm;
  std::vector<double> samples_us;  // from the earliest start to the latest end of any rank
  std::optional<Verdict> verdict;
  std::string wrong;  // what is wrong besides what the verdict says; empty: nothing
  Ranks ranks;
};
Measurement ring_row(const TakenRing& t);

}  // namespace attn
