// The lanes of measured rings, one a rank: what it computed, sent, received and waited for, and when. Rings stand below
// one another on one axis, so that a longer run is a longer lane. Plain values; rank_lanes_draw.cpp draws them.
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "profiling/figures/measurement.h"
#include "viz/bench/runs/slice.h"
#include "viz/draw/figure_text.h"
#include "viz/state/model.h"
#include "viz/state/state.h"

namespace attn {

struct RankLane {
  std::string name;             // "rank 0"
  std::string tip;              // its sums, and what it ran on
  std::vector<RankSpan> spans;  // by their beginning
};

// What the model says of so many devices.
struct ForecastLane {
  std::int64_t ranks = 0;
  std::string name;   // "4 GPUs"
  std::string words;  // "13.9 ms, 3.77 times as fast as one GPU"
  double us = 0;
};

struct RingLanes {
  std::string kernel;
  std::string title;    // "cpu_flash, ring of 3"
  std::string words;    // "zigzag, over sockets; L = 1024"
  std::string pace;     // "12.1 ms: 2.26 times as fast as one rank (75 % of 3)"
  double us = 0;        // of its longest lane
  double ideal_us = 0;  // one rank's time over their number; 0: unknown
  bool sums = false;    // dK and dV travel, too
  bool on_cpu = false;  // processes that share cores
  std::vector<RankLane> lanes;
  std::vector<ForecastLane> forecasts;  // by their number of devices
};

struct RankLanesScene {
  std::string empty;  // why there are none; then nothing below is set
  std::string kernel, headline, reason;
  std::vector<RingLanes> rings;  // by kernel, then by their number of ranks
  double us = 0;                 // the axis ends here
  BenchUnit unit;
  std::string axis_letter;
  std::vector<std::int64_t> values;  // of the axis, where it is not the number of ranks: those that have rings
  std::int64_t value = 0;            // that is shown
};

// Whether a row that is shown has lanes.
bool has_rank_lanes(const State& state, const Model& model);
RankLanesScene rank_lanes(const State& state, const Model& model);
// The spans as CSV, a line each; times in microseconds from the first start of any rank.
std::string rank_lanes_csv(const RankLanesScene& scene);

// Shares of a ring's time, the mean of its ranks: 0 to 1.
double share_of_work(const RingLanes& ring, RankWork work);
// What it does at a moment: of a kind; null: nothing.
const RankSpan* span_at(const RankLane& lane, RankWork work, double us);
// A span is one of its lane's. Turn N of a ring of N, which a backward has, is the sums' way home.
std::string span_words(const RingLanes& ring, const RankLane& lane, const RankSpan& span, const BenchUnit& unit);
inline bool goes_home(const RingLanes& ring, const RankSpan& span) {
  return ring.sums && span.turn >= std::ssize(ring.lanes);
}
// Where a ring's forecasts come from.
std::string forecast_tip(const RingLanes& ring);

}  // namespace attn
