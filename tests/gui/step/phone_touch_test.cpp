// Step under a finger, on a phone held upright: numbers in all cells, nothing over anything, targets for fingers.
#include <algorithm>
#include <initializer_list>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/ladder.h"
#include "tests/environment/asked.h"
#include "tests/gui/step/phone.h"
#include "viz/draw/hands.h"
#include "viz/step/bars/bars_draw.h"
#include "viz/step/bars/strip.h"
#include "viz/step/facts/gpu_run.h"
#include "viz/step/step_cache.h"
#include "viz/step/tiles/layout_draw.h"
#include "viz/step/tiles/pointed.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;

// Each as small as a blackboard: at most eight numbers a row.
constexpr const char* kSmall[] = {"blackboard", "random",       "late_outlier", "causal", "ragged", "large_logits",
                                  "masked_row", "equal_scores", "heads",        "window", "bias"};
constexpr float kLegible = 10;

std::vector<const TileScene*> tiles_of(const TilesScene& scene) {
  std::vector<const TileScene*> tiles{&scene.k, &scene.v};
  for (const Column c : scene.columns) tiles.push_back(&scene.tiles[static_cast<std::size_t>(c)]);
  for (const SideTile& side : scene.sides) tiles.push_back(&side.tile);
  return tiles;
}

// Every step of the first query tile, and the last of all.
std::vector<EventIndex> steps_of(const Recording& rec) {
  std::vector<EventIndex> steps;
  for (EventIndex e = 0; e < rec.events.size(); ++e)
    if (rec.events[e].id.i == 0 && rec.events[e].id.h == 0) steps.push_back(e);
  if (steps.size() > 24) steps.resize(24);
  steps.push_back(static_cast<EventIndex>(rec.events.size() - 1));
  return steps;
}

TEST(PhoneTiles, EveryCellOfASmallInputHasItsNumber) {
  for (const PhoneSize& size : kPhones) {
    Phone w(size);
    for (const char* preset : kSmall) {
      w.open(preset);
      EXPECT_TRUE(w.run([&](Ctx*) {
        const Recording& rec = recording(w);
        const TensorScales scales = scales_of(rec);
        const Box area{{18, 0}, {static_cast<float>(size.width) - 18, 320}};  // within window and card
        for (const EventIndex e : steps_of(rec)) {
          TilesScene scene = tiles_scene(rec, e, {}, OutputReading::as_summed, scales);
          const TilesLayout layout = layout_tiles(scene, area, true);
          for (const TileScene* tile : tiles_of(scene)) {
            if (!tile->live) continue;
            const TilePlace& place = place_of_tile(scene, layout, *tile);
            TileScene written = *tile;
            write_numbers(rec, scene, written, place.room, nullptr);
            IM_CHECK_GE_NO_RET(place.text_size, kLegible);
            IM_CHECK_NO_RET(place.box.max.x <= area.max.x && place.box.max.y <= layout.bottom);
            for (const Cell& cell : written.cells) {
              if (cell.look != CellLook::value) continue;
              IM_CHECK_NO_RET(!cell.text.empty());
              IM_CHECK_LE_NO_RET(text_width(Face::mono, kLegible, cell.text), place.cell_width - 2);
            }
          }
        }
      })) << preset
          << " at " << size.width;
    }
  }
}

TEST(PhoneTiles, NoTileStandsOnAnother) {
  for (const char* kernel : {"cpu_flash", "cpu_sequential", "cpu_flash1", "cpu_tiled", "cpu_flash_bwd"}) {
    Phone w(kPhones[0]);
    w.open("causal", kernel);
    EXPECT_TRUE(w.run([&](Ctx*) {
      const Recording& rec = recording(w);
      const TensorScales scales = scales_of(rec);
      for (const EventIndex e : steps_of(rec)) {
        const TilesScene scene = tiles_scene(rec, e, {}, OutputReading::as_summed, scales);
        const TilesLayout layout = layout_tiles(scene, {{18, 0}, {342, 320}}, true);
        IM_CHECK_GT(layout.bands.size(), 1U);
        std::vector<Box> taken;
        for (const TileScene* tile : tiles_of(scene)) {
          const TilePlace& place = place_of_tile(scene, layout, *tile);
          if (place.y.size() < 2) continue;
          for (const Box& other : taken)
            IM_CHECK_NO_RET(place.box.min.x >= other.max.x - 0.5F || other.min.x >= place.box.max.x - 0.5F ||
                            place.box.min.y >= other.max.y - 0.5F || other.min.y >= place.box.max.y - 0.5F);
          taken.push_back(place.box);
        }
      }
    })) << kernel;
  }
}

std::vector<EventIndex> all_steps(const Recording& rec) {
  std::vector<EventIndex> steps(rec.events.size());
  std::iota(steps.begin(), steps.end(), EventIndex{0});
  return steps;
}

constexpr float kStripEnd = 48 + 12 + kPhoneStrip;

// Of the step's sentence.
std::string last_word(TestWindow& w, EventIndex e) {
  const Recording& rec = recording(w);
  const StepPlace at = place_of(rec, e, {});
  const StripScene strip = strip_scene(rec, at, step_values(rec, at, {}, nullptr), w.shell().step_ui().texts);
  const std::string& last = strip.sentence.back().text;
  return last.substr(last.rfind(' ') + 1);
}

TEST(PhoneStep, NoWordsAreWrittenOverOthersAndTheSentenceIsWhole) {
  std::size_t steps = 0;
  for (const PhoneSize& size : kPhones) {
    Phone w(size);
    for (const std::string preset : {"blackboard", "late_outlier", "causal", "large"}) {
      w.open(preset.c_str());
      for (const EventIndex e : preset == "large" ? steps_of(recording(w)) : all_steps(recording(w))) {
        if (test::left_to_release(steps++, 4)) continue;
        w.go_to(e);
        const DrawnText drawn;
        w.draw_frames(1);
        const std::vector<DrawnText::Place>& places = drawn.places();
        for (std::size_t n = 0; n < places.size(); ++n)
          for (std::size_t k = 0; k < n; ++k)
            EXPECT_FALSE(collide(places[n], places[k]))
                << preset << ", step " << e + 1 << ": " << places[n].text << " over " << places[k].text;
        const std::string last = last_word(w, e);
        EXPECT_TRUE(std::ranges::any_of(places,
                                        [&](const auto& place) {
                                          return place.text.ends_with(last) && place.top < kStripEnd &&
                                                 place.bottom <= kStripEnd;
                                        }))
            << preset << ", step " << e + 1 << ": " << last;
        for (const char* words : {"Next", "Play", "Problem"}) EXPECT_EQ(drawn.count(words), 1);
      }
    }
  }
}

// What a step made stands within what is seen of the page, and so do its numbers.
TEST(PhoneStep, WhatAStepMadeIsBroughtIntoSight) {
  Phone w(kPhones[0]);
  w.open("causal");
  std::size_t moved = 0;
  float before = 0;
  for (const EventIndex e : steps_of(recording(w))) {
    w.go_to(e);
    const ImGuiWindow* page = child_window("page");
    ASSERT_NE(page, nullptr);
    const TilesSpan& made = w.shell().step_ui().tiles.made;
    const float top = page->Pos.y, bottom = page->Pos.y + page->Size.y;
    if (made.bottom > made.top) {
      EXPECT_LE(made.bottom, bottom + 1) << "step " << e + 1;
      EXPECT_TRUE(made.top >= top - 1 || made.bottom - made.top > page->Size.y) << "step " << e + 1;
    }
    moved += page->Scroll.y != before ? 1U : 0U;
    before = page->Scroll.y;
  }
  EXPECT_GE(moved, 2U) << "to the sums and back";
}

TEST(PhoneStep, WhatAFingerPressesHasItsSize) {
  for (const PhoneSize& size : kPhones) {
    Phone w(size);
    w.open("causal");
    w.go_to(20);
    EXPECT_TRUE(w.run([&](Ctx* ctx) {
      ctx->SetRef(kStep);
      expect_for_fingers(
          ctx, "",
          {"##step_first", "##step_previous", "##step_next", "##step_play", "##timeline_more", "##problem_chip"});
      expect_for_fingers(ctx, "//Bar/", {"Workspace", "Kernel", "Menu", "Keys"});
      ctx->SetRef(child_window("page"));
      expect_for_fingers(ctx, "",
                         {"##chart_row", "##chart_hindsight", "##chart_passes", "##chart_error", "##chart_attention",
                          "##chart_fragments"});
      ctx->ItemClick("##chart_fragments");
      ctx->Yield(3);
      ctx->SetRef(child_window("fragments"));
      expect_for_fingers(ctx, "",
                         {"Q##fragment_tile", "K##fragment_tile", "S##fragment_tile", "P##fragment_tile",
                          "V##fragment_tile", "O##fragment_tile", "flash_mma", "flash_hopper", "flash_tf32x3"});
      for (const char* id : {"O##fragment_tile", "flash_tf32x3"})
        IM_CHECK_LE(ctx->ItemInfo(id).RectFull.Max.x, child_window("fragments")->InnerRect.Max.x);
      ctx->SetRef(kStep);
      ctx->ItemClick("##timeline_more");
      ctx->Yield(2);
      expect_for_fingers(ctx, "//$FOCUSED/",
                         {"##step_m_previous", "##step_m_next", "##bookmark_previous", "##bookmark", "##bookmark_next",
                          "##bookmark_list", "##speed_slower", "##speed_faster"});
      ctx->PopupCloseAll();
      ctx->ItemClick("##problem_chip");
      ctx->Yield(2);
      expect_for_fingers(ctx, "//$FOCUSED/",
                         {"##preset", "##pass", "##heads", "##length", "##dim", "##tile", "##mask", "##scale",
                          "##generator", "##dtype"});
      ctx->PopupCloseAll();
      ctx->ItemClick("//Bar/Workspace");
      ctx->Yield(2);
      expect_for_fingers(ctx, "//$FOCUSED/", {"Step", "Learn"});
      ctx->PopupCloseAll();
    })) << size.width;
  }
}

// Where its window is opened at a larger scale, Next keeps its word and its place on the card.
TEST(PhoneStep, NextKeepsItsWordWhereLettersAreLarge) {
  for (const float scale : {1.0F, 1.25F, 1.5F, 2.2F}) {
    Phone w;
    w.open("late_outlier");
    w.controller().update({SetScale{scale}});
    w.draw_frames(6);
    EXPECT_TRUE(w.run([&](Ctx* ctx) {
      ctx->SetRef(kStep);
      const ImRect next = ctx->ItemInfo("##step_next").RectFull;
      IM_CHECK_GE_NO_RET(next.GetWidth(), (kFinger - 2) * scale);
      IM_CHECK_LE_NO_RET(next.Max.x, 390 - 12 * scale);
      const DrawnText drawn;
      ctx->Yield();
      const auto word = std::ranges::find(drawn.places(), "Next", &DrawnText::Place::text);
      IM_CHECK(word != drawn.places().end());
      IM_CHECK_NO_RET(word->left >= next.Min.x && word->right <= next.Max.x);
    })) << scale;
  }
}

// On a phone and on a tablet held upright.
TEST(PhoneStep, TheButtonsOfAnExhibitStandClearOfWhatIsWrong) {
  for (const PhoneSize& size : {kPhones[0], kPhones[1], PhoneSize{820, 1133}}) {
    Phone w(size);
    w.open("late_outlier", "museum_alpha_on_l_only");
    EXPECT_TRUE(w.run([&](Ctx* ctx) {
      ctx->SetRef(kStep);
      std::vector<ImRect> boxes;
      for (const char* id : {"##leave_museum", "##show_patch"}) boxes.push_back(ctx->ItemInfo(id).RectFull);
      const DrawnText drawn;
      ctx->Yield();
      for (const ImRect& box : boxes) {
        IM_CHECK_GE_NO_RET(box.GetHeight(), kFinger - 0.5F);
        const auto over = [&](const DrawnText::Place& place) {
          return box.Overlaps({place.left, place.top, place.right, place.bottom});
        };
        IM_CHECK_EQ_NO_RET(std::ranges::count_if(drawn.places(), over), 1);  // its own words
      }
    })) << size.width;
  }
}

TEST(PhoneStep, ATapFollowsACellBesideTheTilesUntilTheNext) {
  Phone w;
  w.open("blackboard");
  w.go_to(13);
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    const auto tooltips = [] {
      return std::ranges::count_if(ImGui::GetCurrentContext()->Windows, [](const ImGuiWindow* window) {
        return window->Active && (window->Flags & ImGuiWindowFlags_Tooltip) != 0;
      });
    };
    ctx->SetRef(child_window("page"));
    ctx->ItemClick("##tile_s");
    ctx->Yield(4);
    IM_CHECK_GE(w.state().document.selection.col, 0);
    IM_CHECK_EQ(tooltips(), 0);
    ctx->SetRef(kStep);
    const ImRect let_go = ctx->ItemInfo("##let_go").RectFull;
    IM_CHECK_GE(let_go.GetHeight(), kFinger);
    const ImGuiWindow* seen = child_window("page");
    IM_CHECK_LE(seen->Pos.y + seen->Size.y, let_go.Min.y);
    ctx->ItemClick("##let_go");
    ctx->Yield(4);
    IM_CHECK_EQ(w.state().document.selection.col, -1);
    IM_CHECK(!ctx->ItemExists("##let_go"));
    ctx->SetRef(child_window("page"));
    ctx->ItemClick("##tile_s");
    ctx->Yield(4);
    IM_CHECK_GE(w.state().document.selection.col, 0);
    ctx->MouseMoveToPos({child_window("page")->Pos.x + 12, child_window("page")->Pos.y + 30});
    ctx->MouseClick();
    ctx->Yield(4);
    IM_CHECK_EQ(w.state().document.selection.col, -1);
  }));
}

std::ptrdiff_t menus_shown() {
  return std::ranges::count_if(ImGui::GetCurrentContext()->Windows, [](const ImGuiWindow* window) {
    return window->Active && (window->Flags & (ImGuiWindowFlags_Popup | ImGuiWindowFlags_ChildMenu)) != 0;
  });
}

// Two menus have no room beside one another: the inner one unfolds in the outer one, which is scrolled.
TEST(PhoneMenus, NothingOfASubmenuIsHidden) {
  for (const PhoneSize& size : kPhones) {
    Phone w(size);
    w.open("causal");
    const RecordedRun& run = recorded_runs().front();
    const std::string recorded =
        std::string((*find_kernel(run.kernel))->title) + ", " + std::string(name_of(run.dtype));
    const auto unfolded = [&](Ctx* ctx, const char* menu, const char* words, const char* first) {
      ctx->ItemClick((std::string("//Bar/") + menu).c_str());
      ctx->Yield(2);
      ctx->ItemClick((std::string("//$FOCUSED/") + words).c_str());
      ctx->Yield(3);
      IM_CHECK_EQ_NO_RET(menus_shown(), 1);
      const ImGuiTestItemInfo line = ctx->ItemInfo((std::string("//$FOCUSED/") + words + "/" + first).c_str());
      IM_CHECK_NO_RET(line.RectClipped.GetHeight() >= line.RectFull.GetHeight() - 0.5F);
      IM_CHECK_LE_NO_RET(line.Window->Pos.y + line.Window->Size.y, static_cast<float>(size.height));
    };
    EXPECT_TRUE(w.run([&](Ctx* ctx) {
      unfolded(ctx, "Menu", "Export", "Measurements as CSV");
      ctx->PopupCloseAll();
      unfolded(ctx, "Kernel", "Recorded on a GPU", recorded.c_str());
      ctx->PopupCloseAll();
      unfolded(ctx, "Kernel", "Deliberately wrong", "Random exhibit");
      ctx->ItemClick("//$FOCUSED/Deliberately wrong/Twice the mean of 512");
      for (int frame = 0; frame < 400 && w.controller().tasks_run(); ++frame) ctx->Yield();
      IM_CHECK_EQ(w.state().document.kernel.substr(0, 6), "museum");
    })) << size.width;
  }
}

TEST(PhoneCharts, NoneIsEmptyAndNoWordsAreCut) {
  constexpr float kSide = 12 + 8;  // of page and card
  constexpr int kWhole = 2600;     // nothing of the page has to be scrolled
  for (const PhoneSize& size : kPhones) {
    Phone w({size.width, kWhole});
    for (const char* preset : {"late_outlier", "blackboard"}) {
      w.open(preset);
      for (const StepChart chart :
           {StepChart::row, StepChart::hindsight, StepChart::passes, StepChart::error, StepChart::attention}) {
        w.controller().update({ChooseStepChart{chart}});
        w.go_to(33);
        EXPECT_TRUE(w.run([&](Ctx* ctx) {
          ctx->SetRef(child_window("page"));
          const std::string tab = std::string("##chart_") + std::string(name_of(chart));
          const float under = ctx->ItemInfo(tab.c_str()).RectFull.Max.y;
          const DrawnText drawn;
          ctx->Yield();
          const ImGuiWindow* page = child_window("page");
          int words = 0;
          for (const auto& place : drawn.places()) {
            if (place.top < under || place.bottom > page->Pos.y + page->Size.y) continue;
            IM_CHECK_LE_NO_RET(place.right, static_cast<float>(size.width) - kSide);
            ++words;
          }
          IM_CHECK_GE_NO_RET(words, 4);
          for (const auto& [of, id] :
               {std::pair(StepChart::error, "##error_map"), {StepChart::attention, "##attention_map"}})
            if (of == chart) IM_CHECK_GE_NO_RET(ctx->ItemInfo(id).RectFull.GetHeight(), kFinger);
        })) << preset
            << ", " << name_of(chart) << " at " << size.width;
      }
    }
  }
}

// A lesson's run: beside its buttons the timeline would be a sliver.
TEST(PhoneLesson, TheTimelineOfARunStandsAboveItsButtons) {
  for (const PhoneSize& size : kPhones) {
    Phone w(size);
    w.controller().update({StartLesson{"masks", "skipped"}});
    for (int frame = 0; frame < 400 && w.controller().tasks_run(); ++frame) w.draw_frames(1);
    w.draw_frames(3);
    EXPECT_TRUE(w.run([&](Ctx* ctx) {
      ctx->ItemClick("**/##lesson_run");
      ctx->Yield(4);
      const ImRect more = ctx->ItemInfo("**/##timeline_more").RectFull;
      IM_CHECK_GE(more.GetWidth(), kFinger - 0.5F);
      IM_CHECK_LE(more.Max.x, static_cast<float>(size.width) - 12);
      const DragPlace track = w.shell().step_ui().dragged.back();
      IM_CHECK_GE(track.right - track.left, 250);
      IM_CHECK_LE(track.bottom, more.Min.y);
    })) << size.width;
  }
}

// The touch sheet: a gesture's words break within it, and it says how it closes.
TEST(PhoneSheet, NoWordsAreCutAndItCloses) {
  Phone w(kPhones[0]);
  w.controller().update({ShowKeys{true}});
  w.draw_frames(4);
  const DrawnText drawn;
  w.draw_frames(1);
  constexpr float kEdge = 352;  // the sheet's
  const ImGuiWindow* sheet = ImGui::FindWindowByName("Keys");
  ASSERT_NE(sheet, nullptr);
  EXPECT_LE(sheet->Pos.x + sheet->Size.x, kEdge);
  for (const char* word : {"cell", "timeline", "scrolls"})
    EXPECT_TRUE(std::ranges::any_of(drawn.places(), [&](const auto& place) {
      return place.text.ends_with(word) && place.right < sheet->Pos.x + sheet->Size.x - 8;
    })) << word;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    expect_for_fingers(ctx, "//Keys/", {"##close_keys"});
    ctx->ItemClick("//Keys/##close_keys");
    ctx->Yield(2);
    IM_CHECK(!w.state().view.keys_sheet);
  }));
}

// Held upright, at every step: in bands within the card, or on a page that is scrolled where the card has no room.
TEST(TabletTiles, HaveAllTheNumbersThatAPhoneHas) {
  for (const std::string kernel : {"cpu_flash", "cpu_flash_bwd"}) {
    Phone w({820, 1133});
    w.open("late_outlier", kernel.c_str());
    const bool paged = kernel == "cpu_flash_bwd";
    for (const EventIndex e : steps_of(recording(w))) {
      w.go_to(e);
      EXPECT_EQ(child_window("page") != nullptr, paged) << kernel << ", step " << e + 1;
      EXPECT_TRUE(w.run([&](Ctx*) {
        TilesScene scene = tiles_scene(recording(w), e, {}, OutputReading::as_summed, scales_of(recording(w)));
        const Box card{{28, 181}, {790, 709}};  // its inside
        const TilesLayout layout = paged ? layout_tiles(scene, card, true) : layout_in_card(scene, card);
        for (const TileScene* tile : tiles_of(scene)) {
          if (!tile->live) continue;
          IM_CHECK_GT_NO_RET(place_of_tile(scene, layout, *tile).room, 0);
          IM_CHECK_NO_RET(paged || place_of_tile(scene, layout, *tile).box.max.y <= card.max.y);
        }
      })) << kernel;
    }
  }
}

}  // namespace
}  // namespace attn
