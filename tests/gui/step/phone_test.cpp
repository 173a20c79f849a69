// Step at the size of a phone held upright.
#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/gui/drawn_text.h"
#include "tests/gui/gui_fixture.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;

constexpr int kWidth = 390, kHeight = 844, kBar = 48;

// Frames until the tasks have answered.
void settle(TestWindow& w) {
  for (int frame = 0; frame < 400 && w.controller().tasks_run(); ++frame) w.draw_frames(1);
  w.draw_frames(3);
}

// The buttons of the bar over a wrong run, and what is written on it beside them.
void expect_apart(TestWindow& w, std::initializer_list<const char*> ids) {
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kStep);
    std::vector<ImRect> buttons;
    for (const char* id : ids) {
      IM_CHECK(ctx->ItemExists(id));
      const ImRect box = ctx->ItemInfo(id).RectFull;
      IM_CHECK(box.Min.x >= 12 && box.Max.x <= kWidth - 12);
      for (const ImRect& other : buttons) IM_CHECK(!box.Overlaps(other));
      buttons.push_back(box);
    }
    const DrawnText drawn;
    ctx->Yield();
    const auto headline = std::ranges::find(drawn.places(), "Deliberately wrong", &DrawnText::Place::text);
    IM_CHECK(headline != drawn.places().end());
    for (const ImRect& box : buttons)
      IM_CHECK(!box.Overlaps({headline->left, headline->top, headline->right, headline->bottom}));
    const std::string& reason = w.controller().model().examination.verdict->reason;
    IM_CHECK_GT(drawn.count(reason.substr(reason.rfind(' ') + 1) + "."), 0);  // to its end
  }));
}

TEST(PhoneWindow, TheButtonsOfAnExhibitStandApartFromItsWords) {
  TestWindow w(kWidth, kHeight);
  w.controller().update({ChoosePreset{"late_outlier"}, ChooseKernel{"museum_alpha_on_l_only"}});
  settle(w);
  expect_apart(w, {"##leave_museum", "##show_patch", "##seek_first_wrong"});
  w.controller().update({SeekFirstWrong{true}});
  settle(w);
  expect_apart(w, {"##leave_museum", "##show_patch", "##go_first_wrong", "##seek_first_wrong"});
}

TEST(PhoneWindow, AHeadlineIsWholeAtEveryStep) {
  TestWindow w(kWidth, kHeight);
  w.controller().update({ChoosePreset{"late_outlier"}});
  settle(w);
  bool met = false;
  for (EventIndex e = 0; e < recording(w).events.size(); ++e) {
    w.controller().update({GoToEvent{e}});
    w.draw_frames(2);
    const DrawnText drawn;
    w.draw_frames(1);
    for (const auto& place : drawn.places()) {
      EXPECT_TRUE(place.top < kBar || place.right <= kWidth - 20) << e << ": " << place.text;
    }
    const auto is_last = [](const auto& place) { return place.text.ends_with("vanish"); };
    met = met || std::ranges::any_of(drawn.places(), is_last);  // the last word of the longest
  }
  EXPECT_TRUE(met);
}

}  // namespace
}  // namespace attn
