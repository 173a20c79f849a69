// Where a tooltip stands, for fields of all sizes in all places of windows of all sizes.
#include <gtest/gtest.h>

#include "tests/gui/gui_fixture.h"
#include "viz/draw/widgets.h"

namespace attn {
namespace {

bool overlap(const Box& a, const Box& b) {
  return a.min.x < b.max.x && b.min.x < a.max.x && a.min.y < b.max.y && b.min.y < a.max.y;
}

TEST(TooltipPlace, StaysInTheWindowAndNeverCoversAFieldWhereAnySideHasRoom) {
  const TestWindow w;  // the sizes of its style
  int placed = 0;
  for (const ImVec2 window : {ImVec2(640, 420), ImVec2(1280, 720), ImVec2(1440, 900)}) {
    const Box screen{{0, 0}, window};
    for (const ImVec2 field : {ImVec2(40, 20), ImVec2(180, 24), ImVec2(420, 60)}) {
      for (const ImVec2 size : {ImVec2(120, 30), ImVec2(320, 120), ImVec2(340, 300), ImVec2(200, 400)}) {
        for (float x = 0; x + field.x <= window.x; x += 97) {
          for (float y = 0; y + field.y <= window.y; y += 61) {
            const Box what{{x, y}, {x + field.x, y + field.y}};
            const ImVec2 at = tooltip_place(what, what.centre(), size, screen);
            const Box tip{at, {at.x + size.x, at.y + size.y}};
            EXPECT_TRUE(tip.min.x >= 0 && tip.min.y >= 0 && tip.max.x <= window.x && tip.max.y <= window.y);
            constexpr float kGap = 8;
            const bool room = y - kGap >= size.y || window.y - what.max.y - kGap >= size.y || x - kGap >= size.x ||
                              window.x - what.max.x - kGap >= size.x;
            if (!room) continue;
            EXPECT_FALSE(overlap(tip, what)) << x << ' ' << y << ", " << size.x << " x " << size.y;
            ++placed;
          }
        }
      }
    }
  }
  EXPECT_GT(placed, 1000);
}

// A chart's numbers are read together with the chart: they never lie on it where any side has room.
TEST(TooltipPlace, BesideAChartLeavesAllOfItInSight) {
  const TestWindow w;
  int placed = 0;
  for (const ImVec2 window : {ImVec2(640, 900), ImVec2(1280, 720), ImVec2(1440, 900)}) {
    const Box screen{{0, 0}, window};
    for (const ImVec2 chart : {ImVec2(500, 200), ImVec2(620, 300), ImVec2(300, 400)}) {
      for (const ImVec2 size : {ImVec2(260, 120), ImVec2(340, 420), ImVec2(600, 300)}) {
        for (float x = 0; x + chart.x <= window.x; x += 131) {
          for (float y = 0; y + chart.y <= window.y; y += 83) {
            const Box what{{x, y}, {x + chart.x, y + chart.y}};
            for (const float at : {0.05F, 0.5F, 0.95F}) {
              const ImVec2 pointer(x + chart.x * at, y + chart.y * at);
              const ImVec2 place = tooltip_place_beside(what, pointer, size, screen);
              const Box tip{place, {place.x + size.x, place.y + size.y}};
              EXPECT_TRUE(tip.min.x >= 0 && tip.min.y >= 0 && tip.max.x <= window.x && tip.max.y <= window.y);
              constexpr float kGap = 8;
              const bool room = x - kGap >= size.x || window.x - what.max.x - kGap >= size.x || y - kGap >= size.y ||
                                window.y - what.max.y - kGap >= size.y;
              if (!room) continue;
              EXPECT_FALSE(overlap(tip, what)) << x << ' ' << y << ", " << size.x << " x " << size.y;
              ++placed;
            }
          }
        }
      }
    }
  }
  EXPECT_GT(placed, 1000);
}

}  // namespace
}  // namespace attn
