// A ring in Step by mouse and keyboard: ranks side by side, turns, the map, the Problem panel.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "app/state/string/state_string.h"
#include "kernels/model/ring.h"
#include "kernels/recording/lanes.h"
#include "tests/gui/drawn_text.h"
#include "tests/gui/gui_fixture.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;

Document ring_document() {
  Document d;
  d.preset = "";
  d.problem.Lq = d.problem.Lk = 16;
  d.problem.D = d.problem.Dv = 4;
  d.problem.mask.causal = true;
  d.options.br = d.options.bc = 2;
  choose(d.options, kRanks, 4);
  choose(d.options, kDeal, 1);
  d.inputs.generator = Generator::normal;
  d.inputs.seed = 51;
  return d;
}

void show_ring(TestWindow& w) {
  const Document d = ring_document();
  w.controller().update({SetProblem{d.problem, 0}, SetInputs{d.inputs, 0}, SetOptions{d.options, 0}});
}

std::int64_t turn_now(TestWindow& w) {
  const Recording& rec = recording(w);
  return turn_of(rec, rec.events[w.state().view.step.cursor].id);
}

TEST(RingWindow, KeysStepAllRanksTurnsAndOneRank) {
  TestWindow w;
  show_ring(w);
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->Yield(4);
    ctx->SetRef(kStep);
    IM_CHECK_EQ(std::string(name_of(recording(w).order)), "ring");
    ctx->KeyPress(ImGuiKey_Home);
    ctx->KeyPress(ImGuiKey_RightArrow);
    ctx->KeyPress(ImGuiKey_RightArrow);
    const EventIndex now = w.state().view.step.cursor;
    IM_CHECK_EQ(now, 7U);  // four sends, four loads
    IM_CHECK_EQ(std::string(name_of(recording(w).events[now].id.phase)), "load_q");
    IM_CHECK_EQ(*recording(w).lane_of(now), 3);  // the last of them has done it
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_RightArrow);
    IM_CHECK_EQ(w.state().view.step.cursor, now + 1);
    ctx->KeyPress(ImGuiMod_Shift | ImGuiKey_RightArrow);
    IM_CHECK_EQ(turn_now(w), 1);
    ctx->KeyPress(ImGuiMod_Shift | ImGuiKey_RightArrow);
    IM_CHECK_EQ(turn_now(w), 2);
    ctx->KeyPress(ImGuiMod_Shift | ImGuiKey_LeftArrow);
    IM_CHECK_EQ(turn_now(w), 1);
    ctx->KeyPress(ImGuiKey_End);
    IM_CHECK_EQ(turn_now(w), 4);
  }));
}

TEST(RingWindow, AClickOnTheMapGoesWhereThatIsComputed) {
  TestWindow w;
  show_ring(w);
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->Yield(4);
    ctx->SetRef(kStep);
    const ImRect map = ctx->ItemInfo("##ring_map").RectFull;
    const auto square = [&](int queries, int keys) {
      return ImVec2{map.Min.x + map.GetWidth() * (static_cast<float>(keys) + 0.5F) / 8,
                    map.Min.y + map.GetHeight() * (static_cast<float>(queries) + 0.5F) / 8};
    };
    // Chunk 5 is rank 2's, chunk 1 rank 1's: turn 1.
    ctx->MouseMoveToPos(square(5, 1));
    ctx->Yield(2);
    ctx->MouseClick();
    ctx->Yield(2);
    const EventId& id = recording(w).events[w.state().view.step.cursor].id;
    IM_CHECK_EQ(id.i, 5);
    IM_CHECK_EQ(id.j, 1);
    IM_CHECK_EQ(turn_now(w), 1);
    // What the mask hides is nowhere computed.
    const EventIndex before = w.state().view.step.cursor;
    ctx->MouseMoveToPos(square(1, 5));
    ctx->Yield(2);
    ctx->MouseClick();
    ctx->Yield(2);
    IM_CHECK_EQ(w.state().view.step.cursor, before);
  }));
}

TEST(RingWindow, TheProblemPanelDealsAnewAndMakesTheRingSmaller) {
  TestWindow w;
  show_ring(w);
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->Yield(4);
    ctx->SetRef(kStep);
    IM_CHECK(deals_zigzag(w.state().document.options));
    ctx->ItemClick("##deal");
    ctx->Yield(2);
    ctx->ItemClick("//$FOCUSED/in order");
    ctx->Yield(4);
    IM_CHECK(!deals_zigzag(w.state().document.options));
    ctx->SetRef(kStep);
    ctx->ItemClick("##ranks");
    ctx->Yield(2);
    ctx->ItemClick("//$FOCUSED/ring of 2 ranks");
    ctx->Yield(4);
    IM_CHECK_EQ(ranks_of(w.state().document.options), 2);
    IM_CHECK_EQ(ranks_of(recording(w).options), 2);
  }));
}

// Of a causal ring of 4 dealt in chunks of 2 tiles by 2: 9 pairs of tiles for each rank by zigzag, and 3, 7, 11 and 15
// in order. Each rank's bar has its name and its number by both, wherever the card has room for the map.
TEST(RingWindow, EveryBarOfWorkIsNamedAndCountedInTheSmallestWindow) {
  TestWindow w(1280, 720);
  show_ring(w);
  w.draw_frames(6);
  const DrawnText drawn;
  w.draw_frames(1);
  const auto bars = [&](const std::string& text, float from, float to) {
    return std::ranges::count_if(
        drawn.places(), [&](const auto& p) { return p.text == text && p.top > from && p.top < to && p.left > 900; });
  };
  // A paragraph is drawn word by word.
  const auto top_of = [&](const std::string& word) {
    const auto place =
        std::ranges::find_if(drawn.places(), [&](const auto& p) { return p.text.starts_with(word) && p.left > 900; });
    return place == drawn.places().end() ? -1 : place->top;
  };
  const float from = top_of("Work"), to = top_of("finishes");
  ASSERT_GT(from, 0);
  ASSERT_GT(to, from);
  for (const char* rank : {"R0", "R1", "R2", "R3"}) EXPECT_EQ(bars(rank, from, to), 2) << rank;
  EXPECT_EQ(bars("9", from, to), 4);
  for (const char* pairs : {"3", "7", "11", "15"}) EXPECT_EQ(bars(pairs, from, to), 1) << pairs;
}

TEST(RingWindow, AStateStringOpensTheSameView) {
  TestWindow w;
  show_ring(w);
  w.controller().update({StepBy{StepUnit::key_tile, 1}, StepBy{StepUnit::phase, 1}});
  const auto text = state_string(w.state());
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_NE(text->find("deal:zigzag/ranks:4"), std::string::npos) << *text;
  const auto other = open_state_string(*text);
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_EQ(other->document.options, w.state().document.options);
  EXPECT_EQ(other->view.step.cursor, w.state().view.step.cursor);
  EXPECT_GT(other->view.step.cursor, 0U);
}

// A backward: stepped to the end and back, left by the panel, kept in a state string.
TEST(RingWindow, ABackwardRingIsSteppedAndKept) {
  TestWindow w;
  Document d = ring_document();
  d.kernel = "cpu_flash_bwd";
  d.problem.pass = Pass::backward;
  w.controller().update(
      {ChooseKernel{d.kernel}, SetProblem{d.problem, 0}, SetInputs{d.inputs, 0}, SetOptions{d.options, 0}});
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->Yield(4);
    ctx->SetRef(kStep);
    IM_CHECK_EQ(std::string(name_of(recording(w).order)), "backward-ring");
    ctx->KeyPress(ImGuiKey_Home);
    for (int turn = 1; turn < 4; ++turn) {
      ctx->KeyPress(ImGuiMod_Shift | ImGuiKey_RightArrow);
      IM_CHECK_EQ(turn_now(w), turn);
    }
    ctx->KeyPress(ImGuiKey_End);
    IM_CHECK_EQ(turn_now(w), 4);
    for (int turn = 3; turn >= 0; --turn) {
      ctx->KeyPress(ImGuiMod_Shift | ImGuiKey_LeftArrow);
      ctx->KeyPress(ImGuiMod_Shift | ImGuiKey_LeftArrow);
    }
    IM_CHECK_EQ(turn_now(w), 0);
    ctx->ItemClick("##ranks");
    ctx->Yield(2);
    ctx->ItemClick("//$FOCUSED/no ring");
    ctx->Yield(4);
    IM_CHECK_EQ(std::string(name_of(recording(w).order)), "backward");
  }));
  w.controller().update({SetOptions{d.options, 0}});
  w.controller().update({StepBy{StepUnit::key_tile, 1}, StepBy{StepUnit::phase, 1}});
  const auto text = state_string(w.state());
  ASSERT_TRUE(text) << text.error().message;
  const auto other = open_state_string(*text);
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_EQ(other->document.kernel, "cpu_flash_bwd");
  EXPECT_EQ(other->document.options, w.state().document.options);
  EXPECT_EQ(other->view.step.cursor, w.state().view.step.cursor);
  EXPECT_GT(other->view.step.cursor, 0U);
}

// A heading with nothing under it says nothing. Sixteen chunks are too narrow for a name each.
TEST(RingWindow, TheMapOfManyRanksNamesSomeOfItsChunks) {
  for (const auto& [width, height] : {std::pair{1280, 720}, {1440, 900}}) {
    TestWindow w(width, height);
    Document d = ring_document();
    d.problem.Lq = d.problem.Lk = 32;
    choose(d.options, kRanks, 8);
    w.controller().update({SetProblem{d.problem, 0}, SetInputs{d.inputs, 0}, SetOptions{d.options, 0}});
    w.draw_frames(4);
    const DrawnText drawn;
    w.draw_frames(1);
    ASSERT_TRUE(drawn.texts().contains("keys: chunk and rank"));
    EXPECT_TRUE(drawn.texts().contains("0 R0"));
    std::vector<DrawnText::Place> names;
    const auto heading = std::ranges::find(drawn.places(), "keys: chunk and rank", &DrawnText::Place::text);
    for (const DrawnText::Place& p : drawn.places())
      if (p.text.size() == 2 && p.text[0] == 'R' && p.top >= heading->bottom - 2 && p.top < heading->bottom + 30)
        names.push_back(p);
    EXPECT_GE(names.size(), 4U) << width;
    for (std::size_t a = 0; a < names.size(); ++a)
      for (std::size_t b = a + 1; b < names.size(); ++b) EXPECT_FALSE(names[a].meets(names[b])) << names[a].text;
  }
}

}  // namespace
}  // namespace attn
