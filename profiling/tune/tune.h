// Which tile of a kernel is fastest on a problem: every one that fits is timed shortly, the best are timed again in
// turns with the usual one, and one of them is chosen where it is right and faster beyond the noise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/clock.h"
#include "kernels/base/result.h"
#include "kernels/model/kernel.h"
#include "profiling/figures/measurement.h"
#include "profiling/measure/turn.h"
#include "profiling/spec/measure_spec.h"
#include "profiling/tune/candidates.h"

namespace attn {

// How each tile is measured stands in the base: seconds_per_point and min_repeats are those of the first, short time.
struct TuneSpec : MeasureSpec {
  TuneSpec();
  std::string kernel;
  Problem problem;
  Options options;       // what is not 0 is not varied
  double budget_s = 25;  // of everything; what was not tried by then is said to be so
  std::int32_t finalists = 3;
};
Result<void> validate(const TuneSpec& s);
Point point_of(const TuneSpec& s, const Options& o);

enum class TileFate : std::uint8_t {
  refused,    // cannot be tried; `why` says so
  not_tried,  // it fits, and the budget or the user ended the tuning before its turn
  failed,     // it was tried and gave no time; `why`
  wrong,      // its answer did not pass; `why`
  timed
};
std::string_view name_of(TileFate f);  // "refused", "not tried", "failed", "wrong", "timed"
std::optional<TileFate> tile_fate_from_name(std::string_view name);

struct TriedTile {
  TileCandidate tile;
  TileFate fate = TileFate::not_tried;
  std::string why;
  TimeStatistics time;   // of the short time; n = 0: none
  TimeStatistics turns;  // in turns with the usual one; n = 0: it was none of the best
  std::string verdict;   // "pass", or why it was not judged; empty: not looked at
  bool spills() const { return tile.compiled && tile.compiled->spill_bytes > 0; }
};

enum class TuneDecision : std::uint8_t {
  faster,      // than the usual one, beyond the noise: chosen
  usual_best,  // the usual one is the fastest: kept
  cannot_tell  // the best is within the noise of the usual one: that is kept
};
std::string_view name_of(TuneDecision d);  // "faster", "usual is best", "can't tell"
std::optional<TuneDecision> tune_decision_from_name(std::string_view name);

struct TuneResult {
  std::string kernel;
  Problem problem;
  std::string device;            // its name
  std::vector<TriedTile> tiles;  // as tile_candidates() has them
  std::size_t usual = 0;         // index of the one that the kernel takes by itself
  std::size_t chosen = 0;        // the usual one where nothing beat it
  // None: the tuning ended before the best were timed again, and `words` says so; nothing is kept.
  std::optional<TuneDecision> decision;
  std::string words;   // one sentence
  double seconds = 0;  // that it took
  std::string clock;   // of the short times
  std::string date;    // ISO 8601, UTC; empty: not kept yet
  std::size_t tried() const;
  std::size_t fitting() const;
};

struct TuneProgress {
  std::size_t done = 0, total = 0;  // tiles
  std::string now;                  // "64 x 32, 128 threads"
  double fraction = 0;              // of the whole
  double seconds_left = -1;         // -1 = not known yet
};

struct TuneCallbacks {
  Device device;
  std::function<Measurement(const Point& p, std::stop_token stop)> measure;
  std::function<Result<std::vector<double>>(const Point& p, const Turn& turn, std::stop_token stop)> turn;
  std::function<void()> let_go;                           // no turn follows; may be empty
  std::function<void(std::span<const Point>)> announce;   // what will be measured, in this order; may be empty
  std::function<void(const TuneProgress&)> progress;      // may be empty
  std::function<void(const TuneResult& so_far)> changed;  // a tile more was tried; may be empty
  Clock clock = steady_seconds;
};

// What is tried and what is not, before anything runs: every tile refused or not tried, no decision.
Result<TuneResult> tune_plan(const TuneSpec& s, const Device& device);

// The order in which its tiles are tried (candidates.h): indices of them, those that can be.
std::vector<std::size_t> order_to_try(const TuneResult& r);

// Runs in the calling thread. Cancelled, or out of time before the best were timed again: what was tried, no decision.
// Errors are those of validate() and tile_candidates().
Result<TuneResult> tune(const TuneSpec& s, const TuneCallbacks& callbacks, std::stop_token stop);

// Of times that were taken in turns: the usual tile's and the others'. `best` is the index among the others of the one
// with the least median; faster only where its 95 % interval lies wholly under the usual one's.
struct TurnsVerdict {
  TuneDecision decision = TuneDecision::cannot_tell;
  std::size_t best = 0;
  std::string words;
};
TurnsVerdict judge_turns(const TimeStatistics& usual, std::span<const TimeStatistics> others);

}  // namespace attn
