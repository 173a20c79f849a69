// What stands on Profile's timeline at the sizes of a screen: all rows, every part's name, whole sentences.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tests/environment/asked.h"
#include "tests/gui/drawn_text.h"
#include "tests/gui/profile/profile_fixture.h"
#include "viz/draw/canvas.h"
#include "viz/draw/theme.h"
#include "viz/profile/timeline/scene/key_entries.h"
#include "viz/profile/timeline/scene/shown_part.h"
#include "viz/profile/timeline/scene/timeline_scene.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;
using profile_gui::child;

class TimelineRowsTest : public profile_gui::TimelinePageTest {
 protected:
  const TimelinesView& timelines() { return window->controller().model().timelines; }
  void show(const Timeline& t) {
    window->controller().update({ChooseTimeline{id_of(t)}, ChooseTimeSpan{}});
    window->draw_frames(4);
  }
  // All that a frame draws, without its spaces.
  std::string drawn() {
    const DrawnText all;
    window->draw_frames(1);
    std::string words;
    for (const DrawnText::Place& place : all.places()) words += place.text;
    std::erase(words, ' ');
    return words;
  }
  static std::string without_spaces(std::string words) {
    std::erase(words, ' ');
    return words;
  }
};

// Where the page goes on it fades: over the last pixels of what is in sight.
TEST_F(TimelineRowsTest, OfEveryRecordingStandAboveThePagesFadeAt1440x900) {
  constexpr float kFade = 24;
  open(1440, 900);
  ASSERT_EQ(timelines().all.size(), 28U);
  for (std::size_t n = 0; n < timelines().all.size(); ++n) {
    show(*timelines().all[n]);
    EXPECT_TRUE(window->run([&](Ctx* ctx) {
      const ImGuiWindow* page = child("evidence");
      IM_CHECK(page != nullptr);
      ctx->SetRef(child("profile_timeline"));
      const ImRect lanes = ctx->ItemInfo("timeline_lanes").RectFull;
      IM_CHECK_LE(lanes.Max.y, page->Pos.y + page->Size.y - kFade);
    })) << n;
  }
}

// Of every pair that can be compared, lanes, consumers and ring: the difference is seen without scrolling.
TEST_F(TimelineRowsTest, TwoRecordingsAreBothInSightAt1280x720) {
  constexpr float kFade = 24, kLeastConsumer = 20, kLeastSlot = 7;
  open(1280, 720);
  std::size_t pairs = 0;
  const std::size_t every = test::asked("ATTNSCOPE_SANITIZED") ? 12 : 1;
  for (const auto& t : timelines().all) {
    const PipelineScene alone = timeline_scene(t, timelines(), t->kernel);
    for (const PipelineScene::Choice& c : alone.choices) {
      if (!c.may_be_beside || pairs++ % every != 0) continue;
      PipelineScene scene = alone;
      put_beside(scene, c.id, timelines());
      ASSERT_NE(scene.beside, nullptr);
      window->controller().update({ChooseTimeline{id_of(*t)}, CompareTimeline{c.id}, ChooseTimeSpan{}});
      window->draw_frames(2);
      EXPECT_TRUE(window->run([&](Ctx* ctx) {
        const ImGuiWindow* page = child("evidence");
        IM_CHECK(page != nullptr);
        ctx->SetRef(child("profile_timeline"));
        const ImRect above = ctx->ItemInfo("timeline_lanes").RectFull,
                     below = ctx->ItemInfo("timeline_beside").RectFull;
        EXPECT_LE(below.Max.y, page->Pos.y + page->Size.y - kFade) << id_of(*t) << " " << c.id;
        for (const auto& [plot, half] : {std::pair(above, &scene), std::pair(below, scene.beside.get())}) {
          float least = 0;
          for (const TimelineRow& row : half->rows)
            least += row.kind == RowKind::computes ? kLeastConsumer : row.kind == RowKind::slot ? kLeastSlot : 0;
          EXPECT_GE(plot.GetHeight(), least) << id_of(*t) << " " << c.id;
        }
      }));
    }
  }
  EXPECT_EQ(pairs, 134U);
}

TEST_F(TimelineRowsTest, TheKeyTakesOneLineAt1280x720) {
  open(1280, 720);
  std::size_t entries = 0;
  for (const auto& t : timelines().all) {
    show(*t);
    PipelineScene scene = timeline_scene(t, timelines(), t->kernel);
    show_part(scene, window->state().view.profile);
    const DrawnText all;
    window->draw_frames(1);
    std::set<int> tops;
    for (const KeyEntry& e : key_entries(scene, 1066)) {
      const auto place = std::ranges::find_if(all.places(), [&](const DrawnText::Place& p) {
        return p.text == e.words || (!e.brief.empty() && p.text == e.brief);
      });
      ASSERT_NE(place, all.places().end()) << e.words;
      tops.insert(static_cast<int>(place->top));
      ++entries;
    }
    EXPECT_EQ(tops.size(), 1U) << id_of(*t);
  }
  EXPECT_GT(entries, 200U);
}

TEST_F(TimelineRowsTest, EveryPartOfThePathHasItsNameInTheBarOrBesideIt) {
  for (const auto& [width, height] : {std::pair(1280, 720), std::pair(1440, 900), std::pair(900, 720)}) {
    window.reset();
    open(width, height);
    std::size_t parts = 0;
    for (std::size_t n = 0; n < timelines().all.size(); n += 3) {
      const Timeline& t = *timelines().all[n];
      show(t);
      const PipelineScene scene = timeline_scene(timelines().all[n], timelines(), t.kernel);
      const std::string words = drawn();
      for (const PathShare& share : scene.shares) {
        ++parts;
        const std::string whole = without_spaces(fmt::format("{}{}", share.words, share.value)),
                          brief = without_spaces(fmt::format("{}{}", share.brief, share.value));
        EXPECT_TRUE(words.find(whole) != std::string::npos ||
                    (!share.brief.empty() && words.find(brief) != std::string::npos))
            << share.words << ", " << width;
      }
    }
    EXPECT_GT(parts, 30U);
  }
}

TEST_F(TimelineRowsTest, WhatIsSaidBelowTheAnswersIsThereToItsEnd) {
  for (const auto& [width, height] : {std::pair(1280, 720), std::pair(1440, 900), std::pair(900, 720)}) {
    window.reset();
    open(width, height);
    std::size_t turns = 0;
    for (std::size_t n = 0; n < timelines().all.size(); n += 3) {
      const Timeline& t = *timelines().all[n];
      show(t);
      const PipelineScene scene = timeline_scene(timelines().all[n], timelines(), t.kernel);
      if (scene.answers.empty()) continue;
      EXPECT_NE(drawn().find(without_spaces(scene.words)), std::string::npos) << scene.words << ", " << width;
      turns += scene.words.find("The gain from turns cannot be derived") != std::string::npos;
    }
    EXPECT_GT(turns, 0U);
  }
}

struct SlotRow {
  float left = 0, top = 0, bottom = 0;
};
// By their names, each in the middle of its row, two pixels below the one before.
std::vector<SlotRow> slots_drawn(const std::vector<DrawnText::Place>& places) {
  std::vector<SlotRow> rows;
  const DrawnText::Place* before = nullptr;
  for (const DrawnText::Place& p : places) {
    const bool first = p.text.starts_with("ring, slot"), next = p.text.starts_with("slot ") && before != nullptr;
    if (next) {
      const float half = (p.top - before->top - 2) / 2;
      for (const DrawnText::Place* const of : {before, &p}) {
        const float middle = (of->top + of->bottom) / 2;
        rows.push_back({of->left, middle - half, middle + half});
      }
    }
    if (first || next) before = &p;
  }
  return rows;
}

// Whether it is a letter in a slot, or the number of a tile: its ink is clear of the path above and the edge below.
bool expect_in_slot(const DrawnText::Place& p, const std::vector<SlotRow>& slots) {
  const bool letter = p.text == "K" || p.text == "V";
  if (!letter && p.text.find_first_not_of("0123456789") != std::string::npos) return false;
  const float middle = (p.top + p.bottom) / 2;
  const auto row = std::ranges::find_if(
      slots, [&](const SlotRow& s) { return p.left > s.left + 60 && middle > s.top && middle < s.bottom; });
  if (row == slots.end()) return false;
  ImFontBaked* const baked = font_of(letter ? Face::maths : Face::mono)->GetFontBaked(p.size);
  const ImFontGlyph* const ink = baked->FindGlyph(static_cast<ImWchar>(p.text.front()));
  EXPECT_GE(p.top + ink->Y0, row->top + 1.5F) << p.text << " at " << p.left << ", " << p.top;
  EXPECT_LE(p.top + ink->Y1, row->bottom - 0.5F) << p.text << " at " << p.left << ", " << p.top;
  return true;
}

// Of a half drawn in `plot`: where both are aligned, if that is in sight, and where one is done with as many tiles.
std::vector<float> dotted_lines(const PipelineScene& scene, bool upper, const ImRect& plot) {
  const PipelineScene& half = upper ? scene : *scene.beside;
  const auto x_of = [&](std::int64_t at) {
    return plot.Min.x + plot.GetWidth() * static_cast<float>(static_cast<double>(at - half.from) /
                                                             static_cast<double>(half.to - half.from));
  };
  std::vector<float> lines;
  if (const auto a = alignment_of(scene); a && a->in_sight) lines.push_back(x_of(upper ? a->above : a->below));
  if (const auto a = ahead_of(scene)) lines.push_back(x_of(upper ? a->above : a->below));
  return lines;
}

// Of every pair: no letter, figure or tick lies on a dotted line, and a ring's letters lie within their slots, clear of
// the path at the top and the lower edge.
TEST_F(TimelineRowsTest, OfTwoRecordingsNoTextIsCrossedAndNoneLeavesItsSlot) {
  std::size_t pairs = 0, crossed = 0, letters = 0;
  std::size_t named = 0, ends = 0;
  const std::size_t every = test::asked("ATTNSCOPE_SANITIZED") ? 60 : 12;
  for (const auto& [width, height] : {std::pair(1280, 720), std::pair(1440, 900), std::pair(1920, 1080)}) {
    window.reset();
    open(width, height);
    for (const auto& t : timelines().all) {
      PipelineScene scene = timeline_scene(t, timelines(), t->kernel);
      for (const PipelineScene::Choice& c : std::vector(scene.choices)) {
        // At each size others.
        if (!c.may_be_beside || pairs++ % every != 0) continue;
        put_beside(scene, c.id, timelines());
        ASSERT_NE(scene.beside, nullptr);
        window->controller().update({ChooseTimeline{id_of(*t)}, CompareTimeline{c.id}, ChooseTimeSpan{}});
        window->draw_frames(3);
        show_part(scene, window->state().view.profile);
        const DrawnText all;
        window->draw_frames(1);
        EXPECT_TRUE(window->run([&](Ctx* ctx) {
          ctx->SetRef(child("profile_timeline"));
          const ImRect above = ctx->ItemInfo("timeline_lanes").RectFull,
                       below = ctx->ItemInfo("timeline_beside").RectFull;
          for (const auto& [plot, half] : {std::pair(above, &scene), std::pair(below, scene.beside.get())}) {
            const std::vector<float> lines = dotted_lines(scene, half == &scene, plot);
            for (const DrawnText::Place& p : all.places()) {
              if (p.left < plot.Min.x || p.top < plot.Min.y - 18 || p.bottom > plot.Max.y || p.right <= p.left)
                continue;
              for (const float x : lines)
                if (x > p.left && x < p.right)
                  ADD_FAILURE() << p.text << " at " << p.left << ", " << p.top << " of " << id_of(*t) << " " << c.id;
            }
            crossed += lines.size();
            // Which line is the end, and of what, is said over each of the two.
            if (const auto ahead = ahead_of(scene)) {
              const std::string done = fmt::format("{} tile{} done", ahead->tiles, ahead->tiles == 1 ? "" : "s");
              named += std::ranges::any_of(all.places(), [&](const DrawnText::Place& p) {
                return p.text == done && p.top >= plot.Min.y - 18 && p.bottom <= plot.Min.y;
              });
              ++ends;
            }
          }
        }));
        const std::vector<SlotRow> slots = slots_drawn(all.places());
        for (const DrawnText::Place& p : all.places()) letters += expect_in_slot(p, slots) ? 1 : 0;
      }
    }
  }
  EXPECT_GT(pairs, 60U);
  EXPECT_GT(crossed, 360 / every);
  EXPECT_GT(ends, 0U);
  EXPECT_EQ(named, ends);
  EXPECT_GT(letters, 2400 / every);
}

ChooseTimeSpan whole_of(const PipelineScene& s) {
  return {0, static_cast<std::int64_t>(std::ceil(static_cast<double>(s.length) * s.ns_a_clock))};
}

// How a dotted line and the level parts of the path that it crosses follow one another in what is drawn.
struct Crossing {
  int last_dot = -1;                 // vertex
  std::vector<int> path_parts = {};  // their first vertices
};
Crossing drawn_at(const ImDrawList& list, float line, const ImRect& plot) {
  const ImVec2 fill = ImGui::GetDrawListSharedData()->TexUvWhitePixel;
  const ImU32 ink = colour_of(Token::text);
  Crossing found;
  for (int n = 0; n + 3 < list.VtxBuffer.Size; ++n) {
    const ImDrawVert &v = list.VtxBuffer[n], &far = list.VtxBuffer[n + 2];
    if (v.col != ink || v.pos.y < plot.Min.y + 2 || v.pos.y > plot.Max.y - 2) continue;
    const bool filled = v.uv.x == fill.x && v.uv.y == fill.y;
    if (!filled && std::fabs(v.pos.x - line) < 2) found.last_dot = n;
    // Corner to corner of a rectangle.
    const bool level = filled && far.col == ink && far.pos.y - v.pos.y > 0 && far.pos.y - v.pos.y < 3;
    if (level && v.pos.x < line - 3 && far.pos.x > line + 3) found.path_parts.push_back(n);
  }
  return found;
}

TEST_F(TimelineRowsTest, ThePathIsUnbrokenWhereADottedLineCrossesIt) {
  open(1440, 900);
  std::size_t crossed = 0, n = 0;
  for (const auto& t : timelines().all) {
    PipelineScene scene = timeline_scene(t, timelines(), t->kernel);
    for (const PipelineScene::Choice& c : std::vector(scene.choices)) {
      if (!c.may_be_beside || n++ % (test::asked("ATTNSCOPE_SANITIZED") ? 30 : 6) != 0) continue;
      put_beside(scene, c.id, timelines());
      for (const ChooseTimeSpan& span : {ChooseTimeSpan{}, whole_of(scene)}) {
        window->controller().update({ChooseTimeline{id_of(*t)}, CompareTimeline{c.id}, span});
        window->draw_frames(3);
        show_part(scene, window->state().view.profile);
        EXPECT_TRUE(window->run([&](Ctx* ctx) {
          ctx->SetRef(child("profile_timeline"));
          for (const bool upper : {true, false}) {
            const ImRect plot = ctx->ItemInfo(upper ? "timeline_lanes" : "timeline_beside").RectFull;
            for (const float line : dotted_lines(scene, upper, plot)) {
              const Crossing at = drawn_at(*child("profile_timeline")->DrawList, line, plot);
              EXPECT_GE(at.last_dot, 0) << id_of(*t) << " " << c.id << " at " << line;
              for (const int part : at.path_parts) EXPECT_GT(part, at.last_dot) << id_of(*t) << " " << c.id;
              crossed += at.path_parts.size();
            }
          }
        }));
      }
    }
  }
  EXPECT_GT(crossed, test::asked("ATTNSCOPE_SANITIZED") ? 2U : 10U);
}

// Also where the window begins with the block, at the plot's left edge.
TEST_F(TimelineRowsTest, TheAxesOfTwoWholeBlocksBothHaveTheirZero) {
  open(1440, 900);
  window->controller().update(
      {ChooseTimeline{"d4b6cc2b-82e1"}, CompareTimeline{"fb866afa-a2a8"}, ChooseTimeSpan{0, 18150}});
  window->draw_frames(4);
  const DrawnText all;
  window->draw_frames(1);
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ctx->SetRef(child("profile_timeline"));
    for (const char* const plot : {"timeline_lanes", "timeline_beside"}) {
      const ImRect box = ctx->ItemInfo(plot).RectFull;
      std::set<std::string> labels;
      for (const DrawnText::Place& p : all.places())
        if (p.top >= box.Min.y - 18 && p.bottom <= box.Min.y && p.left > box.Min.x - 20) labels.insert(p.text);
      EXPECT_TRUE(labels.contains("0")) << plot;
      EXPECT_FALSE(labels.contains("-0")) << plot;
    }
  }));
}

// In low rows too: over its box, where that has no room.
TEST_F(TimelineRowsTest, AWideWaitSaysWhatItWaitsForInALowWindow) {
  constexpr float kWide = 160;  // pixels
  open(1280, 720);
  window->controller().update({ChooseTimeline{"8a8af4d9-482d"}, CompareTimeline{"8313a919-1ccd"}, ChooseTimeSpan{}});
  window->draw_frames(4);
  const auto shown = std::ranges::find(timelines().all, "8a8af4d9-482d", [](const auto& t) { return id_of(*t); });
  ASSERT_NE(shown, timelines().all.end());
  PipelineScene scene = timeline_scene(*shown, timelines(), "flash_hopper");
  put_beside(scene, "8313a919-1ccd", timelines());
  show_part(scene, window->state().view.profile);
  const DrawnText all;
  window->draw_frames(1);
  std::size_t waits = 0;
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ctx->SetRef(child("profile_timeline"));
    for (const auto& [id, half] :
         {std::pair("timeline_lanes", &scene), std::pair("timeline_beside", scene.beside.get())}) {
      const ImRect plot = ctx->ItemInfo(id).RectFull;
      const auto x_of = [&](std::int64_t at) {
        return plot.Min.x + plot.GetWidth() * static_cast<float>(static_cast<double>(at - half->from) /
                                                                 static_cast<double>(half->to - half->from));
      };
      for (const TimelineRow& row : half->rows) {
        if (row.kind != RowKind::computes) continue;
        const auto name = std::ranges::find_if(all.places(), [&](const DrawnText::Place& p) {
          return p.text == row.label && p.right <= plot.Min.x && p.top > plot.Min.y - 4 && p.bottom < plot.Max.y;
        });
        ASSERT_NE(name, all.places().end()) << row.label;
        const float middle = (name->top + name->bottom) / 2;
        for (const TimelineStretch& x : row.stretches) {
          const float from = std::max(x_of(x.from), plot.Min.x), to = std::min(x_of(x.to), plot.Max.x);
          if (x.look != StretchLook::wait || x.letter.empty() || to - from < kWide) continue;
          ++waits;
          EXPECT_TRUE(std::ranges::any_of(all.places(),
                                          [&](const DrawnText::Place& p) {
                                            return p.text == x.letter && p.left > from && p.right < to &&
                                                   p.top > middle - 18 && p.bottom < middle + 18;
                                          }))
              << row.label << " waits for " << x.letter << x.tile << ", " << to - from << " pixels";
        }
      }
    }
  }));
  EXPECT_GT(waits, 8U);
}

TEST_F(TimelineRowsTest, TheMarkAtTheAxisLeadsToTheKeyTileThatIsFollowed) {
  open(1440, 900);
  const auto shown = timelines().all.front();
  window->controller().update({ChooseTimeline{id_of(*shown)}, ChooseTimeSpan{1, 601}, FollowKeyTile{0}});
  window->draw_frames(4);
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    const ProfileView& view = window->state().view.profile;
    ctx->SetRef(child("profile_timeline"));
    IM_CHECK(ctx->ItemExists("timeline_followed"));
    ctx->ItemClick("timeline_followed");
    ctx->Yield(3);
    IM_CHECK(view.time_from_ns > 601);
    IM_CHECK_LE(std::abs(view.time_to_ns - view.time_from_ns - 600), 2);
    IM_CHECK_EQ(view.key_tile, 0);
    ctx->SetRef(child("profile_timeline"));
    IM_CHECK(!ctx->ItemExists("timeline_followed"));
    // By the keyboard the same.
    window->controller().update({ChooseTimeSpan{1, 601}});
    ctx->Yield(3);
    ctx->NavMoveTo("timeline_followed");
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(3);
    IM_CHECK(view.time_from_ns > 601);
  }));
}

}  // namespace
}  // namespace attn
