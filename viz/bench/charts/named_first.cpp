#include "viz/bench/charts/named_first.h"

#include <algorithm>
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

}  // namespace

std::vector<const BenchLine*> named_first(std::vector<const BenchLine*> lines) {
  std::ranges::stable_sort(lines, {}, [](const BenchLine* line) { return rank_of(*line); });
  std::map<std::string, int> seen;  // of a kernel, so far
  std::vector<std::pair<std::tuple<int, int, bool>, const BenchLine*>> ranked;
  ranked.reserve(lines.size());
  for (const BenchLine* line : lines) {
    const int rank = rank_of(*line), nth = seen[line->kernel]++;
    ranked.emplace_back(std::tuple(rank, rank == kOthers ? nth : 0, line->peer), line);
  }
  std::ranges::stable_sort(ranked, {}, &decltype(ranked)::value_type::first);
  std::ranges::transform(ranked, lines.begin(), &decltype(ranked)::value_type::second);
  return lines;
}

}  // namespace attn
