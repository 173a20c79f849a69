// Every tooltip of every workspace, at three sizes: within the window, and clear of what it explains.
#include <gtest/gtest.h>

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "imgui_internal.h"
#include "profiling/session/session.h"
#include "tests/environment/asked.h"
#include "tests/environment/paths.h"
#include "tests/gui/gui_fixture.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;

// What stands over the view as a tooltip; none where there is none.
std::optional<ImRect> shown_tip() {
  for (const ImGuiWindow* w : ImGui::GetCurrentContext()->Windows)
    if (w->WasActive && !w->Hidden && (w->Flags & ImGuiWindowFlags_Tooltip) != 0) return w->Rect();
  return std::nullopt;
}

// Long enough for every tooltip to come.
void rest(Ctx* ctx) {
  ctx->SleepNoSkip(1.2F, 0.1F);
  ctx->Yield(2);
}

struct Size {
  int width, height;
  float scale;
};

void PrintTo(const Size& size, std::ostream* out) {
  *out << size.width << 'x' << size.height << " at " << size.scale;
}

// Whether a tip of this size has room at some side of the item.
bool has_room(const ImRect& item, ImVec2 tip, ImVec2 screen, float gap) {
  return item.Min.y - gap >= tip.y || screen.y - item.Max.y - gap >= tip.y || item.Min.x - gap >= tip.x ||
         screen.x - item.Max.x - gap >= tip.x;
}

void check_tip(Ctx* ctx, const ImGuiTestItemInfo& item, const Size& size) {
  const auto tip = shown_tip();
  if (!tip) return;
  const ImVec2 screen(static_cast<float>(size.width), static_cast<float>(size.height));
  const bool inside = ImRect(ImVec2(0, 0), screen).Contains(*tip);
  if (!inside) ctx->LogError("%s: outside the window", item.DebugLabel);
  IM_CHECK_SILENT(inside);
  // What is higher than a few lines is explained at the pointer.
  constexpr float kLines = 64, kGap = 12;
  const ImVec2 pointer = ImGui::GetMousePos();
  const bool high = item.RectFull.GetHeight() > kLines * size.scale;
  const bool clear =
      high ? !tip->Contains(pointer)
           : !tip->Overlaps(item.RectClipped) || !has_room(item.RectFull, tip->GetSize(), screen, kGap * size.scale);
  if (!clear)
    ctx->LogError("%s at %.0f, %.0f to %.0f, %.0f is covered: %.0f, %.0f to %.0f, %.0f", item.DebugLabel,
                  item.RectFull.Min.x, item.RectFull.Min.y, item.RectFull.Max.x, item.RectFull.Max.y, tip->Min.x,
                  tip->Min.y, tip->Max.x, tip->Max.y);
  IM_CHECK_SILENT(clear);
}

std::vector<ImGuiTestItemInfo> items_of(Ctx* ctx, const std::string& workspace) {
  ImGuiTestItemList list;
  ctx->GatherItems(&list, workspace.c_str());
  std::vector<ImGuiTestItemInfo> items;
  for (const ImGuiTestItemInfo& item : list)
    if (item.DebugLabel[0] != '\0' && item.RectClipped.GetWidth() > 2 && item.RectClipped.GetHeight() > 2)
      items.push_back(item);
  return items;
}

void open_runs(TestWindow& w) {
  auto session = read_session(test::source_folder() + "/assets/sessions/h100-ladder.attn");
  ASSERT_TRUE(session);
  std::vector<ListedRun> runs;
  for (SweepRun& run : session->runs) runs.push_back({std::move(run), RunFrom::file, false, false});
  w.controller().show(runs, nullptr);
}

class EveryTooltip : public ::testing::TestWithParam<Size> {};

TEST_P(EveryTooltip, LiesInTheWindowAndClearOfWhatItExplains) {
  const Size size = GetParam();
  int tips = 0;
  for (const Workspace workspace : {Workspace::step, Workspace::bench, Workspace::profile, Workspace::learn}) {
    SCOPED_TRACE(name_of(workspace));
    TestWindow w(size.width, size.height);
    w.controller().update({ChooseWorkspace{workspace}, SetScale{size.scale}});
    if (workspace == Workspace::bench || workspace == Workspace::profile) open_runs(w);
    w.draw_frames(4);
    std::vector<ImGuiTestItemInfo> items;
    EXPECT_TRUE(w.run([&](Ctx* ctx) { items = items_of(ctx, "//###workspace/" + std::string(name_of(workspace))); }));
    for (std::size_t n = 0; n < items.size(); ++n) {
      if (test::left_to_release(n, 5)) continue;
      EXPECT_TRUE(w.run([&](Ctx* ctx) {
        ctx->MouseMoveToPos(items[n].RectClipped.GetCenter());
        rest(ctx);
        if (shown_tip()) ++tips;
        check_tip(ctx, items[n], size);
      }));
    }
  }
  EXPECT_GT(tips, test::asked("ATTNSCOPE_SANITIZED") ? 5 : 40);
}

INSTANTIATE_TEST_SUITE_P(Sizes, EveryTooltip,
                         ::testing::Values(Size{1280, 720, 1}, Size{1440, 900, 1}, Size{2880, 1800, 2}),
                         [](const auto& size) {
                           return std::to_string(size.param.width) + "x" + std::to_string(size.param.height);
                         });

// Pressed, a button's tooltip goes and stays away until the pointer has left: it would lie on what the press brought.
TEST(TooltipOfAButton, GoesWhenItIsPressed) {
  TestWindow w;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef("Bar");
    const ImVec2 at = ctx->ItemInfo("Keys").RectFull.GetCenter();
    ctx->MouseMoveToPos(at);
    rest(ctx);
    IM_CHECK(shown_tip().has_value());
    ctx->MouseClick();
    rest(ctx);
    IM_CHECK(!shown_tip().has_value());
    ctx->KeyPress(ImGuiKey_Escape);  // the sheet
    ctx->MouseMoveToPos({at.x - 400, at.y + 300});
    rest(ctx);
    ctx->MouseMoveToPos(at);
    rest(ctx);
    IM_CHECK(shown_tip().has_value());
  }));
}

}  // namespace
}  // namespace attn
