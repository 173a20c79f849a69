// Where Profile puts what: the hot instruction and the chosen phase are in sight, a chart is on the first screen, words
// can be read.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "imgui_internal.h"
#include "profiling/session/run.h"
#include "tests/environment/contrast.h"
#include "tests/gui/drawn_text.h"
#include "tests/gui/gui_fixture.h"
#include "tests/viz/profile/profile_rows.h"
#include "tests/viz/profile/toy_kernel.h"
#include "viz/draw/theme.h"
#include "viz/profile/source/code_draw.h"
#include "viz/profile/source/phase_hue_draw.h"
#include "viz/profile/strip/page_chips_draw.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;
using gpu::CodePhase;

constexpr int kLines = 40, kInstructions = 4000, kHottest = 300;  // of line 3, which has 400 and more

ImGuiWindow* card(const std::string& name) {
  for (ImGuiWindow* window : ImGui::GetCurrentContext()->Windows)
    if (window->WasActive && std::string(window->Name).find("/" + name + "_") != std::string::npos) return window;
  return nullptr;
}

// All of line 3 a little, its 301st instruction much; of each other phase of the text some, the later the more.
KernelSamples samples_of(const gpu::KernelListing& listing) {
  KernelSamples s;
  s.text_hash = listing.text_hash;
  s.period_log2 = 11;
  s.launches = 1;
  s.reasons = {"selected", "wait"};
  s.files = {listing.files.front().name};
  SampledFunction function{listing.sass.functions.front().name, {}};
  const auto& lines = listing.files.front().lines;
  for (std::size_t n = 0; n < lines.size(); ++n) {
    const auto line = static_cast<std::uint32_t>(n + 1);
    for (std::size_t i = 0; i < lines[n].instructions.size(); ++i) {
      const gpu::InstructionPlace& place = lines[n].instructions[i];
      const std::uint64_t count = line == 3 ? (i == kHottest ? 900 : 1) : i == 0 ? 10 + 100 * n : 0;
      if (count > 0)
        function.instructions.push_back(
            {listing.at(place).address, listing.phase_at(place), {{0, line}}, {{1, count, count}}});
    }
  }
  s.functions = {function};
  return s;
}

class ProfileLayoutTest : public ::testing::Test {
 protected:
  void open(int width, int height, float scale, ProfilePage page, std::size_t launches = 1) {
    const gpu::KernelListing listing = profile_test::large_listing(kLines, kInstructions);
    window.reset();
    window = std::make_unique<TestWindow>(
        width, height, "", false, [listing](const gpu::ListingSubject&, const std::stop_token&) { return listing; });
    ListedRun shown;
    shown.run = new_run("");
    shown.run.provenance.device_arch = "sm_90a";
    for (const auto& [kernel, us] : {std::pair{"naive", 90000.0}, std::pair{"flash_simt", 59526.0}}) {
      shown.run.rows.push_back(profile_test::h100_row(kernel, us));
      Launch launch = shown.run.rows.back().launches.front();
      launch.name = "a_launch";
      shown.run.rows.back().launches.assign(launches, launch);
      profile_test::put(shown.run.rows.back(), "shared_dynamic_bytes", 129024, Origin::compiled);
      profile_test::put(shown.run.rows.back(), "dram_write_bytes", us == 90000 ? 2.16e9 : 8.03e6);
      shown.run.rows.back().samples = std::make_shared<const KernelSamples>(samples_of(listing));
    }
    window->controller().update({ChooseWorkspace{Workspace::profile}, SetScale{scale}, ChooseProfilePage{page}});
    window->controller().show({shown}, nullptr);
    for (int n = 0; n < 3; ++n) {
      window->draw_frames(3);
      window->controller().wait();
    }
    window->draw_frames(3);
  }
  std::unique_ptr<TestWindow> window;
};

struct Size {
  int width, height;
  float scale;
};

TEST_F(ProfileLayoutTest, TheHottestInstructionOfTheLineIsInSight) {
  // The last so high that nothing is scrolled out of sight.
  for (const Size& size : {Size{1440, 900, 1}, Size{1280, 720, 1}, Size{1440, 2700, 2}}) {
    open(size.width, size.height, size.scale, ProfilePage::source);
    window->controller().update({ChooseSourceLine{"", 3}});
    window->draw_frames(5);
    const ImGuiWindow* lines = card("code_lines");
    ASSERT_NE(lines, nullptr);
    const float row = 18 * size.scale, top = row * kHottest - lines->Scroll.y;
    EXPECT_GE(top, 0) << size.width;
    EXPECT_LE(top + row, lines->Size.y) << size.width;
    EXPECT_NEAR(std::remainder(lines->Scroll.y, row), 0, 0.5) << "no row is cut at the top";
  }
}

TEST_F(ProfileLayoutTest, TheLineOfTheChosenPhaseIsInSightInTheTable) {
  for (const Size& size : {Size{1440, 900, 1}, Size{1280, 720, 1}}) {
    open(size.width, size.height, size.scale, ProfilePage::source);
    for (const int line : {3, 5, 9, 13, 17, 21}) {
      window->controller().update({ChooseSourceLine{"", line}});
      window->draw_frames(4);
      EXPECT_TRUE(window->run([&](Ctx* ctx) {
        const ImGuiWindow* rows = card("phase_rows");
        IM_CHECK(rows != nullptr);
        const char* const phases[] = {"Q", "K", "S", "mask", "m", "alpha", "P", "l", "O", "store"};
        ctx->SetRef(rows->ID);
        const ImRect at = ctx->ItemInfo((std::string("phase_") + phases[(line - 3) / 2 % 10]).c_str()).RectFull;
        IM_CHECK_GE(at.Min.y, rows->Pos.y - 0.5F);
        IM_CHECK_LE(at.Max.y, rows->Pos.y + rows->Size.y + 0.5F);
      })) << size.width
          << ", line " << line;
    }
  }
}

TEST_F(ProfileLayoutTest, TheSourcePageStandsOnOneScreenAndItsTablesHaveSixRows) {
  for (const Size& size : {Size{1440, 900, 1}, Size{1280, 720, 1}, Size{1920, 1080, 1}}) {
    open(size.width, size.height, size.scale, ProfilePage::source);
    for (const char* name : {"profile_source", "profile_code", "profile_phases"}) {
      const ImGuiWindow* part = card(name);
      ASSERT_NE(part, nullptr) << name;
      EXPECT_LE(part->Pos.y + part->Size.y, static_cast<float>(size.height)) << name << ", " << size.width;
    }
    EXPECT_GE(card("code_lines")->Size.y, 6 * 18) << size.width;
    EXPECT_GE(card("phase_rows")->Size.y, 6 * 17) << size.width;
  }
}

TEST_F(ProfileLayoutTest, AChartIsOnTheFirstScreenOfANarrowWindow) {
  for (const Size& size : {Size{1280, 720, 1}, Size{1440, 900, 2}, Size{1024, 700, 1}}) {
    open(size.width, size.height, size.scale, ProfilePage::figures);
    const ImGuiWindow *bar = card("profile_panel"), *chart = card("roofline");
    ASSERT_TRUE(bar != nullptr && chart != nullptr);
    EXPECT_LE(bar->Size.y, 40 * size.scale) << "the panel is a line";
    EXPECT_LE(chart->Pos.y + chart->Size.y, static_cast<float>(size.height)) << size.width << " x " << size.scale;
    EXPECT_GE(chart->Size.y, 200 * size.scale);
  }
}

TEST_F(ProfileLayoutTest, TheLineOverANarrowPageChoosesWhatThePanelChooses) {
  open(1280, 720, 1, ProfilePage::figures);
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ctx->SetRef(card("profile_panel"));
    ctx->ItemClick("##profile_kernel");
    ctx->ItemClick("//$FOCUSED/##profile_naive");
    IM_CHECK_STR_EQ(bench_kernel(window->state()).c_str(), "naive");
    ctx->ItemClick("##profile_against");
    ctx->ItemClick("//$FOCUSED/flash_simt");
    IM_CHECK_STR_EQ(window->state().view.profile.against.c_str(), "flash_simt");
    ctx->ItemClick("All metrics");
    ctx->Yield(3);
    IM_CHECK(card("profile_figures") != nullptr);
    ctx->KeyPress(ImGuiKey_Escape);
    ctx->Yield(3);
    IM_CHECK(card("profile_figures") == nullptr);
    ctx->SetRef(card("profile_panel"));
    ctx->NavMoveTo("All metrics");
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(3);
    IM_CHECK(card("profile_figures") != nullptr);
    ctx->KeyPress(ImGuiKey_Escape);
  }));
}

TEST_F(ProfileLayoutTest, EveryLaunchAndEveryLineOfTheBytesIsInSight) {
  for (const Size& size : {Size{1440, 900, 1}, Size{1280, 720, 1}, Size{1440, 2700, 2}, Size{1920, 1080, 1}}) {
    open(size.width, size.height, size.scale, ProfilePage::figures, 3);
    for (const char* name : {"occupancy", "bytes"}) {
      const ImGuiWindow* part = card(name);
      ASSERT_NE(part, nullptr) << name;
      EXPECT_EQ(part->ScrollMax.y, 0) << name << ", " << size.width << " x " << size.scale;
    }
    EXPECT_GE(card("occupancy")->ContentSize.y, 6 * 12 * size.scale) << "three launches have their lines";
    EXPECT_GE(card("roofline")->Size.y, 200 * size.scale);
  }
}

TEST_F(ProfileLayoutTest, ThePagesStandInOneLineOfTheirOwnInALargeScale) {
  for (const int width : {1440, 1441, 1452, 1500, 1520}) {
    for (const ProfilePage page : {ProfilePage::source, ProfilePage::figures, ProfilePage::heartbeat}) {
      open(width, 900, 2, page);
      EXPECT_TRUE(window->run([&](Ctx* ctx) {
        ctx->SetRef(card("profile_strip")->ID);
        const ImRect first = ctx->ItemInfo("Figures").RectFull, last = ctx->ItemInfo("Lab").RectFull;
        IM_CHECK_EQ(first.Min.y, last.Min.y);
        IM_CHECK_GT(last.Min.x, first.Max.x);
      })) << width;
    }
  }
}

TEST_F(ProfileLayoutTest, OnAPhoneTheButtonOfAllMetricsCoversNoMenu) {
  open(390, 844, 1, ProfilePage::figures);
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    const ImGuiWindow* bar = card("profile_panel");
    ctx->SetRef(bar->ID);
    const ImRect all = ctx->ItemInfo("All").RectFull;
    IM_CHECK_LE(all.Max.x, bar->Pos.x + bar->Size.x);
    IM_CHECK(ctx->ItemExists("##profile_kernel") && ctx->ItemExists("##profile_value"));
    for (const char* menu : {"##profile_kernel", "##profile_value", "##profile_against"})
      IM_CHECK(!ctx->ItemExists(menu) || ctx->ItemInfo(menu).RectFull.Max.x < all.Min.x);
  }));
}

TEST_F(ProfileLayoutTest, FindingsBehindTheChartsAreToldOfInTheStrip) {
  for (const auto& [page, scale, low] :
       {std::tuple{ProfilePage::source, 1.0F, false}, std::tuple{ProfilePage::source, 2.0F, true},
        std::tuple{ProfilePage::figures, 1.0F, false}, std::tuple{ProfilePage::figures, 2.0F, true}}) {
    open(1440, 900, scale, page);
    EXPECT_TRUE(window->run([&](Ctx* ctx) {
      ctx->SetRef(card("profile_strip")->ID);
      bool told = false;
      for (const char* words : {"1 finding below", "2 findings below", "3 findings below"})
        if (ctx->ItemExists(words)) {
          told = true;
          ctx->ItemClick(words);
          ctx->Yield(3);
        }
      IM_CHECK_EQ(told, low);
      const ImGuiWindow* more = card("profile_more");
      IM_CHECK_EQ(more != nullptr, low);
      if (low) IM_CHECK_LE(more->Pos.y + more->Size.y, 900.5F);
    })) << scale;
  }
}

TEST_F(ProfileLayoutTest, TheProblemAndTheDeviceStandInTheStripWhereNoPanelHasThem) {
  struct Case {
    Size size;
    bool in_strip;
  };
  for (const auto& [size, in_strip] : {Case{{1440, 900, 1}, false}, Case{{1280, 720, 1}, true},
                                       Case{{1920, 1200, 2}, true}, Case{{1920, 1200, 3}, true}}) {
    for (const ProfilePage page : {ProfilePage::figures, ProfilePage::source, ProfilePage::heartbeat}) {
      open(size.width, size.height, size.scale, page);
      EXPECT_TRUE(window->run([&, expected = in_strip](Ctx* ctx) {
        ctx->SetRef(card("profile_strip")->ID);
        IM_CHECK_EQ(ctx->ItemExists("profile_problem"), expected);
        if (!expected) return;
        const ImRect note = ctx->ItemInfo("profile_problem").RectFull;
        for (const char* chip : {"Sample it", "Read heartbeat", "Open in Bench", "Figures"}) {
          if (!ctx->ItemExists(chip)) continue;
          const ImRect other = ctx->ItemInfo(chip).RectFull;
          IM_CHECK(note.Max.x < other.Min.x || note.Min.y >= other.Max.y);
        }
      })) << size.width
          << " x " << size.scale;
    }
  }
}

TEST_F(ProfileLayoutTest, AtLargeLettersTheInstructionsOfALineHaveSixRows) {
  open(1920, 1200, 2, ProfilePage::source);
  EXPECT_GE(card("code_lines")->Size.y, 6 * 18 * 2);
  window->controller().update({ChooseSourceLine{"", 23}});
  window->draw_frames(5);
  const ImGuiWindow* lines = card("source_lines");
  ASSERT_NE(lines, nullptr);
  EXPECT_GT(lines->Scroll.y, 0);
  EXPECT_LT(lines->Scroll.y, lines->ScrollMax.y);
  EXPECT_NEAR(std::remainder(lines->Scroll.y, 18 * 2), 0, 0.5) << "no row is cut at the top";
}

// The strip alone says then how one comes by times.
TEST_F(ProfileLayoutTest, WithNothingMeasuredTheStripKeepsWhatToDoInALargeScale) {
  for (const float scale : {2.0F, 3.0F}) {
    window.reset();
    window = std::make_unique<TestWindow>(1920, 1200);
    window->controller().update({ChooseWorkspace{Workspace::profile}, SetScale{scale}});
    window->draw_frames(6);
    const float edges = 2 * 12, headline = 17, chips = scale > 2 ? kChipLine : 0, words = 4 + 13;
    EXPECT_GE(card("profile_strip")->Size.y, scale * (edges + headline + chips + words)) << scale;
  }
}

TEST_F(ProfileLayoutTest, WhatWarpsDidYieldsToTheOperandsDownToAWord) {
  EXPECT_EQ(state_column(400, 150, 120, 50), 120) << "there is room for both";
  EXPECT_EQ(state_column(240, 150, 120, 50), 90);
  EXPECT_EQ(state_column(180, 150, 120, 50), 50);
  EXPECT_EQ(state_column(180, 150, 40, 50), 40);
}

TEST_F(ProfileLayoutTest, TheQuartilesStandBehindALineOfTheirs) {
  open(1440, 900, 1, ProfilePage::figures);
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ctx->SetRef(card("profile_figures"));
    IM_CHECK(ctx->ItemExists("time_us_median"));
    IM_CHECK(!ctx->ItemExists("time_us_q1"));
    ctx->ItemClick("quartiles");
    ctx->Yield(2);
    IM_CHECK(ctx->ItemExists("time_us_q1"));
    ctx->NavMoveTo("quartiles");
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(2);
    IM_CHECK(!ctx->ItemExists("time_us_q1"));
  }));
}

TEST_F(ProfileLayoutTest, WordsInEveryCellOfTheMosaicContrastWithItAndWhatWaitsIsWhiteOnDark) {
  window = std::make_unique<TestWindow>();
  for (const Theme theme : {Theme::dark, Theme::light}) {
    window->controller().update({SetTheme{theme}});
    window->draw_frames(2);
    for (const CodePhase phase : gpu::all_code_phases())
      for (const WarpState state : all_warp_states()) {
        const CellColours c = cell_colours(theme, hue_of(phase), state);
        EXPECT_GE(test::contrast(c.text, c.fill), 4.5) << gpu::name_of(phase) << ", " << static_cast<int>(state);
        if (theme == Theme::dark && waits(state)) {
          EXPECT_EQ(c.text, IM_COL32_WHITE) << gpu::name_of(phase);
        }
      }
  }
}

// A short number leaves its room to the figure's name.
TEST_F(ProfileLayoutTest, NamesOfFiguresAreWholeWhereTheirNumbersLeaveRoom) {
  open(1440, 900, 1, ProfilePage::figures);
  ImGuiWindow* figures = card("profile_figures");
  ASSERT_NE(figures, nullptr);
  std::set<std::string> names;
  for (float y = 0; y <= figures->ScrollMax.y + 200; y += 200) {
    ImGui::SetScrollY(figures, std::min(y, figures->ScrollMax.y));
    window->draw_frames(2);
    const DrawnText drawn;
    window->draw_frames(1);
    for (const DrawnText::Place& p : drawn.places())
      if (p.left < figures->Pos.x + figures->Size.x && p.top > figures->Pos.y) names.insert(p.text);
  }
  EXPECT_TRUE(names.contains("Dynamic shared memory"));
  for (const std::string& name : names) EXPECT_FALSE(name.ends_with("…")) << name;
}

// "8.03 MB" and "0.00371×" are two numbers.
TEST_F(ProfileLayoutTest, NoFigureTouchesItsChange) {
  for (const Size& size : {Size{1440, 900, 1}, Size{1920, 1080, 1}, Size{2880, 1800, 2}, Size{1440, 900, 1.5F}}) {
    SCOPED_TRACE(size.width);
    open(size.width, size.height, size.scale, ProfilePage::figures);
    const ImGuiWindow* figures = card("profile_figures");
    if (figures == nullptr) {
      EXPECT_EQ(size.scale, 1.5F) << "there is a panel where it has room";
      continue;
    }
    const DrawnText drawn;
    window->draw_frames(2);
    int lines = 0;
    const auto& places = drawn.places();
    for (const auto& number : places) {
      const ImRect place(number.left, number.top, number.right, number.bottom);
      if (number.text.find("8.03 MB") == std::string::npos || !figures->Rect().Contains(place)) continue;
      for (const auto& change : places) {
        if (&change == &number || change.left < number.left || change.top > number.bottom || change.bottom < number.top)
          continue;
        if (change.text != "0.00372×") continue;
        ++lines;
        EXPECT_GE(change.left - number.right, 8 * size.scale);
      }
    }
    EXPECT_GT(lines, 0);
  }
}

// In a window in which all words have room no tooltip says what stands there anyway; where they are cut, it does.
TEST_F(ProfileLayoutTest, NoTooltipRepeatsWhatIsShownWhole) {
  const auto tip_of = [&](Ctx* ctx, const char* in, const char* item) {
    ctx->SetRef(card(in));
    ctx->MouseMove(item);
    ctx->SleepNoSkip(1.2F, 0.1F);
    bool shown = false;
    for (const ImGuiWindow* w : ImGui::GetCurrentContext()->Windows)
      shown |= w->WasActive && !w->Hidden && (w->Flags & ImGuiWindowFlags_Tooltip) != 0;
    return shown;
  };
  open(1920, 1080, 1, ProfilePage::figures);
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    for (const char* item : {"Registers per thread", "Threads per block"}) IM_CHECK(!tip_of(ctx, "occupancy", item));
    for (const char* item : {"L2 hits", "Bank conflicts"}) IM_CHECK(!tip_of(ctx, "bytes", item));
  }));
  for (const auto& [width, height] : {std::pair{1920, 1080}, std::pair{1280, 720}}) {
    open(width, height, 1, ProfilePage::source);
    const bool cut = height == 720;
    EXPECT_TRUE(window->run([&](Ctx* ctx) { IM_CHECK_EQ(tip_of(ctx, "profile_mosaic", "mosaic_notes"), cut); }));
  }
}

}  // namespace
}  // namespace attn
