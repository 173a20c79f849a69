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

}  // namespace
}  // namespace attn
