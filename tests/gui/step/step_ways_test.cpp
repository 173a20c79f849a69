// Ways in Step: out of what cannot be recorded, to split keys, and to what a sentence's last word attends to.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
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

}  // namespace
}  // namespace attn
