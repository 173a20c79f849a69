#include "viz/bench/charts/named_first.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace attn {
namespace {

constexpr int kOthers = 3;

int rank_of(const BenchLine& line) {
  return line.emphasised ? 0 : !line.beside && !line.kernel.empty() ? 1 : line.baseline ? 2 : kOthers;
}

std::int64_t end_of(const BenchLine& line) {
  return line.points.empty() ? 0 : line.points.back().x;
}

// The highest and the lowest end of those that end at `last`, and the highest of peers.
using Outermost = std::array<const BenchLine*, 3>;
Outermost outermost(const std::vector<const BenchLine*>& lines, std::int64_t last) {
  Outermost most{};
  for (const BenchLine* line : lines) {
    if (line->kernel.empty() || line->points.empty() || end_of(*line) < last) continue;
    const double y = line->points.back().y;
    if (most[0] == nullptr || y > most[0]->points.back().y) most[0] = line;
    if (most[1] == nullptr || y < most[1]->points.back().y) most[1] = line;
    if (line->peer && (most[2] == nullptr || y > most[2]->points.back().y)) most[2] = line;
  }
  return most;
}

// 0: the chosen kernel, 1: an outermost, 2: ends with the others, 3: earlier.
int sight_of(const BenchLine& line, const Outermost& outermost, std::int64_t last) {
  if (line.emphasised) return 0;
  if (std::ranges::find(outermost, &line) != outermost.end()) return 1;
  return end_of(line) < last ? 3 : 2;
}

}  // namespace

std::vector<const BenchLine*> named_first(std::vector<const BenchLine*> lines) {
  std::ranges::stable_sort(lines, {}, [](const BenchLine* line) { return rank_of(*line); });
  std::int64_t last = 0;
  for (const BenchLine* line : lines) last = std::max(last, end_of(*line));
  const auto far = outermost(lines, last);
  std::map<std::string, int> seen;  // of a kernel, so far
  std::vector<std::pair<std::tuple<int, int, int, bool>, const BenchLine*>> ranked;
  ranked.reserve(lines.size());
  for (const BenchLine* line : lines) {
    const int rank = rank_of(*line), nth = seen[line->kernel]++;
    ranked.emplace_back(std::tuple(sight_of(*line, far, last), rank, rank == kOthers ? nth : 0, line->peer), line);
  }
  std::ranges::stable_sort(ranked, {}, &decltype(ranked)::value_type::first);
  std::ranges::transform(ranked, lines.begin(), &decltype(ranked)::value_type::second);
  return lines;
}

}  // namespace attn
