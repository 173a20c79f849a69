// Profile under the hand: what it shows is what was chosen here or in Bench, and back.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <ostream>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "imgui_internal.h"
#include "profiling/session/run.h"
#include "tests/gui/drawn_text.h"
#include "tests/gui/profile/profile_fixture.h"
#include "tests/viz/profile/profile_rows.h"
#include "tests/viz/profile/toy_counts.h"
#include "tests/viz/profile/toy_kernel.h"
#include "viz/state/run_words.h"

namespace attn {
namespace {

using namespace profile_gui;

using Ctx = ImGuiTestContext;

TEST_F(ProfileTest, TheRooflineShowsTheLevelsOnDemandByMouseAndByKeyboard) {
  window = std::make_unique<TestWindow>(1440, 900);
  window->controller().update({ChooseWorkspace{Workspace::profile}});
  Measurement m = profile_test::h100_row("flash_simt", 59526);
  profile_test::put(m, "l2_sectors_count", 1e9);
  m.peaks.l2_gb_per_s = 5500;
  ListedRun shown;
  shown.run = new_run("");
  shown.run.rows.push_back(std::move(m));
  shown.run.provenance.device_arch = "sm_90a";
  window->controller().show({shown}, nullptr);
  window->draw_frames(4);
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ImGuiWindow* card = child("roofline");
    IM_CHECK(card != nullptr);
    const auto on = [&] { return state().view.profile.roof_levels; };
    ctx->SetRef(card);
    ctx->ItemClick("By level");
    IM_CHECK(on());
    ctx->NavMoveTo("By level");
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(2);
    IM_CHECK(!on());
  }));
}

// A CPU row of one tile loads each byte once.
TEST_F(ProfileTest, TheMinimumAndTheTileLoadsAreReadableHoweverNearTheyLie) {
  for (const double loads : {1.0, 1.02, 1.5, 40.0}) {
    Measurement m = profile_test::h100_row("cpu_flash", 30);
    m.processor = Processor::cpu;
    profile_test::put(m, "compulsory_bytes", 65.8e3, Origin::derived);
    profile_test::put(m, "tile_load_bytes", loads * 65.8e3, Origin::derived);
    window.reset();  // one engine at a time
    window = std::make_unique<TestWindow>(1280, 720);
    window->controller().update({ChooseWorkspace{Workspace::profile}});
    ListedRun shown;
    shown.run = new_run("");
    shown.run.rows.push_back(std::move(m));
    window->controller().show({shown}, nullptr);
    window->draw_frames(4);
    const DrawnText drawn;
    window->draw_frames(1);
    std::vector<DrawnText::Place> ends;
    for (const DrawnText::Place& place : drawn.places())
      if (place.text.starts_with("minimum 65") || place.text.starts_with("tile loads ")) ends.push_back(place);
    ASSERT_EQ(ends.size(), 2U) << loads;
    EXPECT_LT(ends[0].right, ends[1].left) << loads;
  }
}

// A sentence that does not fit under its staircase is left out whole, not cut within.
TEST_F(ProfileTest, NoSentenceUnderAStaircaseEndsWithinItself) {
  for (int width = 900; width <= 1440; width += 60) {
    window.reset();  // one engine at a time
    window = std::make_unique<TestWindow>(width, 700);
    window->controller().update({ChooseWorkspace{Workspace::profile}});
    // Registers and shared memory allow as many blocks: neither helps alone, and there is a step on the other side.
    Measurement m = profile_test::h100_row("flash_simt", 59526);
    m.launches[0].block[0] = 128;
    m.launches[0].shared_bytes = 81920;
    fill_figures(m);
    ListedRun shown;
    shown.run = new_run("");
    shown.run.rows.push_back(std::move(m));
    shown.run.provenance.device_arch = "sm_90a";
    window->controller().show({shown}, nullptr);
    window->draw_frames(4);
    const DrawnText drawn;
    window->draw_frames(1);
    // Word by word: what stands before the next staircase's title is the end of this one's words.
    std::string before;
    int ends = 0;
    for (const DrawnText::Place& place : drawn.places()) {
      if (place.text == "Shared memory per block" || place.text == "Threads per block") {
        ++ends;
        EXPECT_TRUE(before.ends_with(".") || before.ends_with(". ")) << width << ": " << before;
      }
      before = place.text;
    }
    EXPECT_EQ(ends, 2) << width;
  }
}

TEST_F(ProfileTest, AFindingsChipOpensTheLabWithItsExperimentByMouseAndByKeyboard) {
  window = std::make_unique<TestWindow>(1440, 900);
  Measurement m = profile_test::h100_row("flash_simt", 59526);
  // Few warps and nothing at its limit: the rule with a prepared experiment.
  profile_test::put(m, "occupancy_achieved_pct", 12.4);
  profile_test::put(m, "tensor_pipe_pct", 0);
  profile_test::put(m, "dram_peak_share_pct", 5);
  profile_test::put(m, "peak_share_pct", 40);
  ListedRun shown;
  shown.run = new_run("");
  shown.run.rows.push_back(std::move(m));
  shown.run.provenance.device_arch = "sm_90a";
  window->controller().update({ChooseWorkspace{Workspace::profile}});
  window->controller().show({shown}, nullptr);
  window->draw_frames(4);
  const auto in_the_lab = [&] {
    return state().view.profile.page == ProfilePage::lab && window->controller().model().lab.experiment == "half_warps";
  };
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ctx->SetRef(child("profile_strip"));
    ctx->ItemClick("**/Half the warps");
    ctx->Yield(2);
    IM_CHECK(in_the_lab());
    IM_CHECK_EQ(window->controller().model().lab.now.options.threads, 128);
    ctx->SetRef(child("lab_strip"));
    ctx->ItemClick("Revert");
    ctx->ItemClick("Figures");
    ctx->Yield(2);
    ctx->SetRef(child("profile_strip"));
    ctx->NavMoveTo("**/Half the warps");
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(2);
    IM_CHECK(in_the_lab());
  }));
}

TEST_F(ProfileTest, AClickChoosesTheKernelAndTheValueAsBenchHasThem) {
  open();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ImGuiWindow* panel = child("profile_panel");
    IM_CHECK(panel != nullptr);
    ctx->SetRef(panel);
    ctx->ItemClick("##profile_naive");
    IM_CHECK_STR_EQ(bench_kernel(state()).c_str(), "naive");
    ctx->ItemClick("##profile_value");
    ctx->ItemClick("//$FOCUSED/8192");
    IM_CHECK(state().view.bench.value == 8192);
    ImGuiWindow* strip = child("profile_strip");
    IM_CHECK(strip != nullptr);
    ctx->SetRef(strip);
    ctx->ItemClick("Open in Bench");
    IM_CHECK(state().view.workspace == Workspace::bench);
  }));
}

TEST_F(ProfileTest, WhatChangesAreOverIsChosenFromTheMenu) {
  open();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ImGuiWindow* panel = child("profile_panel");
    IM_CHECK(panel != nullptr);
    ctx->SetRef(panel);
    ctx->ItemClick("##profile_naive");
    ctx->ItemClick("##profile_against");
    ctx->ItemClick("//$FOCUSED/flash_simt");
    IM_CHECK_STR_EQ(state().view.profile.against.c_str(), "flash_simt");
  }));
}

TEST_F(ProfileTest, ARowOfBenchOpensHere) {
  open();
  window->controller().update({ChooseWorkspace{Workspace::bench}});
  window->draw_frames(4);
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ImGuiWindow* table = nullptr;
    for (ImGuiWindow* w : ImGui::GetCurrentContext()->Windows)
      if (w->WasActive && std::string(w->Name).find("table") != std::string::npos) table = w;
    IM_CHECK(table != nullptr);
    ctx->ItemClick("**/##row_naive_16384", ImGuiMouseButton_Right);
    ctx->ItemClick("//$FOCUSED/Profile it");
    IM_CHECK(state().view.workspace == Workspace::profile);
    IM_CHECK_STR_EQ(bench_kernel(state()).c_str(), "naive");
    IM_CHECK(state().view.bench.value == 16384);
  }));
}

struct Sizes {
  int width, height;
  float scale;
};

void PrintTo(const Sizes& size, std::ostream* out) {
  *out << size.width << 'x' << size.height << " at " << size.scale;
}

class ProfileSizeTest : public ::testing::TestWithParam<Sizes> {};

// Every card is there and no wider than the window; what does not fit its height is scrolled to.
TEST_P(ProfileSizeTest, FitsItsWindow) {
  const Sizes size = GetParam();
  TestWindow window(size.width, size.height);
  ListedRun shown;
  shown.run = new_run("");
  shown.run.rows.push_back(profile_test::h100_row("flash_simt", 59526));
  shown.run.provenance.device_arch = "sm_90a";
  window.controller().update({ChooseWorkspace{Workspace::profile}, SetScale{size.scale}});
  window.controller().show({shown}, nullptr);
  window.draw_frames(4);
  for (const char* name : {"profile_panel", "profile_strip", "roofline"}) {
    const ImGuiWindow* card = child(name);
    ASSERT_NE(card, nullptr) << name;
    EXPECT_GE(card->Pos.x, 0) << name;
    EXPECT_LE(card->Pos.x + card->Size.x, static_cast<float>(size.width)) << name;
    EXPECT_GT(card->Size.x, 60 * size.scale) << name;
  }
}
// At any size the part that scrolls has room for six figures: in a low window the heads over them scroll too.
TEST_P(ProfileSizeTest, TheFiguresHaveRoomUnderTheHeads) {
  const Sizes size = GetParam();
  TestWindow window(size.width, size.height);
  ListedRun shown;
  shown.run = new_run("");
  shown.run.rows.push_back(profile_test::h100_row("flash_simt", 59526));
  shown.run.rows.push_back(profile_test::h100_row("naive", 2571000));
  window.controller().update({ChooseWorkspace{Workspace::profile}, SetScale{size.scale}});
  window.controller().show({shown}, nullptr);
  window.draw_frames(4);
  // In a narrow window they stand behind a button.
  EXPECT_TRUE(window.run([&](Ctx* ctx) {
    if (child("profile_figures") == nullptr) {
      ctx->SetRef(child("profile_panel"));
      ctx->ItemClick("All metrics");
      ctx->Yield(3);
    }
    const ImGuiWindow* figures = child("profile_figures");
    IM_CHECK(figures != nullptr);
    IM_CHECK_GE(figures->Size.y, 6 * 19 * size.scale);
  }));
}
// The same of the source page.
TEST_P(ProfileSizeTest, FitsItsWindowWithTheSourceOpen) {
  const Sizes size = GetParam();
  const auto lister = [](const gpu::ListingSubject&, const std::stop_token&) {
    return profile_test::large_listing(400, 4000);
  };
  TestWindow window(size.width, size.height, "", false, lister);
  ListedRun shown;
  shown.run = new_run("");
  shown.run.rows.push_back(profile_test::h100_row("flash_simt", 59526));
  shown.run.provenance.device_arch = "sm_90a";
  window.controller().update(
      {ChooseWorkspace{Workspace::profile}, SetScale{size.scale}, ChooseProfilePage{ProfilePage::source}});
  window.controller().show({shown}, nullptr);
  window.draw_frames(3);
  window.controller().wait();
  window.draw_frames(3);
  for (const char* name : {"profile_panel", "profile_strip", "profile_source"}) {
    const ImGuiWindow* card = child(name);
    ASSERT_NE(card, nullptr) << name;
    EXPECT_GE(card->Pos.x, 0) << name;
    EXPECT_LE(card->Pos.x + card->Size.x, static_cast<float>(size.width)) << name;
    EXPECT_GT(card->Size.x, 60 * size.scale) << name;
    EXPECT_GT(card->Size.y, 30 * size.scale) << name;
  }
}
INSTANTIATE_TEST_SUITE_P(Sizes, ProfileSizeTest,
                         ::testing::Values(Sizes{1280, 720, 1}, Sizes{1440, 900, 1}, Sizes{1920, 1080, 1},
                                           Sizes{1440, 900, 2}, Sizes{1440, 900, 3}));

// Bench draws all runs, Profile one of them: its bar says of how many.
TEST_F(ProfileTest, OfSeveralRunsTheBarSaysThatOneIsShown) {
  open();
  std::vector<ListedRun> runs(2);
  for (ListedRun& run : runs) {
    run.run = new_run("");
    run.run.id = &run == runs.data() ? "00000000000000a1" : "00000000000000b2";
    run.run.rows.push_back(profile_test::h100_row("flash_simt", 61000));
  }
  window->controller().show(runs, nullptr);
  for (const ListedRun& run : runs) window->controller().update({ShowRun{run.run.id, true}});
  // Of the texts in the frame those that end so.
  const auto said = [&] {
    window->draw_frames(3);
    const DrawnText drawn;
    window->draw_frames(2);
    std::vector<std::string> all;
    for (const std::string& text : drawn.texts())
      if (text.ends_with(" runs")) all.push_back(text);
    return all;
  };
  // That of open() may be among them.
  const std::size_t shown = shown_runs(state().document.runs, window->controller().model()).size();
  ASSERT_GE(shown, 2U);
  EXPECT_EQ(said(), std::vector{fmt::format("1 of {} runs", shown)});
  window->controller().update({ChooseWorkspace{Workspace::bench}});
  EXPECT_EQ(said(), std::vector{fmt::format("{} runs", shown)});
}

}  // namespace
}  // namespace attn
