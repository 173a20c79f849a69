// Step's chart of fragments under the hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "imgui_internal.h"
#include "kernels/ladder.h"
#include "tests/gui/drawn_text.h"
#include "tests/gui/gui_fixture.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;

ImGuiWindow* fragments() {
  for (ImGuiWindow* window : ImGui::GetCurrentContext()->Windows)
    if (window->WasActive && std::string(window->Name).find("/fragments_") != std::string::npos) return window;
  return nullptr;
}

TEST(FragmentsChart, ItsTabOpensItAndItsLettersChooseTheTile) {
  TestWindow w;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kStep);
    ctx->ItemClick("##chart_fragments");
    ctx->Yield(2);
    IM_CHECK(w.state().view.step.chart == StepChart::fragments);
    IM_CHECK(fragments() != nullptr);
    ctx->SetRef(fragments());
    ctx->ItemClick("K##fragment_tile");
    IM_CHECK(w.state().view.step.fragment_tile == FragmentTile::k);
    ctx->ItemClick("flash_tf32x3");
    IM_CHECK(w.state().view.step.fragment_kernel == "flash_tf32x3");
    IM_CHECK(w.state().view.step.fragment_tile == FragmentTile::k);
    ctx->SetRef(kStep);
    ctx->ItemClick("##chart_row");
    ctx->Yield(2);
    IM_CHECK(w.state().view.step.chart == StepChart::row);
    IM_CHECK(fragments() == nullptr);
  }));
}

// The grid begins below two lines of words; which cell it is, the copied words say.
TEST(FragmentsChart, WhatIsPointedAtIsToldAndCanBeCopied) {
  TestWindow w;
  w.controller().update({ChooseStepChart{StepChart::fragments}});
  w.draw_frames(3);
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    const ImRect all = fragments()->Rect();
    ctx->MouseMoveToPos({all.Min.x + 150, all.Min.y + 220});
    ctx->Yield(2);
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_C);
    ctx->Yield(2);
  }));
  ASSERT_TRUE(w.requests.clipboard.has_value());
  EXPECT_EQ(w.requests.clipboard->substr(0, 2), "Q[") << *w.requests.clipboard;
  EXPECT_NE(w.requests.clipboard->find(": lane "), std::string::npos) << *w.requests.clipboard;
  EXPECT_NE(w.requests.clipboard->find("bank "), std::string::npos) << *w.requests.clipboard;
}

TEST(FragmentsChart, EveryTileIsDrawnAtEverySize) {
  for (const auto& [width, height, scale] : {std::tuple{1440, 900, 1.0F}, {1920, 1080, 1.0F}, {1440, 900, 2.0F}}) {
    TestWindow w(width, height);
    Problem p = w.state().document.problem;
    p.D = p.Dv = 128;
    w.controller().update({SetScale{scale}, SetProblem{p, 0}, ChooseStepChart{StepChart::fragments}});
    for (const KernelRow* row : kernels_with_fragments()) {
      for (const FragmentTile tile : kFragmentTiles) {
        w.controller().update({ChooseFragment{std::string(row->id), tile}});
        w.draw_frames(2);
        EXPECT_NE(fragments(), nullptr);
      }
    }
  }
}

// Rows of many chunks are high: what stands under their maps can be scrolled to.
TEST(FragmentsChart, TheWordsUnderTheMapsCanBeReadToTheirEnd) {
  TestWindow w(1280, 720);
  Problem p = w.state().document.problem;
  p.D = p.Dv = 128;
  w.controller().update(
      {SetProblem{p, 0}, ChooseStepChart{StepChart::fragments}, ChooseFragment{"flash_tf32x3", FragmentTile::v}});
  w.draw_frames(4);
  ASSERT_NE(fragments(), nullptr);
  ImGui::SetScrollY(fragments(), fragments()->ScrollMax.y);
  w.draw_frames(2);
  const DrawnText drawn;
  w.draw_frames(1);
  const auto end = std::ranges::find_if(drawn.places(),
                                        [](const DrawnText::Place& place) { return place.text.ends_with("element."); });
  ASSERT_NE(end, drawn.places().end());
  EXPECT_GE(end->bottom - end->top, 12) << "letters of 12 pixels are whole";
}

}  // namespace
}  // namespace attn
