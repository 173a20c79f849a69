// Step in the smallest window of a desktop: what is written can be read.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/state/lessons/lesson_files.h"
#include "imgui_internal.h"
#include "kernels/museum/museum.h"
#include "tests/environment/asked.h"
#include "tests/environment/paths.h"
#include "tests/gui/drawn_text.h"
#include "tests/gui/gui_fixture.h"
#include "viz/learn/card/learn_scene.h"
#include "viz/step/place/place.h"
#include "viz/step/timeline/timeline.h"

namespace attn {
namespace {

using Places = std::vector<DrawnText::Place>;

struct View {
  const char* name;
  const char* state;
};

void PrintTo(const View& view, std::ostream* out) {
  *out << view.name;
}

const View kViews[] = {
    {"alpha", "attn1,preset=late_outlier,cursor=25"},
    {"causal", "attn1,preset=causal,cursor=29"},
    {"passes", "attn1,preset=random,kernel=cpu_multicore,cursor=8,chart=passes"},
    {"backward",
     "attn1,preset=none,pass=backward,kernel=cpu_flash_bwd,L=16,D=4,br=4,bc=4,generator=normal,seed=61,"
     "cursor=66"},
    {"parts", "attn1,preset=late_outlier,page=4,set=splits:3,cursor=39"},
    {"fragments", "attn1,preset=none,L=16,D=64,br=4,bc=4,chart=fragments"},
    {"pages", "attn1,preset=pages,cursor=15,chart=pages"},
    {"ring", "attn1,preset=none,generator=normal,L=16,D=4,causal=1,br=2,bc=2,set=deal:zigzag/ranks:4,cursor=299"},
    {"ring_backward",
     "attn1,preset=none,pass=backward,kernel=cpu_flash_bwd,generator=normal,L=16,D=4,causal=1,br=2,"
     "bc=2,set=deal:zigzag/ranks:4,cursor=299"},
};

class LegibleStep : public testing::TestWithParam<View> {
 protected:
  // One frame's, at rest.
  static Places drawn() {
    TestWindow w(1280, 720, "", false, {}, {}, {}, GetParam().state);
    w.draw_frames(8);
    const DrawnText drawn;
    w.draw_frames(1);
    return drawn.places();
  }
};

bool is_number(const std::string& text) {
  return std::ranges::any_of(text, [](unsigned char c) { return std::isdigit(c) != 0; }) &&
         std::ranges::none_of(text, [](unsigned char c) { return std::isalpha(c) != 0 || c == ' '; });
}

// An index or an exponent: it follows a larger letter, or another index, without a gap.
bool is_script(const DrawnText::Place& p, const Places& places) {
  return std::ranges::any_of(places, [&](const auto& o) {
    const bool touches = std::fabs(p.left - o.right) < 4 || std::fabs(p.left - o.left) < 2;
    return &o != &p && touches && p.top < o.bottom && o.top < p.bottom && o.size >= p.size;
  });
}

TEST_P(LegibleStep, NothingIsSmallerThanElevenPixelsAndNoIndexThanTen) {
  const Places places = drawn();
  ASSERT_GT(places.size(), 50U);
  for (const auto& p : places)
    EXPECT_GE(p.size, is_script(p, places) ? 9.9F : 10.9F) << '"' << p.text << "\" at " << p.left << ", " << p.top;
}

// Digits of two cells that follow each other without a gap read as one number.
TEST_P(LegibleStep, NumbersOnALineStandApart) {
  Places numbers;
  for (const auto& p : drawn())
    if (is_number(p.text)) numbers.push_back(p);
  ASSERT_GT(numbers.size(), 10U);
  for (const auto& a : numbers) {
    for (const auto& b : numbers) {
      if (std::fabs(a.top - b.top) >= 2 || a.left >= b.left) continue;
      EXPECT_GE(b.left - a.right, 4) << a.text << " and " << b.text << " at " << b.left << ", " << b.top;
    }
  }
}

// At alpha 0.000305 of row 0, whose maximum is 9.334 now: the bar at the cell's foot would lie under its digits, were
// they not higher than those of the same row without a bar.
TEST(LegibleAlpha, ItsNumberStandsAboveItsBar) {
  TestWindow w(1280, 720, "", false, {}, {}, {}, "attn1,preset=late_outlier,cursor=25");
  w.draw_frames(8);
  const DrawnText drawn;
  w.draw_frames(1);
  const auto top_of = [&](const std::string& text) {
    const auto place = std::ranges::find_if(
        drawn.places(), [&](const auto& p) { return p.text == text && p.left > 540 && p.top > 300 && p.top < 340; });
    return place == drawn.places().end() ? -1 : place->top;
  };
  const float alpha = top_of("3.05e−4"), maximum = top_of("9.334");
  ASSERT_GT(alpha, 0);
  ASSERT_GT(maximum, 0);
  EXPECT_LE(alpha, maximum - 1);
}

void settle(TestWindow& w) {
  for (int frame = 0; frame < 400 && w.controller().tasks_run(); ++frame) w.draw_frames(1);
  w.draw_frames(3);
}

Places places_of(TestWindow& w) {
  const DrawnText drawn;
  w.draw_frames(1);
  return drawn.places();
}

// Lines of the strip, and of a bar above it, that end in dots. Beside the strip's position stand chips: they may.
std::vector<std::string> cut_sentences(const Places& places) {
  const auto position = std::ranges::find_if(
      places, [](const auto& p) { return p.text.starts_with("Step ") && p.text.find(" of ") != std::string::npos; });
  std::vector<std::string> cut;
  if (position == places.end()) return cut;
  constexpr float kStrip = 80;
  for (const auto& p : places) {
    if (p.left < position->left - 30 || p.top > position->top + kStrip) continue;
    if (std::fabs(p.top - position->top) > 8 && p.top > 50 && p.text.ends_with("…"))
      cut.push_back(fmt::format("{} at {}, {}", p.text, p.left, p.top));
  }
  return cut;
}

TEST(LegibleMuseum, NoSentenceOfAnExhibitIsCut) {
  int exhibits = 0;
  for (const Piece& piece : museum()) {
    if (piece.row == nullptr) continue;
    TestWindow w(1280, 720);
    w.controller().update({ShowPiece{std::string(piece.id)}});
    settle(w);
    const auto steps = static_cast<EventIndex>(recording(w).events.size());
    for (const bool found : {false, true}) {
      w.controller().update({SeekFirstWrong{found}});
      settle(w);
      for (EventIndex e = 0; e < steps; e += std::max<EventIndex>(1, steps / 9)) {
        w.controller().update({GoToEvent{e}});
        w.draw_frames(2);
        EXPECT_EQ(cut_sentences(places_of(w)), std::vector<std::string>()) << piece.id << ", step " << e;
      }
      EXPECT_EQ(w.controller().model().examination.first.has_value(), found) << piece.id;
    }
    ++exhibits;
  }
  EXPECT_GT(exhibits, 5);
}

std::vector<Lesson> lessons() {
  return read_lessons(std::filesystem::path(test::source_folder()) / "assets/lessons").lessons;
}

TEST(LegibleLesson, NoSentenceBesideItsCardIsCut) {
  std::size_t beats = 0;
  TestWindow w(1280, 720);
  for (const Lesson& lesson : lessons()) {
    for (const Beat& beat : lesson.beats) {
      if (test::left_to_release(beats++, 3)) continue;
      w.controller().update({StartLesson{lesson.id, beat.id}});
      settle(w);
      EXPECT_EQ(cut_sentences(places_of(w)), std::vector<std::string>()) << lesson.id << "/" << beat.id;
    }
  }
  EXPECT_GT(beats, 100U);
}

// Of the card's text: words of which a part alone is in sight.
std::vector<std::string> sliced_words(TestWindow& w) {
  std::vector<std::string> sliced;
  const Places places = places_of(w);
  const ImGuiWindow* text = child_window("text");
  if (text == nullptr) return {"no card"};
  const ImRect card = text->Rect();
  for (const auto& p : places) {
    if (!card.Overlaps({p.left, p.top, p.right, p.bottom}) || p.right > card.Max.x) continue;
    const float seen = (p.bottom - p.top) / p.size;  // at both ends there is no ink
    if (seen > 0.2F && seen < 0.8F) sliced.push_back(fmt::format("{} at {}", p.text, p.top));
  }
  return sliced;
}

// Above what is scrolled.
bool has_headline(TestWindow& w) {
  const LearnScene& learn = *w.controller().model().learn;
  const std::string headline = plain_text(learn.card->headline);
  const std::string first = headline.substr(0, headline.find(' '));
  const Places places = places_of(w);
  const ImGuiWindow* text = child_window("text");
  return text != nullptr && std::ranges::any_of(places, [&](const auto& p) {
           return p.text.starts_with(first) && p.size > 15 && p.left < text->Rect().Max.x &&
                  p.bottom <= text->Pos.y + 2;
         });
}

// Before it is answered, and with its answer.
TEST(LegibleLesson, NoLineOfItsCardIsSlicedAndNoQuestionScrolledAway) {
  std::size_t beats = 0;
  for (const float scale : {1.0F, 2.0F}) {
    TestWindow w(scale > 1 ? 1440 : 1280, scale > 1 ? 900 : 720);
    w.controller().update({SetScale{scale}});
    for (const Lesson& lesson : lessons()) {
      for (const Beat& beat : lesson.beats) {
        if (test::left_to_release(beats++, 3)) continue;
        w.controller().update({StartLesson{lesson.id, beat.id}});
        settle(w);
        w.draw_frames(4);
        const std::string where = fmt::format("{}/{} at {}", lesson.id, beat.id, scale);
        EXPECT_EQ(sliced_words(w), std::vector<std::string>()) << where;
        if (beat.ask) {
          w.controller().update({ShowAnswer{}});
          settle(w);
          w.draw_frames(4);
          EXPECT_EQ(sliced_words(w), std::vector<std::string>()) << where << ", answered";
        }
        EXPECT_TRUE(scale > 1 || has_headline(w)) << where;
      }
    }
  }
  EXPECT_GT(beats, 200U);
}

// "LSE" alone would leave out the δ that the same piece holds.
TEST(LegibleLesson, APieceOfABackwardBarNamesAllItHolds) {
  std::size_t cards = 0;
  for (const ImVec2 size : {ImVec2(1280, 720), ImVec2(1440, 900)}) {
    TestWindow w(static_cast<int>(size.x), static_cast<int>(size.y));
    for (const Lesson& lesson : lessons()) {
      if (lesson.id != "backward") continue;
      for (const Beat& beat : lesson.beats) {
        w.controller().update({StartLesson{lesson.id, beat.id}, ShowAnswer{}});
        settle(w);
        const Places places = places_of(w);
        const auto heading = std::ranges::find(places, "HBM traffic", &DrawnText::Place::text);
        if (heading == places.end()) continue;
        ++cards;
        for (const auto& p : places)
          EXPECT_FALSE(p.text == "LSE" && p.top > heading->top + 20 && p.left > heading->left)
              << beat.id << ", " << p.top;
      }
    }
  }
  EXPECT_GT(cards, 4U);
}

// What the track should have, from left to right: the letters of each chip, in their groups.
std::vector<std::vector<std::string>> letters_of(const TimelineScene& scene) {
  std::vector<std::vector<std::string>> groups;
  for (const TrackGroup& g : scene.groups) {
    std::vector<std::string>& letters = groups.emplace_back();
    for (std::size_t n = g.first; n < g.first + g.count; ++n) {
      const TrackChip& chip = scene.chips[n];
      if (chip.two) letters.insert(letters.end(), {"K", "V"});
      if (!chip.two && !chip.skipped) letters.emplace_back(chip.letter);
    }
  }
  return groups;
}

// As the tiles of a fold that starts with this group, "1–7", say.
std::size_t groups_of_fold(const TimelineScene& scene, std::size_t g, const std::string& tiles) {
  std::size_t count = 1;
  const std::string last = tiles.substr(tiles.find("–") == std::string::npos ? 0 : tiles.find("–") + 3);
  while (g + count < scene.groups.size() && scene.groups[g + count - 1].tile != last) ++count;
  return count;
}

// Of the track, with the letters that are missing or wrong.
std::vector<std::string> without_letter(TestWindow& w, const ImRect& track) {
  const Recording& rec = recording(w);
  const StepPlace at = place_of(rec, w.state().view.step.cursor, w.state().document.selection);
  TimelineScene scene = timeline_scene(rec, at, scrubber_marks(rec), {});
  const HiddenAnswers& hidden = w.shell().step_ui().hidden;
  if (hidden.on || hidden.map) hide_after(scene, hidden.on ? hidden.horizon : at.event, hidden.map);
  Places drawn;
  for (const auto& p : places_of(w))
    if (track.Contains({(p.left + p.right) / 2, (p.top + p.bottom) / 2})) drawn.push_back(p);
  std::ranges::sort(drawn, {}, &DrawnText::Place::left);
  const auto expected = letters_of(scene);
  std::vector<std::string> missing;
  std::size_t at_text = 0;
  for (std::size_t g = 0; g < expected.size();) {
    const std::string text = at_text < drawn.size() ? drawn[at_text].text : "";
    if (!scene.groups[g].tile.empty() && !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) != 0) {
      g += groups_of_fold(scene, g, text);
      ++at_text;
      continue;
    }
    for (const std::string& letter : expected[g]) {
      if (at_text < drawn.size() && drawn[at_text].text == letter)
        ++at_text;
      else
        missing.push_back(fmt::format("{} in group {}", letter, g));
    }
    ++g;
  }
  return missing;
}

// Of a track so narrow that tiles are folded, too: the sums of few bits have eight and more.
TEST(LegibleLesson, EveryChipOfTheTimelineHasItsLetter) {
  std::size_t beats = 0, tracks = 0;
  TestWindow w(1280, 720);
  for (const Lesson& lesson : lessons()) {
    for (const Beat& beat : lesson.beats) {
      if (test::left_to_release(beats++, 3)) continue;
      w.controller().update({StartLesson{lesson.id, beat.id}});
      settle(w);
      ImRect track;
      EXPECT_TRUE(w.run([&](ImGuiTestContext* ctx) {
        ctx->SetRef(kLearn);
        if (ctx->ItemExists("**/##step_track")) track = ctx->ItemInfo("**/##step_track").RectFull;
      }));
      if (track.GetWidth() <= 0) continue;
      EXPECT_EQ(without_letter(w, track), std::vector<std::string>()) << lesson.id << "/" << beat.id;
      ++tracks;
    }
  }
  EXPECT_GT(tracks, test::asked("ATTNSCOPE_SANITIZED") ? 7U : 20U);
}

// Of a line that goes straight up or down: its x, and where it goes.
struct Upright {
  float x, top, bottom;
};

// Dear ImGui draws a line with soft edges as four vertices a point.
std::vector<Upright> upright_lines() {
  constexpr float kLong = 100;
  std::vector<Upright> lines;
  for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows) {
    if (!window->WasActive) continue;
    const ImVector<ImDrawVert>& v = window->DrawList->VtxBuffer;
    for (int n = 0; n + 4 < v.Size; ++n) {
      const ImDrawVert &a = v[n], &b = v[n + 4];
      const bool line = a.col == b.col && a.uv.x == b.uv.x && a.uv.y == b.uv.y && (a.col >> IM_COL32_A_SHIFT) == 255;
      if (line && std::fabs(a.pos.x - b.pos.x) < 0.5F && std::fabs(a.pos.y - b.pos.y) > kLong)
        lines.push_back({a.pos.x, std::min(a.pos.y, b.pos.y), std::max(a.pos.y, b.pos.y)});
    }
  }
  return lines;
}

TEST(LegibleLesson, TheWayRoundARingTouchesNoWords) {
  std::size_t lines = 0;
  for (const int width : {1280, 1440}) {
    TestWindow w(width, width == 1280 ? 720 : 900);
    for (const Lesson& lesson : lessons()) {
      if (lesson.id != "ring") continue;
      for (const Beat& beat : lesson.beats) {
        w.controller().update({StartLesson{lesson.id, beat.id}});
        settle(w);
        const Places places = places_of(w);
        for (const Upright& line : upright_lines()) {
          ++lines;
          for (const auto& p : places)
            EXPECT_FALSE(p.left - 2 < line.x && line.x < p.right + 2 && p.top < line.bottom && line.top < p.bottom)
                << beat.id << " at " << width << ": " << p.text << " at " << p.left << ", " << p.top;
        }
      }
    }
  }
  EXPECT_GT(lines, 4U);
}

INSTANTIATE_TEST_SUITE_P(Views, LegibleStep, testing::ValuesIn(kViews),
                         [](const auto& view) { return std::string(view.param.name); });

}  // namespace
}  // namespace attn
