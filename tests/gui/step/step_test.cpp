// The Step workspace by mouse and keyboard.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include "kernels/model/kernel.h"
#include "tests/gui/drawn_text.h"
#include "tests/gui/gui_fixture.h"
#include "viz/step/beside/legend.h"
#include "viz/step/step_cache.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;

// The middle of cell (r, c) of a tile that is drawn as rows x cols.
ImVec2 cell_at(Ctx* ctx, const char* tile, int rows, int cols, int r, int c) {
  const ImRect box = ctx->ItemInfo(tile).RectFull;
  return {box.Min.x + box.GetWidth() * (static_cast<float>(c) + 0.5F) / static_cast<float>(cols),
          box.Min.y + box.GetHeight() * (static_cast<float>(r) + 0.5F) / static_cast<float>(rows)};
}

std::optional<CellRef> hovered(TestWindow& w) {
  return w.shell().step_ui().tiles.hovered;
}

TEST(StepWindow, TransportButtonsStep) {
  TestWindow w;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kStep);
    ctx->ItemClick("##step_next");
    ctx->ItemClick("##step_next");
    IM_CHECK_EQ(w.state().view.step.cursor, 2U);
    ctx->ItemClick("##step_previous");
    IM_CHECK_EQ(w.state().view.step.cursor, 1U);
    ctx->ItemClick("##step_first");
    IM_CHECK_EQ(w.state().view.step.cursor, 0U);
    ctx->ItemClick("##step_play");
    IM_CHECK(w.state().view.step.playing);
    ctx->ItemClick("##step_play");
    IM_CHECK(!w.state().view.step.playing);
  }));
}

TEST(StepWindow, HoverNamesTheCellAndClickPinsIt) {
  TestWindow w;
  w.controller().update({GoToEvent{*recording(w).find({0, 0, 0, 1, Phase::scores})}});
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kStep);
    ctx->MouseMoveToPos(cell_at(ctx, "##tile_s", 2, 2, 1, 0));
    ctx->Yield(2);
    IM_CHECK(hovered(w).has_value());
    IM_CHECK(*hovered(w) == (CellRef{Slot::s, 1, 2}));
    ctx->MouseClick();
    ctx->Yield(2);
    IM_CHECK_EQ(w.state().document.selection.row, 1);
    IM_CHECK(w.state().document.selection.slot == Slot::s);
    IM_CHECK_EQ(w.state().document.selection.col, 2);
    // K's columns are keys: transposed.
    ctx->MouseMoveToPos(cell_at(ctx, "##tile_k", 2, 2, 0, 1));
    ctx->Yield(2);
    IM_CHECK(*hovered(w) == (CellRef{Slot::k, 3, 0}));
    ctx->MouseMoveToPos({1, 1});
    ctx->Yield(2);
    IM_CHECK(!hovered(w).has_value());
  }));
}

TEST(StepWindow, APinIsLetGoByASecondClickAndByEscape) {
  TestWindow w;
  w.controller().update({GoToEvent{*recording(w).find({0, 0, 0, 1, Phase::scores})}});
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kStep);
    const auto pinned = [&] { return w.state().document.selection.col; };
    ctx->MouseMoveToPos(cell_at(ctx, "##tile_s", 2, 2, 1, 0));
    ctx->MouseClick();
    ctx->Yield(2);
    IM_CHECK_EQ(pinned(), 2);
    ctx->SleepNoSkip(0.6F, 0.1F);  // else the second is a double-click
    ctx->MouseClick();
    ctx->Yield(2);
    IM_CHECK_EQ(pinned(), -1);
    IM_CHECK_EQ(w.state().document.selection.row, 1);  // the row stays followed
    ctx->SleepNoSkip(0.6F, 0.1F);
    ctx->MouseClick();
    ctx->Yield(2);
    IM_CHECK_EQ(pinned(), 2);
    ctx->KeyPress(ImGuiKey_Escape);
    ctx->Yield(2);
    IM_CHECK_EQ(pinned(), -1);
  }));
}

// Escape closes what is open before it lets go of the pin.
TEST(StepWindow, EscapeClosesTheReasonFirstAndThenLetsGo) {
  TestWindow w;
  w.controller().update({GoToEvent{*recording(w).find({0, 0, 0, 1, Phase::weights})}, Select{{0, 0, 0, Slot::s, 2}}});
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kStep);
    ctx->ItemClick("##step_why");
    ctx->Yield(2);
    IM_CHECK(ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel));
    ctx->KeyPress(ImGuiKey_Escape);
    ctx->Yield(2);
    IM_CHECK(!ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel));
    IM_CHECK_EQ(w.state().document.selection.col, 2);
    ctx->KeyPress(ImGuiKey_Escape);
    ctx->Yield(2);
    IM_CHECK_EQ(w.state().document.selection.col, -1);
  }));
}

// On its line, or where a card has none, beside the pointer that rests on the "?".
TEST(StepWindow, TheLegendNamesEveryMarkOfTheRunInLargeAndInSmallWindows) {
  const char* const states[] = {"attn1",
                                "attn1,preset=late_outlier,cursor=20",
                                "attn1,preset=pages,cursor=19",
                                "attn1,preset=words,cursor=19",
                                "attn1,preset=masked_row,cursor=7",
                                "attn1,preset=late_outlier,set=splits:2,cursor=9",
                                "attn1,preset=late_outlier,br=8,set=pipeline:hopper,cursor=79",
                                "attn1,preset=late_outlier,set=ranks:2,cursor=2",
                                "attn1,preset=late_outlier,causal=1,set=deal:zigzag/ranks:4,cursor=104",
                                "attn1,preset=late_outlier,pass=backward,kernel=cpu_flash_bwd,cursor=69",
                                "attn1,preset=late_outlier,pass=backward,kernel=cpu_flash_bwd,set=ranks:2,cursor=80"};
  for (const auto& [width, height] : {std::pair{1440, 900}, {1280, 720}}) {
    for (const char* state : states) {
      TestWindow w(width, height, "", false, {}, {}, {}, state);
      w.draw_frames(8);
      EXPECT_TRUE(w.run([&](Ctx* ctx) {
        ctx->SetRef(kStep);
        IM_CHECK(ctx->ItemExists("##cell_legend"));
        const bool line = ctx->ItemInfo("##cell_legend").RectFull.GetWidth() > 100;
        if (!line) ctx->MouseMove("##cell_legend");
        const DrawnText drawn;
        ctx->Yield(line ? 2 : 90);
        const Recording& rec = recording(w);
        for (const LegendEntry& e : cell_legend(legend_marks(rec, scales_of(rec))))
          EXPECT_TRUE(drawn.texts().contains(e.words) || (line && drawn.texts().contains(e.narrow)))
              << state << " at " << width << ": " << e.words;
      })) << state;
    }
  }
}

TEST(StepWindow, ControlCCopiesThePointedNumber) {
  TestWindow w;
  w.controller().update({GoToEvent{*recording(w).find({0, 0, 0, 0, Phase::scores})}});
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kStep);
    ctx->MouseMoveToPos(cell_at(ctx, "##tile_s", 2, 2, 0, 1));
    ctx->Yield(2);
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_C);
    ctx->Yield(2);
  }));
  ASSERT_TRUE(w.requests.clipboard.has_value());
  const VersionId s = recording(w).after(w.state().view.step.cursor, Slot::s);
  EXPECT_EQ(std::stof(*w.requests.clipboard), recording(w).values(s)[1]);
}

TEST(StepWindow, TabEntersTheCellsArrowsMoveAndEscapeLeaves) {
  TestWindow w;
  const EventIndex at = *recording(w).find({0, 0, 0, 1, Phase::scores});
  w.controller().update({GoToEvent{at}, Select{{0, 0, 0, Slot::s, 2}}});
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->MouseMoveToPos({1, 1});
    const auto keyboard = [&] { return *w.shell().step_ui().tiles.keyboard; };
    ctx->KeyPress(ImGuiKey_Tab);
    ctx->Yield();
    IM_CHECK(w.shell().step_ui().tiles.focused);
    IM_CHECK(keyboard() == (CellRef{Slot::s, 0, 2}));
    ctx->KeyPress(ImGuiKey_RightArrow);
    IM_CHECK(keyboard() == (CellRef{Slot::s, 0, 3}));
    ctx->KeyPress(ImGuiKey_DownArrow);
    IM_CHECK(keyboard() == (CellRef{Slot::s, 1, 3}));
    ctx->KeyPress(ImGuiKey_UpArrow);
    ctx->KeyPress(ImGuiKey_UpArrow);
    IM_CHECK(keyboard() == (CellRef{Slot::k, 3, 1}));  // over S's edge lies K
    ctx->KeyPress(ImGuiKey_DownArrow);
    ctx->KeyPress(ImGuiKey_LeftArrow);
    ctx->KeyPress(ImGuiKey_LeftArrow);
    IM_CHECK(keyboard() == (CellRef{Slot::q, 0, 1}));  // left of S stands Q
    IM_CHECK_EQ(w.state().view.step.cursor, at);
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield();
    IM_CHECK(w.state().document.selection.slot == Slot::q);
    ctx->KeyPress(ImGuiKey_Escape);
    IM_CHECK(!w.shell().step_ui().tiles.focused);
    ctx->KeyPress(ImGuiKey_RightArrow);
    ctx->Yield();
    IM_CHECK_EQ(w.state().view.step.cursor, at + 1);
  }));
}

TEST(StepWindow, TheScrubberGoesWhereItIsDragged) {
  TestWindow w;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kStep);
    const ImRect bar = ctx->ItemInfo("##step_scrubber").RectFull;
    const float y = bar.GetCenter().y;
    ctx->MouseMoveToPos({bar.Min.x + 10, y});
    ctx->MouseDown();
    ctx->MouseMoveToPos({bar.GetCenter().x, y});
    ctx->Yield(2);
    const auto events = static_cast<EventIndex>(recording(w).events.size());
    IM_CHECK_GT(w.state().view.step.cursor, events / 2 - 3);
    IM_CHECK_LT(w.state().view.step.cursor, events / 2 + 3);
    ctx->MouseMoveToPos({bar.Max.x + 50, y});
    ctx->Yield(2);
    IM_CHECK_EQ(w.state().view.step.cursor, events - 1);
    ctx->MouseMoveToPos({bar.Min.x - 50, y});
    ctx->Yield(2);
    IM_CHECK_EQ(w.state().view.step.cursor, 0U);
    ctx->MouseUp();
  }));
}

// The knob of 8 pixels stands within the track: its middle is 8 off the track's end, which is 8 off the item's.
TEST(StepWindow, TheKnobStaysWithinItsTrackAtBothEnds) {
  TestWindow w;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kStep);
    const ImRect bar = ctx->ItemInfo("##step_scrubber").RectFull;
    const float y = bar.GetCenter().y, last = static_cast<float>(recording(w).events.size() - 1);
    const float first_x = bar.Min.x + 16, last_x = bar.Max.x - 16;
    for (const float share : {0.0F, 0.25F, 1.0F}) {
      const auto event = static_cast<EventIndex>(std::lround(share * last));
      ctx->MouseMoveToPos({first_x + (last_x - first_x) * static_cast<float>(event) / last, y});
      ctx->MouseDown();
      ctx->Yield(2);
      ctx->MouseUp();
      IM_CHECK_EQ(w.state().view.step.cursor, event);
    }
  }));
}

TEST(StepWindow, TheTrackAndTheMapGoWhereTheyAreClicked) {
  TestWindow w;
  w.controller().update({ChoosePreset{"random"}});
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kStep);
    ctx->MouseMoveToPos(cell_at(ctx, "##step_map", 4, 4, 2, 1));
    ctx->MouseClick();
    ctx->Yield(2);
    const EventId id = recording(w).events[w.state().view.step.cursor].id;
    IM_CHECK_EQ(id.i, 2);
    IM_CHECK_EQ(id.j, 1);
    const ImRect track = ctx->ItemInfo("##step_track").RectFull;
    ctx->MouseMoveToPos({track.Min.x + 5, track.GetCenter().y});
    ctx->MouseClick();
    ctx->Yield(2);
    IM_CHECK(recording(w).events[w.state().view.step.cursor].id.phase == Phase::load_q);
    IM_CHECK_EQ(recording(w).events[w.state().view.step.cursor].id.i, 2);
  }));
}

TEST(StepWindow, ThePresetMenuChoosesAPreset) {
  TestWindow w;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kStep);
    ctx->ItemClick("##preset");
    ctx->Yield(2);
    ctx->ItemClick("//$FOCUSED/Causal");
    ctx->Yield(2);
    IM_CHECK_STR_EQ(w.state().document.preset.c_str(), "causal");
    IM_CHECK(w.state().document.problem.mask.causal);
  }));
}

TEST(StepWindow, AFieldCommitsOnEnterAndRefusesWhatWillNotDo) {
  TestWindow w;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kStep);
    ctx->ItemInputValue("##length", "6");
    ctx->Yield(3);
    IM_CHECK_EQ(w.state().document.problem.Lq, 6);
    IM_CHECK_EQ(w.state().document.problem.Lk, 6);
    IM_CHECK(w.shell().step_ui().cache->editing.error.empty());
    ctx->ItemInputValue("##length", "none");
    ctx->Yield(3);
    IM_CHECK_EQ(w.state().document.problem.Lq, 6);
    IM_CHECK(!w.shell().step_ui().cache->editing.error.empty());
    ctx->ItemInputValue("##tile", "3 x 2");
    ctx->Yield(3);
    IM_CHECK_EQ(w.state().document.options.br, 3);
    IM_CHECK_EQ(w.state().document.options.bc, 2);
    IM_CHECK(w.shell().step_ui().cache->editing.error.empty());
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
    ctx->Yield(3);
    IM_CHECK_EQ(w.state().document.options.br, 2);
  }));
}

TEST(StepWindow, ADraggedLabelIsOneUndo) {
  TestWindow w;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kStep);
    const ImVec2 at = ctx->ItemInfo("##length_drag").RectFull.GetCenter();
    ctx->MouseMoveToPos(at);
    ctx->MouseDown();
    for (int n = 1; n <= 4; ++n) {
      ctx->MouseMoveToPos({at.x + 9 * static_cast<float>(n), at.y});
      ctx->Yield();
    }
    ctx->MouseUp();
    ctx->Yield(2);
    IM_CHECK_GT(w.state().document.problem.Lq, 5);
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
    ctx->Yield(2);
    IM_CHECK_EQ(w.state().document.problem.Lq, 4);
  }));
}

TEST(StepWindow, TheOrderMenuAndTheReadingChange) {
  TestWindow w;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kStep);
    ctx->ItemClick("##reading_divided");
    ctx->Yield();
    IM_CHECK(w.state().view.step.reading == OutputReading::divided);
    ctx->ItemClick("##whatif_max");
    ctx->Yield(2);
    IM_CHECK(!w.state().document.options.subtract_max);
    ctx->ItemClick("##whatif_max");
    ctx->ItemClick("//Bar/Kernel");
    ctx->Yield(2);
    ctx->ItemClick("//$FOCUSED/flash-1, FlashAttention-1 order");
    ctx->Yield(3);
    IM_CHECK_STR_EQ(w.state().document.kernel.c_str(), "cpu_flash1");
    IM_CHECK(recording(w).order == Order::flash1);
  }));
}

TEST(StepWindow, InANarrowWindowTheProblemIsBehindAChip) {
  TestWindow w(1280, 720);
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kStep);
    IM_CHECK(!ctx->ItemExists("##preset"));
    ctx->ItemClick("##problem_chip");
    ctx->Yield(2);
    ctx->ItemInputValue("//$FOCUSED/##length", "8");
    ctx->Yield(3);
    IM_CHECK_EQ(w.state().document.problem.Lq, 8);
  }));
}

// A click beside the folded panel closes it: what was typed there is taken all the same.
TEST(StepWindow, ANumberTypedInTheFoldedPanelOutlivesAClickOutside) {
  TestWindow w(1000, 700);
  EXPECT_TRUE(w.run([&](ImGuiTestContext* ctx) {
    ctx->SetRef(kStep);
    ctx->ItemClick("##problem_chip");
    ctx->Yield(2);
    ctx->ItemClick("//$FOCUSED/##length");
    ctx->KeyCharsReplace("12");
    ctx->MouseMoveToPos({40, 600});
    ctx->MouseClick();
    ctx->Yield(3);
    IM_CHECK(!ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel));
    IM_CHECK_EQ(w.state().document.problem.Lq, 12);
    // Escape gives the number up, as in the panel itself.
    ctx->ItemClick("##problem_chip");
    ctx->Yield(2);
    ctx->ItemClick("//$FOCUSED/##length");
    ctx->KeyCharsReplace("9");
    ctx->KeyPress(ImGuiKey_Escape);
    ctx->KeyPress(ImGuiKey_Escape);
    ctx->Yield(3);
    IM_CHECK_EQ(w.state().document.problem.Lq, 12);
  }));
}

TEST(StepWindow, HeadsArePickedFromSmallMultiples) {
  TestWindow w;
  w.controller().update({ChoosePreset{"heads"}, GoToEvent{5}});
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    const EventId before = recording(w).events[w.state().view.step.cursor].id;
    ctx->SetRef(kStep);
    ctx->ItemClick("$$6/##step_head");  // batch 1, head 2
    ctx->Yield(2);
    const EventId id = recording(w).events[w.state().view.step.cursor].id;
    IM_CHECK_EQ(id.b, 1);
    IM_CHECK_EQ(id.h, 2);
    IM_CHECK(id.phase == before.phase);
    IM_CHECK_EQ(w.state().document.selection.h, 2);
  }));
}

TEST(StepWindow, AnInputCellIsTypedAndTheKernelRunsAgain) {
  TestWindow w;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kStep);
    ctx->MouseMoveToPos(cell_at(ctx, "##tile_q", 2, 2, 1, 0));
    ctx->MouseDoubleClick();
    ctx->Yield(2);
    ctx->KeyCharsReplaceEnter("-2.5");
    ctx->Yield(3);
    IM_CHECK_EQ(w.state().document.inputs.edits.size(), 1U);
    IM_CHECK(w.state().document.inputs.edits[0] == (CellEdit{InputTensor::q, 2, -2.5F}));
    IM_CHECK_EQ(recording(w).inputs.q.get(2), -2.5F);
    // Esc changes nothing; what is no number changes nothing.
    ctx->MouseDoubleClick();
    ctx->Yield(2);
    ctx->KeyCharsReplace("7");
    ctx->KeyPress(ImGuiKey_Escape);
    ctx->Yield(2);
    IM_CHECK_EQ(w.state().document.inputs.edits.size(), 1U);
    IM_CHECK_EQ(w.state().document.inputs.edits[0].value, -2.5F);
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
    ctx->Yield(3);
    IM_CHECK_EQ(w.state().document.inputs.edits.size(), 0U);
  }));
}

TEST(StepWindow, AFigureShowsItsPanelAlone) {
  const auto seen = [](StepPanel panel) {
    TestWindow w(720, 420);
    w.shell().show_alone(panel);
    w.draw_frames(4);
    const DrawnText drawn;
    w.draw_frames(1);
    const auto has = [&](std::string_view words) {
      return std::any_of(drawn.texts().begin(), drawn.texts().end(),
                         [&](const std::string& t) { return t.find(words) != std::string::npos; });
    };
    return std::array{has("Learn"), has("Step 1 of"), has("HBM traffic"), has("Hindsight")};
  };
  EXPECT_EQ(seen(StepPanel::run), (std::array{false, true, false, false}));
  EXPECT_EQ(seen(StepPanel::tiles), (std::array{false, false, false, false}));
  EXPECT_EQ(seen(StepPanel::traffic), (std::array{false, false, true, false}));
  EXPECT_EQ(seen(StepPanel::chart), (std::array{false, false, false, true}));
}

}  // namespace
}  // namespace attn
