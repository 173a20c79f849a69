// Words between a phone's edges, and a tablet's: menus, the sentence, Bench's headline, dialogs of a page.
#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "profiling/session/run.h"
#include "tests/gui/step/phone.h"
#include "tests/viz/profile/profile_rows.h"
#include "viz/draw/hands.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;

TEST(TabletTiles, OfBothConsumersHaveTheirNumbers) {
  Phone w({820, 1133}, "attn1,preset=random,L=4/32,D=4,br=2,bc=4,set=pipeline:hopper,cursor=60");
  w.settle();
  const DrawnText drawn;
  w.draw_frames(1);
  // K of four dimensions and keys, in each half of the card.
  const auto numbers = [&](float left, float right) {
    return std::ranges::count_if(drawn.places(), [&](const auto& place) {
      const bool number = place.text.find('.') != std::string::npos && place.text.find(' ') == std::string::npos;
      return number && place.left >= left && place.right <= right && place.top > 220 && place.bottom < 420;
    });
  };
  EXPECT_GE(numbers(28, 410), 16);
  EXPECT_GE(numbers(410, 800), 16);
}

}  // namespace
}  // namespace attn
