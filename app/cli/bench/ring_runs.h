// The repeats of a ring, on CPUs or on GPUs: made, timed, and the one whose time is the median.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "app/cli/arguments/console_text.h"
#include "kernels/base/result.h"
#include "kernels/base/text.h"
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
TimeStatistics time_of_runs(const std::vector<Run>& runs) {
  std::vector<double> us;
  us.reserve(runs.size());
  for (const Run& run : runs) us.push_back(run.us());
  return statistics_of(us);
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

}  // namespace attn::cli
