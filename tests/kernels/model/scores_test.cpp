// Softcap and ALiBi as part of a problem: what is refused in which words, what a file says.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "kernels/arithmetic/math.h"
#include "kernels/model/problem/problem.h"
#include "kernels/model/problem/validate.h"
#include "kernels/model/problem_json.h"

namespace attn {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

Problem problem() {
  Problem p;
  p.B = 2;
  p.Hq = p.Hkv = 3;
  p.Lq = p.Lk = 4;
  return p;
}

std::string refusal(const Problem& p) {
  const auto valid = validate(p);
  return valid ? "taken" : valid.error().message;
}

TEST(Softcap, MustBeANumberAboveZero) {
  Problem p = problem();
  for (const double good : {30.0, 1e-3, 1e30}) {
    p.softcap = good;
    EXPECT_EQ(refusal(p), "taken") << good;
  }
  for (const double bad : {0.0, -1.0, kInf, -kInf, std::nan(""), 1e31, 1e-31}) {
    p.softcap = bad;
    EXPECT_NE(refusal(p).find("Invalid softcap "), std::string::npos) << bad << ": " << refusal(p);
    EXPECT_NE(refusal(p).find("use a number from 1e-30 to 1e+30 "), std::string::npos) << bad << ": " << refusal(p);
  }
}

TEST(Alibi, SlopesAreOneAHeadOrOneABatchAndHead) {
  Problem p = problem();
  for (const std::size_t good : {0U, 3U, 6U}) {
    p.alibi = std::vector<float>(good, 0.5F);
    EXPECT_EQ(refusal(p), "taken") << good;
  }
  for (const std::size_t bad : {1U, 2U, 4U, 12U}) {
    p.alibi = std::vector<float>(bad, 0.5F);
    EXPECT_NE(refusal(p).find("one per query head (Hq = 3), one per batch and head (2 x 3 = 6)"), std::string::npos)
        << refusal(p);
  }
  p.alibi = std::vector<float>{1, std::numeric_limits<float>::quiet_NaN(), 1};
  EXPECT_EQ(refusal(p), "ALiBi slope 1 is nan; it must be a finite number.");
  p.alibi = std::vector<float>{1, 1, std::numeric_limits<float>::infinity()};
  EXPECT_EQ(refusal(p), "ALiBi slope 2 is inf; it must be a finite number.");
}

// The paper's for eight heads: 1/2, 1/4 ... 1/256 (Press, Smith, Lewis 2021, section 3).
TEST(Alibi, TheUsualSlopesAreThePapers) {
  Problem p = problem();
  p.Hq = p.Hkv = 8;
  p.alibi.emplace();
  float slope = 0.5F;
  for (std::int64_t h = 0; h < 8; ++h, slope /= 2) {
    EXPECT_EQ(p.slope(0, h), slope);
    EXPECT_EQ(p.slope(1, h), slope);
  }
  EXPECT_EQ(p.alibi_at(0, 1, 1, 3), 0.25 * 2);
}

TEST(Alibi, TheDistanceIsToTheQueriesOwnKeyBottomRight) {
  Problem p = problem();
  p.Lq = 2;
  p.Lk = 5;
  p.alibi = std::vector<float>{1, 2, 4, 8, 16, 32};
  EXPECT_EQ(p.alibi_at(0, 0, 0, 3), 0) << "row 0 of two, five keys: its own is 3";
  EXPECT_EQ(p.alibi_at(0, 0, 1, 0), 4);
  EXPECT_EQ(p.alibi_at(1, 2, 0, 4), 32) << "after its own key, too";
}

TEST(Scores, OfAProblemWithoutThemAreNoWordOfItsJson) {
  const nlohmann::json j = problem_to_json(problem());
  EXPECT_FALSE(j.contains("softcap"));
  EXPECT_FALSE(j.contains("alibi"));
  EXPECT_EQ(describe(problem()).find("alibi"), std::string::npos);
}

TEST(Scores, ComeBackOutOfJson) {
  Problem p = problem();
  p.softcap = 12.5;
  for (const auto& slopes : {std::vector<float>{}, {1, 0.1F, -3}, {1, 2, 3, 4, 5, 6.5F}}) {
    p.alibi = slopes;
    const auto j = problem_to_json(p);
    const auto back = problem_from_json(nlohmann::json::parse(j.dump()), "here");
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(*back, p);
  }
  // Slopes are written out, the usual ones too.
  p.alibi.emplace();
  EXPECT_EQ(problem_to_json(p)["alibi"].size(), 3U);
  EXPECT_EQ(problem_to_json(p)["alibi"][2].get<double>(), 0x1p-8);
}

TEST(Scores, OfABrokenFileAreRefusedWithItsPlace) {
  Problem p = problem();
  p.alibi.emplace();
  const auto refused = [](const nlohmann::json& j) {
    const auto read = problem_from_json(j, "here");
    return read ? std::string("taken") : read.error().message;
  };
  for (const char* bad : {"3", "[]", "[1, 2]", "[1, 2, \"x\"]", "[[1, 2, 3]]", "[[1, 2, 3], 4]", "[[1, 2, 3], [4, 5]]",
                          "{}", "null", "[[1, 2, 3], [4, 5, 6], [7, 8, 9]]"}) {
    nlohmann::json j = problem_to_json(p);
    j["alibi"] = nlohmann::json::parse(bad);
    EXPECT_EQ(refused(j),
              "here: \"alibi\" must be a list of Hq numbers in the range of fp32, or a list of B such lists.")
        << bad;
  }
  nlohmann::json j = problem_to_json(p);
  j["alibi"] = {1, 2, 1e300};
  EXPECT_NE(refused(j).find("ALiBi slope 2 is inf"), std::string::npos) << refused(j);
  j = problem_to_json(p);
  j["softcap"] = -3;
  EXPECT_NE(refused(j).find("here: Invalid softcap -3"), std::string::npos) << refused(j);
}

TEST(Scores, OfTwoProblemsHaveTheSameWordsWhereTheyAreTheSame) {
  Problem a = problem(), b = problem();
  a.alibi = std::vector<float>{1, 2, 3};
  b.alibi = std::vector<float>{1, 2, 4};
  EXPECT_NE(describe(a), describe(b));
  b.alibi = a.alibi;
  EXPECT_EQ(describe(a), describe(b));
  a.softcap = 30;
  EXPECT_NE(describe(a).find("softcap=30"), std::string::npos);
}

// Against the C library's fp64: every 64th float of the range where tanh is not yet 1, and the ends.
TEST(Tanh, IsWithinItsBoundAndKeepsWhatIsNotFinite) {
  double worst = 0;
  for (std::uint32_t bits = 0; bits < 0x41400000U; bits += 4099) {
    const float x = std::bit_cast<float>(bits);
    const double right = std::tanh(static_cast<double>(x)), got = static_cast<double>(tanh_f32(x));
    if (right > 1e-37) worst = std::max(worst, std::abs(got - right) / right);
    EXPECT_EQ(tanh_f32(-x), -tanh_f32(x)) << x;
  }
  EXPECT_LE(worst, kTanhError);
  EXPECT_GT(worst, kTanhError / 16);
  EXPECT_EQ(tanh_f32(HUGE_VALF), 1.0F);
  EXPECT_EQ(tanh_f32(-HUGE_VALF), -1.0F);
  EXPECT_TRUE(std::isnan(tanh_f32(std::nanf(""))));
  EXPECT_TRUE(std::signbit(tanh_f32(-0.0F)));
}

}  // namespace
}  // namespace attn
