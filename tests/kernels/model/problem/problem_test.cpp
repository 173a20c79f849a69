#include "kernels/model/problem/problem.h"
#include "kernels/model/problem/costs.h"

#include <cmath>
#include <limits>
#include <string>
#include <tuple>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "kernels/model/inputs/inputs.h"
#include "kernels/model/options.h"
#include "kernels/model/problem/validate.h"
#include "kernels/model/problem_json.h"

namespace attn {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

Problem shape(std::int64_t Lq, std::int64_t Lk) {
  Problem p;
  p.Lq = Lq;
  p.Lk = Lk;
  return p;
}

// The mask by its definition, one pair at a time.
bool sees(const Problem& p, std::int64_t b, std::int64_t r, std::int64_t c) {
  const std::int64_t own = r + p.Lk - p.Lq;
  const Mask& m = p.mask;
  if (!m.key_lengths.empty() && c >= m.key_lengths[static_cast<std::size_t>(b)]) return false;
  if (m.causal && c > own) return false;
  if (m.window_left >= 0 && c < own - m.window_left) return false;
  return m.window_right < 0 || c <= own + m.window_right;
}

// Problems of every kind of mask and of lengths that are shorter, equal and longer.
std::vector<Problem> masked_problems() {
  std::vector<Problem> problems;
  for (auto [Lq, Lk] : {std::pair{7, 7}, {4, 9}, {9, 4}, {1, 6}, {6, 1}}) {
    for (std::int64_t left : {-1, 0, 2, 20}) {
      for (std::int64_t right : {-1, 0, 1, 20}) {
        for (bool causal : {false, true}) {
          Problem p = shape(Lq, Lk);
          p.mask.causal = causal;
          p.mask.window_left = left;
          p.mask.window_right = right;
          problems.push_back(p);
          p.B = 3;
          p.mask.key_lengths = {0, Lk / 2, Lk};
          problems.push_back(p);
        }
      }
    }
  }
  return problems;
}

TEST(Problem, VisibleKeysAreThoseOfTheDefinition) {
  for (const Problem& p : masked_problems()) {
    for (std::int64_t b = 0; b < p.B; ++b) {
      for (std::int64_t r = 0; r < p.Lq; ++r) {
        const KeyRange keys = p.visible_keys(b, r);
        for (std::int64_t c = 0; c < p.Lk; ++c) {
          ASSERT_EQ(c >= keys.first && c < keys.last, sees(p, b, r, c)) << describe(p) << " r=" << r << " c=" << c;
          ASSERT_EQ(p.visible(b, r, c), sees(p, b, r, c)) << describe(p) << " r=" << r << " c=" << c;
        }
      }
    }
  }
}

TileCover cover_by_counting(const Problem& p, std::int64_t b, std::int64_t r0, std::int64_t r1, std::int64_t c0,
                            std::int64_t c1) {
  std::int64_t seen = 0;
  for (std::int64_t r = r0; r < r1; ++r) {
    for (std::int64_t c = c0; c < c1; ++c) seen += sees(p, b, r, c) ? 1 : 0;
  }
  if (seen == 0) return TileCover::skipped;
  return seen == (r1 - r0) * (c1 - c0) ? TileCover::full : TileCover::partial;
}

TEST(Problem, CoverOfEveryTileAgreesWithCountingItsPairs) {
  for (const Problem& p : masked_problems()) {
    for (std::int64_t b = 0; b < p.B; ++b) {
      for (std::int64_t r0 = 0; r0 < p.Lq; ++r0) {
        for (std::int64_t r1 = r0 + 1; r1 <= p.Lq; ++r1) {
          for (std::int64_t c0 = 0; c0 < p.Lk; ++c0) {
            for (std::int64_t c1 = c0 + 1; c1 <= p.Lk; ++c1) {
              ASSERT_EQ(p.cover(b, r0, r1, c0, c1), cover_by_counting(p, b, r0, r1, c0, c1))
                  << describe(p) << " b=" << b << " rows " << r0 << ".." << r1 << " keys " << c0 << ".." << c1;
            }
          }
        }
      }
    }
  }
}

TEST(Problem, VisiblePairsAgreeWithCounting) {
  for (Problem p : masked_problems()) {
    p.Hq = p.Hkv = 2;
    std::int64_t pairs = 0;
    for (std::int64_t b = 0; b < p.B; ++b) {
      for (std::int64_t r = 0; r < p.Lq; ++r) {
        for (std::int64_t c = 0; c < p.Lk; ++c) pairs += sees(p, b, r, c) ? 1 : 0;
      }
    }
    ASSERT_EQ(p.visible_pairs(), 2.0 * static_cast<double>(pairs)) << describe(p);
  }
}

TEST(Problem, VisiblePairsOfAbsurdLengthsAreExactAndImmediate) {
  const std::int64_t n = std::int64_t{1} << 31;
  Problem p = shape(n, n);
  EXPECT_EQ(p.visible_pairs(), 0x1p62);
  p.mask.causal = true;
  EXPECT_EQ(p.visible_pairs(), 0x1p30 * (0x1p31 + 1));
  p.mask.window_left = kMax;
  EXPECT_EQ(p.visible_pairs(), 0x1p30 * (0x1p31 + 1));
  p.mask.window_left = 0;
  EXPECT_EQ(p.visible_pairs(), 0x1p31);
  EXPECT_EQ(p.cover(0, 0, n, 0, n), TileCover::partial);
}

TEST(Problem, FlopsCountBothProductsOverVisiblePairs) {
  Problem p = shape(4, 4);
  p.D = 8;
  p.Dv = 3;
  p.mask.causal = true;
  EXPECT_EQ(flops_of(p), 2 * 10 * 11);
}

TEST(Problem, ScaleIsOneOverRootDUnlessGiven) {
  Problem p = shape(1, 1);
  p.D = 64;
  EXPECT_EQ(p.effective_scale(), 0.125);
  p.scale = -2.0;
  EXPECT_EQ(p.effective_scale(), -2.0);
}

TEST(Problem, QueryHeadsShareKeyHeadsInOrder) {
  Problem p;
  p.Hq = 6;
  p.Hkv = 2;
  EXPECT_EQ(p.kv_head(0), 0);
  EXPECT_EQ(p.kv_head(2), 0);
  EXPECT_EQ(p.kv_head(3), 1);
}

TEST(Problem, BiasIndexRepeatsOverAxesOfOne) {
  Problem p = shape(5, 7);
  p.B = 2;
  p.Hq = p.Hkv = 3;
  p.bias_shape = {2, 3, 5, 7};
  EXPECT_EQ(p.bias_index(1, 2, 4, 6), 209);
  p.bias_shape = {1, 3, 1, 7};
  EXPECT_EQ(p.bias_index(1, 2, 4, 6), 2 * 7 + 6);
  p.bias_shape = {1, 1, 1, 1};
  EXPECT_EQ(p.bias_index(1, 2, 4, 6), 0);
}

std::string refusal(const Problem& p) {
  const Result<void> r = validate(p);
  return r ? "accepted" : r.error().message;
}

TEST(ProblemValidation, NamesTheValueAndWhatWouldDo) {
  Problem p = shape(0, 1);
  EXPECT_EQ(refusal(p), "Lq is 0; it must be at least 1.");
  p = shape(1, 1);
  p.D = 257;
  EXPECT_EQ(refusal(p), "D is 257; the limit for head dimensions is 256.");
  p = shape(1, 1);
  p.Hq = 6;
  p.Hkv = 4;
  EXPECT_EQ(refusal(p), "Hq = 6 is not a multiple of Hkv = 4; use Hkv = 2, for example.");
  p = shape(1, 1);
  p.scale = NAN;
  EXPECT_NE(refusal(p).find("finite"), std::string::npos);
  p = shape(1, 1);
  p.mask.window_right = -2;
  EXPECT_EQ(refusal(p), "The window's right side is -2; use 0 or more keys, or -1 for unlimited.");
  p = shape(2, 3);
  p.mask.key_lengths = {1, 2};
  EXPECT_EQ(refusal(p), "2 key lengths for B = 1; give one per batch (1 in total).");
  p.mask.key_lengths = {4};
  EXPECT_EQ(refusal(p), "Key length 4 of batch 0 is outside the range 0 to Lk = 3.");
  p.mask.key_lengths = {0};
  EXPECT_EQ(refusal(p), "accepted");
  p.bias_shape = {1, 1, 2, 2};
  EXPECT_EQ(refusal(p),
            "The bias has shape [1, 1, 2, 2]; use [1, 1, 2, 3] ([B, Hq, Lq, Lk]), where any extent may be 1 instead.");
  p.bias_shape = {2, 3};
  EXPECT_NE(refusal(p), "accepted");
  p.bias_shape = {1, 1, 1, 3};
  EXPECT_EQ(refusal(p), "accepted");
}

TEST(ProblemValidation, RefusesSizesThatDoNotFit63Bits) {
  Problem p = shape(kMax, 1);
  EXPECT_NE(refusal(p).find("exceeds 2^63 bytes"), std::string::npos);
  p = shape(1, kMax);
  EXPECT_NE(refusal(p).find("K with shape"), std::string::npos);
  p = shape(std::int64_t{1} << 31, std::int64_t{1} << 31);
  p.D = p.Dv = 256;
  EXPECT_EQ(refusal(p), "accepted");
  p.B = p.Hq = p.Hkv = std::int64_t{1} << 20;
  EXPECT_NE(refusal(p), "accepted");
  p = shape(std::int64_t{1} << 40, std::int64_t{1} << 40);
  p.bias_shape = {1, 1, p.Lq, p.Lk};
  EXPECT_NE(refusal(p).find("The bias with shape"), std::string::npos);
}

TEST(ProblemValidation, InputsMustHaveTheProblemsShapesAndTypes) {
  Problem p = shape(3, 5);
  p.D = 2;
  p.Dv = 4;
  p.dtype = DType::f16;
  Inputs in{Array(DType::f16, {1, 1, 3, 2}), Array(DType::f16, {1, 1, 5, 2}), Array(DType::f16, {1, 1, 5, 4}), {}};
  EXPECT_TRUE(validate(p, in));
  in.v = Array(DType::f16, {1, 1, 5, 2});
  EXPECT_EQ(validate(p, in).error().message, "V has shape [1, 1, 5, 2], but the problem needs [1, 1, 5, 4].");
  in.v = Array(DType::f32, {1, 1, 5, 4});
  EXPECT_EQ(validate(p, in).error().message, "V is f32, but the problem needs f16.");
  in.v = Array(DType::f16, {1, 1, 5, 4});
  p.bias_shape = {1, 1, 1, 5};
  EXPECT_FALSE(validate(p, in));
  in.bias = Array(DType::f32, {1, 1, 1, 5});
  EXPECT_TRUE(validate(p, in));
  p.bias_shape.clear();
  EXPECT_FALSE(validate(p, in));
}

TEST(Problem, DescriptionSaysWhatDiffersFromTheUsual) {
  Problem p = shape(128, 217);
  p.Hq = 16;
  p.Hkv = 4;
  p.D = p.Dv = 64;
  p.dtype = DType::f16;
  p.mask.causal = true;
  EXPECT_EQ(describe(p), "B=1 H=16/4 L=128x217 D=64 f16 causal");
  p = shape(8, 8);
  p.B = 5;
  p.Dv = 2;
  p.scale = 0.5;
  p.mask.window_left = 3;
  p.mask.key_lengths = {1, 2, 3, 4, 5};
  p.bias_shape = {1, 1, 8, 8};
  EXPECT_EQ(describe(p), "B=5 H=1 L=8 D=1x2 f32 window=3,-1 keys=1,2,3,4,...(5) bias=1x1x8x8 scale=0.5");
}

TEST(Options, NamesAreThoseOfTheCsvColumns) {
  EXPECT_EQ(name_of(Option::br), "br");
  EXPECT_EQ(name_of(Option::subtract_max), "subtract_max");
  EXPECT_EQ(name_of(Option::accumulate), "accumulate");
}

TEST(Problem, APassAndPagesAreSaidOnlyWhereTheyAre) {
  Problem p = shape(4, 8);
  const std::string plain = describe(p);
  EXPECT_EQ(plain.find("forward"), std::string::npos);
  p.pass = Pass::backward;
  EXPECT_EQ(describe(p), plain + " backward");
  p.pass = Pass::forward;
  p.storage = {4, 6};
  p.layout = AxisOrder::blhd;
  EXPECT_EQ(describe(p), plain + " page=4/6 blhd");
}

TEST(Problem, OInF32IsSaidOfHalvesAndOfAForwardAlone) {
  Problem p = shape(4, 8);
  p.dtype = DType::bf16;
  const std::string plain = describe(p);
  EXPECT_EQ(p.output_dtype(), DType::bf16);
  p.output = OutputType::f32;
  EXPECT_EQ(p.output_dtype(), DType::f32);
  EXPECT_EQ(describe(p), plain + " O=f32");
  EXPECT_TRUE(validate(p));
  EXPECT_EQ(attn_version_of(p), 3);
  const auto read = problem_from_json(nlohmann::json::parse(problem_to_json(p).dump()), "here");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, p);
  p.pass = Pass::backward;
  EXPECT_EQ(validate(p).error().message,
            "A backward pass reads O in the dtype of Q, K and V; use that dtype instead of f32.");
  p.pass = Pass::forward;
  p.dtype = DType::f32;
  EXPECT_EQ(validate(p).error().message, "O of an f32 problem is always f32; specify it only for f16 and bf16.");
}

TEST(Problem, PagesThatCannotBeAreRefusedInWords) {
  const auto refusal = [](const KvStorage& storage, Pass pass) {
    Problem p = shape(4, 8);
    p.storage = storage;
    p.pass = pass;
    const auto valid = validate(p);
    return valid ? std::string() : valid.error().message;
  };
  EXPECT_EQ(refusal({}, Pass::backward), "");
  EXPECT_EQ(refusal({4, 2}, Pass::forward), "");
  EXPECT_EQ(refusal({256, 1}, Pass::forward), "");
  EXPECT_NE(refusal({257, 1}, Pass::forward).find("page size of 257 keys"), std::string::npos);
  EXPECT_NE(refusal({-1, 1}, Pass::forward).find("page size of -1 keys"), std::string::npos);
  EXPECT_NE(refusal({0, 3}, Pass::forward).find("3 pages without a size"), std::string::npos);
  EXPECT_NE(refusal({3, 0}, Pass::forward).find("pool of 0 pages"), std::string::npos);
  EXPECT_NE(refusal({3, 0}, Pass::forward).find("(3 pages give every batch its own)"), std::string::npos);
  EXPECT_NE(refusal({4, std::int64_t{1} << 31}, Pass::forward).find("pool of 2147483648 pages"), std::string::npos);
  EXPECT_NE(refusal({4, 2}, Pass::backward).find("dense K and V"), std::string::npos);
}

TEST(Problem, InputsOfAForwardAreNotEnoughForWhatReadsMore) {
  Problem p = shape(4, 8);
  const Inputs in{
      Array(DType::f32, {1, 1, 4, 1}), Array(DType::f32, {1, 1, 8, 1}), Array(DType::f32, {1, 1, 8, 1}), {}};
  EXPECT_TRUE(validate(p, in));
  p.pass = Pass::backward;
  const auto refused = validate(p, in);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "O is missing for this problem.");
  EXPECT_EQ(validate(p, *make_inputs(p, {})).error().message, "O is missing for this problem.")
      << "dO is generated, what a forward gives is not";
}

TEST(Problem, AFileSaysPassPagesAndLayoutWhereTheyAreUsed) {
  Problem p = shape(4, 8);
  EXPECT_EQ(attn_version_of(p), 1);
  for (const char* key : {"pass", "storage", "layout", "output"}) EXPECT_FALSE(problem_to_json(p).contains(key)) << key;
  const auto read_back = [](const Problem& written) {
    EXPECT_EQ(attn_version_of(written), 3);
    const auto read = problem_from_json(nlohmann::json::parse(problem_to_json(written).dump()), "here");
    EXPECT_TRUE(read) << (read ? "" : read.error().message);
    return read ? *read : Problem{};
  };
  p.pass = Pass::backward;
  EXPECT_EQ(read_back(p), p);
  p.pass = Pass::forward;
  p.storage = {4, 6};
  p.layout = AxisOrder::blhd;
  EXPECT_EQ(read_back(p), p);

  for (const auto& [key, value, word] : {std::tuple{"pass", "\"sideways\"", "pass"},
                                         {"layout", "3", "layout"},
                                         {"output", "\"bf16\"", "output"},
                                         {"storage", "\"paged\"", "storage"},
                                         {"storage", R"({"page": 4})", "pages"},
                                         {"storage", R"({"page": 0, "pages": 2})", "page"},
                                         {"storage", R"({"page": 999, "pages": 2})", "page size of 999 keys"}}) {
    nlohmann::json j = problem_to_json(shape(4, 8));
    j[key] = nlohmann::json::parse(value);
    const auto refused = problem_from_json(j, "here");
    ASSERT_FALSE(refused) << value;
    EXPECT_NE(refused.error().message.find(word), std::string::npos) << refused.error().message;
    EXPECT_EQ(refused.error().message.substr(0, 4), "here");
  }
}

}  // namespace
}  // namespace attn
