// A phone that lies on its side: sentence and buttons stand beside the tiles, a lesson's question beside its words.
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <tuple>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "app/state/lessons/lesson_files.h"
#include "tests/environment/asked.h"
#include "tests/environment/paths.h"
#include "tests/gui/step/phone.h"
#include "viz/learn/card/learn_scene.h"
#include "viz/step/bars/strip.h"
#include "viz/step/step_cache.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;

// What the page has of a phone of 844 x 390, 667 x 375 and 932 x 430.
constexpr PhoneSize kLying[] = {{844, 343}, {667, 328}, {932, 383}};

std::string last_word_of_sentence(TestWindow& w) {
  const Recording& rec = recording(w);
  const StepPlace at = place_of(rec, w.state().view.step.cursor, {});
  const StripScene strip = strip_scene(rec, at, step_values(rec, at, {}, nullptr), w.shell().step_ui().texts);
  const std::string& last = strip.sentence.back().text;
  return last.substr(last.rfind(' ') + 1);
}

// Numbers with a point that are whole within the page.
std::ptrdiff_t numbers_within(const DrawnText& drawn, const ImGuiWindow& page) {
  return std::ranges::count_if(drawn.places(), [&](const auto& place) {
    return place.text.find('.') != std::string::npos && place.left >= page.Pos.x && place.top >= page.Pos.y &&
           place.bottom <= page.Pos.y + page.Size.y && place.bottom - place.top >= 9;
  });
}

TEST(LyingPhone, WhatAStepMakesIsInSightWithItsNumbersAndSoIsItsSentence) {
  for (const PhoneSize& size : kLying) {
    Phone w(size);
    w.open("late_outlier");
    std::size_t made_tiles = 0;
    for (EventIndex e = 0; e < 34; ++e) {
      w.go_to(e);
      const ImGuiWindow* page = child_window("page");
      ASSERT_NE(page, nullptr);
      const DrawnText drawn;
      w.draw_frames(1);
      const std::string where = "step " + std::to_string(e + 1) + " at " + std::to_string(size.width);
      const TilesSpan& made = w.shell().step_ui().tiles.made;
      if (made.bottom > made.top) {
        // Its rows are the band's end; keys above them may be scrolled out.
        EXPECT_LE(made.bottom, page->Pos.y + page->Size.y + 1) << where;
        EXPECT_GT(made.bottom, page->Pos.y + 100) << where;
        ++made_tiles;
      }
      EXPECT_GE(numbers_within(drawn, *page), e == 0 ? 0 : 8) << where;
      const std::string last = last_word_of_sentence(w);
      EXPECT_TRUE(std::ranges::any_of(
          drawn.places(), [&](const auto& place) { return place.text.ends_with(last) && place.right < page->Pos.x; }))
          << where << ": " << last;
      for (const char* words : {"Next", "Problem"}) EXPECT_EQ(drawn.count(words), 1) << where;
    }
    EXPECT_GE(made_tiles, 30U);
  }
}

TEST(LyingPhone, TheLongSentencesOfABackwardAreWhole) {
  for (const PhoneSize& size : {kLying[0], kLying[2]}) {
    Phone w(size);
    w.open("late_outlier", "cpu_flash_bwd");
    const auto last_step = static_cast<EventIndex>(recording(w).events.size() - 1);
    for (EventIndex e = 0; e <= std::min<EventIndex>(last_step, 60); ++e) {
      if (test::left_to_release(e, 4)) continue;
      w.go_to(e);
      const DrawnText drawn;
      w.draw_frames(1);
      const std::string last = last_word_of_sentence(w);
      EXPECT_TRUE(std::ranges::any_of(
          drawn.places(),
          [&](const auto& place) { return place.text.ends_with(last) && place.right < child_window("page")->Pos.x; }))
          << "step " << e + 1 << " at " << size.width << ": " << last;
    }
  }
}

// Which of several is wrong is said on the page, above the tiles: they keep their room.
TEST(LyingPhone, TheTilesOfAnExhibitKeepTheirRoom) {
  Phone w(kLying[0]);
  w.open("late_outlier", "museum_alpha_on_l_only");
  w.go_to(14);
  const ImGuiWindow* page = child_window("page");
  ASSERT_NE(page, nullptr);
  EXPECT_GE(page->Size.y, 240);
  const DrawnText drawn;
  w.draw_frames(1);
  EXPECT_GE(numbers_within(drawn, *page), 16);
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(child_window("page"));
    ctx->ScrollToTop("");
    ctx->Yield(2);
    expect_for_fingers(ctx, "", {"##leave_museum", "##show_patch"});
    const ImRect back = ctx->ItemInfo("##leave_museum").RectFull;
    IM_CHECK_GE_NO_RET(back.Min.y, page->Pos.y);
    IM_CHECK_LE_NO_RET(back.Max.y, page->Pos.y + page->Size.y);
  }));
}

// Wherever the page is scrolled, and the search is one press away.
TEST(LyingPhone, AWrongRunSaysSoAtEveryStep) {
  for (const PhoneSize& size : kLying) {
    Phone w(size);
    w.open("late_outlier", "museum_alpha_on_l_only");
    for (const EventIndex e : {0, 3, 14, 123}) {
      w.go_to(e);
      const ImGuiWindow* page = child_window("page");
      ASSERT_NE(page, nullptr);
      const DrawnText drawn;
      w.draw_frames(1);
      for (const char* words : {"Deliberately wrong", "off by 4.73"}) {
        EXPECT_TRUE(std::ranges::any_of(drawn.places(),
                                        [&](const auto& place) {
                                          return place.text.find(words) != std::string::npos &&
                                                 place.right < page->Pos.x &&
                                                 place.bottom <= page->Pos.y + page->Size.y;
                                        }))
            << words << " at step " << e + 1 << " of " << size.width;
      }
    }
    EXPECT_TRUE(w.run([&](Ctx* ctx) {
      expect_for_fingers(ctx, "**/", {"##wrong_line"});
      ctx->ItemClick("**/##wrong_line");
      ctx->Yield(3);
      const ImGuiWindow* page = child_window("page");
      const ImRect seek = ctx->ItemInfo("**/##seek_first_wrong").RectFull;
      IM_CHECK_GT_NO_RET(seek.GetHeight(), 0.0F);
      IM_CHECK_GE_NO_RET(seek.Min.y, page->Pos.y);
      IM_CHECK_LE_NO_RET(seek.Max.y, page->Pos.y + page->Size.y);
    }));
  }
}

// The question keeps its place while what was said about the answer comes into sight.
TEST(LyingPhone, AnAnsweredQuestionIsInSightWithItsVerdict) {
  std::size_t beats = 0, answered = 0;
  for (const PhoneSize& size : kLying) {
    Phone w(size);
    for (const Lesson& lesson : read_lessons(std::filesystem::path(test::source_folder()) / "assets/lessons").lessons) {
      for (const Beat& beat : lesson.beats) {
        if (test::left_to_release(beats++, 5)) continue;
        w.controller().update({StartLesson{lesson.id, beat.id}});
        w.settle();
        const std::shared_ptr<const LearnScene> learn = w.controller().model().learn;
        if (learn == nullptr || !learn->card || !learn->card->asks || !learn->card->open) continue;
        w.controller().update({ShowAnswer{}});
        w.draw_frames(6);
        const ImGuiWindow *words = child_window("text"), *question = child_window("question");
        const std::string where = fmt::format("{}/{} at {}", lesson.id, beat.id, size.width);
        ASSERT_NE(words, nullptr) << where;
        ASSERT_NE(question, nullptr) << where;
        const DrawnText drawn;
        w.draw_frames(1);
        const auto in_sight = [&](const std::string& text, float from) {
          return std::ranges::any_of(drawn.places(), [&](const auto& place) {
            return place.text.starts_with(text) && place.left >= from && place.top >= words->Pos.y - 1 &&
                   place.bottom <= words->Pos.y + words->Size.y + 1;
          });
        };
        const bool map = w.controller().model().learn->card->asks == AskKind::tiles;
        EXPECT_TRUE(in_sight("Shown.", map ? 0 : question->Pos.x)) << where;
        if (!map) {
          EXPECT_EQ(words->Scroll.y, 0) << where;
        }
        ++answered;
      }
    }
  }
  EXPECT_GT(answered, 20U);
}

// A sentence that is cut says nothing.
TEST(TabletLesson, TheSentencesOfABackwardAreWhole) {
  for (const PhoneSize& size : {PhoneSize{820, 1133}, {1180, 773}}) {
    Phone w(size);
    for (const char* beat : {"ds", "zero"}) {
      w.controller().update({StartLesson{"backward", beat}});
      w.settle();
      w.controller().update({ShowAnswer{}});
      w.draw_frames(4);
      const DrawnText drawn;
      w.draw_frames(1);
      const std::string last = last_word_of_sentence(w);
      EXPECT_TRUE(std::ranges::any_of(drawn.places(), [&](const auto& place) { return place.text.ends_with(last); }))
          << beat << " at " << size.width << ": " << last;
    }
  }
}

TEST(LyingPhone, QuestionFieldAndButtonsOfALessonAreInSightAtOnce) {
  for (const PhoneSize& size : kLying) {
    for (const auto& [lesson, beat, words] : {std::tuple("two-halves", "merge", "What"),
                                              {"weighted-average", "lookup", "What"},
                                              {"checkpoint-row", "m", ""}}) {
      Phone w(size);
      w.controller().update({StartLesson{lesson, beat}});
      w.settle();
      EXPECT_TRUE(w.run([&](Ctx* ctx) {
        const DrawnText drawn;
        ctx->Yield();
        const ImGuiWindow* text = child_window("text");
        IM_CHECK(text != nullptr);
        const float top = text->Pos.y, bottom = top + text->Size.y;
        const bool number = ctx->ItemExists("**/##lesson_answer");
        const ImRect field = ctx->ItemInfo(number ? "**/##lesson_answer" : "**/##lesson_option_0").RectFull;
        IM_CHECK_GE_NO_RET(field.Min.y, top);
        IM_CHECK_LE_NO_RET(field.Max.y, bottom);
        IM_CHECK_NO_RET(std::ranges::any_of(drawn.places(), [&](const auto& place) {
          return place.size >= 15 && place.text.starts_with(words) && place.top >= top && place.right < field.Min.x;
        }));
        expect_for_fingers(ctx, "**/", {"##lesson_check", "##lesson_show", "##lesson_skip"});
        ctx->ItemClick("**/##lesson_run");
        ctx->Yield(3);
        IM_CHECK(ctx->ItemExists("**/##lesson_to_card"));
      })) << lesson
          << " at " << size.width;
    }
  }
}

}  // namespace
}  // namespace attn
