// Two recordings on one axis as they are drawn in a low window: whole words, and no letter on the critical path.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/environment/asked.h"
#include "tests/gui/drawn_text.h"
#include "tests/gui/profile/profile_fixture.h"
#include "viz/draw/canvas.h"
#include "viz/draw/theme.h"
#include "viz/profile/timeline/scene/comparison.h"
#include "viz/profile/timeline/scene/shown_part.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;
using profile_gui::child;

class TimelinePairTest : public profile_gui::TimelinePageTest {
 protected:
  // Each pair as the page opens it, with what a frame draws; under a sanitizer a share of them.
  template <class Each>
  void each_pair(Each each) {
    const TimelinesView& timelines = window->controller().model().timelines;
    std::size_t n = 0;
    for (const auto& t : timelines.all) {
      const PipelineScene alone = timeline_scene(t, timelines, t->kernel);
      for (const PipelineScene::Choice& c : alone.choices) {
        if (!c.may_be_beside || test::left_to_release(n++, 20)) continue;
        PipelineScene scene = alone;
        put_beside(scene, c.id, timelines);
        window->controller().update({ChooseTimeline{id_of(*t)}, CompareTimeline{c.id}, ChooseTimeSpan{}});
        window->draw_frames(2);
        show_part(scene, window->state().view.profile);
        const DrawnText all;
        window->draw_frames(1);
        SCOPED_TRACE(id_of(*t) + " above " + c.id);
        each(scene, all.places());
      }
    }
  }
};

bool is_drawn(const std::vector<DrawnText::Place>& places, const std::string& words) {
  return std::ranges::any_of(places, [&](const DrawnText::Place& p) { return p.text == words; });
}

// In one of its forms, with its cause behind it or on the bracket's other side.
bool is_drawn(const std::vector<DrawnText::Place>& places, const AheadWords& words) {
  return std::ranges::any_of(words.forms, [&](const AheadForm& form) {
    return is_drawn(places, form.all()) || (is_drawn(places, form.measured) && is_drawn(places, form.cause));
  });
}

TEST_F(TimelinePairTest, TheBracketsWordsAndTheCauseAreWholeAt1280x720) {
  open(1280, 720);
  std::size_t brackets = 0, none = 0;
  each_pair([&](const PipelineScene& scene, const std::vector<DrawnText::Place>& places) {
    if (const auto ahead = ahead_of(scene)) {
      ++brackets;
      EXPECT_TRUE(is_drawn(places, ahead_words(scene, *ahead))) << ahead_words(scene, *ahead).forms.back().all();
    } else {
      ++none;
      EXPECT_TRUE(is_drawn(places, why_no_bracket(scene).front())) << why_no_bracket(scene).front();
    }
    std::string words;
    for (const DrawnText::Place& p : places) words += p.text;
    std::erase(words, ' ');
    const auto there = [&](std::string form) {
      std::erase(form, ' ');
      return words.find(form) != std::string::npos;
    };
    EXPECT_TRUE(there(scene.beside_words) || std::ranges::any_of(scene.beside_forms, there)) << scene.beside_words;
  });
  EXPECT_GT(brackets, 3U);
  EXPECT_GT(none, test::asked("ATTNSCOPE_SANITIZED") ? 0U : 1U);
}

// Wherever the reader looks: the bracket may lie at either end of the line, or take nearly all of it.
TEST_F(TimelinePairTest, NoPartOfABlockCutsTheBracketsWords) {
  constexpr std::array kSizes{std::pair(1440, 900), std::pair(1280, 720), std::pair(1920, 1080)};
  std::size_t brackets = 0, whole = 0, n = 0;
  for (const auto& [width, height] : kSizes) {
    window.reset();
    open(width, height);
    each_pair([&](PipelineScene& scene, const std::vector<DrawnText::Place>&) {
      if (n++ % kSizes.size() != 0) return;  // at each size others
      const auto block = static_cast<std::int64_t>(static_cast<double>(scene.length) * scene.ns_a_clock);
      for (const auto& [from, span] : {std::pair(0.0, 1.0), {0.2, 0.3}, {0.6, 0.06}, {0.9, 0.02}}) {
        const auto part = static_cast<double>(block);
        const auto begin = static_cast<std::int64_t>(from * part),
                   end = static_cast<std::int64_t>((from + span) * part);
        window->controller().update({ChooseTimeSpan{begin, end}});
        window->draw_frames(2);
        show_part(scene, window->state().view.profile);
        const auto ahead = ahead_of(scene);
        if (!ahead) continue;
        const DrawnText all;
        window->draw_frames(1);
        const AheadWords words = ahead_words(scene, *ahead);
        ++brackets;
        whole += is_drawn(all.places(), words);
        for (const DrawnText::Place& p : all.places()) {
          if (!p.text.ends_with("…")) continue;
          const std::string cut = p.text.substr(0, p.text.size() - std::string("…").size());
          for (const AheadForm& form : words.forms) EXPECT_FALSE(form.all().starts_with(cut)) << p.text;
        }
      }
    });
  }
  EXPECT_GT(brackets, 3U);
  EXPECT_EQ(whole, brackets);
}

TEST_F(TimelinePairTest, TheKeyOfAllSmsNamesTheShownBlockOfEachHalf) {
  open(1280, 720);
  window->controller().update({ShowAllSms{true}});
  std::size_t unequal = 0;
  each_pair([&](const PipelineScene& scene, const std::vector<DrawnText::Place>& places) {
    const std::string words =
        fmt::format("block shown in the lanes: {} above, {} below", scene.block, scene.beside->block);
    EXPECT_TRUE(is_drawn(places, words)) << words;
    EXPECT_TRUE(is_drawn(places, ends_told(scene, *scene.beside).words)) << ends_told(scene, *scene.beside).words;
    unequal += scene.block != scene.beside->block;
  });
  EXPECT_GT(unequal, 0U);
}

// The level parts of the path, as they are drawn.
std::vector<ImRect> path_parts(const ImDrawList& list, const ImRect& plot) {
  const ImVec2 fill = ImGui::GetDrawListSharedData()->TexUvWhitePixel;
  std::vector<ImRect> parts;
  for (int n = 0; n + 3 < list.VtxBuffer.Size; ++n) {
    const ImDrawVert &v = list.VtxBuffer[n], &far = list.VtxBuffer[n + 2];
    const bool filled = v.uv.x == fill.x && v.uv.y == fill.y;
    if (!filled || v.col != colour_of(Token::text) || far.col != v.col || v.pos.y < plot.Min.y || v.pos.y > plot.Max.y)
      continue;
    const float high = far.pos.y - v.pos.y, wide = far.pos.x - v.pos.x;
    if (high > 0 && high < 3 && wide > 8) parts.push_back({v.pos, far.pos});
  }
  return parts;
}

// Letters of lanes and the figures behind them.
TEST_F(TimelinePairTest, NoLetterTouchesALevelPartOfThePathAt1280x720) {
  open(1280, 720);
  std::size_t letters = 0;
  each_pair([&](const PipelineScene&, const std::vector<DrawnText::Place>& places) {
    EXPECT_TRUE(window->run([&](Ctx* ctx) {
      ctx->SetRef(child("profile_timeline"));
      for (const char* const id : {"timeline_lanes", "timeline_beside"}) {
        const ImRect plot = ctx->ItemInfo(id).RectFull;
        const std::vector<ImRect> parts = path_parts(*child("profile_timeline")->DrawList, plot);
        for (const DrawnText::Place& p : places) {
          const bool letter = p.text == "K" || p.text == "V" || p.text == "Q" || p.text == "S" || p.text == "O";
          if (!letter || p.left < plot.Min.x || p.top < plot.Min.y - 4 || p.bottom > plot.Max.y) continue;
          ++letters;
          const ImFontGlyph* const ink =
              font_of(Face::maths)->GetFontBaked(p.size)->FindGlyph(static_cast<ImWchar>(p.text.front()));
          for (const ImRect& part : parts)
            EXPECT_FALSE(part.Max.x > p.left && part.Min.x < p.right && part.Max.y > p.top + ink->Y0 &&
                         part.Min.y < p.top + ink->Y1)
                << p.text << " at " << p.left << ", " << p.top;
        }
      }
    }));
  });
  EXPECT_GT(letters, test::asked("ATTNSCOPE_SANITIZED") ? 100U : 2000U);
}

}  // namespace
}  // namespace attn
