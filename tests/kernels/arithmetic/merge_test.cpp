// The merge of (m, l, O) against fp64: wherever keys are cut and in whichever order parts meet, both answer for the
// same sum; what one order gives it gives again, bit for bit.
#include "kernels/arithmetic/merge.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/arithmetic/math.h"
#include "kernels/arithmetic/tile_math.h"

namespace attn {
namespace {

constexpr float kInf = HUGE_VALF;
constexpr std::size_t kColumns = 3;

// m, l and O of some keys.
struct Part {
  PartSums sums{-kInf, 0};
  std::vector<float> o = std::vector<float>(kColumns, 0.0F);
};

Part merged(const Part& a, const Part& b) {
  const Merged both = merge(a.sums, b.sums, exp_f32);
  Part sum{both.of_both, {}};
  sum.o.clear();
  for (std::size_t d = 0; d < kColumns; ++d) sum.o.push_back(both.first * a.o[d] + both.second * b.o[d]);
  return sum;
}

struct Keys {
  std::vector<float> scores;
  std::vector<std::vector<float>> values;
};

// Exact numbers from an engine that the standard fixes.
Keys random_keys(std::mt19937_64& engine, std::size_t count, float spread) {
  const auto number = [&] { return static_cast<float>(static_cast<double>(engine() >> 11) * 0x1p-52 - 1.0); };
  Keys keys;
  for (std::size_t n = 0; n < count; ++n) {
    keys.scores.push_back(engine() % 8 == 0 ? -kInf : spread * number());
    keys.values.push_back({number(), 100 * number(), 0.01F * number()});
  }
  return keys;
}

Part part_of(const Keys& keys, std::size_t from, std::size_t to) {
  Part part;
  for (std::size_t n = from; n < to; ++n) part.sums.m = std::max(part.sums.m, keys.scores[n]);
  for (std::size_t n = from; n < to && part.sums.m > -kInf; ++n) {
    const float weight = exp_f32(keys.scores[n] - part.sums.m);
    part.sums.l += weight;
    for (std::size_t d = 0; d < kColumns; ++d) part.o[d] += weight * keys.values[n][d];
  }
  return part;
}

struct Exact {
  double lse = -HUGE_VAL;
  std::vector<double> o = std::vector<double>(kColumns), most = o;  // most: of a column's values, what may be lost of
};

Exact exactly(const Keys& keys) {
  Exact e;
  const float top = *std::max_element(keys.scores.begin(), keys.scores.end());
  if (top == -kInf) return e;
  const double m = static_cast<double>(top);
  double l = 0;
  for (std::size_t n = 0; n < keys.scores.size(); ++n) {
    const double weight = std::exp(static_cast<double>(keys.scores[n]) - m);
    l += weight;
    for (std::size_t d = 0; d < kColumns; ++d) {
      const double v = static_cast<double>(keys.values[n][d]);
      e.o[d] += weight * v;
      e.most[d] = std::max(e.most[d], std::fabs(v));
    }
  }
  for (double& o : e.o) o /= l;
  e.lse = m + std::log(l);
  return e;
}

// Each merge and each key rounds a few times; scores of up to `spread` are rounded when m is taken from them.
void expect_close(const Part& got, const Exact& exact, std::size_t keys, float spread, const char* order) {
  if (exact.lse == -HUGE_VAL) {
    EXPECT_EQ(got.sums.l, 0.0F) << order;
    EXPECT_EQ(got.sums.m, -kInf) << order;
    return;
  }
  const double allowed = 0x1p-23 * (2.0 * static_cast<double>(keys) + 8 + 2 * static_cast<double>(spread));
  EXPECT_NEAR(static_cast<double>(got.sums.m) + std::log(static_cast<double>(got.sums.l)), exact.lse,
              allowed * std::max(1.0, std::fabs(exact.lse)))
      << order;
  for (std::size_t d = 0; d < kColumns; ++d)
    EXPECT_NEAR(static_cast<double>(got.o[d]) / static_cast<double>(got.sums.l), exact.o[d], allowed * exact.most[d])
        << order << " column " << d;
}

Part as_tree(std::vector<Part> parts) {
  while (parts.size() > 1) {
    std::vector<Part> next;
    for (std::size_t n = 0; n < parts.size(); n += 2)
      next.push_back(n + 1 < parts.size() ? merged(parts[n], parts[n + 1]) : parts[n]);
    parts = std::move(next);
  }
  return parts.front();
}

Part along(const std::vector<Part>& parts) {
  Part sum;
  for (const Part& part : parts) sum = merged(sum, part);
  return sum;
}

void expect_bits(const Part& a, const Part& b) {
  EXPECT_EQ(a.sums.m, b.sums.m);
  EXPECT_EQ(a.sums.l, b.sums.l);
  EXPECT_EQ(a.o, b.o);
}

TEST(Merge, GivesTheSumOfAllKeysWhereverTheyAreCutAndInWhateverOrderPartsMeet) {
  std::mt19937_64 engine{34};
  for (int problem = 0; problem < 300; ++problem) {
    const std::size_t count = 1 + engine() % 60;
    const float spread = problem % 3 == 0 ? 0.5F : problem % 3 == 1 ? 20.0F : 300.0F;
    const Keys keys = random_keys(engine, count, spread);
    std::vector<std::size_t> cuts{0, count};
    for (std::size_t n = engine() % 12; n > 0; --n) cuts.push_back(engine() % (count + 1));
    std::sort(cuts.begin(), cuts.end());  // two cuts at one place: a part without keys
    std::vector<Part> parts;
    for (std::size_t n = 0; n + 1 < cuts.size(); ++n) parts.push_back(part_of(keys, cuts[n], cuts[n + 1]));
    const Exact exact = exactly(keys);
    SCOPED_TRACE(testing::Message() << "problem " << problem << ", " << count << " keys, " << parts.size() << " parts");
    expect_close(along(parts), exact, count, spread, "along");
    expect_close(as_tree(parts), exact, count, spread, "tree");
    expect_bits(along(parts), along(parts));
    std::reverse(parts.begin(), parts.end());
    expect_close(along(parts), exact, count, spread, "backwards");
    std::shuffle(parts.begin(), parts.end(), engine);
    expect_close(as_tree(parts), exact, count, spread, "shuffled tree");
  }
}

TEST(Merge, OfAPartWithoutKeysLeavesTheOtherAsItWas) {
  std::mt19937_64 engine{7};
  for (int n = 0; n < 50; ++n) {
    const Part part = part_of(random_keys(engine, 9, 40), 0, 9);
    expect_bits(merged(part, Part{}), part);
    expect_bits(merged(Part{}, part), part);
  }
  expect_bits(merged(Part{}, Part{}), Part{});
}

TEST(Merge, OverflowsNothingThatWasFinite) {
  const Merged far = merge({3e38F, 2.0F}, {-3e38F, 5.0F}, exp_f32);
  EXPECT_EQ(far.of_both.m, 3e38F);
  EXPECT_EQ(far.of_both.l, 2.0F);
  EXPECT_EQ(far.first, 1.0F);
  EXPECT_EQ(far.second, 0.0F);
  // +inf - inf is NaN; where both are +inf neither is multiplied by it.
  const Merged both = merge({kInf, 1.0F}, {kInf, 2.0F}, exp_f32);
  EXPECT_EQ(both.of_both.l, 3.0F);
}

// A score that is NaN or +inf has made l NaN, and it stays so.
TEST(Merge, KeepsWhatIsNotANumber) {
  const float nan = std::nanf("");
  EXPECT_TRUE(std::isnan(merge({1.0F, nan}, {50.0F, 1.0F}, exp_f32).of_both.l));
  EXPECT_TRUE(std::isnan(merge({-kInf, 0.0F}, {kInf, nan}, exp_f32).of_both.l));
}

TEST(Merge, OfRowsIsThatOfEachRow) {
  constexpr std::int64_t kRows = 5, kLd = 4;
  std::mt19937_64 engine{11};
  std::vector<Part> first, second;
  std::vector<float> o, o_part, m, m_part, l, l_part;
  for (std::int64_t r = 0; r < kRows; ++r) {
    const Keys keys = random_keys(engine, 10, 30);
    first.push_back(r == 3 ? Part{} : part_of(keys, 0, 6));
    second.push_back(r == 4 ? Part{} : part_of(keys, 6, 10));
    const auto add = [](const Part& part, std::vector<float>& into_o, std::vector<float>& into_m,
                        std::vector<float>& into_l) {
      into_o.insert(into_o.end(), part.o.begin(), part.o.end());
      into_o.push_back(0);
      into_m.push_back(part.sums.m);
      into_l.push_back(part.sums.l);
    };
    add(first.back(), o, m, l);
    add(second.back(), o_part, m_part, l_part);
  }
  cpu::merge_rows(DType::f32, {o_part.data(), kLd}, m_part.data(), l_part.data(), kRows, kColumns, {o.data(), kLd},
                  m.data(), l.data());
  for (std::size_t r = 0; r < kRows; ++r) {
    const Part both = merged(first[r], second[r]);
    EXPECT_EQ(m[r], both.sums.m);
    EXPECT_EQ(l[r], both.sums.l);
    for (std::size_t d = 0; d < kColumns; ++d) EXPECT_EQ(o[r * kLd + d], both.o[d]);
  }
}

}  // namespace
}  // namespace attn
