// Questions asked in the palette: what Enter shows, and where it leads from there.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include <fmt/format.h>

#include "profiling/figures/samples.h"
#include "tests/gui/bench/bench_fixture.h"
#include "viz/draw/text_runs.h"

namespace attn {
namespace {

TEST(PaletteAnswers, AnAnswerIsReadAndItsDoorLeadsOn) {
  TestWindow w;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    choose_in_palette(ctx, "why divide by sqrt(D)");
    IM_CHECK(w.shell().answered() != nullptr);
    ctx->SetRef("//Answer");
    ctx->ItemClick("See what large scores do");
    ctx->Yield(3);
    IM_CHECK(w.shell().answered() == nullptr);
    IM_CHECK_STR_EQ(w.state().document.preset.c_str(), "large_logits");
    choose_in_palette(ctx, "formula for attention");
    IM_CHECK(w.shell().answered() != nullptr);
    ctx->KeyPress(ImGuiKey_Escape);
    ctx->Yield(2);
    IM_CHECK(w.shell().answered() == nullptr);
    IM_CHECK_STR_EQ(w.state().document.preset.c_str(), "large_logits");
  }));
}

// 4 · 4 · 4 · 2 of the blackboard's one head.
TEST(PaletteAnswers, FlopLeadsToTheFormulaWithThisProblemsCount) {
  TestWindow w;
  const Problem& p = w.state().document.problem;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    choose_in_palette(ctx, "FLOP");
    const PaletteEntry* shown = w.shell().answered();
    IM_CHECK(shown != nullptr);
    IM_CHECK_STR_EQ(plain_text(shown->formula).c_str(), "FLOP = 4 · L² · D");
    const std::string count = fmt::format(" = {} FLOP.", 4 * p.B * p.Hq * p.Lq * p.Lk * p.D);
    IM_CHECK(shown->answer.ends_with(count));
    ctx->SetRef("//Answer");
    ctx->ItemClick("See it in Learn");
    ctx->Yield(3);
    IM_CHECK_STR_EQ(w.state().view.learn.beat.c_str(), "work");
  }));
}

TEST(PaletteAnswers, ATermIsExplainedByItsOwnWord) {
  TestWindow w;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    for (const PaletteEntry& term : palette_terms()) {
      // A metric has the same name, and comes first.
      if (term.words == "registers" || term.words == "occupancy") continue;
      choose_in_palette(ctx, term.words.c_str());
      const PaletteEntry* shown = w.shell().answered();
      IM_CHECK_NO_RET(shown != nullptr && shown->answer == term.answer);
      if (shown == nullptr || shown->answer != term.answer) ctx->LogError("%s", term.words.c_str());
      ctx->KeyPress(ImGuiKey_Escape);
      ctx->Yield(2);
    }
  }));
}

TEST(PaletteAnswers, EveryNameOfAStallIsFoundAndExplained) {
  TestWindow w;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    for (const StallReason& reason : stall_reasons()) {
      choose_in_palette(ctx, std::string(reason.name).c_str());
      const PaletteEntry* shown = w.shell().answered();
      IM_CHECK_SILENT(shown != nullptr);
      IM_CHECK_STR_EQ(shown->words.c_str(), std::string(reason.title).c_str());
      ctx->KeyPress(ImGuiKey_Escape);
      ctx->Yield(2);
    }
  }));
}

// At any size the whole answer stands in the window.
TEST(PaletteAnswers, FindRoomInASmallWindowAtTwiceTheSize) {
  TestWindow w(1280, 720);
  w.controller().update({SetScale{2}});
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    for (const char* question : {"formula for attention", "naive run out of memory", "why this tile size"}) {
      choose_in_palette(ctx, question);
      ctx->Yield(3);
      const ImGuiWindow* popup = ImGui::FindWindowByName("Answer");
      IM_CHECK(popup != nullptr && popup->WasActive);
      IM_CHECK(popup->Pos.x >= 0 && popup->Pos.x + popup->Size.x <= 1280);
      IM_CHECK(popup->Pos.y >= 0 && popup->Pos.y + popup->Size.y <= 720);
      ctx->KeyPress(ImGuiKey_Escape);
      ctx->Yield(2);
    }
  }));
}

}  // namespace
}  // namespace attn
