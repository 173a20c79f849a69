// Profile under the hand: what it shows is what was chosen here or in Bench, and back.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "imgui_internal.h"
#include "profiling/session/run.h"
#include "tests/gui/gui_fixture.h"
#include "tests/viz/profile/profile_rows.h"
#include "tests/viz/profile/toy_counts.h"
#include "tests/viz/profile/toy_kernel.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;

ImGuiWindow* child(const std::string& name) {
  for (ImGuiWindow* window : ImGui::GetCurrentContext()->Windows)
    if (window->WasActive && std::string(window->Name).find("/" + name + "_") != std::string::npos) return window;
  return nullptr;
}

class ProfileTest : public ::testing::Test {
 protected:
  void open(int width = 1440, int height = 900, float scale = 1, KernelLister lister = {}) {
    window = std::make_unique<TestWindow>(width, height, "", false, std::move(lister));
    ListedRun shown;
    shown.run = new_run("");
    for (const std::int64_t length : {8192, 16384}) {
      for (const auto& [kernel, us] : {std::pair{"naive", 2571000.0}, std::pair{"flash_simt", 59526.0}}) {
        Measurement m = profile_test::h100_row(kernel, us);
        m.key.problem.Lq = m.key.problem.Lk = length;
        fill_figures(m);
        shown.run.rows.push_back(std::move(m));
      }
    }
    shown.run.provenance.device_arch = "sm_90a";
    shown.run.provenance.cores = 132;
    window->controller().update({ChooseWorkspace{Workspace::profile}, SetScale{scale}});
    window->controller().show({shown}, nullptr);
    window->draw_frames(4);
  }
  const State& state() const { return window->state(); }

  std::unique_ptr<TestWindow> window;
};

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

// ---- the source

class ProfileSourceTest : public ProfileTest {
 protected:
  // As if the compiler had answered: what the panel asks for is put into the model by a lister of the test's own.
  void open_source(gpu::KernelListing listing, int width = 1440, int height = 900, float scale = 1) {
    open(width, height, scale,
         [listing = std::move(listing)](const gpu::ListingSubject&, const std::stop_token&) { return listing; });
    window->controller().update({ChooseProfilePage{ProfilePage::source}});
    for (int n = 0; n < 3; ++n) {
      window->draw_frames(2);
      window->controller().wait();
    }
    window->draw_frames(2);
  }
  const ProfileView& view() const { return state().view.profile; }
};

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

// ---- where the time goes

// Ten samples at the set-up, 60 in S of which 20 are lost, 30 in P, all lost.
KernelSamples toy_samples() {
  using gpu::CodePhase;
  KernelSamples s;
  s.text_hash = "44556677";
  s.period_log2 = 11;
  s.launches = 1;
  s.reasons = {"selected", "short_scoreboard", "wait"};
  s.files = {"kernels/gpu/toy.cu"};
  s.functions = {{"toy",
                  {{0x10, CodePhase::setup, {{0, 3}}, {{2, 10, 0}}},
                   {0x20, CodePhase::s, {{0, 5}}, {{0, 35, 0}, {1, 25, 20}}},
                   {0x50, CodePhase::p, {{0, 7}}, {{2, 30, 30}}}}}};
  return s;
}

class ProfileSampledTest : public ProfileSourceTest {
 protected:
  void open_sampled(int width = 1440, int height = 900, float scale = 1, bool counted = false) {
    open_source(profile_test::toy_listing(), width, height, scale);
    ListedRun shown;
    shown.run = new_run("");
    shown.run.provenance.device_arch = "sm_90a";
    for (const auto& [kernel, us] : {std::pair{"naive", 90000.0}, std::pair{"flash_simt", 59526.0}}) {
      shown.run.rows.push_back(profile_test::h100_row(kernel, us));
      shown.run.rows.back().samples = std::make_shared<const KernelSamples>(toy_samples());
      if (counted) shown.run.rows.back().counts = std::make_shared<const KernelCounts>(profile_test::toy_counts());
    }
    window->controller().show({shown}, nullptr);
    window->controller().update({ShowRun{shown.run.id, true}});
    for (int n = 0; n < 3; ++n) {
      window->draw_frames(2);
      window->controller().wait();
    }
  }
};

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

struct Sizes {
  int width, height;
  float scale;
};
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
      ctx->ItemClick("All figures");
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

}  // namespace
}  // namespace attn
