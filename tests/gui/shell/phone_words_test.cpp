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

bool is_cut(const DrawnText::Place& place) {
  constexpr std::string_view kCut = "…";
  return place.text.find(kCut) != std::string::npos;
}

TEST(PhoneMenus, TheFirstLineOfAMenuIsWhole) {
  for (const PhoneSize& size : kPhones) {
    Phone w(size);
    w.open("late_outlier");
    EXPECT_TRUE(w.run([&](Ctx* ctx) {
      for (const auto& [menu, first] : {std::pair("Menu", "Open a file"), {"Workspace", "Step"}}) {
        ctx->ItemClick((std::string("//Bar/") + menu).c_str());
        ctx->Yield(3);
        const ImGuiTestItemInfo line = ctx->ItemInfo((std::string("//$FOCUSED/") + first).c_str());
        IM_CHECK_GE_NO_RET(line.RectFull.GetHeight(), kFinger - 0.5F);
        IM_CHECK_GE_NO_RET(line.RectFull.Min.y, line.Window->Pos.y);
        ctx->PopupCloseAll();
      }
    })) << size.width;
  }
}

TEST(PhoneCharts, EveryWordOfTheSentenceIsWhole) {
  for (const PhoneSize& size : kPhones) {
    Phone w(size, "attn1,preset=words,chart=sentence,cursor=39");
    w.shell().show_alone(StepPanel::chart);
    w.settle();
    const DrawnText drawn;
    w.draw_frames(1);
    for (const auto& place : drawn.places()) {
      EXPECT_FALSE(is_cut(place)) << place.text << " at " << size.width;
      EXPECT_LE(place.right, static_cast<float>(size.width) - 12) << place.text;
    }
    std::istringstream sentence("the cat sat on the mat and the small cat sang too");
    for (std::string word; sentence >> word;) EXPECT_GE(drawn.count(word), 1) << word << " at " << size.width;
  }
}

TEST(PhoneBench, TheHeadlineSaysWhatToPressAndNoPageIsCut) {
  for (const PhoneSize& size : kPhones) {
    Phone w(size, "attn1,workspace=bench");
    w.settle();
    const DrawnText drawn;
    w.draw_frames(1);
    EXPECT_TRUE(std::ranges::any_of(drawn.places(), [](const auto& place) {
      return place.size > 13 && place.text.ends_with("Run.") && place.bottom < 240;
    })) << size.width;
    EXPECT_TRUE(w.run([&](Ctx* ctx) {
      const ImGuiWindow* strip = child_window("strip");
      IM_CHECK(strip != nullptr);
      ctx->SetRef(strip->ID);
      for (const char* page : {"Charts", "Ladder", "Sources", "Tiles"}) {
        IM_CHECK(ctx->ItemExists(page));
        IM_CHECK_LE_NO_RET(ctx->ItemInfo(page).RectFull.Max.x, strip->Pos.x + strip->Size.x);
      }
    })) << size.width;
  }
}

// A mark's name stands beside it only where those of the roofs leave it room: the page is scrolled anyway.
TEST(PhoneProfile, TheRooflineIsHighEnoughForItsNames) {
  for (const PhoneSize& size : kPhones) {
    Phone w(size);
    ListedRun shown;
    shown.run = new_run("");
    shown.run.rows.push_back(profile_test::h100_row("flash_simt", 59526));
    shown.run.rows.push_back(profile_test::h100_row("naive", 2571000));
    shown.run.provenance.device_arch = "sm_90a";
    w.controller().update({ChooseWorkspace{Workspace::profile}});
    w.controller().show({shown}, nullptr);
    w.draw_frames(4);
    const ImGuiWindow* card = child_window("roofline");
    ASSERT_NE(card, nullptr);
    EXPECT_GE(card->Size.y, 290) << size.width;
    const DrawnText drawn;
    w.draw_frames(1);
    std::size_t names = 0;
    for (const auto& place : drawn.places()) {
      if (place.top < card->Pos.y || place.left < card->Pos.x) continue;
      for (const auto& other : drawn.places())
        EXPECT_FALSE(&other != &place && other.top >= card->Pos.y && collide(place, other))
            << size.width << ": " << place.text << " over " << other.text;
      ++names;
    }
    EXPECT_GE(names, 5U) << size.width;
  }
}

TEST(PageDialogs, SayHowNumbersComeToAPage) {
  for (const bool in_page : {false, true}) {
    Phone w(kPhones[1]);
    w.open("late_outlier");
    if (in_page) w.shell().live_in_page();
    EXPECT_TRUE(w.run([in_page](Ctx* ctx) {
      ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_I);
      ctx->Yield(6);
      const DrawnText drawn;
      ctx->Yield();
      const auto says = [&](const char* words) {
        return std::ranges::any_of(drawn.texts(),
                                   [&](const std::string& text) { return text.find(words) != text.npos; });
      };
      IM_CHECK(says("NumPy arrays"));
      IM_CHECK_EQ(says("paste"), in_page);
      IM_CHECK_EQ(says("q.csv"), in_page);
    }));
  }
}

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
