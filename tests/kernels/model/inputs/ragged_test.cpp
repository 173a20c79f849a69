// Key lengths that are made by name.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/model/inputs/ragged.h"

namespace attn {
namespace {

std::vector<std::int64_t> sorted(Ragged r, std::int64_t batches, std::int64_t lk) {
  std::vector<std::int64_t> lengths = ragged_lengths(r, batches, lk);
  std::ranges::sort(lengths, std::greater<>());
  return lengths;
}
std::int64_t keys_of(Ragged r, std::int64_t batches, std::int64_t lk) {
  const std::vector<std::int64_t> lengths = ragged_lengths(r, batches, lk);
  return std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
}

TEST(Ragged, LengthsAreWhatTheirNamesSay) {
  EXPECT_TRUE(ragged_lengths(Ragged::none, 4, 100).empty());
  EXPECT_EQ(sorted(Ragged::uniform, 4, 100), (std::vector<std::int64_t>{100, 75, 50, 25}));
  EXPECT_EQ(sorted(Ragged::zipf, 4, 100), (std::vector<std::int64_t>{100, 50, 33, 25}));
  EXPECT_EQ(sorted(Ragged::even, 4, 100), (std::vector<std::int64_t>{52, 52, 52, 52}));
  EXPECT_EQ(sorted(Ragged::one_long, 3, 640), (std::vector<std::int64_t>{640, 10, 10}));
}

TEST(Ragged, LengthsFitAnyShapeAndRepeat) {
  for (const Ragged r : all_ragged()) {
    EXPECT_EQ(ragged_from_name(name_of(r)), r);
    if (r == Ragged::none) continue;
    for (const std::int64_t batches : {1, 2, 7, 64, 1000}) {
      for (const std::int64_t lk : {1, 5, 4096}) {
        const std::vector<std::int64_t> lengths = ragged_lengths(r, batches, lk);
        ASSERT_EQ(std::ssize(lengths), batches);
        EXPECT_GE(std::ranges::min(lengths), 1);
        EXPECT_LE(std::ranges::max(lengths), lk);
        EXPECT_EQ(lengths, ragged_lengths(r, batches, lk));
      }
    }
  }
  EXPECT_EQ(ragged_from_name("ragged"), std::nullopt);
  EXPECT_EQ(keys_of(Ragged::even, 64, 16384), keys_of(Ragged::zipf, 64, 16384));
  // In an order of which nothing follows.
  EXPECT_FALSE(std::ranges::is_sorted(ragged_lengths(Ragged::zipf, 64, 16384), std::greater<>()));
}

}  // namespace
}  // namespace attn
