// The lists of closed menus: one that has more than it shows says so at the end behind which it goes on.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "imgui_internal.h"
#include "profiling/session/session.h"
#include "tests/environment/paths.h"
#include "tests/gui/gui_fixture.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;

const ImGuiWindow* open_list(const char* kind = "##Combo_") {
  for (const ImGuiWindow* w : ImGui::GetCurrentContext()->Windows)
    if (w->WasActive && std::string(w->Name).rfind(kind, 0) == 0) return w;
  return nullptr;
}

// Whether something is drawn that hides what lies at this height, and less and less of it further in.
bool goes_pale_at(const ImGuiWindow& list, float edge) {
  const ImVector<ImDrawVert>& v = list.DrawList->VtxBuffer;
  const auto opacity = [](const ImDrawVert& vertex) { return vertex.col >> IM_COL32_A_SHIFT; };
  for (int n = 0; n + 3 < v.Size; ++n) {
    const bool soft = opacity(v[n]) == 0 && opacity(v[n + 1]) == 0 && opacity(v[n + 2]) == 255 &&
                      opacity(v[n + 3]) == 255 && v[n].pos.y == v[n + 1].pos.y;
    if (soft && std::abs(v[n + 2].pos.y - edge) < 1 && std::abs(v[n].pos.y - edge) > 8) return true;
  }
  return false;
}

void show_runs(TestWindow& w) {
  std::vector<ListedRun> runs;
  for (const char* name : {"h100-ladder", "h100-hopper"}) {
    auto session = read_session(test::source_folder() + "/assets/sessions/" + name + ".attn");
    ASSERT_TRUE(session);
    for (SweepRun& run : session->runs) runs.push_back({std::move(run), RunFrom::file, false, false});
  }
  w.controller().show(runs, nullptr);
  for (const ListedRun& run : runs) w.controller().update({ShowRun{run.run.id, true}});
  w.draw_frames(4);
}

struct Place {
  Workspace workspace;
  const char *panel, *menu;
};

const ImGuiWindow* panel_of(const Place& place) {
  for (const ImGuiWindow* w : ImGui::GetCurrentContext()->Windows)
    if (w->WasActive && std::string(w->Name).find(std::string("/") + place.panel + "_") != std::string::npos) return w;
  return nullptr;
}

TEST(Lists, GoPaleWhereTheyHaveMore) {
  int longer_ones = 0;
  for (const Place& place :
       {Place{Workspace::profile, "profile_panel", "##profile_against"},
        Place{Workspace::profile, "profile_panel", "##profile_value"}, Place{Workspace::bench, "setup", "##preset"}}) {
    SCOPED_TRACE(place.menu);
    TestWindow w(1440, 900);
    w.controller().update({ChooseWorkspace{place.workspace}});
    show_runs(w);
    EXPECT_TRUE(w.run([&](Ctx* ctx) {
      const ImGuiWindow* panel = panel_of(place);
      IM_CHECK(panel != nullptr);
      ctx->SetRef(panel->ID);
      ctx->ItemClick(place.menu);
      ctx->Yield(3);
      const ImGuiWindow* list = open_list();
      IM_CHECK(list != nullptr);
      const ImRect inner = list->InnerRect;
      const bool longer = list->ScrollMax.y > 0;
      longer_ones += longer ? 1 : 0;
      ctx->ScrollToY(list->ID, 0);
      ctx->Yield(2);
      IM_CHECK_EQ(goes_pale_at(*list, inner.Max.y), longer);
      IM_CHECK(!goes_pale_at(*list, inner.Min.y));
      if (!longer) return;
      ctx->ScrollToY(list->ID, list->ScrollMax.y / 2);
      ctx->Yield(2);
      IM_CHECK(goes_pale_at(*list, inner.Max.y));
      IM_CHECK(goes_pale_at(*list, inner.Min.y));
      ctx->ScrollToBottom(list->ID);
      ctx->Yield(2);
      IM_CHECK(!goes_pale_at(*list, inner.Max.y));
      IM_CHECK(goes_pale_at(*list, inner.Min.y));
    }));
  }
  EXPECT_GT(longer_ones, 0);
}

// Bench's list of metrics at a chart's title, where it is longer than the window.
TEST(Lists, AMenuGoesPaleWhereItHasMore) {
  TestWindow w(1280, 720);
  w.controller().update({ChooseWorkspace{Workspace::bench}});
  show_runs(w);
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(child_window("time"));
    ctx->ItemClick("pick_metric");
    ctx->Yield(3);
    const ImGuiWindow* list = open_list("##Popup_");
    IM_CHECK(list != nullptr);
    IM_CHECK(list->ScrollMax.y > 0);
    const ImRect inner = list->InnerRect;
    ctx->ScrollToY(list->ID, 0);
    ctx->Yield(2);
    IM_CHECK(goes_pale_at(*list, inner.Max.y));
    IM_CHECK(!goes_pale_at(*list, inner.Min.y));
    ctx->ScrollToBottom(list->ID);
    ctx->Yield(2);
    IM_CHECK(!goes_pale_at(*list, inner.Max.y));
    IM_CHECK(goes_pale_at(*list, inner.Min.y));
  }));
}

TEST(Lists, TheSheetOfKeysGoesPaleWhereItHasMore) {
  for (const auto& [height, longer] : {std::pair(720, true), {1400, false}}) {
    TestWindow w(1280, height);
    w.controller().update({ShowKeys{true}});
    w.draw_frames(4);
    const ImGuiWindow* sheet = ImGui::FindWindowByName("Keys");
    ASSERT_NE(sheet, nullptr);
    EXPECT_EQ(sheet->ScrollMax.y > 0, longer);
    EXPECT_EQ(goes_pale_at(*sheet, sheet->Rect().Max.y), longer) << height;
    EXPECT_FALSE(goes_pale_at(*sheet, sheet->Rect().Min.y));
  }
}

// Where it hides what lies before that x, and less and less of it further left.
std::vector<float> pale_before(const ImGuiWindow& window) {
  const ImVector<ImDrawVert>& v = window.DrawList->VtxBuffer;
  const auto opacity = [&](int n) { return v[n].col >> IM_COL32_A_SHIFT; };
  std::vector<float> edges;
  for (int n = 0; n + 3 < v.Size; ++n)
    if (opacity(n) == 0 && opacity(n + 1) == 255 && opacity(n + 2) == 255 && opacity(n + 3) == 0 &&
        v[n].pos.y == v[n + 1].pos.y && v[n + 1].pos.x == v[n + 2].pos.x && v[n + 1].pos.x - v[n].pos.x > 8 &&
        v[n + 2].pos.y - v[n + 1].pos.y > 100)
      edges.push_back(v[n + 1].pos.x);
  return edges;
}

TEST(Lists, BothSidesOfAPairOfSourcesGoPaleWhereLinesGoOn) {
  TestWindow w(1280, 720, "", false, {}, {}, {}, "attn1,workspace=bench,bench_page=sources");
  show_runs(w);
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    const ImGuiWindow* lines = child_window("pair_lines");
    IM_CHECK(lines != nullptr);
    IM_CHECK(lines->ScrollMax.x > 0);
    const std::vector<float> edges = pale_before(*lines);
    IM_CHECK_EQ(edges.size(), 2U);
    IM_CHECK_LT(std::abs(edges[0] - lines->Rect().GetCenter().x), 16.0F);
    IM_CHECK_LT(std::abs(edges[1] - lines->InnerRect.Max.x), 4.0F);
    ctx->ScrollToX(lines->ID, lines->ScrollMax.x);
    ctx->Yield(2);
    IM_CHECK(pale_before(*lines).empty());
  }));
}

}  // namespace
}  // namespace attn
