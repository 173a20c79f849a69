// Random commands (ten thousand a problem in the long list), in both directions and in jumps: what the window then
// shows is what a fresh replay shows, and each number on it is the recorded one, correctly rounded.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "app/control/controller.h"
#include "app/state/apply/apply.h"
#include "kernels/ladder.h"
#include "kernels/model/kernel.h"
#include "tests/environment/asked.h"
#include "viz/draw/number_text.h"
#include "viz/step/step_cache.h"
#include "viz/step/tiles/tiles_scene.h"

namespace attn {
namespace {

constexpr const char* kKernels[] = {"cpu_sequential", "cpu_tiled", "cpu_flash1", "cpu_flash"};
constexpr int kRoom = 7;

int commands_per_problem() {
  if (test::asked("ATTNSCOPE_SANITIZED")) return 1000;
  return test::asked("ATTNSCOPE_LONG_TESTS") ? 10000 : 3000;
}

// Every preset, and every kind of mask beside them.
std::vector<State> problems() {
  std::vector<State> states;
  for (const Preset& p : presets()) states.push_back(*with_preset(initial_state(), p.id));
  const State random = *with_preset(initial_state(), "random");
  const auto add = [&](auto change) {
    Problem p = random.document.problem;
    change(p);
    const auto with = apply(random, SetProblem{p}, nullptr);
    ASSERT_TRUE(with) << with.error().message;
    states.push_back(*with);
  };
  add([](Problem& p) { p.mask.window_left = 2, p.mask.window_right = 1; });
  add([](Problem& p) { p.mask.key_lengths = {p.Lk - 3}; });
  add([](Problem& p) { p.bias_shape = {1, p.Hq, p.Lq, p.Lk}; });
  add([](Problem& p) { p.mask.causal = true, p.Lq -= 1, p.mask.window_left = 5; });
  return states;
}

Command any_command(std::mt19937& random, const Recording& rec, const Problem& p) {
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const int direction = pick(2) == 0 ? 1 : -1;
  switch (pick(12)) {
    case 0:
    case 1:
    case 2:
      return StepBy{StepUnit::phase, direction};
    case 3:
      return StepBy{StepUnit::key_tile, direction};
    case 4:
      return StepBy{StepUnit::query_tile, direction};
    case 5:
      return GoToEnd{pick(2) == 0};
    case 6:
      return GoToLandmark{pick(2) == 0 ? Landmark::m_change : Landmark::bookmark, direction};
    case 7:
      return ToggleBookmark{pick(2) == 0 ? kNoEvent
                                         : static_cast<EventIndex>(pick(static_cast<int>(rec.events.size())))};
    case 8:
      return Select{{0, 0, pick(static_cast<int>(p.Lq)), static_cast<Slot>(pick(13)), pick(9) - 1}};
    case 9:
      return SetReading{pick(2) == 0 ? OutputReading::as_summed : OutputReading::divided};
    default:
      // Beyond the end too: the cursor stays inside.
      return GoToEvent{static_cast<EventIndex>(pick(static_cast<int>(rec.events.size()) + 3))};
  }
}

struct Shown {
  TilesScene scene;
  std::vector<const TileScene*> tiles() const {
    std::vector<const TileScene*> all{&scene.k, &scene.v};
    for (const Column c : scene.columns) all.push_back(&scene.tiles[static_cast<std::size_t>(c)]);
    return all;
  }
};

Shown show(StepCache& cache, const std::shared_ptr<const Recording>& rec, const State& s) {
  cache.follow(rec, s.view.step.cursor);
  Shown shown{tiles_scene(*rec, s.view.step.cursor, s.document.selection, s.view.step.reading, cache.scales)};
  const auto write = [&](TileScene& tile) { write_numbers(*rec, shown.scene, tile, kRoom, cache.bounds()); };
  for (TileScene& tile : shown.scene.tiles) write(tile);
  write(shown.scene.k);
  write(shown.scene.v);
  return shown;
}

double last_digit(const std::string& text) {
  const std::size_t e = text.find('e'), point = text.find('.');
  const std::size_t end = std::min(e, text.size());
  const double decimals = point == std::string::npos ? 0 : static_cast<double>(end - point - 1);
  return std::pow(10.0, (e == std::string::npos ? 0 : value_of(text.substr(e + 1))) - decimals);
}

void expect_same_and_rounded(const Shown& lived, const Shown& fresh, OutputReading reading) {
  const auto a = lived.tiles(), b = fresh.tiles();
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t t = 0; t < a.size(); ++t) {
    ASSERT_EQ(a[t]->cells.size(), b[t]->cells.size());
    const bool divided = reading == OutputReading::divided && a[t]->hue == TensorColour::o;
    for (std::size_t n = 0; n < a[t]->cells.size(); ++n) {
      const Cell &x = a[t]->cells[n], &y = b[t]->cells[n];
      ASSERT_EQ(x.text, y.text);
      ASSERT_EQ(x.look, y.look);
      ASSERT_EQ(x.shade, y.shade);
      ASSERT_EQ(x.largest, y.largest);
      if (x.look != CellLook::value || !std::isfinite(x.value) || divided) continue;
      EXPECT_LE(std::abs(value_of(x.text) - x.value), 0.5 * last_digit(x.text) + 1e-12 * std::abs(x.value)) << x.text;
    }
  }
}

class RandomCommands : public ::testing::TestWithParam<const char*> {};

TEST_P(RandomCommands, LeadWhereAFreshReplayLeads) {
  unsigned seed = 11;
  for (State& start : problems()) {
    SCOPED_TRACE(start.document.preset + " " + describe(start.document.problem));
    start.document.kernel = GetParam();
    if (!check_takes(**find_kernel(GetParam()), start.document.problem)) continue;  // pages
    ControllerOptions options;
    options.state = start;
    Controller c(options);
    const auto rec = c.model().recording;
    ASSERT_NE(rec, nullptr) << c.model().recording_error;
    std::mt19937 random(seed++);
    StepCache lived;
    const int commands = commands_per_problem(), every = commands / 10;
    for (int n = 1; n <= commands; ++n) {
      c.update({any_command(random, *rec, start.document.problem)});
      ASSERT_LT(c.state().view.step.cursor, rec->events.size());
      if (n % every != 0) continue;
      const Shown shown = show(lived, rec, c.state());
      // Recorded again, gone to at once, by a program that was just started.
      options.state = c.state();
      Controller again(options);
      ASSERT_NE(again.model().recording, nullptr);
      EXPECT_EQ(again.model().recording->arena.size(), rec->arena.size());
      EXPECT_EQ(again.state().view.step.cursor, c.state().view.step.cursor);
      StepCache cold;
      expect_same_and_rounded(shown, show(cold, again.model().recording, again.state()), c.state().view.step.reading);
      if (HasFailure()) return;
    }
    EXPECT_EQ(c.model().recording, rec);  // walking records nothing anew
    EXPECT_TRUE(c.state().document.problem == start.document.problem);
  }
}

INSTANTIATE_TEST_SUITE_P(Orders, RandomCommands, ::testing::ValuesIn(kKernels),
                         [](const auto& kernel) { return std::string(kernel.param); });

}  // namespace
}  // namespace attn
