// A ring on what is held in a hand: its cells are too small for the numbers of all ranks.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/model/ring.h"
#include "kernels/recording/lanes.h"
#include "tests/environment/asked.h"
#include "tests/gui/step/phone.h"
#include "viz/draw/number_text.h"
#include "viz/step/ring/ring_scene.h"
#include "viz/step/step_cache.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;

constexpr const char* kRing = "attn1,preset=none,generator=normal,L=16,D=4,causal=1,br=2,bc=2,set=ranks:4,cursor=150";
constexpr const char* kBackward =
    "attn1,preset=none,generator=normal,L=16,D=4,pass=backward,kernel=cpu_flash_bwd,br=2,bc=2,set=ranks:4,cursor=60";

bool is_number(const std::string& text) {
  constexpr std::string_view kMinus = "−", kAbout = "≈";
  std::string_view rest = text;
  for (const std::string_view sign : {kMinus, kAbout})
    if (rest.starts_with(sign)) rest.remove_prefix(sign.size());
  return !rest.empty() && (std::isdigit(static_cast<unsigned char>(rest.front())) != 0 || rest.front() == '.');
}

std::ptrdiff_t values_of(const RingGrid& grid) {
  return std::ranges::count_if(
      grid.cells, [](const Cell& cell) { return cell.look == CellLook::value && std::isfinite(cell.value); });
}

RingScene scene_now(TestWindow& w) {
  StepCache& cache = *w.shell().step_ui().cache;
  const EventIndex now = w.state().view.step.cursor;
  return ring_scene(*cache.recording, place_of(*cache.recording, now, w.state().document.selection), cache.scales,
                    cache.bounds_of_head(now));
}

// What the step has made, of its own rank.
std::vector<std::pair<std::string, const RingGrid*>> made_of(const RingScene& scene) {
  const auto live = std::ranges::find_if(scene.ranks, &RingRankRow::live);
  if (live == scene.ranks.end()) return {};
  const RingRankRow& row = *live;
  std::vector<std::pair<std::string, const RingGrid*>> made{
      {"##ring_scores", &row.scores},     {"##ring_turn_m", &row.turn.m},     {"##ring_turn_l", &row.turn.l},
      {"##ring_turn_o", &row.turn.o},     {"##ring_so_far_m", &row.so_far.m}, {"##ring_so_far_l", &row.so_far.l},
      {"##ring_so_far_o", &row.so_far.o}, {"##ring_delta", &row.delta},       {"##ring_dq", &row.dq},
      {"##ring_part_dk", &row.part.dk},   {"##ring_part_dv", &row.part.dv},   {"##ring_sums_dk", &row.sums.dk},
      {"##ring_sums_dv", &row.sums.dv}};
  std::erase_if(made, [](const auto& each) { return !each.second->made.any() || values_of(*each.second) == 0; });
  return made;
}

std::ptrdiff_t numbers_in(const DrawnText& drawn, const ImRect& box) {
  return std::ranges::count_if(drawn.places(), [&](const auto& place) {
    return is_number(place.text) && place.bottom - place.top >= 9 &&
           box.Contains(ImVec2((place.left + place.right) / 2, (place.top + place.bottom) / 2));
  });
}

void refer_to_page(Ctx* ctx) {
  if (ImGuiWindow* page = child_window("page"))
    ctx->SetRef(page);
  else
    ctx->SetRef(kStep);
}

std::size_t expect_numbers(Phone& w, const std::string& where) {
  std::size_t met = 0;
  const RingScene scene = scene_now(w);
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    refer_to_page(ctx);
    for (const auto& [path, grid] : made_of(scene)) {
      if (ctx->ItemExists(path.c_str())) ctx->ScrollToItem(path.c_str(), ImGuiAxis_Y, ImGuiTestOpFlags_NoFocusWindow);
      ctx->Yield();
      const DrawnText drawn;
      ctx->Yield();
      // Where all ranks have their numbers none is shown alone.
      const ImGuiViewport& view = *ImGui::GetMainViewport();
      const ImRect box = ctx->ItemExists(path.c_str()) ? ctx->ItemInfo(path.c_str()).RectFull
                                                       : ImRect(view.Pos, {view.Pos.x + view.Size.x, view.Size.y});
      EXPECT_GE(numbers_in(drawn, box), values_of(*grid)) << where << ", " << path;
      ++met;
    }
  })) << where;
  return met;
}

TEST(HeldRing, WhatAStepMakesHasItsNumbers) {
  std::size_t steps = 0;
  for (const PhoneSize& size : kHeld)
    for (const char* state : {kRing, kBackward}) {
      std::size_t met = 0;
      Phone w(size, state);
      w.settle();
      for (EventIndex e = 0; e < recording(w).events.size(); e += 5) {
        if (test::left_to_release(steps++, 12)) continue;
        w.go_to(e);
        met += expect_numbers(
            w, std::string(state) + ", step " + std::to_string(e + 1) + " at " + std::to_string(size.width));
      }
      EXPECT_GT(met, test::asked("ATTNSCOPE_SANITIZED") ? 2U : 10U) << state << " at " << size.width;
    }
}

// Its numbers are in sight, however the run was opened.
TEST(HeldRing, WhatAStepMakesIsInSight) {
  for (const PhoneSize& size : {kHeld[0], kHeld[1], kHeld[2]}) {
    Phone w(size, kRing);
    w.settle();
    const ImGuiWindow* page = child_window("page");
    ASSERT_NE(page, nullptr);
    const TilesSpan& made = w.shell().step_ui().tiles.made;
    EXPECT_GT(made.bottom, made.top);
    EXPECT_GE(made.bottom, page->Pos.y + 60) << size.width;
    EXPECT_LE(made.bottom, page->Pos.y + page->Size.y + 1) << size.width;
  }
}

// ℓ of row 8 is what the question is about: rank 2 has it.
TEST(HeldRing, ATapReadsACellAndAnotherRank) {
  for (const PhoneSize& size : {kHeld[0], kHeld[3]}) {
    Phone w(size, kRing);
    w.settle();
    EXPECT_TRUE(w.run([&](Ctx* ctx) {
      const auto drawn_with = [&](const std::string& words) {
        const DrawnText drawn;
        ctx->Yield();
        return std::ranges::any_of(drawn.texts(), [&](const auto& text) { return text.starts_with(words); });
      };
      const auto middle_of_first = [&](const char* path) {
        ctx->ScrollToItem(path, ImGuiAxis_Y, ImGuiTestOpFlags_NoFocusWindow);
        ctx->Yield(2);
        const ImRect box = ctx->ItemInfo(path).RectFull;
        return ImVec2{box.Min.x + 8, box.Min.y + 10};
      };
      const auto tap = [&](ImVec2 at) {
        ctx->MouseMoveToPos(at);
        ctx->Yield();
        ctx->MouseClick();
        ctx->Yield(3);
      };
      refer_to_page(ctx);
      IM_CHECK_NO_RET(drawn_with("Rank 1, rows 4 to 7"));
      tap(middle_of_first("##ring_so_far_l"));
      IM_CHECK_NO_RET(drawn_with("ℓ, row 4: 1.000"));
      tap(middle_of_first("band_0/##ring_rank_2"));
      IM_CHECK_NO_RET(drawn_with("Rank 2, rows 8 to 11"));
      IM_CHECK_NO_RET(!drawn_with("ℓ, row 4"));
      // The next step shows its own rank again.
      const EventIndex now = w.state().view.step.cursor;
      w.controller().update({GoToEvent{now + 1}});
      ctx->Yield(4);
      IM_CHECK_NO_RET(drawn_with("Rank " + std::to_string(recording(w).lane_of(now + 1).value()) + ", rows"));
    })) << size.width;
  }
}

// All ranks are on the page, however high it is; none of their heads stands alone.
TEST(HeldRing, EveryRankIsReached) {
  for (const PhoneSize& size : kPages)
    for (const std::string state :
         {"attn1,preset=late_outlier,set=ranks:2,cursor=30", "attn1,preset=late_outlier,set=ranks:4,cursor=30",
          "attn1,preset=late_outlier,pass=backward,kernel=cpu_flash_bwd,set=ranks:2,cursor=60"}) {
      const std::string where = state + " at " + std::to_string(size.width);
      Phone w(size, state);
      w.settle();
      ImGuiWindow* page = child_window("page");
      ASSERT_NE(page, nullptr) << where;
      std::set<std::string> texts;
      for (float y = 0; y < page->ScrollMax.y + page->Size.y; y += page->Size.y / 2) {
        page->Scroll.y = std::min(y, page->ScrollMax.y);
        w.draw_frames(2);
        const DrawnText drawn;
        w.draw_frames(1);
        texts.insert(drawn.texts().begin(), drawn.texts().end());
        std::vector<DrawnText::Place> places = drawn.places();
        std::erase_if(places, [&](const auto& place) {
          return place.left < page->Pos.x - 1 || place.bottom < page->Pos.y || place.top > page->Pos.y + page->Size.y;
        });
        expect_apart(places, where);
      }
      for (std::int64_t rank = 0; rank < ranks_of(recording(w).options); ++rank)
        EXPECT_TRUE(texts.contains("Rank " + std::to_string(rank))) << where << ": " << rank;
      for (const std::string& text : texts)
        EXPECT_EQ(text.find("are shown"), std::string::npos) << where << ": " << text;
    }
}

}  // namespace
}  // namespace attn
