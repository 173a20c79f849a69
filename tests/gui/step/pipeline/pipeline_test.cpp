// Step through a block's pipeline by mouse and keyboard: forwards and backwards in the recorded order, along one lane,
// by the axis of time and by a state of a loop.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernels/orders/hopper/moments.h"
#include "kernels/orders/hopper/names.h"
#include "tests/environment/asked.h"
#include "tests/environment/contrast.h"
#include "tests/gui/drawn_text.h"
#include "tests/gui/step/phone.h"
#include "tests/gui/step/pipeline/pipeline_window.h"
#include "viz/draw/theme.h"
#include "viz/step/facts/pipeline.h"
#include "viz/step/timeline/pipeline_draw.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;

TEST_F(PipelineWindow, IsWalkedBothWaysInTheRecordedOrder) {
  open();
  ASSERT_EQ(name_of(rec().order), "hopper");
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ctx->SetRef(kStep);
    window->controller().update({GoToEvent{0}});
    for (EventIndex n = 1; n <= 12; ++n) {
      ctx->KeyPress(ImGuiKey_RightArrow);
      IM_CHECK_EQ(at(), n);
    }
    for (EventIndex n = 12; n-- > 0;) {
      ctx->KeyPress(ImGuiKey_LeftArrow);
      IM_CHECK_EQ(at(), n);
    }
    // Along one lane, and by its key tiles.
    const EventIndex issue = step(1, 1, orders::hopper_names().issue_s);
    window->controller().update({GoToEvent{issue}});
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_RightArrow);
    IM_CHECK_EQ(at(), step(1, 1, orders::hopper_names().wait_s));
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_LeftArrow);
    IM_CHECK_EQ(at(), issue);
    ctx->KeyPress(ImGuiMod_Shift | ImGuiKey_RightArrow);
    IM_CHECK_EQ(rec().events[at()].id.j, 2);
    IM_CHECK_EQ(rec().events[at()].id.i, 1);
  }));
}

TEST_F(PipelineWindow, AMomentOfTheAxisAndAStateOfALoopLeadToTheirSteps) {
  open();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ctx->SetRef(kStep);
    const ImRect lanes = ctx->ItemInfo("##step_lanes").RectFull;
    ctx->MouseMoveToPos({lanes.Min.x + lanes.GetWidth() * 0.5F, lanes.GetCenter().y});
    ctx->MouseDown(0);
    ctx->MouseMoveToPos({lanes.Min.x + lanes.GetWidth() * 0.25F, lanes.GetCenter().y});
    ctx->Yield(2);
    ctx->MouseUp(0);
    const auto now = orders::hopper::moment_of(rec(), at()).at;
    const auto last = orders::hopper::moment_of(rec(), static_cast<EventIndex>(rec().events.size() - 1)).at;
    IM_CHECK(now <= last / 4 + 1);
    IM_CHECK(at() > 10);
    // Of a consumer's loop: the next time that one of the two is there.
    const EventIndex before = at();
    ctx->ItemClick("##loop_consumers_2");
    ctx->Yield(2);
    IM_CHECK(at() > before);
    IM_CHECK(rec().events[at()].id.phase == orders::hopper_names().issue_s);
    ctx->ItemClick("##loop_producer_1");
    ctx->Yield(2);
    IM_CHECK(rec().events[at()].id.phase == orders::hopper_names().ask_k);
  }));
}

// What would have become of the block is told as derived, and off leads back to the recorded.
TEST_F(PipelineWindow, WhatIfRunsTheBlockAgainAndSaysThatItIsDerived) {
  open();
  EXPECT_FALSE(has(drawn_at(5), "derived"));
  const auto followed = [&] { return chosen(window->state().document.options, kPipeline); };
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ctx->SetRef(kStep);
    ctx->ItemClick("##whatif_slots");
    ctx->Yield(2);
    IM_CHECK(followed() == 2);
    window->controller().wait();
    ctx->Yield(2);
    ctx->ItemClick("##whatif_late");
    ctx->Yield(2);
    IM_CHECK(followed() == 3);
  }));
  window->controller().wait();
  EXPECT_TRUE(has(drawn_at(5), "derived"));
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ctx->SetRef(kStep);
    ctx->ItemClick("##whatif_late");
    ctx->Yield(2);
    IM_CHECK(followed() == 1);
    ctx->ItemClick("##whatif_turns");
    ctx->Yield(2);
    IM_CHECK(followed() == 4);
  }));
  window->controller().wait();
  EXPECT_FALSE(has(drawn_at(5), "derived")) << "a block without turns was recorded";
  for (const auto& event : rec().events) EXPECT_NE(event.id.phase, orders::hopper_names().wait_turn);
}

// Between its issue and its coming S says so in place of numbers.
TEST_F(PipelineWindow, WhatIsInFlightIsDrawnWithoutNumbers) {
  open();
  const auto& n = orders::hopper_names();
  const auto flights = [&](EventIndex e) {
    drawn_at(e);
    const DrawnText drawn;
    window->draw_frames(1);
    return drawn.count("in flight");  // the legend says it once
  };
  EXPECT_GT(flights(step(0, 1, n.wait_s)), flights(step(0, 0, n.wait_turn)));
}

// At every step, in a small window too: what half of the consumers have let go says so, in one form, and what that
// means.
TEST_F(PipelineWindow, ASlotThatOneConsumerIsDoneWithSaysSoInOneForm) {
  std::size_t told = 0;
  for (const auto& [width, height] : {std::pair(1280, 720), std::pair(1440, 900)}) {
    window.reset();
    open(width, height);
    for (EventIndex e = 0; e < rec().events.size(); ++e) {
      std::size_t expected = 0;
      for (const LoopToken& token : pipeline_view(rec(), e).ring.tokens)
        expected += plain_text(token.words).find(" 1 of 2") != std::string::npos;
      if (expected == 0) continue;
      window->controller().update({GoToEvent{e}});
      window->draw_frames(2);
      const DrawnText drawn;
      window->draw_frames(1);
      EXPECT_EQ(static_cast<std::size_t>(drawn.count(" 1 of 2")), expected) << e << ", " << width;
      EXPECT_EQ(drawn.count("1 of 2: consumers done with it"), 1) << e << ", " << width;
      told += expected;
    }
  }
  EXPECT_GT(told, 100U);
}

// The ring reaches 4 logical pixels beyond its node.
TEST_F(PipelineWindow, NoTagLiesOnTheRingAroundTheLiveNode) {
  open(1280, 720);
  std::size_t seen = 0;
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ctx->SetRef(kStep);
    for (EventIndex e = 0; e < rec().events.size(); e += 3) {
      window->controller().update({GoToEvent{e}});
      ctx->Yield(2);
      const Loop ring = pipeline_view(rec(), e).ring;
      for (std::size_t n = 0; n < ring.tokens.size(); ++n) {
        if (!ring.tokens[n].live) continue;
        const std::string tag = fmt::format("##loop_ring_token_{}", n),
                          node = fmt::format("##loop_ring_{}", ring.tokens[n].node);
        if (!ctx->ItemExists(tag.c_str()) || !ctx->ItemExists(node.c_str())) continue;
        const ImRect a = ctx->ItemInfo(tag.c_str()).RectFull;
        ImRect b = ctx->ItemInfo(node.c_str()).RectFull;
        b.Expand(4 * style().scale);
        IM_CHECK_NO_RET(!a.Overlaps(b));
        ++seen;
      }
    }
  }));
  EXPECT_GT(seen, 10U);
}

// A slot leads to where it was filled, one in flight to its request, and a state of the ring to the next one in it.
TEST_F(PipelineWindow, ASlotLeadsToTheStepThatItWasFilledWith) {
  open();
  const auto& n = orders::hopper_names();
  const EventIndex now = step(0, 2, n.wait_s);  // slot 0 holds K 2, which consumer 0 reads; V 2 is in flight in slot 1
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ctx->SetRef(kStep);
    window->controller().update({GoToEvent{now}});
    ctx->Yield(2);
    const DrawnText drawn;
    ctx->MouseMove("##loop_ring_token_0");
    ctx->SleepNoSkip(1.0F, 1.0F / 30);
    IM_CHECK(std::ranges::any_of(drawn.texts(), [](const auto& t) { return t.starts_with("Slot 0 holds K2 since "); }));
    ctx->ItemClick("##loop_ring_token_0");
    ctx->Yield(2);
    IM_CHECK_EQ(at(), step(0, 2, n.wait_turn));
    window->controller().update({GoToEvent{now}});
    ctx->Yield(2);
    ctx->ItemClick("##loop_ring_token_1");
    ctx->Yield(2);
    IM_CHECK(rec().events[at()].id.phase == n.ask_v && rec().events[at()].id.j == 2);
    window->controller().update({GoToEvent{now}});
    ctx->Yield(2);
    ctx->ItemClick("##loop_ring_1");
    ctx->Yield(2);
    IM_CHECK(at() > now);
    IM_CHECK(rec().events[at()].id.phase == n.ask_v || rec().events[at()].id.phase == n.ask_k);
  }));
}

// The number of the axis at the present step stays in sight.
TEST_F(PipelineWindow, TheLineOfThePresentStepHidesNoNumberOfTheAxis) {
  for (const auto& [width, height] : {std::pair(1280, 720), std::pair(1440, 900)}) {
    window.reset();
    open(width, height);
    std::set<std::string> axis;
    for (const EventIndex e : {EventIndex{0}, EventIndex{60}, EventIndex{71}, EventIndex{120}, EventIndex{250}}) {
      std::set<std::string> numbers;
      for (const std::string& text : drawn_at(e))
        if (text.size() >= 4 && text.ends_with("000") && text.find_first_not_of("0123456789") == text.npos)
          numbers.insert(text);
      if (e == 0) axis = numbers;
      EXPECT_EQ(numbers, axis) << e;
      EXPECT_GE(numbers.size(), 8U) << e;
    }
  }
}

// At 200 % of 1920 x 1080: in one row each, with all their tokens.
TEST_F(PipelineWindow, ALowWindowHasTheLoopsInARowEach) {
  open(960, 540);
  const EventIndex now = step(0, 2, orders::hopper_names().wait_s);
  const std::vector<std::string> texts = drawn_at(now);
  for (const char* words :
       {"Producer", "Ring", "Consumers", "0: tile 2", "1: tile 1", "free", "in flight", "landed", "read", "turn"})
    EXPECT_TRUE(has(texts, words)) << words;
  EXPECT_TRUE(has(drawn_at(60), " 1 of 2")) << "a slot that stands alone";
  drawn_at(now);
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ctx->SetRef(kStep);
    float top = 0;
    for (const auto& [loop, count] : {std::pair("producer", 4), std::pair("ring", 4), std::pair("consumers", 9)})
      for (int n = 0; n < count; ++n) {
        const ImRect box = ctx->ItemInfo(fmt::format("##loop_{}_{}", loop, n).c_str()).RectFull;
        if (top == 0) top = box.Min.y;
        IM_CHECK_EQ(box.Min.y, top);
        IM_CHECK_GT(box.GetWidth(), 38.0F);
      }
    ctx->ItemClick("##loop_ring_token_0");
    ctx->Yield(2);
    IM_CHECK(at() < now);
  }));
}

// In a window that has no room even for that they are behind a chip of the strip.
TEST_F(PipelineWindow, AWindowTooLowForTheLoopsHasThemBehindAChip) {
  open(720, 450);
  const auto names = [&] {
    const DrawnText drawn;
    window->draw_frames(1);
    return drawn.count("Producer") + drawn.count("Ring") + drawn.count("Consumers");
  };
  EXPECT_EQ(names(), 0);
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ctx->SetRef(kStep);
    ctx->ItemClick("##charts_chip");
    ctx->Yield(2);
    const DrawnText drawn;
    ctx->Yield();
    IM_CHECK_EQ(drawn.count("Loops"), 1);
    for (const char* words : {"Producer", "Ring", "Consumers"}) IM_CHECK_EQ(drawn.count(words), 1);
  }));
}

TEST(PipelineToken, IsLegibleOnItsFillInBothThemes) {
  for (const Theme theme : {Theme::dark, Theme::light}) {
    const ImVec4 card = ImGui::ColorConvertU32ToFloat4(colour(theme, Token::card)),
                 ink = ImGui::ColorConvertU32ToFloat4(colour(theme, kTokenInk));
    for (const ImU32 hue :
         {colour(theme, TensorColour::k), colour(theme, TensorColour::v), colour(theme, Token::dim)}) {
      const ImVec4 c = ImGui::ColorConvertU32ToFloat4(hue);
      const auto over = [](float top, float below) { return kTokenFill * top + (1 - kTokenFill) * below; };
      const ImVec4 fill(over(c.x, card.x), over(c.y, card.y), over(c.z, card.z), 1);
      EXPECT_GE(test::contrast(fill, ink), 4.5);
    }
  }
}

TEST_F(PipelineWindow, BothConsumersAndTheProducerAreNamed) {
  open();
  const auto texts = drawn_at(step(1, 1, Phase::scores));
  for (const char* text : {"Consumer 0", "Consumer 1", "Producer", "Ring", "Consumers", "producer", "consumer 0",
                           "consumer 1", "slots 0 to 3"})  // slots this low are named together
    EXPECT_TRUE(has(texts, text)) << text;
}

// ---- between narrow edges: no word is written over another, none leaves its box or is cut

constexpr const char* kHopper = "attn1,preset=random,L=4/32,D=4,br=2,bc=4,set=pipeline:hopper";

// A phone, upright and on its side, and a tablet: so high that the loops need no scrolling where that is possible.
constexpr PhoneSize kNarrow[] = {{360, 1500}, {390, 1500}, {360, 593}, {844, 343}, {820, 1133}, {1280, 800}};

// What stands left of the lanes.
std::vector<DrawnText::Place> lane_names(const DrawnText& drawn, const ImRect& lanes) {
  std::vector<DrawnText::Place> names;
  for (const auto& place : drawn.places())
    if (place.left > lanes.Min.x - 120 && place.right <= lanes.Min.x && place.bottom > lanes.Min.y &&
        place.top < lanes.Max.y)
      names.push_back(place);
  return names;
}

TEST(PhonePipeline, NoNameOfALaneStandsOnAnother) {
  constexpr float kBetweenLetters = 3;  // of two lines' rectangles, over and under their letters
  for (const PhoneSize& size : kNarrow) {
    Phone w(size, kHopper);
    w.settle();
    ImRect lanes;
    ASSERT_TRUE(w.run([&](ImGuiTestContext* ctx) { lanes = ctx->ItemInfo("**/##step_lanes").RectFull; }));
    for (EventIndex e = 0; e < recording(w).events.size(); ++e) {
      if (test::left_to_release(e, 6)) continue;
      w.go_to(e);
      const DrawnText drawn;
      w.draw_frames(1);
      const auto names = lane_names(drawn, lanes);
      EXPECT_GE(names.size(), 3U) << "step " << e + 1 << " at " << size.width;
      for (std::size_t n = 0; n < names.size(); ++n)
        for (std::size_t k = 0; k < n; ++k)
          EXPECT_TRUE(names[n].top >= names[k].bottom - kBetweenLetters ||
                      names[k].top >= names[n].bottom - kBetweenLetters)
              << "step " << e + 1 << " at " << size.width << ": " << names[n].text << " over " << names[k].text;
    }
  }
}

TEST(PhonePipeline, NoWordOfTheLoopsStandsOnAnotherOrIsCut) {
  for (const PhoneSize& size : {kNarrow[0], kNarrow[1], kNarrow[4]}) {
    Phone w(size, kHopper);
    w.settle();
    const std::string source = pipeline_note(recording(w)).source;
    for (EventIndex e = 0; e < recording(w).events.size(); ++e) {
      if (test::left_to_release(e, 6)) continue;
      w.go_to(e);
      const DrawnText drawn;
      w.draw_frames(1);
      const std::string at = "step " + std::to_string(e + 1) + " at " + std::to_string(size.width);
      const auto& places = drawn.places();
      const float top = std::ranges::find(places, "Producer", &DrawnText::Place::text)->top;
      for (std::size_t n = 0; n < places.size(); ++n) {
        if (places[n].top < top) continue;
        EXPECT_EQ(places[n].text.find("…"), std::string::npos) << at << ": " << places[n].text;
        EXPECT_LE(places[n].right, static_cast<float>(size.width) - 12) << at << ": " << places[n].text;
        for (std::size_t k = 0; k < n; ++k)
          EXPECT_FALSE(places[k].top >= top && collide(places[n], places[k]))
              << at << ": " << places[n].text << " over " << places[k].text;
      }
      for (const char* words : {"Producer", "Ring", "Consumers"}) EXPECT_GT(drawn.count(words), 0) << at;
    }
    const std::string last = source.substr(source.rfind(' ') + 1);
    const DrawnText drawn;
    w.draw_frames(1);
    EXPECT_TRUE(std::ranges::any_of(drawn.places(), [&](const auto& place) { return place.text.ends_with(last); }))
        << source;
  }
}

// A node and a token alike: what is drawn within its edges is its own.
TEST(PhonePipeline, TheWordsOfANodeStandWithinIt) {
  for (const PhoneSize& size : {kNarrow[0], kNarrow[1], kNarrow[4]}) {
    Phone w(size, kHopper);
    w.settle();
    w.go_to(60);
    EXPECT_TRUE(w.run([&](ImGuiTestContext* ctx) {
      const DrawnText drawn;
      ctx->Yield();
      std::size_t nodes = 0;
      for (const auto& [loop, count] : {std::pair("producer", 4), std::pair("consumers", 9)})
        for (int n = 0; n < count; ++n) {
          const std::string id = "**/##loop_" + std::string(loop) + "_" + std::to_string(n);
          const ImRect box = ctx->ItemInfo(id.c_str()).RectFull;
          for (const auto& place : drawn.places()) {
            const float y = (place.top + place.bottom) / 2, x = (place.left + place.right) / 2;
            if (!box.Contains(ImVec2(x, y))) continue;
            ++nodes;
            IM_CHECK_GE_NO_RET(place.left, box.Min.x);
            IM_CHECK_LE_NO_RET(place.right, box.Max.x);
            IM_CHECK_GE_NO_RET(place.size, 10.0F);
          }
        }
      IM_CHECK_GE(nodes, 13U);
    })) << size.width;
  }
}

}  // namespace
}  // namespace attn
