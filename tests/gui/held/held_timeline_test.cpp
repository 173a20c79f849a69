// The timeline on what is held in a hand: its chips' words are whole, whichever step the frame is around.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "tests/environment/asked.h"
#include "tests/gui/step/phone.h"
#include "viz/draw/theme.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;

// The frame around the step's chip ends before its neighbours' letters.
TEST(HeldTimeline, TheFrameLeavesWordsWhole) {
  std::size_t cases = 0, framed = 0;
  for (const PhoneSize& size : kPages)
    for (const std::string preset : {"bias", "causal"}) {
      Phone w(size);
      w.open(preset.c_str());
      for (EventIndex e = 0; e < recording(w).events.size(); e += 3) {
        if (test::left_to_release(cases++, 16)) continue;
        w.go_to(e);
        const DrawnText drawn;
        w.draw_frames(1);
        ImRect track;
        const ImGuiWindow* step = nullptr;
        ASSERT_TRUE(w.run([&](Ctx* ctx) {
          ctx->SetRef(kStep);
          if (!ctx->ItemExists("##step_track")) return;
          track = ctx->ItemInfo("##step_track").RectFull;
          step = ctx->ItemInfo("##step_track").Window;
        }));
        if (step == nullptr) continue;
        // Of the frame: what of its ink stands above the chips, and is no title's.
        float left = 1e9F, right = -1e9F;
        for (const ImDrawVert& v : step->DrawList->VtxBuffer) {
          if (v.col != colour_of(Token::text) || v.pos.y < track.Min.y - 4.5F || v.pos.y > track.Min.y - 0.5F) continue;
          left = std::min(left, v.pos.x), right = std::max(right, v.pos.x);
        }
        if (right < left) continue;
        ++framed;
        for (const DrawnText::Place& place : drawn.places()) {
          const float middle = (place.top + place.bottom) / 2, x = (place.left + place.right) / 2;
          if (middle < track.Min.y || middle > track.Max.y || (x > left && x < right)) continue;
          EXPECT_TRUE(place.right <= left + 0.5F || place.left >= right - 0.5F)
              << place.text << " under the frame of step " << e + 1 << " of " << preset << " at " << size.width;
        }
      }
    }
  EXPECT_GT(framed, 20U);
}

}  // namespace
}  // namespace attn
