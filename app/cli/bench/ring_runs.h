// The repeats of a ring on GPUs, and the spans of any ring as CSV.
#pragma once

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

}  // namespace attn::cli
