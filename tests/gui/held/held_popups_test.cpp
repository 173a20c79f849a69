// What is folded on what is held in a hand: it opens within the screen, and is scrolled where that is too small.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/environment/asked.h"
#include "tests/gui/step/phone.h"
#include "viz/step/bars/strip.h"
#include "viz/step/step_cache.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;

constexpr const char* kRuns[] = {
    "attn1,preset=late_outlier,cursor=20",
    "attn1,preset=late_outlier,pass=backward,kernel=cpu_flash_bwd,cursor=30",
    "attn1,preset=late_outlier,set=ranks:2,cursor=30",
    "attn1,preset=late_outlier,kernel=museum_alpha_on_l_only,cursor=14",
    "a GPU's",
};

void settle(Phone& w, const std::string& run) {
  if (run == "a GPU's") w.controller().update({ChoosePreset{"late_outlier_64"}, ChooseKernel{"flash_simt"}});
  w.settle();
  for (int n = 0; n < 3; ++n) w.controller().wait(), w.draw_frames(2);
  ASSERT_NE(w.controller().model().recording, nullptr);
}

// Each open popup; how many there are.
std::size_t expect_within(const std::string& where) {
  const ImGuiContext& g = *ImGui::GetCurrentContext();
  const ImGuiViewport& view = *ImGui::GetMainViewport();
  std::size_t met = 0;
  for (const ImGuiPopupData& popup : g.OpenPopupStack) {
    if (popup.Window == nullptr || !popup.Window->Active) continue;
    const ImRect box = popup.Window->Rect();
    const std::string name = where + ": " + popup.Window->Name;
    EXPECT_GE(box.Min.x, view.Pos.x) << name;
    EXPECT_GE(box.Min.y, view.Pos.y) << name;
    EXPECT_LE(box.Max.x, view.Pos.x + view.Size.x) << name;
    EXPECT_LE(box.Max.y, view.Pos.y + view.Size.y) << name;
    ++met;
  }
  return met;
}

// Presses what opens one, where it is there; how many popups were open.
std::size_t open_and_look(Ctx* ctx, const std::string& id, const std::string& where) {
  if (!ctx->ItemExists(id.c_str())) return 0;
  ctx->ItemClick(id.c_str());
  ctx->Yield(3);
  const std::size_t met = expect_within(where + ", " + id);
  return met;
}

void close_all(Ctx* ctx) {
  ctx->PopupCloseAll();
  ctx->Yield(2);
}

TEST(HeldPopups, EachIsWithinTheScreen) {
  std::size_t cases = 0;
  for (const PhoneSize& size : kPages)
    for (const char* state : kRuns) {
      if (test::left_to_release(cases++, 6)) continue;
      Phone w(size, std::string(state).starts_with("attn1") ? state : "attn1");
      settle(w, state);
      const std::string where = std::string(state) + " at " + std::to_string(size.width);
      std::size_t met = 0;
      EXPECT_TRUE(w.run([&](Ctx* ctx) {
        for (const char* id : {"//Bar/Workspace", "//Bar/Kernel", "//Bar/Menu"}) {
          met += open_and_look(ctx, id, where);
          close_all(ctx);
        }
        ctx->SetRef(kStep);
        for (const char* id : {"##problem_chip", "##charts_chip", "##step_why", "##timeline_more"}) {
          met += open_and_look(ctx, id, where);
          close_all(ctx);
        }
        if (ImGuiWindow* page = child_window("page")) ctx->SetRef(page);
        for (const char* id : {"##show_patch", "##beside_open"}) {
          met += open_and_look(ctx, id, where);
          close_all(ctx);
        }
      })) << where;
      EXPECT_GE(met, 4U) << where;
    }
}

// The choices of a field open over the panel that it stands in.
TEST(HeldPopups, TheChoicesOfTheProblemAreWithinTheScreen) {
  for (const PhoneSize& size : kPages) {
    Phone w(size, kRuns[0]);
    w.settle();
    std::size_t met = 0;
    EXPECT_TRUE(w.run([&](Ctx* ctx) {
      for (const char* id : {"##preset", "##pass", "##mask", "##generator", "##dtype"}) {
        ctx->SetRef(kStep);
        ctx->ItemClick("##problem_chip");
        ctx->Yield(2);
        met += open_and_look(ctx, std::string("//$FOCUSED/") + id, std::to_string(size.width)) > 1 ? 1 : 0;
        close_all(ctx);
      }
    })) << size.width;
    EXPECT_GE(met, 3U) << size.width;
  }
}

TEST(HeldPopups, TheShellsWindowsAreWithinTheScreen) {
  for (const PhoneSize& size : kPages)
    for (const ImGuiKeyChord keys :
         {ImGuiMod_Ctrl | ImGuiKey_O, ImGuiMod_Ctrl | ImGuiKey_I, ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_S,
          ImGuiMod_Shift | ImGuiKey_F12, ImGuiMod_Ctrl | ImGuiKey_B, ImGuiKeyChord{ImGuiKey_G},
          ImGuiMod_Ctrl | ImGuiKey_P}) {
      Phone w(size, kRuns[0]);
      w.settle();
      const std::string where = std::to_string(keys) + " at " + std::to_string(size.width);
      EXPECT_TRUE(w.run([&](Ctx* ctx) {
        ctx->KeyPress(keys);
        ctx->Yield(4);
        EXPECT_GE(expect_within(where), 1U) << where;
        close_all(ctx);
      })) << where;
    }
}

// Its words whole: beside Why? and the chips, or on a line of their own.
TEST(HeldStrip, SaysWhereItStandsInFull) {
  std::size_t cases = 0;
  for (const PhoneSize& size : kPages)
    for (const char* state : kRuns) {
      Phone w(size, std::string(state).starts_with("attn1") ? state : "attn1");
      settle(w, state);
      const Recording& rec = recording(w);
      for (EventIndex e = 0; e < rec.events.size(); e += 7) {
        if (test::left_to_release(cases++, 12)) continue;
        w.go_to(e);
        const StepPlace at = place_of(rec, e, w.state().document.selection);
        const StripScene strip = strip_scene(rec, at, step_values(rec, at, {}, nullptr), w.shell().step_ui().texts);
        const DrawnText drawn;
        w.draw_frames(1);
        EXPECT_TRUE(drawn.count(strip.position) + drawn.count(strip.narrow) > 0)
            << strip.narrow << " of " << state << " at " << size.width;
      }
    }
}

}  // namespace
}  // namespace attn
