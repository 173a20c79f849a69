// Scrubbing through a whole run at 1280 x 720, drawn without a display: the time of each frame, from the command until
// its pixels are drawn.
#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/control/controller.h"
#include "app/graphics/gui_context.h"
#include "app/graphics/offscreen.h"
#include "app/shell/shell.h"
#include "app/state/apply/apply.h"
#include "app/system/assets.h"
#include "budget.h"
#include "imgui.h"
#include "imgui_impl_opengl3.h"
#include "kernels/model/kernel.h"
#include "longest.h"

namespace attn::bench {
namespace {

constexpr int kWidth = 1280, kHeight = 720, kFrames = 300;

struct FrameTimes {
  std::vector<double> ui, whole;  // milliseconds
};

double percentile(std::vector<double> times, double share) {
  if (times.empty()) return 0;
  const auto n = static_cast<std::ptrdiff_t>(share * static_cast<double>(times.size() - 1));
  std::nth_element(times.begin(), times.begin() + n, times.end());
  return times[static_cast<std::size_t>(n)];
}

using Clock = std::chrono::steady_clock;
double milliseconds(Clock::time_point from) {
  return std::chrono::duration<double, std::milli>(Clock::now() - from).count();
}

struct Renderer {
  Renderer() : good(ImGui_ImplOpenGL3_Init("#version 330")) {}
  ~Renderer() {
    if (good) ImGui_ImplOpenGL3_Shutdown();
  }
  Renderer(const Renderer&) = delete;
  Renderer& operator=(const Renderer&) = delete;
  bool good;
};

// From the first step to the last and back, in kFrames frames.
Result<FrameTimes> scrub(const State& state) {
  const auto assets = find_assets();
  if (!assets) return tl::unexpected(assets.error());
  const auto offscreen = Offscreen::create(kWidth, kHeight);
  if (!offscreen) return tl::unexpected(offscreen.error());
  GuiContext gui;
  const Renderer renderer;
  if (!renderer.good) return fail(ErrorKind::cannot_run, "the renderer cannot start");
  Shell shell;
  if (auto ready = shell.set_up(*assets); !ready) return tl::unexpected(ready.error());
  ControllerOptions options;
  options.state = state;
  Controller controller(std::move(options));
  controller.wait();
  if (controller.model().recording == nullptr) return fail(ErrorKind::failed, controller.model().recording_error);
  const auto last = static_cast<double>(controller.model().recording->events.size() - 1);
  ImGui::GetIO().DisplaySize = {kWidth, kHeight};
  ImGui::GetIO().DeltaTime = 1.0F / 60;
  FrameTimes times;
  Commands commands;
  for (int frame = -10; frame < kFrames; ++frame) {
    const double along = frame < 0 ? 0 : static_cast<double>(frame) / (kFrames - 1);
    const double there = along < 0.5 ? 2 * along : 2 - 2 * along;
    const auto begin = Clock::now();
    commands.emplace_back(GoToEvent{static_cast<EventIndex>(there * last)});
    controller.update(std::exchange(commands, {}));
    shell.follow(controller.state(), 1);
    ImGui_ImplOpenGL3_NewFrame();
    ImGui::NewFrame();
    shell.draw(controller, commands);
    ImGui::Render();
    const double ui = milliseconds(begin);
    offscreen->clear(0xff000000);
    ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
    offscreen->finish();
    if (frame < 0) continue;  // windows and glyphs find their places
    times.ui.push_back(ui);
    times.whole.push_back(milliseconds(begin));
  }
  return times;
}

Result<State> largest() {
  const auto longest = longest_recordable();
  if (!longest) return tl::unexpected(longest.error());
  State state = initial_state();
  Document& d = state.document;
  d.preset.clear();
  d.options = {};
  d.inputs = {};
  d.inputs.generator = Generator::normal;
  d.problem = square(*longest);
  return state;
}

void add(std::vector<Budget>& budgets, const std::string& what, const State& state, double ui_limit,
         double frame_limit) {
  const auto times = scrub(state);
  if (!times) {
    budgets.push_back(
        {"scrub, " + what, fmt::format("<= {} ms", frame_limit), times.error().message, Outcome::not_here});
    return;
  }
  const double frame = percentile(times->whole, 0.99), ui = percentile(times->ui, 0.5);
  budgets.push_back({fmt::format("scrub at {} x {}, {}: 99th percentile of frames", kWidth, kHeight, what),
                     fmt::format("<= {} ms", frame_limit),
                     fmt::format("{:.1f} ms (median {:.1f})", frame, percentile(times->whole, 0.5)),
                     held(frame <= frame_limit)});
  budgets.push_back({fmt::format("UI code of a scrub's frame, {}: median", what), fmt::format("<= {} ms", ui_limit),
                     fmt::format("{:.2f} ms (99th percentile {:.2f})", ui, percentile(times->ui, 0.99)),
                     held(ui <= ui_limit)});
}

}  // namespace

std::vector<Budget> scrub_budgets() {
  std::vector<Budget> budgets;
  add(budgets, "default view", initial_state(), 2, 16);
  const auto state = largest();
  if (!state) {
    budgets.push_back({"scrub, largest recording", "<= 33 ms", state.error().message, Outcome::not_here});
    return budgets;
  }
  add(budgets, fmt::format("largest recording (L = {})", state->document.problem.Lq), *state, 6, 33);
  return budgets;
}

}  // namespace attn::bench
