// What has no room in Bench is folded, never cut in the midst: the strip, the table, the page and the menus.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tests/gui/bench/bench_fixture.h"
#include "tests/gui/drawn_text.h"
#include "viz/draw/canvas.h"

namespace attn {
namespace {

class BenchFoldsTest : public BenchTest {
 protected:
  // Bundled runs that are offered, or eight runs that are shown.
  void open_runs(int width, int height, float scale, bool ticked) {
    open(width, height, scale, false);
    std::vector<ListedRun> runs;
    for (int n = 1; n <= 8; ++n) {
      ListedRun r;
      r.run = new_run("");
      r.run.id = fmt::format("{:016x}", n);
      r.run.name = fmt::format("a run with a name as long as people give them, number {}", n);
      r.run.rows = rows_of(sweep());
      r.from = RunFrom::bundled;
      runs.push_back(std::move(r));
    }
    window->controller().show(runs, nullptr);
    for (const ListedRun& r : runs) window->controller().update({ShowRun{r.run.id, ticked}});
    window->draw_frames(4);
  }
};

TEST_F(BenchFoldsTest, TheStripTakesThreeRowsAtMostOnEveryPage) {
  struct Size {
    int width, height;
    float scale;
  };
  for (const Size size : {Size{1280, 720, 1}, Size{1440, 900, 1}, Size{2880, 1800, 2}, Size{700, 900, 1}}) {
    for (const bool ticked : {false, true}) {
      window.reset();  // one at a time
      open_runs(size.width, size.height, size.scale, ticked);
      for (const BenchPage page :
           {BenchPage::charts, BenchPage::ladder, BenchPage::sources, BenchPage::tiles, BenchPage::ranks}) {
        window->controller().update({ChooseBenchPage{page}});
        window->draw_frames(3);
        const ImGuiWindow* strip = child_window("strip");
        ASSERT_NE(strip, nullptr);
        constexpr float kRows = 24 + 26 + 24 + 4 + 20;  // above and below, the chips or a row more, headline, a row
        EXPECT_LE(strip->Size.y, kRows * size.scale)
            << size.width << ", " << ticked << ", page " << static_cast<int>(page);
      }
    }
  }
}

TEST_F(BenchFoldsTest, ATableThatScrollsShowsWholeRows) {
  for (const int height : {720, 760, 801, 900}) {
    window.reset();
    open_runs(1280, height, 1, true);
    ImGuiWindow* rows = nullptr;
    for (ImGuiWindow* w : ImGui::GetCurrentContext()->Windows)
      if (w->WasActive && std::string(w->Name).find("rows_") != std::string::npos) rows = w;
    ASSERT_NE(rows, nullptr);
    ASSERT_GT(rows->ScrollMax.y, 0);
    constexpr float kHead = 24, kRow = 20;
    const float shown = rows->InnerRect.GetHeight() - kHead;
    EXPECT_NEAR(shown / kRow, std::round(shown / kRow), 0.06F) << height;
  }
}

TEST_F(BenchFoldsTest, APageThatGoesOnBelowGoesPaleAtItsFoot) {
  open_runs(1280, 560, 1, true);
  const ImGuiWindow* page = child_window("figures");
  ASSERT_NE(page, nullptr);
  ASSERT_GT(page->ScrollMax.y, 0);
  const auto is_faded = [](const std::string& end) {
    return std::ranges::any_of(ImGui::GetCurrentContext()->Windows, [&](const ImGuiWindow* w) {
      return w->WasActive && std::string(w->Name).find("/" + end + "_") != std::string::npos;
    });
  };
  EXPECT_TRUE(is_faded("fade_below"));
  EXPECT_FALSE(is_faded("fade_above"));
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ctx->MouseMoveToPos({page->InnerRect.Min.x + 300, page->InnerRect.Min.y + 40});
    for (int n = 0; n < 60 && page->Scroll.y < page->ScrollMax.y; ++n) {
      ctx->MouseWheelY(-1);
      ctx->Yield();
    }
    ctx->Yield(2);
    IM_CHECK(is_faded("fade_above"));
    IM_CHECK(!is_faded("fade_below"));
  }));
}

TEST_F(BenchFoldsTest, TheMenuOfARowHasRowsAsHighAsItsWordsAndMore) {
  open();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ImGuiWindow* rows = nullptr;
    for (ImGuiWindow* w : ImGui::GetCurrentContext()->Windows)
      if (w->WasActive && std::string(w->Name).find("rows_") != std::string::npos) rows = w;
    IM_CHECK(rows != nullptr);
    ctx->MouseMoveToPos({rows->InnerRect.Min.x + 60, rows->InnerRect.Min.y + 36});
    ctx->MouseClick(ImGuiMouseButton_Right);
    ctx->Yield(3);
    const ImRect first = ctx->ItemInfo("//$FOCUSED/Profile it").RectFull;
    const ImRect second = ctx->ItemInfo("//$FOCUSED/Step through it").RectFull;
    IM_CHECK_GE(second.Min.y - first.Min.y, 1.4F * ImGui::GetFontSize());
  }));
}

// A paragraph that has more words than lines says so, within its width.
TEST_F(BenchFoldsTest, AParagraphThatIsCutEndsInDots) {
  open();
  EXPECT_TRUE(window->run([&](Ctx*) {
    const TextRuns runs{word("For the remaining time a rank has not started, "), number("12 %"),
                        word(" has finished, or waits for a core.")};
    for (float width = 90; width < 420; width += 7) {
      for (const int lines : {1, 2}) {
        const float all = draw_paragraph(nullptr, {}, width, 13, runs, 99, false);
        const bool cut = all > line_height(13) * (static_cast<float>(lines) + 0.5F);
        const DrawnText drawn;
        draw_paragraph(ImGui::GetForegroundDrawList(), {100, 100}, width, 13, runs, lines);
        IM_CHECK_SILENT(drawn.texts().contains("…") == cut);
        for (const DrawnText::Place& p : drawn.places())
          if (p.text == "…") IM_CHECK_LE(p.right, 100 + width + 1);
      }
    }
  }));
}

}  // namespace
}  // namespace attn
