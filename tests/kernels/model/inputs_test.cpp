#include "kernels/model/inputs.h"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include <gtest/gtest.h>

#include "kernels/formats/npy.h"
#include "kernels/model/generators.h"
#include "tests/kernels/temp_folder.h"

namespace attn {
namespace {

constexpr Generator kAll[] = {Generator::blackboard,   Generator::uniform,      Generator::normal,
                              Generator::late_outlier, Generator::large_logits, Generator::equal_scores,
                              Generator::masked_row,   Generator::non_finite};

Problem square(std::int64_t length, std::int64_t dim) {
  Problem p;
  p.Lq = p.Lk = length;
  p.D = p.Dv = dim;
  return p;
}

Problem four_heads(std::int64_t length) {
  Problem p = square(length, 8);
  p.B = 2;
  p.Hq = 4;
  p.Hkv = 2;
  p.bias_shape = {1, 4, 1, length};
  return p;
}

Inputs made(const Problem& p, Generator g, std::uint64_t seed = 7) {
  InputSpec spec;
  spec.generator = g;
  spec.seed = seed;
  Result<Inputs> in = make_inputs(p, spec);
  EXPECT_TRUE(in) << in.error().message;
  return in ? *in : Inputs{};
}

std::vector<float> numbers(const Array& a) {
  std::vector<float> values(static_cast<std::size_t>(a.size()));
  a.read(0, a.size(), values.data());
  return values;
}

// FNV-1a.
std::uint64_t hash(const Array& a) {
  std::uint64_t h = 0xcbf29ce484222325ULL;
  for (std::size_t i = 0; i < a.bytes(); ++i) h = (h ^ std::to_integer<std::uint64_t>(a.data()[i])) * 0x100000001b3ULL;
  return h;
}

// Score of one query and key in fp64, batch and head 0.
double score(const Problem& p, const Inputs& in, std::int64_t r, std::int64_t c) {
  double sum = 0;
  for (std::int64_t d = 0; d < p.D; ++d) {
    sum += static_cast<double>(in.q.get(r * p.D + d)) * static_cast<double>(in.k.get(c * p.D + d));
  }
  return sum * p.effective_scale();
}

TEST(Generators, RandomBitsAreSplitMix64) {
  // The published test vector of the sequence for seed 1234567.
  EXPECT_EQ(random_bits(1234567, 0), 6457827717110365317ULL);
  EXPECT_EQ(random_bits(1234567, 1), 3203168211198807973ULL);
  EXPECT_EQ(random_bits(1234567, 2), 9817491932198370423ULL);
}

struct Expected {
  Generator generator;
  std::int64_t length;  // 16: one decimal; 600: all digits
  std::array<std::uint64_t, 4> hashes;
};

// Uniform and normal: computed from their definitions by a separate program in another language.
const Expected kExpected[] = {
    {Generator::blackboard, 16, {0x487afdea68436f25, 0x9b219fce2e3c8ce5, 0xfef86c0e181d8a15, 0xc604ab0ff669355f}},
    {Generator::blackboard, 600, {0x1dcd4b2ba45829e5, 0xfe844434e83a5865, 0x6a9636e982d07f35, 0xea50144f1b0621ef}},
    {Generator::uniform, 16, {0xc3b0ea5265c8d60c, 0x1365926d8cee965c, 0x2ca591dfb80cd516, 0xc604ab0ff669355f}},
    {Generator::uniform, 600, {0x3d3fb408015fa6a3, 0x51b6898e159fe588, 0x1fe1e1907f6f6784, 0xea50144f1b0621ef}},
    {Generator::normal, 16, {0xaa8c66a7687a677e, 0x436c68c77fc7b894, 0x7e9d737df1f9ac2a, 0xc604ab0ff669355f}},
    {Generator::normal, 600, {0xc56a85c7f4a8b21f, 0x18ce172836b3bda4, 0x00a40a4132b34063, 0xea50144f1b0621ef}},
    {Generator::late_outlier, 16, {0xa0cf83c05fa4083d, 0xd7372e6a7a8b119e, 0x7e9d737df1f9ac2a, 0xc604ab0ff669355f}},
    {Generator::late_outlier, 600, {0x85bf48d4ef0fa97a, 0x29ba8d47ce13ec3b, 0x00a40a4132b34063, 0xea50144f1b0621ef}},
    {Generator::large_logits, 16, {0xa3d710298b1d0bb1, 0x1bb879993beff879, 0x7e9d737df1f9ac2a, 0xc604ab0ff669355f}},
    {Generator::large_logits, 600, {0xd86d0a553de5bd18, 0x2652002a864151d4, 0x00a40a4132b34063, 0xea50144f1b0621ef}},
    {Generator::equal_scores, 16, {0xaa8c66a7687a677e, 0x8f2ebeed848485e5, 0x7e9d737df1f9ac2a, 0xd80ac658736bb725}},
    {Generator::equal_scores, 600, {0xc56a85c7f4a8b21f, 0xbf697d33d0d733d5, 0x00a40a4132b34063, 0x1679c52cd5075125}},
    {Generator::masked_row, 16, {0xaa8c66a7687a677e, 0x436c68c77fc7b894, 0x7e9d737df1f9ac2a, 0xc604ab0ff669355f}},
    {Generator::masked_row, 600, {0xc56a85c7f4a8b21f, 0x18ce172836b3bda4, 0x00a40a4132b34063, 0xea50144f1b0621ef}},
    {Generator::non_finite, 16, {0x41683c45d1e2db3b, 0x746db42eb25dbe11, 0xc3369156393b551c, 0xc604ab0ff669355f}},
    {Generator::non_finite, 600, {0x18327b06953442f5, 0xf786b997443b0df2, 0xe44550d2dabe457a, 0xea50144f1b0621ef}},
};

TEST(Generators, GiveTheSameBitsEverywhere) {
  for (const Expected& e : kExpected) {
    const Inputs in = made(four_heads(e.length), e.generator);
    const std::array<std::uint64_t, 4> hashes{hash(in.q), hash(in.k), hash(in.v), hash(*in.bias)};
    EXPECT_EQ(hashes, e.hashes) << name_of(e.generator) << " L=" << e.length;
  }
}

TEST(Generators, NormalHasMeanZeroDeviationOneAndBoundedTails) {
  const Inputs in = made(square(4096, 64), Generator::normal);
  double sum = 0, squares = 0, fourth = 0, largest = 0;
  for (float x : numbers(in.q)) {
    const double y = x;
    sum += y;
    squares += y * y;
    fourth += y * y * y * y;
    largest = std::max(largest, std::fabs(y));
  }
  const double n = 4096.0 * 64;
  EXPECT_NEAR(sum / n, 0, 0.01);
  EXPECT_NEAR(squares / n, 1, 0.01);
  EXPECT_NEAR(fourth / n, 2.9, 0.05);
  EXPECT_GT(largest, 3.5);
  EXPECT_LT(largest, 6);
}

TEST(Generators, UniformFillsItsRange) {
  double min = 2, max = -2, sum = 0;
  const std::vector<float> values = numbers(made(square(1024, 64), Generator::uniform).v);
  for (float x : values) {
    min = std::min<double>(min, x);
    max = std::max<double>(max, x);
    sum += x;
  }
  EXPECT_GE(min, -1);
  EXPECT_LT(min, -0.999);
  EXPECT_LT(max, 1);
  EXPECT_GT(max, 0.999);
  EXPECT_NEAR(sum / static_cast<double>(values.size()), 0, 0.01);
}

TEST(Generators, SmallProblemsHaveOneDecimal) {
  for (Generator g : kAll) {
    const Inputs in = made(square(64, 64), g);
    for (const Array* a : {&in.q, &in.k, &in.v}) {
      for (float x : numbers(*a)) {
        if (std::isfinite(x)) {
          ASSERT_EQ(x, static_cast<float>(std::round(static_cast<double>(x) * 10) / 10)) << name_of(g);
        }
      }
    }
  }
}

TEST(Generators, BlackboardIsTheExampleToTheDigit) {
  const Inputs in = made(square(4, 2), Generator::blackboard);
  EXPECT_EQ(numbers(in.q), (std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(numbers(in.k), (std::vector<float>{0.5F, 1.5F, 2.5F, 3.5F, 4.5F, 5.5F, 6.5F, 7.5F}));
  EXPECT_EQ(numbers(in.v), (std::vector<float>{0.1F, 0.2F, 0.3F, 0.4F, 0.5F, 0.6F, 0.7F, 0.8F}));
}

TEST(Generators, SeedChangesTheNumbersExceptOfTheBlackboard) {
  for (Generator g : kAll) {
    const bool same = made(square(16, 8), g, 1).v == made(square(16, 8), g, 2).v;
    EXPECT_EQ(same, !uses_seed(g)) << name_of(g);
  }
  EXPECT_FALSE(uses_seed(Generator::blackboard));
}

TEST(Generators, TensorsOfOneSeedDiffer) {
  const Inputs in = made(square(16, 8), Generator::normal);
  EXPECT_NE(in.q, in.k);
  EXPECT_NE(in.k, in.v);
}

TEST(Generators, OtherDtypesHoldTheSameNumbersRounded) {
  for (DType t : {DType::f16, DType::bf16}) {
    Problem p = square(16, 8);
    const Inputs exact = made(p, Generator::normal);
    p.dtype = t;
    const Inputs rounded = made(p, Generator::normal);
    EXPECT_EQ(rounded.q, exact.q.converted(t));
    EXPECT_EQ(rounded.v, exact.v.converted(t));
  }
}

TEST(Generators, LateOutlierIsTheLargestScoreOfEveryRowByFar) {
  for (std::int64_t dim : {1, 8, 64}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const Problem p = square(16, dim);
      const Inputs in = made(p, Generator::late_outlier, seed);
      const std::int64_t late = late_outlier_key(16);
      EXPECT_EQ(late, 13);  // in the last tile of four keys
      for (std::int64_t r = 0; r < 16; ++r) {
        for (std::int64_t c = 0; c < 16; ++c) {
          if (c != late) {
            ASSERT_GT(score(p, in, r, late), score(p, in, r, c)) << dim << " " << seed << " " << r;
          }
          // With eight components the factor that discards the first twelve keys is below 5 %.
          if (c < 12 && dim == 8) {
            ASSERT_GT(score(p, in, r, late), score(p, in, r, c) + 3) << seed << " " << r;
          }
        }
      }
    }
  }
  EXPECT_EQ(late_outlier_key(1), 0);
}

TEST(Generators, LargeLogitsOverflowExpWithoutTheMaximum) {
  for (std::int64_t dim : {1, 2, 8, 64}) {
    const Problem p = square(16, dim);
    const Inputs in = made(p, Generator::large_logits);
    for (std::int64_t r = 0; r < 16; ++r) {
      for (std::int64_t c = 0; c < 16; ++c) {
        ASSERT_EQ(static_cast<float>(std::exp(score(p, in, r, c))), INFINITY) << dim;
      }
    }
  }
}

TEST(Generators, EqualScoresGiveEveryKeyOfAHeadTheSameRow) {
  const Problem p = four_heads(16);
  const Inputs in = made(p, Generator::equal_scores);
  const std::vector<float> k = numbers(in.k);
  for (std::size_t i = 0; i < k.size(); ++i) ASSERT_EQ(k[i], k[i / 128 * 128 + i % 8]);
  for (float x : numbers(*in.bias)) ASSERT_EQ(x, 0.0F);
}

TEST(Generators, MaskedRowBiasLeavesTheFirstQueryNoKey) {
  Problem p = square(6, 2);
  p.bias_shape = {1, 1, 6, 6};
  const std::vector<float> bias = numbers(*made(p, Generator::masked_row).bias);
  for (std::size_t i = 0; i < bias.size(); ++i) EXPECT_EQ(std::isinf(bias[i]), i < 6) << i;
}

TEST(Generators, BiasFallsWithTheDistanceToTheOwnKey) {
  Problem p = square(2, 2);
  p.Hq = p.Hkv = 2;
  p.Lk = 3;
  p.bias_shape = {1, 2, 2, 3};
  EXPECT_EQ(numbers(*made(p, Generator::normal).bias),
            (std::vector<float>{-0.5F, 0, -0.5F, -1, -0.5F, 0, -0.25F, 0, -0.25F, -0.5F, -0.25F, 0}));
}

TEST(Generators, NonFiniteStandAtKnownPlacesOfTheFirstHeadAlone) {
  Problem p = square(8, 4);
  p.Hq = p.Hkv = 2;
  const Inputs in = made(p, Generator::non_finite);
  EXPECT_EQ(in.q.get(2 * 4), INFINITY);
  EXPECT_TRUE(std::isnan(in.q.get(4 * 4 + 3)));
  EXPECT_EQ(in.k.get(7 * 4), -INFINITY);
  EXPECT_TRUE(std::isnan(in.v.get(5 * 4 + 3)));
  EXPECT_EQ(in.v.get(6 * 4), INFINITY);
  int planted = 0;
  for (const Array* a : {&in.q, &in.k, &in.v}) {
    for (float x : numbers(*a)) planted += std::isfinite(x) ? 0 : 1;
  }
  EXPECT_EQ(planted, 5);
}

TEST(Generators, NamesComeBack) {
  EXPECT_EQ(all_generators().size(), std::size(kAll));
  for (Generator g : all_generators()) EXPECT_EQ(generator_from_name(name_of(g)), g);
  EXPECT_FALSE(generator_from_name("gaussian"));
}

TEST(Presets, AreValidAndSmallEnoughToStepThrough) {
  ASSERT_EQ(presets()[0].id, "blackboard");
  for (const Preset& preset : presets()) {
    EXPECT_TRUE(validate(preset.problem)) << preset.id;
    EXPECT_GT(preset.br, 0) << preset.id;
    EXPECT_GT(preset.bc, 0) << preset.id;
    EXPECT_LE(preset.problem.Lk / preset.bc, 6) << preset.id;
    EXPECT_TRUE(preset.what.ends_with('.')) << preset.id;
    EXPECT_EQ(*find_preset(preset.id), &preset);
  }
}

TEST(Presets, ShowWhatTheirNamesSay) {
  const Problem& masked = (*find_preset("masked_row"))->problem;
  EXPECT_GE(masked.visible_keys(0, 0).first, masked.visible_keys(0, 0).last);
  EXPECT_LT(masked.visible_keys(0, 1).first, masked.visible_keys(0, 1).last);
  const Preset& ragged = **find_preset("ragged");
  EXPECT_NE(ragged.problem.Lq % ragged.br, 0);
  const Preset& causal = **find_preset("causal");
  EXPECT_EQ(causal.problem.cover(0, 0, 4, 4, 8), TileCover::skipped);
  EXPECT_EQ(causal.problem.cover(0, 4, 8, 4, 8), TileCover::partial);
  EXPECT_EQ(causal.problem.cover(0, 4, 8, 0, 4), TileCover::full);
  EXPECT_EQ((*find_preset("heads"))->problem.kv_head(3), 1);
}

TEST(Presets, UnknownNameListsThoseThereAre) {
  const auto r = find_preset("blackbord");
  ASSERT_FALSE(r);
  EXPECT_NE(r.error().message.find("'blackbord'; there are blackboard, random, late_outlier"), std::string::npos);
}

TEST(MakeInputs, EditsOverrideSingleCells) {
  Problem p = square(4, 2);
  InputSpec spec;
  spec.edits = {{InputTensor::q, 3, 9.5F}, {InputTensor::v, 0, -1}};
  const Inputs in = *make_inputs(p, spec);
  EXPECT_EQ(numbers(in.q), (std::vector<float>{1, 2, 3, 9.5F, 5, 6, 7, 8}));
  EXPECT_EQ(in.v.get(0), -1);
  spec.edits = {{InputTensor::k, 8, 1}};
  EXPECT_EQ(make_inputs(p, spec).error().message, "Edited cell 8 of K does not exist: it has 8 elements.");
  spec.edits = {{InputTensor::k, -1, 1}};
  EXPECT_FALSE(make_inputs(p, spec));
  spec.edits = {{InputTensor::bias, 0, 1}};
  EXPECT_EQ(make_inputs(p, spec).error().message, "A cell of the bias was edited, but this problem has no bias.");
}

// Writes `shape` filled with 1, 2, 3 ...
std::filesystem::path put_array(const std::filesystem::path& file, std::vector<std::int64_t> shape,
                                DType t = DType::f32) {
  Array a(t, std::move(shape));
  for (std::int64_t i = 0; i < a.size(); ++i) a.set(i, static_cast<float>(i + 1));
  EXPECT_TRUE(write_npy(file, a, a.shape()));
  return file;
}

TEST(MakeInputs, FilesWinOverTheGeneratorAndMustFit) {
  const TempFolder folder;
  Problem p = square(4, 2);
  p.dtype = DType::f16;
  InputSpec spec;
  spec.k_file = put_array(folder / "k.npy", {4, 2}).string();
  const Inputs in = *make_inputs(p, spec);
  EXPECT_EQ(numbers(in.k), (std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(in.k.dtype(), DType::f16);
  EXPECT_EQ(in.k.shape(), (std::vector<std::int64_t>{1, 1, 4, 2}));
  put_array(folder / "k.npy", {5, 2});
  EXPECT_EQ(make_inputs(p, spec).error().message,
            spec.k_file + " has shape [5, 2], but K of this problem has [1, 1, 4, 2]; change the problem or the file.");
  spec.k_file.clear();
  spec.bias_file = (folder / "k.npy").string();
  EXPECT_NE(make_inputs(p, spec).error().message.find("no bias"), std::string::npos);
}

TEST(InputsFromFiles, DescribeTheProblemInEveryNumberOfAxes) {
  const TempFolder folder;
  const auto q = put_array(folder / "q.npy", {2, 6, 3, 4}), k = put_array(folder / "k.npy", {2, 2, 5, 4}),
             v = put_array(folder / "v.npy", {2, 2, 5, 7}), bias = put_array(folder / "b.npy", {6, 3, 5});
  const auto four = inputs_from_files(q, k, v, bias, {});
  ASSERT_TRUE(four) << four.error().message;
  EXPECT_EQ(describe(four->problem), "B=2 H=6/2 L=3x5 D=4x7 f32 bias=1x6x3x5");
  EXPECT_EQ(four->axes, 4U);
  EXPECT_TRUE(validate(four->problem, four->inputs));
  EXPECT_EQ(four->inputs.v.get(10), 11);

  const auto q2 = put_array(folder / "q2.npy", {3, 4}), k2 = put_array(folder / "k2.npy", {5, 4});
  const auto two = inputs_from_files(q2, k2, k2, {}, {});
  ASSERT_TRUE(two);
  EXPECT_EQ(describe(two->problem), "B=1 H=1 L=3x5 D=4 f32");
  EXPECT_EQ(two->axes, 2U);
}

TEST(InputsFromFiles, DtypeIsThatOfQUnlessSaid) {
  const TempFolder folder;
  const auto q = put_array(folder / "q.npy", {3, 4}, DType::f16), k = put_array(folder / "k.npy", {5, 4});
  const auto defaults = inputs_from_files(q, k, k, {}, {});
  EXPECT_EQ(defaults->problem.dtype, DType::f16);
  EXPECT_EQ(defaults->inputs.k.dtype(), DType::f16);
  EXPECT_EQ(inputs_from_files(q, k, k, {}, DType::bf16)->inputs.q.dtype(), DType::bf16);
}

TEST(InputsFromFiles, NameTheExtentsThatDoNotAgree) {
  const TempFolder folder;
  const auto q = put_array(folder / "q.npy", {3, 4}), k = put_array(folder / "k.npy", {5, 4}),
             k6 = put_array(folder / "k6.npy", {6, 4}), d3 = put_array(folder / "d3.npy", {5, 3}),
             flat = put_array(folder / "flat.npy", {4}), wide = put_array(folder / "wide.npy", {1, 300}),
             three = put_array(folder / "three.npy", {3, 3, 4}), two = put_array(folder / "two.npy", {2, 5, 4});
  const auto refusal = [&](const auto& a, const auto& b, const auto& c) {
    const auto r = inputs_from_files(a, b, c, {}, {});
    return r ? std::string("accepted") : r.error().message;
  };
  EXPECT_EQ(refusal(q, k, k6), "Lk is 5 in " + k.string() + " but Lk is 6 in " + k6.string() + "; they must be equal.");
  EXPECT_NE(refusal(q, d3, d3).find("D is 4 in"), std::string::npos);
  EXPECT_NE(refusal(flat, k, k).find("has shape [4]; it must be [B, H, L, D]"), std::string::npos);
  EXPECT_NE(refusal(wide, wide, wide).find("D is 300; head dimensions go up to 256"), std::string::npos);
  EXPECT_NE(refusal(three, two, two).find("Hq = 3 is not a multiple of Hkv = 2"), std::string::npos);
  EXPECT_EQ(refusal(q, k, k), "accepted");
}

TEST(InputsFromFiles, RefuseWhatDoesNotFitTheMemoryGiven) {
  const TempFolder folder;
  const auto q = put_array(folder / "q.npy", {3, 4});
  EXPECT_TRUE(inputs_from_files(q, q, q, {}, {}, 144));
  const auto r = inputs_from_files(q, q, q, {}, {}, 143);
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().kind, ErrorKind::cannot_run);
}

}  // namespace
}  // namespace attn
