// Profile's source and where the time goes, under the hand.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "imgui_internal.h"
#include "tests/gui/drawn_text.h"
#include "tests/gui/profile/profile_fixture.h"
#include "viz/profile/source/phase_hue_draw.h"

namespace attn {
namespace {

using namespace profile_gui;
using Ctx = ImGuiTestContext;

TEST_F(ProfileSourceTest, AClickOnALineAPhaseAndAFileIsFollowed) {
  open_source(profile_test::toy_listing());
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ImGuiWindow* lines = child("source_lines");
    IM_CHECK(lines != nullptr);
    ctx->SetRef(lines);
    ctx->ItemClick("$$6/line");
    IM_CHECK_EQ(view().line, 7);
    ImGuiWindow* phases = child("phase_rows");
    IM_CHECK(phases != nullptr);
    ctx->SetRef(phases);
    ctx->ItemClick("phase_S");
    IM_CHECK_EQ(view().line, 5);
    ctx->SetRef(child("profile_code"));
    ctx->ItemClick("PTX");
    IM_CHECK(view().code == CodeKind::ptx);
    ctx->ItemClick("SASS");
    ctx->ItemClick("Copy");
    ctx->SetRef(child("profile_strip"));
    ctx->ItemClick("Figures");
    IM_CHECK(view().page == ProfilePage::figures);
    ctx->ItemClick("Source");
    IM_CHECK(view().page == ProfilePage::source);
  }));
  ASSERT_TRUE(window->requests.clipboard);
  EXPECT_EQ(*window->requests.clipboard,
            "0020\tLDG.E R4, [R2]\n0030\tFFMA R4, R4, R4, R4\n0040\tFFMA R4, R4, R4, R4\n");
}

TEST_F(ProfileSourceTest, TheMachineCodeOfTwoRowsIsCompared) {
  // The test's lister gives both the same code.
  open_source(profile_test::toy_listing());
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ctx->SetRef(child("profile_code"));
    ctx->ItemClick("SASS diff");
    IM_CHECK(view().code == CodeKind::diff);
  }));
  for (int n = 0; n < 3; ++n) {
    window->draw_frames(2);
    window->controller().wait();
  }
  EXPECT_NE(window->controller().model().listing_against.listing, nullptr);
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ctx->SetRef(child("profile_code"));
    ctx->ItemClick("Copy");
  }));
  EXPECT_EQ(child("profile_phases"), nullptr) << "all of the room is the code's";
  ASSERT_TRUE(window->requests.clipboard);
  EXPECT_EQ(*window->requests.clipboard, "\ttoy\n\t6 identical instructions\n");
}

TEST_F(ProfileSourceTest, KeysGoToHotLinesAndToWhatIsSearched) {
  open_source(profile_test::toy_listing());
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ctx->KeyPress(ImGuiKey_F8);
    IM_CHECK_EQ(view().line, 1);
    ctx->KeyPress(ImGuiMod_Shift | ImGuiKey_F8);
    IM_CHECK_EQ(view().line, 5);
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_F);
    ctx->KeyCharsAppendEnter("EXP2F");
    IM_CHECK_EQ(view().line, 7);
    ctx->KeyPress(ImGuiKey_Escape);
    ctx->KeyPress(ImGuiKey_F3);
    IM_CHECK_EQ(view().line, 7);
  }));
}

// The lines in sight alone are drawn: a large source costs a frame no more than a small one.
TEST_F(ProfileSourceTest, AFrameOfALargeKernelIsShort) {
  constexpr int kFrames = 60;
  constexpr double kMostMs = 100;  // of a machine that does something else besides; 4 is what it should be
  open_source(profile_test::large_listing(400, 16000));
  const auto begin = std::chrono::steady_clock::now();
  window->draw_frames(kFrames);
  const double ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count() / kFrames;
  std::printf("a frame of Profile's source, 400 lines and 16000 instructions: %.2f ms\n", ms);
  EXPECT_LT(ms, kMostMs);
}

TEST_F(ProfileSampledTest, AClickOnAPhaseGoesToItsHottestLine) {
  open_sampled();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ImGuiWindow* mosaic = child("profile_mosaic");
    IM_CHECK(mosaic != nullptr);
    ctx->SetRef(mosaic);
    ctx->ItemClick("mosaic_P");
    IM_CHECK_EQ(view().line, 7);
    ctx->ItemClick("mosaic_setup");
    IM_CHECK_EQ(view().line, 3);
    ctx->ItemClick("empty_S");
    IM_CHECK_EQ(view().line, 5);
    IM_CHECK(ctx->ItemExists("other_S"));
  }));
}

TEST_F(ProfileSampledTest, APhaseOfTheMosaicOpensAtItsStepAndTheStepAtItsPhaseAgain) {
  open_sampled();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ctx->SetRef(child("profile_mosaic"));
    ctx->ItemClick("mosaic_P", ImGuiMouseButton_Right);
    ctx->ItemClick("//$FOCUSED/P in Step");
    ctx->Yield(4);
    IM_CHECK(state().view.workspace == Workspace::step);
    const Recording& rec = *window->controller().model().recording;
    const EventId& id = rec.events[state().view.step.cursor].id;
    IM_CHECK(id.phase == Phase::weights);
    IM_CHECK_EQ(std::max(id.i, 0) + std::max(id.j, 0), 0);
    ctx->SetRef(kStep);
    ctx->ItemClick("##step_door");
    ctx->Yield(6);
    IM_CHECK(state().view.workspace == Workspace::profile);
    IM_CHECK_EQ(view().line, 7);
    IM_CHECK(view().phase == gpu::CodePhase::none);
    ctx->SetRef(child("profile_phases"));
    ctx->ItemClick("###phase_in_step");
    IM_CHECK(state().view.workspace == Workspace::step);
  }));
}

TEST_F(ProfileSampledTest, APhaseOfTheHardwareSaysThatThePaperHasNoStepForIt) {
  open_sampled();
  const auto before = state();
  window->controller().update({StepThrough{"flash_simt", profile_test::h100_problem(), {}, gpu::CodePhase::setup}});
  EXPECT_EQ(state().view.workspace, before.view.workspace);
  ASSERT_FALSE(window->controller().log().after(0).empty());
  EXPECT_NE(window->controller().log().after(0).back().text.find("the paper has no step for it"), std::string::npos);
}

TEST_F(ProfileSampledTest, EachPageIsInOnePlaceOnAllOfThem) {
  for (const float scale : {1.0F, 2.0F}) {  // beside the headline, and over it
    window.reset();                         // one at a time
    open_sampled(1440, 900, scale, true);
    EXPECT_TRUE(window->run([&](Ctx* ctx) {
      std::optional<float> place;
      for (const char* page : {"Source", "Heartbeat", "Lab", "Figures"}) {
        ctx->SetRef(child(state().view.profile.page == ProfilePage::lab ? "lab_strip" : "profile_strip"));
        ctx->ItemClick(page);
        ctx->Yield(4);
        const bool lab = state().view.profile.page == ProfilePage::lab;
        ctx->SetRef(child(lab ? "lab_strip" : "profile_strip"));
        // The lab has a narrower panel: what stays is the distance to the edge on which the pages stand.
        const ImRect box = child(lab ? "lab_strip" : "profile_strip")->Rect();
        const ImRect at = ctx->ItemInfo("Heartbeat").RectFull;
        const float now = box.Max.x - at.Max.x;
        IM_CHECK_LT(std::abs(place.value_or(now) - now), 1.5F);
        place = now;
      }
    })) << scale;
  }
}

TEST_F(ProfileSampledTest, TheHotLinesAreThoseWithTheMostSamples) {
  open_sampled();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ctx->KeyPress(ImGuiKey_F8);
    IM_CHECK_EQ(view().line, 7);
    ctx->KeyPress(ImGuiKey_F8);
    IM_CHECK_EQ(view().line, 3);
    ctx->SetRef(child("profile_source"));
    ctx->ItemClick("Hotter");
    IM_CHECK_EQ(view().line, 7);
  }));
}

TEST_F(ProfileSampledTest, F8GoesByTheColumnOfCountsWhoseHeadIsClickedOrEntered) {
  open_sampled(1920, 1080, 1, true);
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ctx->SetRef(child("profile_source"));
    ctx->ItemClick("count_executed");
    ctx->KeyPress(ImGuiKey_F8);
    IM_CHECK_EQ(view().line, 7);  // after line 5, which the page begins with
    ctx->KeyPress(ImGuiKey_F8);
    IM_CHECK_EQ(view().line, 5);
    ctx->NavMoveTo("count_sectors+");
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(2);
    ctx->KeyPress(ImGuiKey_F8);
    IM_CHECK_EQ(view().line, 7);  // the only line with excess sectors
    ctx->ItemClick("count_sectors+");
    ctx->KeyPress(ImGuiKey_F8);
    IM_CHECK_EQ(view().line, 3);  // by samples again
    ctx->ItemClick("Counts");
    IM_CHECK(!ctx->ItemExists("count_executed"));
    ctx->NavMoveTo("Counts");
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(2);
    IM_CHECK(ctx->ItemExists("count_executed"));
  }));
}

TEST_F(ProfileSampledTest, AtLargeLettersOneColumnOfCountsLeavesTheTextItsRoomAndItsHeadGoesThroughThem) {
  open_sampled(1440, 2700, 2, true);  // so high that nothing is scrolled out of sight
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ctx->SetRef(child("profile_source"));
    IM_CHECK(!ctx->ItemExists("count_executed"));
    ctx->ItemClick("count_next");  // executed
    ctx->ItemClick("count_next");  // conflicts: line 5 alone
    ctx->KeyPress(ImGuiKey_F8);
    IM_CHECK_EQ(view().line, 5);
    ctx->NavMoveTo("count_next");
    ctx->KeyPress(ImGuiKey_Enter);  // sectors: line 7 alone
    ctx->Yield(2);
    ctx->KeyPress(ImGuiKey_F8);
    IM_CHECK_EQ(view().line, 7);
    const ImGuiWindow* lines = child("source_lines");
    IM_CHECK(lines != nullptr);
    const float left = ctx->ItemInfo("count_next").RectFull.Max.x;
    IM_CHECK_GT(lines->Pos.x + lines->Size.x - left, 2 * 30 * 7.0F);  // thirty characters of 7 logical pixels
  }));
}

TEST_F(ProfileSampledTest, WithoutCountsThereAreNoColumnsOfThem) {
  open_sampled();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ctx->SetRef(child("profile_source"));
    IM_CHECK(!ctx->ItemExists("Counts"));  // nobody asked
    IM_CHECK(!ctx->ItemExists("count_executed"));
  }));
}

TEST_F(ProfileSampledTest, ARowOfAnotherMachineIsNotSampledHereAndSaysWhy) {
  open_sampled();
  window->controller().update({SampleRow{"0123456789abcdef", "flash_simt", profile_test::h100_problem(), {}}});
  ASSERT_FALSE(window->controller().log().after(0).empty());
  EXPECT_NE(window->controller().log().after(0).back().text.find("run the sweep in Bench first"), std::string::npos);
}

TEST_F(ProfileSampledTest, WhatStandsOnTheLineOverTheSourceIsOfOneHeight) {
  for (const float scale : {1.0F, 2.0F}) {
    window.reset();  // one at a time
    open_sampled(static_cast<int>(1440 * scale), static_cast<int>(900 * scale), scale, true);
    EXPECT_TRUE(window->run([&](Ctx* ctx) {
      ctx->SetRef(child("profile_source"));
      const ImRect field = ctx->ItemInfo("##source_search").RectFull;
      for (const char* item : {"Hotter", "Next hot line", "Counts", "Copy line"}) {
        const ImRect rect = ctx->ItemInfo(item).RectFull;
        IM_CHECK_EQ(rect.Min.y, field.Min.y);
        IM_CHECK_EQ(rect.Max.y, field.Max.y);
      }
    }));
  }
}

// A number over a bar is hard to read, and the bar's length with it.
TEST_F(ProfileSampledTest, NoBarOfTheMachineCodeLiesUnderWords) {
  for (const float scale : {1.0F, 2.0F}) {
    window.reset();  // one at a time
    open_sampled(static_cast<int>(1440 * scale), static_cast<int>(900 * scale), scale);
    const DrawnText drawn;
    window->draw_frames(2);
    const ImGuiWindow* lines = child("code_lines");
    ASSERT_NE(lines, nullptr);
    int bars = 0;
    const ImVector<ImDrawVert>& v = lines->DrawList->VtxBuffer;
    for (int n = 0; n + 3 < v.Size; ++n) {
      const ImRect bar(v[n].pos, v[n + 2].pos);
      const bool of_phase = v[n].col == hue_of(gpu::CodePhase::s) && v[n + 2].col == v[n].col &&
                            v[n + 1].pos.x == v[n + 2].pos.x && v[n + 1].pos.y == v[n].pos.y;
      if (!of_phase || bar.GetWidth() < 4 * scale) continue;
      ++bars;
      for (const DrawnText::Place& words : drawn.places())
        EXPECT_FALSE(bar.Overlaps(ImRect(words.left, words.top, words.right, words.bottom))) << words.text;
    }
    EXPECT_GT(bars, 0);
  }
}

}  // namespace
}  // namespace attn
