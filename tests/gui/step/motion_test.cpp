// A step moves what it moves: followed frame by frame from where a tile lies to its slot, and what that costs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "app/window/pace.h"
#include "kernels/orders/backward/options.h"
#include "tests/gui/drawn_text.h"
#include "tests/gui/gui_fixture.h"
#include "viz/step/tiles/flights_draw.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;
using Rects = std::vector<InFlight>;

constexpr double kFrame = 1.0 / 60;

// Two query tiles of three key tiles each, at the default view: large enough for numbers.
void open_moving(TestWindow& w, const char* preset = "late_outlier") {
  w.controller().update({SetReducedMotion{false}, ChoosePreset{preset}, ChooseKernel{"cpu_flash"}});
  w.draw_frames(4);
}

// The first step from `from` on that is of this phase.
EventIndex step_of(const Recording& rec, Phase phase, EventIndex from = 0) {
  for (EventIndex e = from; e < rec.events.size(); ++e)
    if (rec.events[e].id.phase == phase) return e;
  ADD_FAILURE() << "no such step";
  return 0;
}

ImRect item(TestWindow& w, const char* id) {
  ImRect rect;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kStep);
    rect = ctx->ItemInfo(id).RectFull;
  }));
  return rect;
}

// Where each slot's flights were in every frame of the step to `e`.
std::map<Slot, std::vector<Rects>> follow(TestWindow& w, EventIndex e) {
  w.controller().update({GoToEvent{e - 1}});
  w.draw_frames(4);
  std::map<Slot, std::vector<Rects>> seen;
  w.controller().update({StepBy{}});
  for (int n = 0; n < 60; ++n) {
    w.draw_frames(1);
    if (!w.shell().moves()) break;
    std::map<Slot, Rects> now;
    for (const InFlight& f : w.shell().step_ui().tiles.flying) now[f.slot].push_back(f);
    for (auto& [slot, rects] : now) seen[slot].push_back(std::move(rects));
  }
  EXPECT_FALSE(w.shell().moves());
  EXPECT_EQ(w.state().view.step.cursor, e);
  return seen;
}

TEST(StepMoves, AKeyTileGoesFromItsPlaceInHbmToItsSlot) {
  TestWindow w;
  open_moving(w);
  const Recording& rec = recording(w);
  const EventIndex first = step_of(rec, Phase::load_kv), e = step_of(rec, Phase::load_kv, first + 1);
  ASSERT_EQ(rec.events[e].id.j, 1);
  const auto seen = follow(w, e);
  const ImRect slot_k = item(w, "##tile_k"), slot_v = item(w, "##tile_v");
  for (const auto& [slot, to] : {std::pair{Slot::k, slot_k}, {Slot::v, slot_v}}) {
    ASSERT_TRUE(seen.contains(slot));
    const std::vector<Rects>& path = seen.at(slot);
    const auto frames = static_cast<double>(path.size());
    EXPECT_GE(frames * kFrame, 0.15);
    EXPECT_LE(frames * kFrame, 0.4);
    ASSERT_EQ(path.front().size(), 1U);
    const InFlight from = path.front().front(), end = path.back().front();
    // A segment of the tensor at the card's upper edge, the second of as many as there are key tiles.
    EXPECT_LE(from.bottom - from.top, 8);
    EXPECT_LT(from.bottom, to.Min.y);
    EXPECT_NEAR(from.right - from.left, to.GetWidth() / static_cast<float>(rec.key_tiles()), 1.5F);
    EXPECT_NEAR(from.left, to.Min.x + to.GetWidth() / static_cast<float>(rec.key_tiles()), 1.5F);
    // The last frame before it rests is all but there.
    EXPECT_NEAR(end.left, to.Min.x, 3);
    EXPECT_NEAR(end.right, to.Max.x, 3);
    EXPECT_NEAR(end.bottom, to.Max.y, 3);
    // It never turns round, and it grows from the one to the other.
    for (std::size_t n = 1; n < path.size(); ++n) {
      EXPECT_GE(path[n][0].bottom, path[n - 1][0].bottom);
      EXPECT_GE(path[n][0].bottom - path[n][0].top, path[n - 1][0].bottom - path[n - 1][0].top - 0.01F);
      EXPECT_LE(path[n][0].left, path[n - 1][0].left + 0.01F);
    }
  }
}

TEST(StepMoves, TheLargestScoreBecomesM) {
  TestWindow w;
  open_moving(w);
  const auto seen = follow(w, step_of(recording(w), Phase::max));
  const ImRect scores = item(w, "##tile_s"), m = item(w, "##tile_m_new");
  ASSERT_TRUE(seen.contains(Slot::s));
  const std::vector<Rects>& path = seen.at(Slot::s);
  const Recording& rec = recording(w);
  EXPECT_EQ(path.front().size(), static_cast<std::size_t>(std::min<std::int64_t>(rec.options.br, rec.problem.Lq)));
  for (const InFlight& f : path.front()) {
    EXPECT_GE(f.left, scores.Min.x - 0.5F);
    EXPECT_LE(f.right, scores.Max.x + 0.5F);
  }
  for (const InFlight& f : path.back()) {
    EXPECT_NEAR(f.left, m.Min.x, 4);
    EXPECT_NEAR(f.right, m.Max.x, 4);
  }
}

TEST(StepMoves, OAtTheEndGoesToHbm) {
  TestWindow w;
  open_moving(w);
  const auto seen = follow(w, step_of(recording(w), Phase::store_o));
  const ImRect slot = item(w, "##tile_o"), values = item(w, "##tile_v");
  ASSERT_TRUE(seen.contains(Slot::o_new));
  const std::vector<Rects>& path = seen.at(Slot::o_new);
  EXPECT_NEAR(path.front()[0].left, slot.Min.x, 0.5F);
  EXPECT_NEAR(path.front()[0].bottom, slot.Max.y, 0.5F);
  EXPECT_LT(path.back()[0].top, values.Min.y);
  EXPECT_LE(path.back()[0].bottom - path.back()[0].top, 24);
}

// Every cell on its way is one of the recording's: of a version that is live before the step or after it.
TEST(StepMoves, WhatFliesIsRecorded) {
  for (const char* kernel : {"cpu_flash", "cpu_sequential", "cpu_flash1", "cpu_tiled", "cpu_flash_bwd"}) {
    TestWindow w;
    open_moving(w, "causal");
    w.controller().update({ChooseKernel{kernel}});
    w.draw_frames(4);
    std::size_t flights = 0;
    EXPECT_TRUE(w.run([&](Ctx*) {
      const Recording& rec = recording(w);
      const TensorScales scales = scales_of(rec);
      const Box card{{220, 150}, {1420, 580}};
      for (EventIndex e = 1; e < rec.events.size(); ++e) {
        const TilesScene now = tiles_scene(rec, e, {}, OutputReading::as_summed, scales),
                         before = tiles_scene(rec, e - 1, {}, OutputReading::as_summed, scales);
        if (now.sides.size() != before.sides.size()) continue;
        const TilesLayout layout = layout_tiles(now, card.grown(-10));
        for (const Flight& f : step_flights(rec, now, before, layout, card).flights) {
          ++flights;
          for (std::int32_t r = f.first_row; r < f.end_row; ++r) {
            for (std::int32_t c = f.first_col; c < f.end_col; ++c) {
              if (f.tile->cell(r, c).look != CellLook::value) continue;
              const CellRef at = f.tile->ref(r, c);
              const auto after = live_value(rec, e, at.slot, at.row, at.col),
                         earlier = live_value(rec, e - 1, at.slot, at.row, at.col);
              const float shown = f.tile->cell(r, c).value;
              const auto same = [&](const std::optional<float>& v) {
                return v && (*v == shown || (std::isnan(*v) && std::isnan(shown)));
              };
              IM_CHECK_NO_RET(same(after) || same(earlier));
            }
          }
        }
      }
    })) << kernel;
    EXPECT_GT(flights, 20U) << kernel;
  }
}

// The numbers that the tiles' card shows on the way are those of before or after, to the digit.
TEST(StepMoves, NoFrameShowsANumberThatWasNotComputed) {
  TestWindow w;
  open_moving(w, "blackboard");
  const auto texts = [&] {
    const DrawnText drawn;
    w.draw_frames(1);
    return drawn.texts();
  };
  const auto last = static_cast<EventIndex>(recording(w).events.size() - 1);
  std::size_t checked = 0;
  w.controller().update({GoToEvent{0}});
  w.draw_frames(4);
  for (EventIndex e = 1; e <= std::min<EventIndex>(last, 24); ++e) {
    std::set<std::string> rest = texts(), moving;
    w.controller().update({StepBy{}});
    w.draw_frames(1);
    while (w.shell().moves()) {
      moving.merge(texts());
      ++checked;
    }
    w.draw_frames(2);
    rest.merge(texts());
    for (const std::string& text : moving) {
      if (text == "HBM" || text.find_first_of("0123456789") == std::string::npos) continue;
      EXPECT_TRUE(rest.contains(text)) << "step " << e << " shows " << text;
    }
  }
  EXPECT_GT(checked, 100U);
}

bool is_number(const std::string& text) {
  return text.find_first_of("0123456789") != std::string::npos &&
         text.find_first_not_of("0123456789.-−e^+×") == std::string::npos;
}

// The ink of the numbers that this frame draws among the tiles: a line of text is taller than its digits.
std::vector<DrawnText::Place> numbers_in(TestWindow& w, const ImRect& tiles) {
  const DrawnText drawn;
  w.draw_frames(1);
  std::vector<DrawnText::Place> numbers;
  for (DrawnText::Place p : drawn.places()) {
    if (!is_number(p.text) || !tiles.Overlaps({p.left, p.top, p.right, p.bottom})) continue;
    const float lead = (p.bottom - p.top) * 0.25F;
    p.top += lead, p.bottom -= lead, p.left += 1, p.right -= 1;
    numbers.push_back(std::move(p));
  }
  return numbers;
}

// At one place at most one number is readable: a copy on its way lies on no number, nor on half of one.
TEST(StepMoves, NoNumberLiesOnAnother) {
  for (const auto& [preset, kernel] :
       {std::pair("blackboard", "cpu_flash"), {"late_outlier", "cpu_flash"}, {"blackboard", "cpu_sequential"}}) {
    TestWindow w;
    open_moving(w, preset);
    w.controller().update({ChooseKernel{kernel}, GoToEvent{0}});
    w.draw_frames(4);
    ImRect tiles = item(w, "##tile_q");
    for (const char* id : {"##tile_k", "##tile_v", "##tile_s", "##tile_o"}) tiles.Add(item(w, id));
    tiles.Expand(24);
    const auto last = static_cast<EventIndex>(recording(w).events.size() - 1);
    std::size_t moving = 0, meeting = 0;
    for (EventIndex e = 1; e <= std::min<EventIndex>(last, 20); ++e) {
      w.controller().update({StepBy{}});
      w.draw_frames(1);
      while (w.shell().moves()) {
        const auto numbers = numbers_in(w, tiles);
        moving += numbers.size();
        for (std::size_t a = 0; a < numbers.size(); ++a) {
          for (std::size_t b = a + 1; b < numbers.size(); ++b) {
            if (!numbers[a].meets(numbers[b])) continue;
            if (++meeting <= 5)
              ADD_FAILURE() << preset << ", " << kernel << ", step " << e << ": " << numbers[a].text << " lies on "
                            << numbers[b].text;
          }
        }
      }
      w.draw_frames(2);
    }
    EXPECT_EQ(meeting, 0U) << preset << ", " << kernel;
    EXPECT_GT(moving, 500U) << preset << ", " << kernel;
  }
}

TEST(StepMoves, ItsSwitchAndTheSystemHoldItStill) {
  TestWindow w;
  open_moving(w);
  const EventIndex e = step_of(recording(w), Phase::load_kv);
  const auto moves = [&] {
    w.controller().update({GoToEvent{e - 1}});
    w.draw_frames(3);
    w.controller().update({StepBy{}});
    w.draw_frames(1);
    return w.shell().moves();
  };
  EXPECT_TRUE(moves());
  w.controller().update({SetReducedMotion{true}});
  EXPECT_FALSE(moves());
  w.controller().update({SetReducedMotion{false}});
  w.shell().ask_less_motion(true);
  EXPECT_FALSE(moves());
  w.shell().ask_less_motion(false);
  EXPECT_TRUE(moves());
}

// Right pressed again before a step has arrived: the next one begins, and the slots are as they have to be.
TEST(StepMoves, TheNextKeyDoesNotWait) {
  TestWindow w;
  open_moving(w);
  w.controller().update({GoToEvent{0}});
  w.draw_frames(4);
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    for (EventIndex e = 1; e <= 6; ++e) {
      ctx->KeyPress(ImGuiKey_RightArrow);
      IM_CHECK_EQ(w.state().view.step.cursor, e);
      IM_CHECK(w.shell().moves());
    }
    ctx->KeyPress(ImGuiKey_LeftArrow);
    ctx->Yield(1);
    IM_CHECK(!w.shell().moves());
    IM_CHECK_EQ(w.state().view.step.cursor, 5U);
  }));
}

double cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Plays as the window's loop does, in simulated time; the processor's time is real.
struct Played {
  double seconds = 0, cpu = 0;
  int frames = 0;
  std::vector<double> moving;  // seconds of each frame in which something moved
};
Played play(TestWindow& w, double seconds) {
  Played out;
  Pace pace(60);
  double now = 0, looked = 0;
  pace.input();
  while (now < seconds) {
    const double until = std::min({pace.next(), now + w.controller().seconds_to_step(), seconds});
    now = std::max(until, now);
    if (w.controller().advance(now - looked)) pace.news(false);
    looked = now;
    if (pace.next() > now) {
      now += 1e-6;
      continue;
    }
    const double begun = cpu_seconds();
    w.draw_frames(1);
    const double cost = cpu_seconds() - begun;
    out.cpu += cost;
    ++out.frames;
    pace.drawn(now, now + cost, false);
    pace.at(now + w.shell().seconds_to_motion());
    if (w.shell().moves()) {
      pace.moving(now, cost);
      out.moving.push_back(cost);
    }
  }
  out.seconds = seconds;
  return out;
}

TEST(StepMoves, AFrameOfMotionIsTwoMillisecondsAtMostAndPlayAFifthOfACore) {
  TestWindow w(1440, 900);
  open_moving(w);
  w.controller().update({GoToEvent{0}, Play{true}});
  w.draw_frames(2);
  Played played = play(w, 16);
  // Under a sanitizer a frame takes longer, so fewer of them fit into the same seconds.
  if (!test::asked("ATTNSCOPE_SANITIZED")) {
    ASSERT_GE(played.moving.size(), 200U);
    std::nth_element(played.moving.begin(), played.moving.begin() + 100, played.moving.begin() + 200);
    const double median = played.moving[100];
#ifdef NDEBUG
    EXPECT_LE(median, 0.002);
#endif
    EXPECT_LE(played.cpu, 0.2 * played.seconds);
    RecordProperty("median_ms", std::to_string(median * 1e3));
    RecordProperty("share", std::to_string(played.cpu / played.seconds));
  }
  // Played to its end, nothing is drawn any more.
  w.controller().update({Play{false}});
  w.draw_frames(400);
  EXPECT_TRUE(std::isinf(w.shell().seconds_to_motion()));
  EXPECT_EQ(play(w, 10).frames, 3);
}

// The still picture of a load has its source too, as a place: the tile's segment of the tensor, and nothing once it is
// there. What is stored goes to one.
TEST(StepMoves, AStillStepShowsWhereInHbmItsTilesCameFrom) {
  TestWindow w;
  open_moving(w);
  w.controller().update({SetReducedMotion{true}});
  const Recording& rec = recording(w);
  const auto sources_at = [&](EventIndex e) {
    w.controller().update({GoToEvent{e}});
    w.draw_frames(4);
    std::map<Slot, InFlight> out;
    for (const InFlight& f : w.shell().step_ui().tiles.sources) out[f.slot] = f;
    return out;
  };
  const EventIndex first = step_of(rec, Phase::load_kv), second = step_of(rec, Phase::load_kv, first + 1);
  const auto seen = sources_at(second);
  ASSERT_EQ(seen.size(), 2U);
  for (const auto& [slot, id] : {std::pair{Slot::k, "##tile_k"}, {Slot::v, "##tile_v"}}) {
    ASSERT_TRUE(seen.contains(slot));
    const ImRect to = item(w, id);
    const InFlight& from = seen.at(slot);
    const float each = to.GetWidth() / static_cast<float>(rec.key_tiles());
    EXPECT_NEAR(from.left, to.Min.x + each, 1.5F) << "the second of the key tiles";
    EXPECT_NEAR(from.right - from.left, each, 1.5F);
    EXPECT_LT(from.bottom, to.Min.y);
  }
  EXPECT_TRUE(sources_at(step_of(rec, Phase::scores)).empty());
  EXPECT_TRUE(sources_at(step_of(rec, Phase::load_q)).contains(Slot::q));
  EXPECT_TRUE(sources_at(step_of(rec, Phase::store_o)).contains(Slot::o_new));
}

// The line between a tile and its place in HBM goes between what stands in the picture, or is not drawn.
TEST(StepMoves, NoLineFromHbmCrossesATitleANumberOrACaption) {
  for (const auto& [width, height] : {std::pair{1280, 720}, {1440, 900}}) {
    for (const std::int64_t outside : {0, 1}) {
      TestWindow w(width, height);
      Document d;
      d.problem.pass = Pass::backward;
      d.problem.Lq = d.problem.Lk = 16;
      d.problem.D = d.problem.Dv = 4;
      d.options.br = d.options.bc = 4;
      choose(d.options, orders::backward::kOutside, outside);
      d.inputs.generator = Generator::normal;
      d.inputs.seed = 61;
      w.controller().update({SetReducedMotion{true}, SetProblem{d.problem, 0}, SetInputs{d.inputs, 0},
                             SetOptions{d.options, 0}, ChooseKernel{"cpu_flash_bwd"}});
      w.draw_frames(4);
      std::size_t lines = 0, stored = 0;
      for (EventIndex e = 0; e < recording(w).events.size(); ++e) {
        w.controller().update({GoToEvent{e}});
        w.draw_frames(1);
        const TilesUiState& tiles = w.shell().step_ui().tiles;
        if (tiles.sources.empty()) continue;
        const DrawnText drawn;
        w.draw_frames(1);
        lines += tiles.ways.size();
        stored += tiles.sources.size();
        for (const InFlight& way : tiles.ways)
          for (const DrawnText::Place& p : drawn.places()) {
            const bool meets = way.left < p.right && p.left < way.right && way.top < p.bottom && p.top < way.bottom;
            EXPECT_FALSE(meets) << width << ", step " << e << ": through \"" << p.text << '"';
          }
      }
      EXPECT_GT(lines, stored / 2) << "most have their line";
    }
  }
}

}  // namespace
}  // namespace attn
