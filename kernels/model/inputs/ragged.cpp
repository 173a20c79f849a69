#include "kernels/model/inputs/ragged.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "kernels/model/inputs/generators.h"

namespace attn {
namespace {

constexpr std::uint64_t kOrder = 7;  // the key of the order
constexpr std::int64_t kShort = 64;  // times shorter than the one that is long

constexpr std::pair<Ragged, std::string_view> kNames[] = {{Ragged::none, "none"},
                                                          {Ragged::uniform, "uniform"},
                                                          {Ragged::zipf, "zipf"},
                                                          {Ragged::even, "even"},
                                                          {Ragged::one_long, "one_long"}};
constexpr Ragged kAll[] = {Ragged::none, Ragged::uniform, Ragged::zipf, Ragged::even, Ragged::one_long};

// Of the sequence that is the n-th longest.
std::int64_t length_of(Ragged r, std::int64_t n, std::int64_t batches, std::int64_t lk) {
  switch (r) {
    case Ragged::uniform:
      return (batches - n) * lk / batches;
    case Ragged::zipf:
      return lk / (n + 1);
    case Ragged::one_long:
      return n == 0 ? lk : lk / kShort;
    case Ragged::none:
    case Ragged::even:
      break;
  }
  return lk;
}

}  // namespace

std::string_view name_of(Ragged r) {
  return std::ranges::find(kNames, r, [](const auto& x) { return x.first; })->second;
}

std::optional<Ragged> ragged_from_name(std::string_view name) {
  for (const auto& [ragged, known] : kNames)
    if (known == name) return ragged;
  return {};
}

std::span<const Ragged> all_ragged() {
  return kAll;
}

std::vector<std::int64_t> ragged_lengths(Ragged r, std::int64_t batches, std::int64_t lk) {
  if (r == Ragged::none || batches < 1) return {};
  std::vector<std::int64_t> lengths;
  lengths.reserve(static_cast<std::size_t>(batches));
  const Ragged shape = r == Ragged::even ? Ragged::zipf : r;
  for (std::int64_t n = 0; n < batches; ++n)
    lengths.push_back(std::max<std::int64_t>(1, length_of(shape, n, batches, lk)));
  if (r == Ragged::even) {
    const std::int64_t sum = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
    for (std::int64_t n = 0; n < batches; ++n)
      lengths[static_cast<std::size_t>(n)] = sum / batches + (n < sum % batches ? 1 : 0);
  }
  for (std::size_t n = lengths.size(); n > 1; --n) std::swap(lengths[n - 1], lengths[random_bits(kOrder, n) % n]);
  return lengths;
}

}  // namespace attn
