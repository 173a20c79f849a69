#include "viz/profile/timeline/scene/common_part.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <tuple>
#include <vector>

#include "kernels/base/text.h"

namespace attn {
namespace {

constexpr std::size_t kLeast = 3;  // key tiles
constexpr double kRatio = 4;       // how much more it counts that two differ as their whole blocks do

double ns_of(const PipelineScene& s, std::int64_t clocks) {
  return static_cast<double>(clocks) * s.ns_a_clock;
}

struct Tiles {
  std::size_t first = 0, last = 0;  // products of the first consumers, the same of both
};

// In sight of both from there on, as ahead_of() counts them.
Tiles tiles_from(const PipelineScene& s, std::int64_t from) {
  const PipelineScene& b = *s.beside;
  const auto first = static_cast<std::size_t>(std::ranges::lower_bound(s.issues, from) - s.issues.begin());
  Tiles t{first, first};
  const std::size_t both = std::min(s.issues.size(), b.issues.size());
  const double left = ns_of(s, s.to - s.from) - (first < both ? ns_of(s, s.issues[first] - from) : 0);
  const auto in_sight = [&](const PipelineScene& x, std::size_t n) {
    return ns_of(x, x.issues[n] - x.issues[first]) < left;
  };
  while (t.last + 1 < both && in_sight(s, t.last + 1) && in_sight(b, t.last + 1)) ++t.last;
  return t;
}

// One query tile, whose key tiles follow one another, with all the rows that the block ever has.
bool is_full(const PipelineScene& s, const Tiles& t) {
  const std::int32_t by = s.issue_tiles[t.first + 1] - s.issue_tiles[t.first], most = std::ranges::max(s.issue_rows);
  for (std::size_t n = t.first; n < t.last; ++n)
    if (s.issue_tiles[n + 1] - s.issue_tiles[n] != by || s.issue_rows[n] != most) return false;
  return true;
}

// What they take for a row that takes a key tile, ns.
double per_work(const PipelineScene& s, const Tiles& t) {
  double work = 0;
  for (std::size_t n = t.first; n < t.last; ++n) work += s.issue_rows[n];
  return work > 0 ? ns_of(s, s.issues[t.last] - s.issues[t.first]) / work : std::numeric_limits<double>::infinity();
}

// How far that is from what the whole block takes, as the logarithm of their ratio.
double off(const PipelineScene& s, const Tiles& t) {
  return std::log(per_work(s, t) * s.work / ns_of(s, s.length));
}

}  // namespace

std::int64_t common_part(const PipelineScene& s) {
  const PipelineScene& b = *s.beside;
  const std::int64_t part = s.to - s.from;
  const auto placed = [&](std::int64_t from) { return std::clamp<std::int64_t>(from, 0, s.length - part); };
  const std::size_t both = std::min(s.issues.size(), b.issues.size());
  if (both == 0) {
    const double common = std::min(ns_of(s, s.length), ns_of(b, b.length)) / s.ns_a_clock;
    return placed(static_cast<std::int64_t>(std::llround(common)) / 2 - part / 2);
  }
  // With no two key tiles in common: about the lower block, where the products lie in line.
  const auto other = [&](std::int64_t clocks) { return std::llround(ns_of(b, clocks) / s.ns_a_clock); };
  std::int64_t best = placed(s.issues.front() - other(b.issues.front()) + (other(b.length) - part) / 2);
  std::tuple<std::size_t, bool, bool, double> least{kLeast, false, false, std::numeric_limits<double>::infinity()};
  const bool whole_takes_more = ns_of(b, b.length) * s.work > ns_of(s, s.length) * b.work;
  // Of the window, the share that the lower block leaves empty.
  const auto empty = [&](std::int64_t from, std::size_t first) {
    const std::int64_t begins = s.issues[first] - other(b.issues[first]), ends = begins + other(b.length);
    const std::int64_t seen = std::min(from + part, ends) - std::max(from, begins);
    return 1 - static_cast<double>(seen) / static_cast<double>(part);
  };
  for (std::size_t n = 0; n + 1 < both; ++n) {
    const std::int64_t from = placed(s.issues[n] - s.tile_clocks / 4);
    const Tiles t = tiles_from(s, from);
    if (t.first + 1 >= both || t.last == t.first) continue;
    // The fewest first.
    const std::size_t missing = kLeast - std::min(kLeast, t.last - t.first);
    // Both halves near the whole, and their ratio too.
    const double above = off(s, t), below = off(b, t);
    const bool more = per_work(b, t) > per_work(s, t);
    const double far = std::fabs(above) + std::fabs(below) + kRatio * std::fabs(above - below) + empty(from, t.first);
    const std::tuple now{missing, !(is_full(s, t) && is_full(b, t)), more != whole_takes_more, far};
    if (now < least) least = now, best = from;
  }
  return best;
}

std::vector<BlockEdge> block_edges(const PipelineScene& s) {
  std::vector<BlockEdge> edges;
  if (s.from < 0)
    edges.push_back({s.from, std::min<std::int64_t>(s.to, 0), false, phrase("block {} begins at 0 µs", s.block)});
  if (s.to > s.length)
    edges.push_back({std::max(s.from, s.length), s.to, true,
                     phrase("block {} ended at {:.1f} µs", s.block, ns_of(s, s.length) * 1e-3)});
  return edges;
}

}  // namespace attn
