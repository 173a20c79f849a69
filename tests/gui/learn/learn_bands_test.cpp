// The tiles of a lesson's run on a phone held upright: as many numbers as in Step, and two halves below one another.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "app/state/lessons/lesson_files.h"
#include "kernels/model/order.h"
#include "tests/environment/asked.h"
#include "tests/environment/paths.h"
#include "tests/gui/step/phone.h"
#include "viz/learn/card/learn_scene.h"
#include "viz/step/facts/side_by_side.h"
#include "viz/step/orders/looks.h"
#include "viz/step/step_cache.h"
#include "viz/step/tiles/tiles_scene.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;

void open_picture(Phone& w, const std::string& lesson, const std::string& beat) {
  w.controller().update({StartLesson{lesson, beat}});
  w.settle();
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    if (ctx->ItemExists("**/##lesson_run")) ctx->ItemClick("**/##lesson_run");
    ctx->Yield(4);
  }));
}

// As a cell has it; those of keys and rows stand beside the tiles.
bool is_written(const std::string& text) {
  constexpr std::string_view kMinus = "−";
  const std::string_view rest = text.starts_with(kMinus) ? std::string_view(text).substr(kMinus.size()) : text;
  return !rest.empty() && (std::isdigit(static_cast<unsigned char>(rest.front())) != 0 || rest.front() == '.');
}

struct NamedTile {
  std::string id;
  const TileScene* tile;
};

std::vector<NamedTile> tiles_of(const TilesScene& scene) {
  std::vector<NamedTile> tiles{{"##tile_k", &scene.k}, {"##tile_v", &scene.v}};
  for (const ColumnLook& column : scene.look->columns)
    tiles.push_back({std::string(column.id), &scene.tiles[static_cast<std::size_t>(column.column)]});
  for (const SideTile& side : scene.sides)
    tiles.push_back({fmt::format("##tile_{}", name_of(side.tile.slot)), &side.tile});
  return tiles;
}

// As a blackboard's.
bool is_small(const TileScene& tile) {
  constexpr std::int32_t kSmall = 8;
  return tile.rows <= kSmall && tile.cols <= kSmall;
}

std::ptrdiff_t values_of(const TileScene& tile) {
  return std::ranges::count_if(tile.cells, [](const Cell& cell) {
    return cell.look == CellLook::value && std::isfinite(cell.value) && std::fabs(cell.value) > 1e-3F;
  });
}

// What the page shows of the run, as it was computed apart from the drawing.
TilesScene shown_scene(Phone& w) {
  const StepUiState& ui = w.shell().step_ui();
  const Recording& rec = *ui.cache->recording;
  const Selection& selection = w.state().document.selection;
  const auto step = side_by_side_of(rec).tiles_step;
  const EventIndex now = std::min<EventIndex>(w.state().view.step.cursor, rec.events.size() - 1);
  const EventIndex e = step == nullptr ? now : step(rec, now, selection.row);
  TilesScene scene = e == now ? tiles_scene(rec, now, selection, w.state().view.step.reading, ui.cache->scales)
                              : tiles_scene(rec, e, now, selection, ui.cache->scales);
  fold_tiles(scene, ui.look);
  return scene;
}

bool has_tiles(Phone& w) {
  const LearnScene& learn = *w.controller().model().learn;
  const bool run = !learn.figure && !learn.exercise && w.controller().model().recording != nullptr;
  if (!run || side_by_side_of(recording(w)).tiles != nullptr) return false;
  return learn.look.parts.none() || learn.look.names_tiles() || learn.look.has(StepPart::k) ||
         learn.look.has(StepPart::v);
}

std::ptrdiff_t numbers_in(const DrawnText& drawn, const ImRect& box) {
  return std::ranges::count_if(drawn.places(), [&](const auto& place) {
    return is_written(place.text) && box.Contains(ImVec2((place.left + place.right) / 2, place.top + 1));
  });
}

// Of what a beat shows of a run; how many tiles have numbers.
std::size_t expect_numbers(Phone& w, const std::string& where) {
  std::size_t tiles = 0;
  const TilesScene scene = shown_scene(w);
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ImGuiWindow* page = child_window("page");
    ctx->SetRef(page != nullptr ? page : child_window("stage"));
    for (const auto& [id, tile] : tiles_of(scene)) {
      const std::ptrdiff_t values = values_of(*tile);
      if (!tile->live || tile->folded || values == 0 || !is_small(*tile)) continue;
      if (page != nullptr) ctx->ScrollToItem(id.c_str(), ImGuiAxis_Y, ImGuiTestOpFlags_NoFocusWindow);
      ctx->Yield();
      const DrawnText drawn;
      ctx->Yield();
      const ImRect box = ctx->ItemInfo(id.c_str(), ImGuiTestOpFlags_NoError).RectFull;
      EXPECT_GE(numbers_in(drawn, box), values) << where << ", " << id;
      ++tiles;
    }
  })) << where;
  return tiles;
}

// A larger screen shows no less.
TEST(TabletLesson, EveryCellOfARunHasItsNumber) {
  std::size_t beats = 0, tiles = 0;
  for (const PhoneSize& size : {PhoneSize{820, 1133}, {1180, 773}}) {
    Phone w(size);
    for (const Lesson& lesson : read_lessons(std::filesystem::path(test::source_folder()) / "assets/lessons").lessons) {
      for (const Beat& beat : lesson.beats) {
        if (test::left_to_release(beats++, 9)) continue;
        open_picture(w, lesson.id, beat.id);
        if (!has_tiles(w) || child_window("stage") == nullptr) continue;
        tiles += expect_numbers(w, fmt::format("{}/{} at {}", lesson.id, beat.id, size.width));
      }
    }
  }
  EXPECT_GT(tiles, test::asked("ATTNSCOPE_SANITIZED") ? 12U : 60U);
}

// In a window so high that nothing is scrolled.
TEST(PhoneLesson, EveryCellOfARunHasItsNumber) {
  std::size_t beats = 0, tiles = 0;
  for (const int width : {360, 390}) {
    Phone w({width, 1900});
    for (const Lesson& lesson : read_lessons(std::filesystem::path(test::source_folder()) / "assets/lessons").lessons) {
      for (const Beat& beat : lesson.beats) {
        if (test::left_to_release(beats++, 9)) continue;
        open_picture(w, lesson.id, beat.id);
        if (!has_tiles(w) || child_window("page") == nullptr) continue;
        const std::string where = fmt::format("{}/{} at {}", lesson.id, beat.id, width);
        const TilesScene scene = shown_scene(w);
        EXPECT_TRUE(w.run([&](Ctx* ctx) {
          const DrawnText drawn;
          ctx->Yield();
          ctx->SetRef(child_window("page"));
          for (const auto& [id, tile] : tiles_of(scene)) {
            const std::ptrdiff_t values = values_of(*tile);
            if (!tile->live || tile->folded || values == 0 || !is_small(*tile)) continue;
            const ImRect box = ctx->ItemInfo(id.c_str(), ImGuiTestOpFlags_NoError).RectFull;
            EXPECT_GE(numbers_in(drawn, box), values) << where << ", " << id;
            ++tiles;
          }
        })) << where;
      }
    }
  }
  EXPECT_GT(tiles, test::asked("ATTNSCOPE_SANITIZED") ? 12U : 60U);
}

// Side by side neither would have its numbers.
TEST(PhoneLesson, TwoHalvesStandBelowOneAnother) {
  for (const auto& [beat, size] :
       {std::pair("halves", PhoneSize{360, 1900}), {"table", PhoneSize{360, 1900}}, {"table", PhoneSize{820, 1133}}}) {
    Phone w(size);
    open_picture(w, "two-halves", beat);
    const DrawnText drawn;
    w.draw_frames(1);
    const auto title = [&](const char* words) {
      const auto it = std::ranges::find(drawn.places(), words, &DrawnText::Place::text);
      EXPECT_NE(it, drawn.places().end()) << words;
      return it == drawn.places().end() ? DrawnText::Place{} : *it;
    };
    const DrawnText::Place first = title("Part 1 of 2"), second = title("Part 2 of 2");
    EXPECT_EQ(first.left, second.left);
    EXPECT_GT(second.top, first.bottom + 100);
    std::ptrdiff_t above = 0, below = 0;
    for (const auto& place : drawn.places()) {
      if (!is_written(place.text) || place.text.find('.') == std::string::npos) continue;
      if (place.top > first.bottom && place.bottom < second.top) ++above;
      if (place.top > second.bottom && place.top < second.top + (second.top - first.top)) ++below;
    }
    // Of tables of pages: K of 4 keys and V of as many. Of halves: m and l of four rows, and O that may be 0.
    const std::ptrdiff_t least = std::string_view(beat) == "table" ? 64 : 8;
    EXPECT_GE(above, least) << beat;
    EXPECT_GE(below, least) << beat;
  }
}

}  // namespace
}  // namespace attn
