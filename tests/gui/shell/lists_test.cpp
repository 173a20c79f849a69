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

const ImGuiWindow* open_list() {
  for (const ImGuiWindow* w : ImGui::GetCurrentContext()->Windows)
    if (w->WasActive && std::string(w->Name).rfind("##Combo_", 0) == 0) return w;
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

}  // namespace
}  // namespace attn
