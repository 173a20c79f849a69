// What stands in the card of a pipeline's loops at the sizes of a screen: whole figures, tokens clear of the arrows.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/gui/step/pipeline/pipeline_window.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;

// What a what-if does is told whole at every size, whatever else has no room.
TEST_F(PipelineWindow, TheFigureOfAWhatIfIsNeverCut) {
  struct Size {
    int width, height;
    float scale;
  };
  for (const Size& size : {Size{1280, 720, 1}, Size{1440, 900, 1}, Size{1920, 1080, 1}, Size{2560, 1440, 2}}) {
    for (const auto& [pipeline, figure] : {std::pair(1, ""), std::pair(2, "22.3 µs instead of 20.1, 11 % longer."),
                                           std::pair(4, "No turns: 20.8 µs, with turns 20.1.")}) {
      open(size.width, size.height, size.scale, pipeline);
      for (const EventIndex e : {5U, 60U, 150U, static_cast<EventIndex>(rec().events.size() - 2)}) {
        window->controller().update({GoToEvent{e}});
        window->draw_frames(30);
        const DrawnText drawn;
        window->draw_frames(1);
        const auto& places = drawn.places();
        const auto top = std::ranges::find(places, "Producer", &DrawnText::Place::text);
        const std::string where = fmt::format("{} of {} at {} × {}", e, pipeline, size.width, size.scale);
        ASSERT_NE(top, places.end()) << where;
        bool told = false;
        for (const DrawnText::Place& p : places) {
          if (p.top < top->top - 2) continue;
          EXPECT_EQ(p.text.find("…"), std::string::npos) << where << ": " << p.text;
          told = told || p.text.find(figure) != std::string::npos;
        }
        EXPECT_TRUE(told) << where;
      }
    }
  }
}

// Between two rows of a loop's states run its arrows: no token touches one.
TEST_F(PipelineWindow, NoTokenStandsOnALoopsArrow) {
  constexpr float kInset = 10, kPad = 6, kClear = 5;  // of an arrow from the shorter end, of words, between both
  std::size_t beside = 0;
  for (const int pipeline : {1, 2}) {
    open(1440, 900, 1, pipeline);
    EXPECT_TRUE(window->run([&](Ctx* ctx) {
      ctx->SetRef(kStep);
      const auto node = [&](int n) { return ctx->ItemInfo(fmt::format("##loop_consumers_{}", n).c_str()).RectFull; };
      const float down = std::min(node(4).Max.x, node(5).Max.x) - kInset,
                  up = std::max(node(0).Min.x, node(8).Min.x) + kInset;
      for (EventIndex e = 0; e < rec().events.size(); e += 3) {
        window->controller().update({GoToEvent{e}});
        ctx->Yield(2);
        const DrawnText drawn;
        ctx->Yield(1);
        // Taken before the walk: to look an item up may draw a frame, which adds to what was drawn.
        const std::vector<DrawnText::Place> places = drawn.places();
        const float above = node(4).Max.y, below = node(5).Min.y;
        for (const DrawnText::Place& p : places) {
          if (!p.text.starts_with("consumer ") || p.text.find(", tile ") == std::string::npos) continue;
          if (p.top < above || p.bottom > below) continue;
          ++beside;
          for (const float x : {up, down})
            EXPECT_TRUE(p.right + kPad + kClear <= x || p.left - kPad - kClear >= x) << p.text << " at step " << e + 1;
        }
      }
    }));
  }
  EXPECT_GT(beside, 20U);
}

}  // namespace
}  // namespace attn
