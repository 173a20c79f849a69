// The repeats of a ring, on CPUs or on GPUs: made, timed, and the one whose time is the median.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/cli/arguments/console_text.h"
#include "app/ring/messages.h"
#include "kernels/base/result.h"
#include "kernels/base/text.h"
#include "profiling/figures/ranks.h"
#include "profiling/figures/statistics.h"

namespace attn::cli {

// All repeats of a ring of `ranks` by `go()`, a run or why there is none; the first is a warm-up.
template <class Go>
auto repeat_ring(std::int64_t ranks, std::int64_t repeats, const Go& go)
    -> Result<std::vector<typename std::invoke_result_t<Go>::value_type>> {
  std::vector<typename std::invoke_result_t<Go>::value_type> runs;
  for (std::int64_t n = 0; n <= repeats; ++n) {
    say_progress(phrase("ring of {}: run {} of {}", ranks, n, repeats));
    auto run = go();
    if (!run) {
      say_progress("");
      return tl::unexpected(run.error());
    }
    if (n > 0) runs.push_back(*std::move(run));
  }
  say_progress("");
  return runs;
}

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

// Every span of every rank of every run; its last column is the number of ranks.
template <class Run>
std::string spans_csv(const std::vector<Run>& runs, bool heading = true) {
  std::string text = heading ? "run,rank,turn,work,begin_us,end_us,ranks\n" : "";
  for (std::size_t n = 0; n < runs.size(); ++n) {
    for (std::size_t rank = 0; rank < runs[n].ranks.size(); ++rank) {
      for (const RankSpan& s : runs[n].ranks[rank].spans)
        text += fmt::format("{},{},{},{},{:.3f},{:.3f},{}\n", n, rank, s.turn, name_of(s.work), s.begin_us, s.end_us,
                            runs[n].ranks.size());
    }
  }
  return text;
}

// What a session keeps of the ranks of a run: when each worked, what it sent. `device`: what each ran on.
template <class Run>
std::vector<Rank> ranks_of_run(const Run& run, const std::string& device) {
  std::vector<Rank> ranks;
  for (const auto& times : run.ranks) {
    Rank& r = ranks.emplace_back(Rank{device, "", 0, 0, times.sent_bytes, us_of(times.spans, RankWork::send)});
    for (const RankSpan& s : times.spans) {
      r.start_us = &s == &times.spans.front() ? s.begin_us : std::min(r.start_us, s.begin_us);
      r.end_us = std::max(r.end_us, s.end_us);
    }
  }
  return ranks;
}

}  // namespace attn::cli
