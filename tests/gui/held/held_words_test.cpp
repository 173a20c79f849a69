// What is held in a hand has little room for words: none stands over another, a run that is wrong says so wherever its
// page is scrolled, and no sentence ends before its point.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/environment/asked.h"
#include "tests/gui/step/phone.h"
#include "viz/step/bars/strip.h"
#include "viz/step/step_cache.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;

constexpr const char* kHopper = "attn1,preset=random,L=4/32,D=4,br=2,bc=4,set=pipeline:hopper,cursor=60";
constexpr const char* kWrong = "attn1,preset=late_outlier,kernel=museum_alpha_on_l_only,cursor=14";

// Of a page that is scrolled, else of all.
std::vector<DrawnText::Place> words_of_page(const DrawnText& drawn) {
  const ImGuiWindow* page = child_window("page");
  std::vector<DrawnText::Place> places = drawn.places();
  std::erase_if(places, [&](const auto& place) {
    return page != nullptr &&
           (place.left < page->Pos.x - 1 || place.bottom < page->Pos.y || place.top > page->Pos.y + page->Size.y);
  });
  return places;
}

TEST(HeldPipeline, NoWordsOfItsTilesStandOverOthers) {
  std::size_t steps = 0;
  for (const PhoneSize& size : kHeld) {
    Phone w(size, kHopper);
    w.settle();
    for (EventIndex e = 0; e < recording(w).events.size(); e += 3) {
      if (test::left_to_release(steps++, 4)) continue;
      w.go_to(e);
      const DrawnText drawn;
      w.draw_frames(1);
      expect_apart(words_of_page(drawn), "step " + std::to_string(e + 1) + " at " + std::to_string(size.width));
    }
  }
}

bool in_sight(const DrawnText& drawn, const std::string& words, float bottom) {
  const ImGuiWindow* page = child_window("page");
  return std::ranges::any_of(drawn.places(), [&](const auto& place) {
    if (place.text.find(words) == std::string::npos || place.bottom > bottom) return false;
    const bool beside = page == nullptr || place.bottom <= page->Pos.y + 1 || place.right <= page->Pos.x;
    return beside || (place.top >= page->Pos.y && place.bottom <= page->Pos.y + page->Size.y);
  });
}

TEST(HeldExhibit, SaysThatItIsWrongAndByHowMuchHoweverItIsOpened) {
  for (const PhoneSize& size : kHeld) {
    Phone w(size, kWrong);
    w.settle();
    for (const EventIndex e : {14, 0, 3, 123, 14}) {
      w.go_to(e);
      const DrawnText drawn;
      w.draw_frames(1);
      for (const char* words : {"Deliberately wrong", "4.73"})
        EXPECT_TRUE(in_sight(drawn, words, static_cast<float>(size.height)))
            << words << " at step " << e + 1 << " of " << size.width;
    }
  }
}

void answer_first_exhibit(Phone& w) {
  w.controller().update({StartLesson{"bug-museum", "first"}});
  w.settle();
  w.controller().update({ShowAnswer{}});
  w.settle();
}

// "Row 1, column 0: the old output is..." is no sentence: what has no room is scrolled.
TEST(HeldExhibit, ItsSentenceIsReadToItsEndInALessonsRun) {
  for (const PhoneSize& size : {kHeld[1], kHeld[2]}) {
    Phone w(size);
    answer_first_exhibit(w);
    EXPECT_TRUE(w.run([&](Ctx* ctx) {
      ctx->ItemClick("**/##lesson_run");
      ctx->Yield(6);
      if (ImGuiWindow* sentence = child_window("sentence")) {
        ctx->SetRef(sentence);
        ctx->ScrollToBottom("");
        ctx->Yield(2);
      }
      const DrawnText drawn;
      ctx->Yield();
      const Recording& rec = recording(w);
      const Selection& selection = w.state().document.selection;
      const StepPlace at = place_of(rec, w.state().view.step.cursor, selection);
      const StripScene strip =
          strip_scene(rec, at, step_values(rec, at, selection, nullptr), w.shell().step_ui().texts);
      const std::string& last = strip.sentence.back().text;
      const std::string word = last.substr(last.rfind(' ') + 1);
      const bool folded = size.width < 480 && drawn.count("Problem") == 0;
      IM_CHECK_NO_RET(
          folded || std::ranges::any_of(drawn.places(), [&](const auto& place) { return place.text.ends_with(word); }));
      IM_CHECK_NO_RET(in_sight(drawn, "4.73", static_cast<float>(size.height)));
    })) << size.width;
  }
}

// The sum that is spelled out is said of a cell that is in sight.
TEST(HeldExhibit, WhatIsPinnedIsInSightInALessonsRun) {
  for (const PhoneSize& size : {kHeld[0], kHeld[1]}) {
    Phone w(size);
    answer_first_exhibit(w);
    EXPECT_TRUE(w.run([&](Ctx* ctx) {
      ctx->ItemClick("**/##lesson_run");
      ctx->Yield(6);
    }));
    const ImGuiWindow* page = child_window("page");
    ASSERT_NE(page, nullptr) << size.width;
    ASSERT_GE(w.state().document.selection.col, 0);
    const TilesSpan& pinned = w.shell().step_ui().tiles.pinned;
    ASSERT_GT(pinned.bottom, pinned.top) << size.width;
    EXPECT_LE(pinned.bottom, page->Pos.y + page->Size.y + 1) << size.width;
    EXPECT_GE(std::min(pinned.bottom, page->Pos.y + page->Size.y) - std::max(pinned.top, page->Pos.y), 90)
        << size.width;
  }
}

// Of a lesson's run, or the row's chart in Step: under its dot stands each key's word, apart from its neighbours.
void expect_words_of_keys(TestWindow& w, const std::string& where) {
  const DrawnText drawn;
  w.draw_frames(1);
  const std::vector<std::string>& words = recording(w).labels.columns;
  ASSERT_FALSE(words.empty());
  std::vector<DrawnText::Place> keys = drawn.places();
  std::erase_if(keys, [&](const auto& place) {
    return std::ranges::find(words, place.text) == words.end() || place.bottom - place.top < 9;
  });
  EXPECT_GE(keys.size(), words.size()) << where;
  expect_apart(keys, where);
  const auto says = [&](std::string_view what) {
    return std::ranges::any_of(drawn.texts(), [&](const auto& text) { return text.starts_with(what); });
  };
  EXPECT_TRUE(says("scores")) << where;
  EXPECT_TRUE(says("weights")) << where;
}

TEST(HeldRowChart, HasTheWordsOfItsKeysAndItsLegend) {
  for (const PhoneSize& size : kPages) {
    Phone w(size, "attn1,workspace=learn,lesson=weighted-average,beat=lookup");
    w.settle();
    EXPECT_TRUE(w.run([&](Ctx* ctx) {
      ctx->SetRef(kLearn);
      if (ctx->ItemExists("**/##lesson_run")) ctx->ItemClick("**/##lesson_run");
      ctx->Yield(6);
    }));
    expect_words_of_keys(w, std::to_string(size.width));
  }
}

}  // namespace
}  // namespace attn
