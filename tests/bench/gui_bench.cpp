// The window: what a frame costs, how soon a step shows, how soon and in how much memory a view is there.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "app/control/controller.h"
#include "app/graphics/gui_context.h"
#include "app/shell/shell.h"
#include "app/state/apply/apply.h"
#include "app/system/assets.h"
#include "budget.h"
#include "imgui.h"
#include "imgui_impl_null.h"
#include "kernels/base/clock.h"
#include "kernels/base/hash.h"
#include "longest.h"
#include "profiling/session/session.h"
#include "tests/environment/paths.h"

namespace attn::bench {
namespace {

constexpr int kFrames = 300;
constexpr float kWidth = 1440, kHeight = 900;

// Of this thread alone: other programs on a busy machine do not count.
double thread_milliseconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

// The program's window without a display; what it would draw is thrown away.
class Window {
 public:
  static Result<std::unique_ptr<Window>> open(std::shared_ptr<const Recording> recording) {
    const auto assets = find_assets();
    if (!assets) return tl::unexpected(assets.error());
    std::unique_ptr<Window> window(new Window);
    if (auto ready = window->shell_.set_up(*assets); !ready) return tl::unexpected(ready.error());
    ControllerOptions options;
    options.state = initial_state();
    options.state.preferences.reduced_motion = true;
    if (recording) options.state.document.problem = recording->problem;
    window->controller_ = std::make_unique<Controller>(std::move(options));
    if (recording) window->controller_->show({}, std::move(recording));
    window->controller_->wait();
    for (int n = 0; n < 10; ++n) window->frame({});
    return window;
  }
  ~Window() {
    controller_.reset();
    ImGui_ImplNull_Shutdown();
  }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  // Milliseconds of the UI's code; the renderer is not part of it.
  double frame(const Commands& more) {
    commands_.insert(commands_.end(), more.begin(), more.end());
    const double begin = thread_milliseconds();
    controller_->update(std::exchange(commands_, {}));
    shell_.follow(controller_->state(), 1);
    ImGui_ImplNull_NewFrame();
    ImGui::GetIO().DisplaySize = {kWidth, kHeight};
    ImGui::GetIO().DeltaTime = 1.0F / 60;
    ImGui::NewFrame();
    shell_.draw(*controller_, commands_);
    ImGui::Render();
    const double took = thread_milliseconds() - begin;
    ImGui_ImplNullRender_RenderDrawData(ImGui::GetDrawData());
    return took;
  }
  // Of all that the last frame drew.
  static std::string picture() {
    std::string all;
    for (const ImDrawList* list : ImGui::GetDrawData()->CmdLists) {
      all.append(reinterpret_cast<const char*>(list->VtxBuffer.Data),
                 static_cast<std::size_t>(list->VtxBuffer.size_in_bytes()));
    }
    return hash_of(all);
  }
  std::size_t events() const { return controller_->model().recording->events.size(); }

 private:
  Window() { ImGui_ImplNull_Init(); }

  GuiContext gui_;
  Shell shell_;
  std::unique_ptr<Controller> controller_;
  Commands commands_;
};

Budget missed(const std::string& what, const std::string& why) {
  return {what, "runs", why, Outcome::missed};
}

// What a frame asks for while nothing moves, and while a person scrubs from end to end.
Budget frame_cost(const std::string& view, Window& window, bool scrubs, double limit) {
  std::array<double, kFrames> cost{};
  for (std::size_t n = 0; n < kFrames; ++n) {
    Commands commands;
    if (scrubs) commands.push_back(GoToEvent{static_cast<EventIndex>(window.events() * (n * 97 % kFrames) / kFrames)});
    cost[n] = window.frame(commands);
  }
  std::sort(cost.begin(), cost.end());
  const double middle = cost[kFrames / 2], late = cost[kFrames * 99 / 100];
  return {fmt::format("UI code a frame, {}{}", view, scrubs ? ", another step each frame" : ""),
          fmt::format("<= {:g} ms", limit), fmt::format("{:.2f} ms, 99 of 100 within {:.2f} ms", middle, late),
          held(late <= limit)};
}

// Frames from a command until the picture has changed for good.
Budget step_shows(const std::string& view, Window& window, const Command& command) {
  const std::string what = "a step shows, " + view;
  window.frame({});
  const std::string before = Window::picture();
  window.frame({});
  if (Window::picture() != before) return missed(what, "the picture moves though nothing was done");
  window.frame({command});
  const std::string next = Window::picture();
  window.frame({});
  const bool at_once = next != before && next == Window::picture();
  return {what, "1 frame",
          next == before ? "not in the next frame"
          : at_once      ? "1 frame"
                         : "goes on after 1 frame",
          held(at_once)};
}

void of_view(const std::string& view, std::shared_ptr<const Recording> recording, StepChart chart, double limit,
             std::vector<Budget>& budgets) {
  const auto window = Window::open(std::move(recording));
  if (!window) {
    budgets.push_back(missed("UI code a frame, " + view, window.error().message));
    return;
  }
  (*window)->frame({ChooseStepChart{chart}});
  budgets.push_back(frame_cost(view, **window, false, limit));
  budgets.push_back(frame_cost(view, **window, true, limit));
  (*window)->frame({GoToEvent{0}});
  budgets.push_back(step_shows(view, **window, StepBy{}));
  budgets.push_back(
      step_shows(view + ", scrubbed", **window, GoToEvent{static_cast<EventIndex>((*window)->events() / 2)}));
}

struct Ran {
  double seconds = 0;
  double mib = 0;  // most memory at once
  int status = -1;
};

// The program as a user starts it, its words thrown away.
Ran run_program(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), test::program());
  const double begin = steady_seconds();
  const pid_t child = ::fork();
  if (child == 0) {
    std::vector<char*> words;
    for (std::string& a : arguments) words.push_back(a.data());
    words.push_back(nullptr);
    if (std::freopen("/dev/null", "w", stderr) == nullptr) ::_exit(126);
    ::execv(words[0], words.data());
    ::_exit(127);
  }
  Ran ran;
  rusage used{};
  int status = 0;
  if (child < 0 || ::wait4(child, &status, 0, &used) != child) return ran;
  ran.seconds = steady_seconds() - begin;
  ran.mib = static_cast<double>(used.ru_maxrss) / 1024;
  ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ran;
}

void of_program(std::int64_t longest, std::vector<Budget>& budgets) {
  const std::filesystem::path picture =
      std::filesystem::temp_directory_path() / fmt::format("attnscope-bench-{}.png", ::getpid());
  const auto shot = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"shot", "--view", "step", "-o", picture.string()});
    const Ran ran = run_program(std::move(more));
    std::error_code ignored;
    std::filesystem::remove(picture, ignored);
    return ran;
  };
  const auto outcome = [](const Ran& ran, bool holds) {
    return ran.status == 3 ? Outcome::not_here : held(ran.status == 0 && holds);
  };
  const auto words = [](const Ran& ran, std::string good) {
    if (ran.status == 3) return std::string("no OpenGL here: attnscope doctor says why");
    return ran.status == 0 ? std::move(good) : fmt::format("attnscope ended with {}", ran.status);
  };
  shot({});  // the files are in memory
  std::array<Ran, 3> starts{shot({}), shot({}), shot({})};
  std::sort(starts.begin(), starts.end(), [](const Ran& a, const Ran& b) { return a.seconds < b.seconds; });
  const Ran& start = starts[1];
  budgets.push_back({"exec to first frame offscreen, at most", "<= 0.5 s",
                     words(start, fmt::format("{:.2f} s for 5 frames and the PNG of the last", start.seconds)),
                     outcome(start, start.seconds <= 0.5)});
  const std::string L = std::to_string(longest);
  const Ran large = shot({"--kernel", "cpu_flash", "--l", L, "--d", "64"});
  budgets.push_back({"memory with the largest recording", "<= 250 MiB",
                     words(large, fmt::format("{:.0f} MiB, the renderer's included", large.mib)),
                     outcome(large, large.mib <= 250)});
}

}  // namespace

std::vector<Budget> gui_budgets() {
  std::vector<Budget> budgets;
  of_view("default view", nullptr, StepChart::row, 2, budgets);
  const auto longest = longest_recordable();
  if (!longest) return {missed("largest recording", longest.error().message)};
  auto recording = record_flash(square(*longest));
  if (!recording) return {missed("largest recording", recording.error().message)};
  const auto largest = std::make_shared<const Recording>(*std::move(recording));
  of_view("largest recording", largest, StepChart::row, 6, budgets);
  of_view("largest recording, attention map", largest, StepChart::attention, 6, budgets);
  of_program(*longest, budgets);
  return budgets;
}

}  // namespace attn::bench
