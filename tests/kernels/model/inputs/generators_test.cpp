// What generators give: the same bits everywhere, and what each is for. A generator without either fails here.
#include "kernels/model/inputs/generators.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kernels/model/inputs/inputs.h"

namespace attn {
namespace {

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

// Uniform, normal and words: computed from their definitions by a separate program in another language.
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
    {Generator::words, 16, {0xc7b1bf53f9987385, 0xbdf21c5981fd4405, 0xcb6cdfec1a8f7225, 0xc604ab0ff669355f}},
    {Generator::words, 600, {0xf4476631b8885d65, 0xfb71d0917bb94d55, 0x5dcaab05ef9f0d25, 0xea50144f1b0621ef}},
    {Generator::non_finite, 600, {0x18327b06953442f5, 0xf786b997443b0df2, 0xe44550d2dabe457a, 0xea50144f1b0621ef}},
};

// A line of kExpected as it would be written.
std::string expected_line(const std::string& name, std::int64_t length, const std::array<std::uint64_t, 4>& hashes) {
  return fmt::format("{{Generator::{}, {}, {{{:#018x}, {:#018x}, {:#018x}, {:#018x}}}}},", name, length, hashes[0],
                     hashes[1], hashes[2], hashes[3]);
}

TEST(Generators, GiveTheSameBitsEverywhere) {
  for (const Generator g : all_generators()) {
    const std::string name(name_of(g));
    for (const std::int64_t length : {16, 600}) {
      const Inputs in = made(four_heads(length), g);
      const std::array<std::uint64_t, 4> hashes{hash(in.q), hash(in.k), hash(in.v), hash(*in.bias)};
      const auto* expected =
          std::ranges::find_if(kExpected, [&](const Expected& e) { return e.generator == g && e.length == length; });
      if (expected == std::end(kExpected)) {
        ADD_FAILURE() << "kExpected does not say what " << name << " gives at L = " << length
                      << "; here it gives, to be confirmed on another machine:\n"
                      << expected_line(name, length, hashes);
        continue;
      }
      EXPECT_EQ(hashes, expected->hashes) << name << " L=" << length;
    }
  }
}

// The test that states what a generator is for.
const std::map<Generator, std::string> kPromises = {
    {Generator::blackboard, "BlackboardIsTheExampleToTheDigit"},
    {Generator::uniform, "UniformFillsItsRange"},
    {Generator::normal, "NormalHasMeanZeroDeviationOneAndBoundedTails"},
    {Generator::late_outlier, "LateOutlierIsTheLargestScoreOfEveryRowByFar"},
    {Generator::large_logits, "LargeLogitsOverflowExpWithoutTheMaximum"},
    {Generator::equal_scores, "EqualScoresGiveEveryKeyOfAHeadTheSameRow"},
    {Generator::masked_row, "MaskedRowBiasLeavesTheFirstQueryNoKey"},
    {Generator::non_finite, "NonFiniteStandAtKnownPlacesOfTheFirstHeadAlone"},
    {Generator::words, "WordsScoreByPlaceInOneHeadAndByFirstLetterInTheOther"},
};

TEST(Generators, EachHasATestOfWhatItIsFor) {
  const testing::TestSuite& suite = *testing::UnitTest::GetInstance()->current_test_suite();
  std::set<std::string> tests;
  for (int n = 0; n < suite.total_test_count(); ++n) tests.insert(suite.GetTestInfo(n)->name());
  for (const Generator g : all_generators()) {
    const auto at = kPromises.find(g);
    ASSERT_NE(at, kPromises.end()) << "write a test of what " << name_of(g)
                                   << " is for (which scores, which places) and name it in kPromises";
    EXPECT_TRUE(tests.contains(at->second)) << name_of(g) << ": there is no test Generators." << at->second;
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
  for (Generator g : all_generators()) {
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
  for (Generator g : all_generators()) {
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

// The formulas of sentence.cpp, over the words as they stand here.
TEST(Generators, WordsScoreByPlaceInOneHeadAndByFirstLetterInTheOther) {
  struct Sentence {
    std::string text, first_letters;  // a sign a word, the same where two words begin alike
    std::vector<int> letters;
  };
  const Sentence sentences[] = {
      {"", "tcsotmatscst", {3, 3, 3, 2, 3, 3, 3, 3, 5, 3, 4, 3}},
      {"We can can a can", "wccac", {2, 3, 3, 1, 3}},
      {"Über den \"Über\" übt, 3 3/4 ...", "uduu33.", {4, 3, 4, 3, 1, 2, 0}},
      {"a b c d e f g h i j k l m n o p q r s t u v w x", "abcdefghijklmnopqrstuvwx", std::vector<int>(24, 1)},
  };
  for (const Sentence& one : sentences) {
    InputSpec spec;
    spec.generator = Generator::words;
    spec.sentence = one.text;
    for (const DType dtype : {DType::f32, DType::f16}) {
      Problem p = problem_of_words(one.text);
      p.dtype = dtype;
      const auto in = make_inputs(p, spec);
      ASSERT_TRUE(in) << in.error().message;
      ASSERT_EQ(p.Lk, static_cast<std::int64_t>(one.first_letters.size())) << one.text;
      for (std::int64_t h = 0; h < 2; ++h) {
        for (std::int64_t i = 0; i < p.Lq; ++i) {
          for (std::int64_t j = 0; j < p.Lk; ++j) {
            double s = 0;
            for (std::int64_t d = 0; d < p.D; ++d)
              s += static_cast<double>(in->q.get((h * p.Lq + i) * p.D + d)) * in->k.get((h * p.Lk + j) * p.D + d);
            const auto apart = static_cast<double>(j - (i - 1));
            const bool alike =
                one.first_letters[static_cast<std::size_t>(i)] == one.first_letters[static_cast<std::size_t>(j)];
            EXPECT_EQ(s * p.effective_scale(), h == 0  ? -apart * apart
                                               : alike ? 3.0
                                                       : 0.0)
                << one.text << ", head " << h << ", row " << i << ", key " << j;
          }
        }
      }
      for (std::int64_t j = 0; j < p.Lk; ++j) {
        EXPECT_EQ(in->v.get(j * 2), static_cast<float>(j));
        EXPECT_EQ(in->v.get(j * 2 + 1), static_cast<float>(one.letters[static_cast<std::size_t>(j)])) << one.text << j;
      }
      EXPECT_TRUE(is_of_words(p, spec));
      ++p.D;
      EXPECT_FALSE(is_of_words(p, spec)) << "another shape is no longer the toy as it is described";
    }
  }
}

TEST(Generators, SentencesThatAreNoneAreRefusedInWords) {
  const auto why = [](std::string_view sentence) {
    const auto words = sentence_words(sentence);
    return words ? std::string("taken") : words.error().message;
  };
  EXPECT_EQ(why("one two"), "taken");
  EXPECT_EQ(sentence_words("  a \u00a0 b ")->size(), 2U) << "blanks at the ends and doubled ones count once";
  EXPECT_EQ(sentence_words("")->size(), 12U) << "nothing typed stands for the usual sentence";
  EXPECT_NE(why("   ").find("has 0 words; type 2 to 24"), std::string::npos);
  EXPECT_NE(why("alone").find("has 1 word; type 2 to 24"), std::string::npos);
  std::string many = "w";
  for (int n = 0; n < 24; ++n) many += " w";
  EXPECT_NE(why(many).find("has 25 words"), std::string::npos);
  EXPECT_NE(why("a seventeen_letters").find("longer than 16 characters"), std::string::npos);
  EXPECT_NE(why("a\tb c").find("control character at byte 2"), std::string::npos);
  EXPECT_NE(why("a \u0085 c").find("control character at byte 3"), std::string::npos);
  EXPECT_NE(why("a b\xff").find("not valid UTF-8 at byte 4"), std::string::npos);
  EXPECT_NE(why("a \xc0\x80 b").find("not valid UTF-8 at byte 3"), std::string::npos) << "an overlong zero";
  EXPECT_NE(why(std::string(2000, ' ') + "a b").find("2003 bytes; the limit is 1024"), std::string::npos);
  InputSpec spec;
  spec.generator = Generator::words;
  spec.sentence = "alone";
  EXPECT_FALSE(make_inputs(square(4, 3), spec));
}

TEST(Generators, NamesComeBack) {
  EXPECT_GE(all_generators().size(), 8U);
  for (Generator g : all_generators()) EXPECT_EQ(generator_from_name(name_of(g)), g);
  EXPECT_FALSE(generator_from_name("gaussian"));
}

TEST(Generators, OfEveryPresetHasAName) {
  for (const Preset& preset : presets()) {
    EXPECT_TRUE(generator_from_name(name_of(preset.generator))) << preset.id << ": add it to kGeneratorNames";
  }
}

}  // namespace
}  // namespace attn
