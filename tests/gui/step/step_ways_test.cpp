// Ways in Step: out of what cannot be recorded, to split keys, and to what a sentence's last word attends to.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "kernels/model/options.h"
#include "kernels/model/order_row.h"
#include "tests/gui/drawn_text.h"
#include "tests/gui/gui_fixture.h"
#include "viz/step/timeline/sentence.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;

TEST(StepWays, AKernelThatDoesNotTakeThePassOffersOneThatDoes) {
  TestWindow w(1440, 900, "", false, {}, {}, {}, "attn1,pass=backward,kernel=cpu_flash");
  w.draw_frames(3);
  ASSERT_EQ(w.controller().model().recording, nullptr);
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kStep);
    ctx->ItemClick("##use_other");
    ctx->Yield(3);
    IM_CHECK(w.controller().model().recording != nullptr);
    IM_CHECK(recording(w).problem.pass == Pass::backward);
  }));
}

TEST(StepWays, KeysAreSplitFromTheFirstWindowOn) {
  TestWindow w;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kStep);
    ctx->ItemClick("##whatif_parts");
    ctx->Yield(3);
    IM_CHECK_EQ(splits_of(w.state().document.options), 2);
    IM_CHECK(order_row(recording(w).order).abreast == Abreast::parts);
    IM_CHECK(ctx->ItemExists("##splits"));
  }));
}

// Scores near 700: e^S is beyond f32 in the first P, which is step 6.
TEST(StepWays, WithoutTheMaximumThePanelSaysWhatIsWrongFirstAndGoesThere) {
  TestWindow w(1280, 720, "", false, {}, {}, {}, "attn1,preset=large_logits");
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kStep);
    ctx->ItemClick("##problem_chip");
    ctx->Yield(3);
    IM_CHECK(!ctx->ItemExists("//$FOCUSED/##whatif_outcome"));
    ctx->ItemClick("//$FOCUSED/##whatif_max");
    ctx->Yield(20);
    ctx->ItemClick("//$FOCUSED/##whatif_outcome");
    ctx->Yield(3);
    IM_CHECK_EQ(w.state().view.step.cursor, 5U);
    IM_CHECK(recording(w).events[5].id.phase == Phase::weights);
    IM_CHECK(w.state().document.selection.slot == Slot::p);
  }));
}

TEST(StepWays, PartsOfKeysLeadToTheFactorsOfTheirMergeAndLeaveTheOtherQuestions) {
  TestWindow w;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kStep);
    ctx->ItemClick("##whatif_parts");
    ctx->Yield(3);
    IM_CHECK(ctx->ItemExists("##whatif_max"));
    ctx->ItemClick("##whatif_outcome");
    ctx->Yield(3);
    IM_CHECK(recording(w).events[w.state().view.step.cursor].id.phase == *phase_named("merge_second"));
    ctx->ItemClick("##whatif_parts");
    ctx->Yield(3);
    IM_CHECK_EQ(splits_of(w.state().document.options), 1);
    IM_CHECK(!ctx->ItemExists("##whatif_outcome"));
  }));
}

// The chip closes it too, and does not open it again with the same click.
TEST(StepWays, AClickBesideTheOpenProblemPanelClosesItAndTakesEffect) {
  TestWindow w(1280, 720);
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kStep);
    const ImVec2 chip = ctx->ItemInfo("##problem_chip").RectFull.GetCenter();
    const ImVec2 next = ctx->ItemInfo("##step_next").RectFull.GetCenter();
    const auto click = [&](ImVec2 at) {
      ctx->MouseMoveToPos(at);
      ctx->MouseClick();
      ctx->Yield(3);
    };
    const auto is_open = [&] { return ctx->ItemExists("//$FOCUSED/##preset"); };
    click(chip);
    IM_CHECK(is_open());
    click(chip);
    IM_CHECK(!is_open());
    click(chip);
    IM_CHECK(is_open());
    const EventIndex before = w.state().view.step.cursor;
    click(next);
    IM_CHECK(!is_open());
    IM_CHECK_EQ(w.state().view.step.cursor, before + 1);
  }));
}

// The field stands over the first cell of Q, whichever way it was asked for.
TEST(StepWays, OwnNumbersAreTypedFromThePencilThePaletteAndTheInputsMenu) {
  for (const int way : {0, 1, 2}) {
    TestWindow w;
    EXPECT_TRUE(w.run([&](Ctx* ctx) {
      ctx->SetRef(kStep);
      if (way == 0) {
        ctx->ItemClick("##pencil_q");
      } else if (way == 1) {
        choose_in_palette(ctx, "own numbers into Q");
      } else {
        ctx->ItemClick("##generator");
        ctx->Yield(2);
        ctx->ItemClick("//$FOCUSED/type into the tiles");
      }
      ctx->Yield(3);
      IM_CHECK(w.shell().step_ui().tiles.editing.has_value());
      ctx->KeyCharsReplaceEnter("-2.5");
      ctx->Yield(3);
      IM_CHECK_EQ(w.state().document.inputs.edits.size(), 1U);
      IM_CHECK(w.state().document.inputs.edits[0] == (CellEdit{InputTensor::q, 0, -2.5F}));
    })) << way;
  }
}

// Of a pass that no longer has Q the first step has: the palette goes there.
TEST(StepWays, OwnNumbersAreTypedWhereTheStepHoldsNoInput) {
  TestWindow w(1440, 900, "", false, {}, {}, {}, "attn1,kernel=cpu_sequential,br=2,bc=2");
  w.draw_frames(2);
  const Recording& rec = recording(w);
  EventIndex weights = 0;
  while (rec.events[weights].id.phase != Phase::weights) ++weights;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    w.controller().update({GoToEvent{weights}});
    ctx->Yield(2);
    choose_in_palette(ctx, "own numbers into Q");
    ctx->Yield(4);
    IM_CHECK(w.shell().step_ui().tiles.editing.has_value());
  }));
}

// What a lesson tells is not typed over, and what its beat folds away comes back with Step.
TEST(StepWays, ALessonLeavesNoTraceInStep) {
  TestWindow w;
  const auto drawn = [&] {
    w.draw_frames(4);
    const DrawnText texts;
    w.draw_frames(1);
    return texts.texts();
  };
  const std::set<std::string> before = drawn();
  EXPECT_FALSE(w.shell().step_ui().tiles.pencils.empty());
  w.controller().update({StartLesson{"by-hand", ""}});
  EXPECT_NE(drawn(), before);
  EXPECT_TRUE(w.shell().step_ui().tiles.pencils.empty());
  w.controller().update({LeaveLesson{}, ChooseWorkspace{Workspace::step}});
  EXPECT_EQ(drawn(), before);
}

// Words open where there is something to see: the last word, at the end of its last tile, by the arcs of both heads.
TEST(StepWays, WordsOpenAtTheLastWordWithAllThatItAttendsTo) {
  TestWindow w;
  w.controller().update({ChoosePreset{"words"}});
  w.draw_frames(4);
  const Recording& rec = recording(w);
  const StepPlace at = place_of(rec, w.state().view.step.cursor, w.state().document.selection);
  EXPECT_EQ(at.row, rec.problem.Lq - 1);
  EXPECT_EQ(w.state().view.step.chart, StepChart::sentence);
  const SentenceScene scene = sentence_scene(rec, at, true);
  ASSERT_EQ(scene.heads.size(), 2U);
  for (const SentenceHead& head : scene.heads)
    EXPECT_EQ(head.arcs.size(), static_cast<std::size_t>(rec.problem.Lk)) << "head " << head.h;
  // Each share stands at its own word, and the letters have their room.
  const DrawnText drawn;
  w.draw_frames(1);
  const auto word_x = [&](std::int32_t key) {
    ImRect box;
    EXPECT_TRUE(w.run([&](Ctx* ctx) {
      ctx->SetRef(kStep);
      box = ctx->ItemInfo(("$$" + std::to_string(key) + "/##sentence_word").c_str()).RectFull;
    }));
    return box.GetCenter().x;
  };
  for (const SentenceHead& head : scene.heads) {
    for (const SentenceArc& arc : head.arcs) {
      if (arc.share < 0.05) continue;
      const float x = word_x(arc.key);
      EXPECT_TRUE(std::ranges::any_of(drawn.places(),
                                      [&](const DrawnText::Place& p) {
                                        return p.text == arc_share_text(arc.share) &&
                                               std::abs((p.left + p.right) / 2 - x) < 2;
                                      }))
          << head.h << " " << arc.key << " " << arc_share_text(arc.share);
    }
  }
  EXPECT_TRUE(drawn.texts().contains("Letters"));
}

// A word of an earlier query tile is read with all of its weights, not in the midst of its keys.
TEST(StepWays, AClickedWordShowsWhatItFinallyAttendsTo) {
  TestWindow w;
  w.controller().update({ChoosePreset{"words"}});
  w.draw_frames(4);
  const Recording& rec = recording(w);
  for (const std::int32_t word : {1, rec.options.br}) {
    EXPECT_TRUE(w.run([&](Ctx* ctx) {
      ctx->SetRef(kStep);
      ctx->ItemClick(("$$" + std::to_string(word) + "/##sentence_word").c_str());
      ctx->Yield(3);
    }));
    const StepPlace at = place_of(rec, w.state().view.step.cursor, w.state().document.selection);
    EXPECT_EQ(at.row, word);
    for (EventIndex e = at.event + 1; e < rec.events.size(); ++e)
      ASSERT_FALSE(rec.events[e].id.h == at.h && rec.events[e].id.i == at.i) << "more of the row's keys follow";
    const SentenceScene scene = sentence_scene(rec, at, true);
    const SentenceHead& own = scene.heads[static_cast<std::size_t>(at.h)];
    ASSERT_EQ(own.arcs.size(), static_cast<std::size_t>(word) + 1) << "the words up to its own";
    double sum = 0;
    for (const SentenceArc& arc : own.arcs) sum += arc.share;
    EXPECT_NEAR(sum, 1, 1e-5);
  }
}

}  // namespace
}  // namespace attn
