// Narrow rooms under a finger: a figure in a column, a number that is edited, a lesson's card and source, a ring, a
// problem that cannot be recorded.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "tests/gui/step/phone.h"
#include "viz/step/bars/bars_draw.h"
#include "viz/step/bars/strip.h"
#include "viz/step/step_cache.h"
#include "viz/step/tiles/layout_draw.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;

class Figure : public Phone {
 public:
  Figure(const PhoneSize& size, StepPanel panel, const char* preset) : Phone(size) {
    shell().show_alone(panel);
    open(preset);
  }
};

// As a cell has it: digits with a point or an exponent, not the number of a row.
bool is_number(const std::string& text) {
  constexpr std::string_view kMinus = "−";
  std::string plain = text;
  for (std::size_t at; (at = plain.find(kMinus)) != std::string::npos;) plain.replace(at, kMinus.size(), "-");
  const bool fraction = plain.find_first_of(".e") != std::string::npos;
  return fraction && plain.find_first_not_of("0123456789.-e") == std::string::npos &&
         std::ranges::any_of(plain, [](unsigned char c) { return std::isdigit(c) != 0; });
}

std::ptrdiff_t values_on_chip(const Recording& rec, EventIndex e) {
  const TilesScene scene = tiles_scene(rec, e, {}, OutputReading::as_summed, scales_of(rec));
  const auto of = [](const TileScene& tile) {
    return std::ranges::count_if(tile.cells, [](const Cell& cell) {
      return cell.look == CellLook::value && std::isfinite(cell.value) && cell.value != 0;  // 0 and ∞ have no digits
    });
  };
  std::ptrdiff_t count = of(scene.k) + of(scene.v);
  for (const Column c : scene.columns) count += of(scene.tiles[static_cast<std::size_t>(c)]);
  return count;
}

TEST(FigureInAColumn, HasANumberInEveryCellAndNoWordsOverOthers) {
  for (const PhoneSize& size : {PhoneSize{360, 420}, PhoneSize{360, 560}, PhoneSize{600, 420}}) {
    Figure w(size, StepPanel::tiles, "blackboard");
    for (EventIndex e = 0; e < recording(w).events.size(); ++e) {
      w.go_to(e);
      const DrawnText drawn;
      w.draw_frames(1);
      const auto& places = drawn.places();
      const auto numbers = std::ranges::count_if(places, [](const auto& place) { return is_number(place.text); });
      EXPECT_GE(numbers, values_on_chip(recording(w), e)) << "step " << e + 1 << " at " << size.width;
      for (std::size_t n = 0; n < places.size(); ++n)
        for (std::size_t k = 0; k < n; ++k)
          EXPECT_FALSE(collide(places[n], places[k]))
              << "step " << e + 1 << " at " << size.width << ": " << places[n].text << " over " << places[k].text;
    }
  }
}

TEST(FigureInAColumn, OfARunHasItsSentenceWholeAndItsTimelineWithin) {
  for (const PhoneSize& size : {PhoneSize{360, 420}, PhoneSize{360, 560}}) {
    for (const char* preset : {"blackboard", "late_outlier"}) {
      Figure w(size, StepPanel::run, preset);
      const Recording& rec = recording(w);
      for (EventIndex e = 0; e < std::min<EventIndex>(rec.events.size(), 40); ++e) {
        w.go_to(e);
        const DrawnText drawn;
        w.draw_frames(1);
        const StripScene strip = strip_scene(
            rec, place_of(rec, e, {}), step_values(rec, place_of(rec, e, {}), {}, nullptr), w.shell().step_ui().texts);
        const std::string& said = strip.sentence.back().text;
        const std::string last = said.substr(said.rfind(' ') + 1);
        EXPECT_TRUE(std::ranges::any_of(
            drawn.places(),
            [&](const auto& place) { return place.text.ends_with(last) && place.bottom <= 12 + kPhoneStrip; }))
            << preset << ", step " << e + 1 << ": " << last;
        for (const auto& place : drawn.places()) EXPECT_LE(place.right, static_cast<float>(size.width) - 12);
        EXPECT_EQ(drawn.count("Next"), 1);
      }
    }
  }
}

// What a finger opened to type a number covers no cell of its tile, and is accepted or cancelled by a button.
TEST(PhoneNumbers, AreTypedBesideTheTile) {
  for (const PhoneSize& size : kPhones) {
    Phone w(size);
    w.open("blackboard");
    EXPECT_TRUE(w.run([&](Ctx* ctx) {
      const auto type = [&](const char* number, const char* button) {
        const ImRect tile = ctx->ItemInfo("**/##tile_q").RectFull;
        ctx->MouseMoveToPos({tile.Min.x + tile.GetWidth() * 0.25F, tile.Min.y + tile.GetHeight() * 0.25F});
        ctx->MouseDoubleClick();
        ctx->Yield(3);
        expect_for_fingers(ctx, "**/", {"##cell_edit", "##field_accept", "##field_cancel"});
        for (const char* id : {"**/##cell_edit", "**/##field_accept", "**/##field_cancel"}) {
          const ImRect box = ctx->ItemInfo(id).RectFull;
          IM_CHECK_NO_RET(!box.Overlaps(tile));
          IM_CHECK_NO_RET(box.Min.x >= 0 && box.Max.x <= static_cast<float>(size.width));
        }
        ctx->KeyCharsReplace(number);
        ctx->ItemClick(button);
        ctx->Yield(3);
        IM_CHECK(!ctx->ItemExists("**/##cell_edit"));
      };
      type("7.5", "**/##field_cancel");
      IM_CHECK_EQ(w.state().document.inputs.edits.size(), 0U);
      type("-2.5", "**/##field_accept");
      IM_CHECK_EQ(w.state().document.inputs.edits.size(), 1U);
      IM_CHECK_EQ(recording(w).inputs.q.get(0), -2.5F);
    })) << size.width;
  }
}

TEST(PhoneLesson, WhatAFingerPressesOnACardHasItsSize) {
  for (const PhoneSize& size : kPhones) {
    Phone w(size);
    w.controller().update({StartLesson{"wall", "fits"}});
    w.settle();
    EXPECT_TRUE(w.run([&](Ctx* ctx) {
      expect_for_fingers(
          ctx, "**/",
          {"##lesson_run", "##lesson_option_0", "##lesson_check", "##lesson_show", "##lesson_skip", "##lesson_close"});
      ctx->ItemClick("**/##lesson_run");
      ctx->Yield(3);
      expect_for_fingers(ctx, "**/", {"##lesson_to_card"});
    }));
    w.controller().update({StartLesson{"checkpoint-row", "m"}});
    w.settle();
    EXPECT_TRUE(w.run([&](Ctx* ctx) {
      expect_for_fingers(ctx, "**/", {"##lesson_answer", "##lesson_check", "##lesson_show"});
    }));
  }
}

TEST(PhoneLesson, TheTitlesOfTheStaircasesStandApart) {
  for (const PhoneSize& size : kPhones) {
    Phone w(size);
    w.controller().update({StartLesson{"few-warps", "warps"}});
    w.settle();
    EXPECT_TRUE(w.run([&](Ctx* ctx) {
      ctx->ItemClick("**/##lesson_run");
      ctx->Yield(4);
      const auto left_of = [&](const char* stair) { return ctx->ItemInfo(stair).RectFull.Min.x; };
      const float second = left_of("**/Shared memory per block"), third = left_of("**/Threads per block");
      const DrawnText drawn;
      ctx->Yield();
      std::size_t titles = 0;
      for (const auto& place : drawn.places()) {
        const float from = place.left;
        const bool word = place.text.find("block") != std::string::npos || place.text.find("memory") == 0;
        if (!word || from < second - 1 || from >= third - 1) continue;
        IM_CHECK_LE_NO_RET(place.right, third - 4);
        ++titles;
      }
      IM_CHECK_GE(titles, 1U);
    })) << size.width;
  }
}

TEST(PhoneLesson, WhatAFingerPressesOverASourceHasItsSize) {
  Phone w(kPhones[0]);
  w.controller().update({StartLesson{"few-warps", "line"}});
  w.settle();
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->ItemClick("**/##lesson_run");
    ctx->Yield(4);
    ctx->SetRef(child_window("profile_source"));
    expect_for_fingers(ctx, "", {"##source_file", "##source_search", "Copy line"});
  }));
}

// A tablet on its side scrolls the tiles rather than draw stripes without numbers.
TEST(TabletTiles, OfABackwardHaveTheirNumbersOnItsSideToo) {
  Phone w({1180, 773});
  w.open("late_outlier", "cpu_flash_bwd");
  for (const EventIndex e : {EventIndex{8}, EventIndex{12}, EventIndex{40}}) {
    w.go_to(e);
    const ImGuiWindow* page = child_window("page");
    ASSERT_NE(page, nullptr);
    EXPECT_TRUE(w.run([&](Ctx*) {
      const TilesScene scene = tiles_scene(recording(w), e, {}, OutputReading::as_summed, scales_of(recording(w)));
      const TilesLayout layout = layout_tiles(scene, {{28, 0}, {page->Size.x - 28, page->Size.y}}, true);
      for (const Column c : scene.columns) IM_CHECK_GT_NO_RET(layout.places[static_cast<std::size_t>(c)].room, 0);
      IM_CHECK_GT_NO_RET(layout.k.room, 0);
      IM_CHECK_GT_NO_RET(layout.v.room, 0);
    }));
  }
}

TEST(PhonePopups, LieWithinThePhoneAndTakeFingers) {
  Phone w(kPhones[0]);
  w.open("late_outlier");
  const auto within = [&](Ctx* ctx, ImGuiKeyChord chord, const char* name, std::initializer_list<const char*> ids) {
    ctx->KeyPress(chord);
    ctx->Yield(6);
    const ImGuiWindow* window = ImGui::FindWindowByName(name);
    IM_CHECK(window != nullptr && window->WasActive);
    IM_CHECK_NO_RET(window->Pos.x >= 0 && window->Pos.x + window->Size.x <= static_cast<float>(kPhones[0].width));
    IM_CHECK_LE_NO_RET(window->ContentSize.x, window->InnerRect.GetWidth());
    ctx->SetRef((std::string("//") + name).c_str());
    expect_for_fingers(ctx, "", ids);
    ctx->ItemClick("Close");
    ctx->Yield(2);
  };
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    within(ctx, ImGuiMod_Shift | ImGuiKey_F12, "Pictures of several steps",
           {"steps/##path", "steps/Browse", "##first", "##last", "Create", "Close"});
    within(ctx, ImGuiMod_Ctrl | ImGuiKey_I, "Your own inputs", {"Q/##path", "bias/Browse", "Use them", "Close"});
    within(ctx, ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_S, "Save the session as", {"save/##path", "Save", "Close"});
    ctx->KeyPress(ImGuiKey_B);
    ctx->Yield(2);
    IM_CHECK_EQ(w.state().view.step.bookmarks.size(), 1U);
    within(ctx, ImGuiMod_Ctrl | ImGuiKey_B, "Bookmarks", {"Remove all", "Close"});
  }));
}

// Its bands stand below each other: what a rank holds, and what it made of it.
TEST(PhoneRing, IsWholeBetweenThePhonesEdges) {
  for (const PhoneSize& size : kPhones) {
    for (const std::string pass : {"", "pass=backward,kernel=cpu_flash_bwd,"}) {
      // So high that nothing has to be scrolled.
      Phone w({size.width, 1800}, "attn1,preset=late_outlier," + pass + "set=ranks:4,cursor=60");
      w.settle();
      const DrawnText drawn;
      w.draw_frames(1);
      for (const auto& place : drawn.places())
        EXPECT_LE(place.right, static_cast<float>(size.width) - 12) << place.text;
      EXPECT_EQ(drawn.count("Rank 3"), pass.empty() ? 2 : 3);
      // Over the pictures, and over the numbers of the step's own rank.
      EXPECT_EQ(drawn.count(pass.empty() ? "so far" : "all ranks so far"), 2);
    }
  }
}

// Why, and what to use instead, above the problem's fields.
TEST(PhoneStep, AProblemThatCannotBeRecordedIsChangedBelowTheReason) {
  for (const PhoneSize& size : kPhones) {
    Phone w(size, "attn1,preset=late_outlier,kernel=flash_mma");
    w.settle();
    ASSERT_FALSE(w.controller().model().recording_error.empty());
    const DrawnText drawn;
    w.draw_frames(1);
    const auto& places = drawn.places();
    for (std::size_t n = 0; n < places.size(); ++n) {
      EXPECT_LE(places[n].right, static_cast<float>(size.width) - 12) << places[n].text;
      for (std::size_t k = 0; k < n; ++k)
        EXPECT_FALSE(collide(places[n], places[k])) << places[n].text << " over " << places[k].text;
    }
    EXPECT_TRUE(w.run([&](Ctx* ctx) {
      ctx->SetRef(child_window("page"));
      expect_for_fingers(ctx, "", {"##step_like", "##preset", "##length"});
      ctx->ItemClick("##step_like");
      for (int frame = 0; frame < 400 && w.controller().tasks_run(); ++frame) ctx->Yield();
      IM_CHECK_EQ(w.state().document.kernel, "cpu_flash");
    }));
  }
}

}  // namespace
}  // namespace attn
