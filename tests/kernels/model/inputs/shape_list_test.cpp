// The lists that verify walks hold what the rule of correctness asks for.
#include "kernels/model/inputs/shape_list.h"
#include "kernels/model/problem/validate.h"

#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <gtest/gtest.h>

namespace attn {
namespace {

using ShapeId = std::pair<std::int64_t, std::int64_t>;

const std::set<ShapeId> kShapes{{1, 1},       {1, 3},      {2, 1},     {1, 239},     {239, 1},     {3, 513},
                                {511, 1},     {799, 3},    {113, 203}, {113, 211},   {128, 217},   {108, 256},
                                {127, 513},   {384, 256},  {640, 128}, {1023, 1024}, {1024, 1023}, {4096, 4096},
                                {4224, 4224}, {16, 20000}, {1, 131072}};
const std::set<std::int64_t> kHeadDims{1, 8, 32, 40, 59, 64, 80, 96, 111, 128, 160, 192, 224, 256};

TEST(PairedCases, HoldEveryShapeHeadDimensionAndMask) {
  std::set<ShapeId> shapes;
  std::set<std::int64_t> dims;
  std::set<MaskKind> masks;
  bool other_dv = false, grouped = false, shared = false, scaled = false;
  for (const CheckCase& c : paired_cases(DType::f32)) {
    if (c.inputs.generator == Generator::normal) shapes.insert({c.problem.Lq, c.problem.Lk});
    dims.insert(c.problem.D);
    masks.insert(c.mask);
    other_dv = other_dv || c.problem.Dv != c.problem.D;
    grouped = grouped || (c.problem.Hkv > 1 && c.problem.Hq > c.problem.Hkv);
    shared = shared || (c.problem.Hkv == 1 && c.problem.Hq > 1);
    scaled = scaled || c.problem.scale.has_value();
  }
  for (const ShapeId& s : kShapes) EXPECT_TRUE(shapes.contains(s)) << s.first << "," << s.second;
  for (const std::int64_t d : kHeadDims) EXPECT_TRUE(dims.contains(d)) << d;
  EXPECT_EQ(masks.size(), all_mask_kinds().size());
  EXPECT_TRUE(other_dv && grouped && shared && scaled);
}

TEST(PairedCases, HoldTheSixRepeatedShapes) {
  std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t>> all;
  for (const CheckCase& c : paired_cases(DType::f32)) all.insert({c.problem.Lq, c.problem.Lk, c.problem.D});
  for (const auto& s :
       {std::tuple{1, 1, 8}, {113, 203, 64}, {127, 513, 59}, {1023, 1024, 128}, {4224, 4224, 64}, {16, 20000, 128}}) {
    EXPECT_TRUE(all.contains(s)) << std::get<0>(s);
  }
}

TEST(PairedCases, HoldEveryGenerator) {
  std::set<Generator> found;
  for (const CheckCase& c : paired_cases(DType::f16)) found.insert(c.inputs.generator);
  EXPECT_EQ(found.size(), all_generators().size());
}

TEST(PairedCases, AreValidAndTheSameEveryTime) {
  for (const DType t : {DType::f32, DType::f16, DType::bf16}) {
    const auto first = paired_cases(t), second = paired_cases(t);
    ASSERT_EQ(first.size(), second.size());
    for (std::size_t n = 0; n < first.size(); ++n) {
      const auto valid = validate(first[n].problem);
      EXPECT_TRUE(valid) << describe(first[n]) << ": " << (valid ? "" : valid.error().message);
      EXPECT_EQ(first[n].problem.dtype, t);
      EXPECT_EQ(first[n].problem, second[n].problem);
      EXPECT_EQ(first[n].inputs, second[n].inputs);
    }
  }
}

TEST(PairedCases, MaskWhatTheirNameSays) {
  std::map<MaskKind, double> seen;  // least share of visible pairs of a mask kind
  for (const CheckCase& c : paired_cases(DType::f32)) {
    const Problem& p = c.problem;
    const double share = p.visible_pairs() / (static_cast<double>(p.B * p.Hq) * static_cast<double>(p.Lq * p.Lk));
    seen.try_emplace(c.mask, 1.0);
    seen[c.mask] = std::min(seen[c.mask], share);
    EXPECT_EQ(p.has_bias(), c.mask == MaskKind::bias || c.mask == MaskKind::bias_with_minus_inf) << describe(c);
    if (c.mask == MaskKind::none) {
      EXPECT_EQ(share, 1.0) << describe(c);
    }
  }
  for (const MaskKind m : {MaskKind::causal, MaskKind::window, MaskKind::key_lengths, MaskKind::causal_window}) {
    EXPECT_LT(seen[m], 1.0) << name_of(m);
  }
}

TEST(AllCases, CrossEveryShapeWithEveryHeadDimension) {
  std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t>> found;
  for (const CheckCase& c : all_cases(DType::f32)) {
    if (kShapes.contains({c.problem.Lq, c.problem.Lk})) found.insert({c.problem.Lq, c.problem.Lk, c.problem.D});
  }
  EXPECT_EQ(found.size(), kShapes.size() * kHeadDims.size());
}

TEST(InputsOf, PlantsMinusInfinityAmongFiniteBias) {
  for (const CheckCase& c : paired_cases(DType::f32)) {
    if (c.mask != MaskKind::bias_with_minus_inf || c.problem.Lq != 113) continue;
    const auto in = inputs_of(c);
    ASSERT_TRUE(in) << in.error().message;
    ASSERT_TRUE(in->bias.has_value());
    std::int64_t hidden = 0;
    for (std::int64_t n = 0; n < in->bias->size(); ++n) {
      if (std::isinf(in->bias->get(n))) ++hidden;
    }
    EXPECT_GT(hidden, in->bias->size() / 8);
    EXPECT_LT(hidden, in->bias->size() / 2);
  }
}

}  // namespace
}  // namespace attn
