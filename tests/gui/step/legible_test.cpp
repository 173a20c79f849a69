// Step in the smallest window of a desktop: what is written can be read.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <ostream>
#include <string>
#include <vector>

#include "tests/gui/drawn_text.h"
#include "tests/gui/gui_fixture.h"

namespace attn {
namespace {

using Places = std::vector<DrawnText::Place>;

struct View {
  const char* name;
  const char* state;
};

void PrintTo(const View& view, std::ostream* out) {
  *out << view.name;
}

const View kViews[] = {
    {"alpha", "attn1,preset=late_outlier,cursor=25"},
    {"causal", "attn1,preset=causal,cursor=29"},
    {"passes", "attn1,preset=random,kernel=cpu_multicore,cursor=8,chart=passes"},
    {"backward",
     "attn1,preset=none,pass=backward,kernel=cpu_flash_bwd,L=16,D=4,br=4,bc=4,generator=normal,seed=61,"
     "cursor=66"},
    {"parts", "attn1,preset=late_outlier,page=4,set=splits:3,cursor=39"},
    {"fragments", "attn1,preset=none,L=16,D=64,br=4,bc=4,chart=fragments"},
    {"pages", "attn1,preset=pages,cursor=15,chart=pages"},
    {"ring", "attn1,preset=none,generator=normal,L=16,D=4,causal=1,br=2,bc=2,set=deal:zigzag/ranks:4,cursor=299"},
    {"ring_backward",
     "attn1,preset=none,pass=backward,kernel=cpu_flash_bwd,generator=normal,L=16,D=4,causal=1,br=2,"
     "bc=2,set=deal:zigzag/ranks:4,cursor=299"},
};

class LegibleStep : public testing::TestWithParam<View> {
 protected:
  // One frame's, at rest.
  static Places drawn() {
    TestWindow w(1280, 720, "", false, {}, {}, {}, GetParam().state);
    w.draw_frames(8);
    const DrawnText drawn;
    w.draw_frames(1);
    return drawn.places();
  }
};

bool is_number(const std::string& text) {
  return std::ranges::any_of(text, [](unsigned char c) { return std::isdigit(c) != 0; }) &&
         std::ranges::none_of(text, [](unsigned char c) { return std::isalpha(c) != 0 || c == ' '; });
}

// An index or an exponent: it follows a larger letter, or another index, without a gap.
bool is_script(const DrawnText::Place& p, const Places& places) {
  return std::ranges::any_of(places, [&](const auto& o) {
    const bool touches = std::fabs(p.left - o.right) < 4 || std::fabs(p.left - o.left) < 2;
    return &o != &p && touches && p.top < o.bottom && o.top < p.bottom && o.size >= p.size;
  });
}

TEST_P(LegibleStep, NothingIsSmallerThanElevenPixelsAndNoIndexThanTen) {
  const Places places = drawn();
  ASSERT_GT(places.size(), 50U);
  for (const auto& p : places)
    EXPECT_GE(p.size, is_script(p, places) ? 9.9F : 10.9F) << '"' << p.text << "\" at " << p.left << ", " << p.top;
}

// Digits of two cells that follow each other without a gap read as one number.
TEST_P(LegibleStep, NumbersOnALineStandApart) {
  Places numbers;
  for (const auto& p : drawn())
    if (is_number(p.text)) numbers.push_back(p);
  ASSERT_GT(numbers.size(), 10U);
  for (const auto& a : numbers) {
    for (const auto& b : numbers) {
      if (std::fabs(a.top - b.top) >= 2 || a.left >= b.left) continue;
      EXPECT_GE(b.left - a.right, 4) << a.text << " and " << b.text << " at " << b.left << ", " << b.top;
    }
  }
}

// At alpha 0.000305 of row 0, whose maximum is 9.334 now: the bar at the cell's foot would lie under its digits, were
// they not higher than those of the same row without a bar.
TEST(LegibleAlpha, ItsNumberStandsAboveItsBar) {
  TestWindow w(1280, 720, "", false, {}, {}, {}, "attn1,preset=late_outlier,cursor=25");
  w.draw_frames(8);
  const DrawnText drawn;
  w.draw_frames(1);
  const auto top_of = [&](const std::string& text) {
    const auto place = std::ranges::find_if(
        drawn.places(), [&](const auto& p) { return p.text == text && p.left > 540 && p.top > 300 && p.top < 340; });
    return place == drawn.places().end() ? -1 : place->top;
  };
  const float alpha = top_of("3.05e−4"), maximum = top_of("9.334");
  ASSERT_GT(alpha, 0);
  ASSERT_GT(maximum, 0);
  EXPECT_LE(alpha, maximum - 1);
}

INSTANTIATE_TEST_SUITE_P(Views, LegibleStep, testing::ValuesIn(kViews),
                         [](const auto& view) { return std::string(view.param.name); });

}  // namespace
}  // namespace attn
