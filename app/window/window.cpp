#include "app/window/window.h"
#include "app/window/first_size.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include <GLFW/glfw3.h>
#include <fmt/format.h>

#include "app/control/controller.h"
#include "app/graphics/frame_sum.h"
#include "app/graphics/gl.h"
#include "app/graphics/gui_context.h"
#include "app/shell/dropped_files.h"
#include "app/shell/frame.h"
#include "app/shell/shell.h"
#include "app/state/apply/apply.h"
#include "app/state/lessons/lesson_progress.h"
#include "app/system/assets.h"
#include "app/system/less_motion.h"
#include "app/system/posix.h"
#include "app/window/display_lost.h"
#include "app/window/pace.h"
#include "app/window/settings.h"
#include "app/worker/disassemble.h"
#include "imgui.h"
#include "imgui_impl_glfw.h"
#include "imgui_impl_opengl3.h"
#include "imgui_internal.h"
#include "kernels/base/folders.h"
#include "kernels/base/text.h"
#include "profiling/tune/store.h"

namespace attn {
namespace {

using SteadyClock = std::chrono::steady_clock;

// So often the loop looks whether there is something to save, and whether another window measured something. Nothing is
// drawn for it.
constexpr double kLookSeconds = 1;
constexpr auto kSaveAfter = std::chrono::seconds(1);

std::string glfw_words() {
  const char* words = nullptr;
  glfwGetError(&words);
  return words == nullptr ? tr("no reason given") : words;
}

tl::unexpected<Error> no_window(const std::string& why) {
  return fail(ErrorKind::cannot_run,
              phrase("Cannot open a window: {}. A window needs a display (DISPLAY or WAYLAND_DISPLAY) with OpenGL 3.3. "
                     "Without a display, `attnscope step` prints the steps and `attnscope shot` draws any view.",
                     why));
}

class Glfw {
 public:
  static Result<std::unique_ptr<Glfw>> start() {
    // Without this folder there is no Wayland, and its library would say so on stderr when GLFW asks.
    const auto socket = environment("WAYLAND_DISPLAY");
    if (!environment("XDG_RUNTIME_DIR") && !(socket && socket->front() == '/')) {
      glfwInitHint(GLFW_PLATFORM, GLFW_PLATFORM_X11);
    }
    if (glfwInit() != GLFW_TRUE) return no_window(glfw_words());
    return std::unique_ptr<Glfw>(new Glfw);
  }
  ~Glfw() { glfwTerminate(); }
  Glfw(const Glfw&) = delete;
  Glfw& operator=(const Glfw&) = delete;

 private:
  Glfw() = default;
};

struct CloseWindow {
  void operator()(GLFWwindow* w) const { glfwDestroyWindow(w); }
};
using Window = std::unique_ptr<GLFWwindow, CloseWindow>;

Result<Window> open_glfw_window(int width, int height, bool visible) {
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  glfwWindowHint(GLFW_VISIBLE, visible ? GLFW_TRUE : GLFW_FALSE);
  glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
  glfwWindowHintString(GLFW_X11_CLASS_NAME, "attnscope");
  glfwWindowHintString(GLFW_WAYLAND_APP_ID, "attnscope");
  Window window(glfwCreateWindow(width, height, "AttnScope", nullptr, nullptr));
  if (window == nullptr) return no_window(glfw_words());
  glfwMakeContextCurrent(window.get());
  return window;
}

// Where no window has to lie under a bar of the desktop.
WindowSize room_on_screen() {
  int x = 0, y = 0;
  WindowSize room;
  if (GLFWmonitor* monitor = glfwGetPrimaryMonitor(); monitor != nullptr)
    glfwGetMonitorWorkarea(monitor, &x, &y, &room.width, &room.height);
  return room;
}

Result<Gl> load_gl() {
  return Gl::load([](const char* name) { return reinterpret_cast<void*>(glfwGetProcAddress(name)); });
}

// Dear ImGui's platform and renderer, for as long as the object lives.
class Backends {
 public:
  static Result<std::unique_ptr<Backends>> start(GLFWwindow* window) {
    ImGui_ImplGlfw_InitForOpenGL(window, true);
    if (ImGui_ImplOpenGL3_Init("#version 330")) return std::unique_ptr<Backends>(new Backends);
    ImGui_ImplGlfw_Shutdown();
    return no_window(tr("this OpenGL lacks version 3.3"));
  }
  ~Backends() {
    ImGui_ImplOpenGL3_Shutdown();
    ImGui_ImplGlfw_Shutdown();
  }
  Backends(const Backends&) = delete;
  Backends& operator=(const Backends&) = delete;

 private:
  Backends() = default;
};

// Keeps the settings file up to date: a second after the last change, and at the end.
class SettingsKeeper {
 public:
  SettingsKeeper(std::filesystem::path file, const LoadedSettings& loaded, const Preferences& start)
      : file_(std::move(file)), kept_(loaded.settings), seen_(start), may_save_(loaded.may_save) {
    saved_text_ = settings_text(kept_);
  }
  // What a teacher sets for a class, the full screen too, goes with it.
  void look(const State& state, const Shell& shell, GLFWwindow* window, Log& log, bool at_once) {
    if (!may_save_) return;
    const bool own = !teaches(state.view) && glfwGetWindowMonitor(window) == nullptr;
    if (own) follow_preferences(state.preferences, seen_, kept_.preferences);
    if (own && glfwGetWindowAttrib(window, GLFW_MAXIMIZED) == GLFW_FALSE) {
      const float scale = std::max(1.0F, ImGui_ImplGlfw_GetContentScaleForWindow(window));
      int width = 0, height = 0;
      glfwGetWindowSize(window, &width, &height);
      kept_.window_width = std::clamp(static_cast<int>(static_cast<float>(width) / scale), 320, 16384);
      kept_.window_height = std::clamp(static_cast<int>(static_cast<float>(height) / scale), 240, 16384);
    }
    if (own && (ImGui::GetIO().WantSaveIniSettings || at_once)) {
      ImGui::GetIO().WantSaveIniSettings = false;
      kept_.layout = shell.layout();
    }
    std::string text = settings_text(kept_);
    if (text == saved_text_) return;
    if (text != changed_text_) {
      changed_text_ = text;
      changed_ = SteadyClock::now();
    }
    if (!at_once && SteadyClock::now() - changed_ < kSaveAfter) return;
    if (auto written = save_settings(file_, kept_); !written) {
      log.warn(written.error().message);
      may_save_ = false;  // said once
    }
    saved_text_ = std::move(text);
  }

 private:
  std::filesystem::path file_;
  Settings kept_;
  Preferences seen_;
  bool may_save_ = true;
  std::string saved_text_, changed_text_;
  SteadyClock::time_point changed_;
};

// Where the window stood before it filled the screen, in screen coordinates.
struct WindowPlace {
  int x = 0, y = 0, width = 0, height = 0;
};

// The monitor that shows most of the window; null where there is none.
GLFWmonitor* monitor_of(const WindowPlace& window) {
  int count = 0;
  GLFWmonitor** monitors = glfwGetMonitors(&count);
  GLFWmonitor* best = nullptr;
  long most = -1;
  for (int n = 0; n < count; ++n) {
    WindowPlace m;
    glfwGetMonitorPos(monitors[n], &m.x, &m.y);
    const GLFWvidmode* mode = glfwGetVideoMode(monitors[n]);
    if (mode == nullptr) continue;
    const long wide = std::min(window.x + window.width, m.x + mode->width) - std::max(window.x, m.x);
    const long high = std::min(window.y + window.height, m.y + mode->height) - std::max(window.y, m.y);
    const long shown = wide > 0 && high > 0 ? wide * high : 0;
    if (shown <= most) continue;
    most = shown;
    best = monitors[n];
  }
  return best;
}

// A class gets the full screen, and the window comes back as it was.
void follow_class(GLFWwindow* window, bool teaching, std::optional<WindowPlace>& before) {
  if (teaching == before.has_value()) return;
  if (!teaching) {
    glfwSetWindowMonitor(window, nullptr, before->x, before->y, before->width, before->height, GLFW_DONT_CARE);
    before.reset();
    return;
  }
  WindowPlace now;
  glfwGetWindowPos(window, &now.x, &now.y);
  glfwGetWindowSize(window, &now.width, &now.height);
  before = now;
  GLFWmonitor* monitor = monitor_of(now);
  const GLFWvidmode* mode = monitor == nullptr ? nullptr : glfwGetVideoMode(monitor);
  if (mode != nullptr) glfwSetWindowMonitor(window, monitor, 0, 0, mode->width, mode->height, mode->refreshRate);
}

// All that one open window needs. Members die in reverse order.
struct App {
  std::unique_ptr<Glfw> glfw;
  Window window;
  Gl gl;
  GuiContext gui;
  std::unique_ptr<Backends> backends;
  Shell shell;
  std::unique_ptr<Controller> controller;
  Commands commands;                   // of the last frame, and dropped files
  bool exposed = false;                // what the window showed is lost
  std::optional<std::uint64_t> shown;  // frame_sum() of what it shows
  std::optional<WindowPlace> before_class;
  int frames = 0, pictures = 0;  // made, and of these another than the one before
};

void make_frame(App& app) {
  app.shell.follow(app.controller->state(), ImGui_ImplGlfw_GetContentScaleForWindow(app.window.get()));
  ImGui_ImplOpenGL3_NewFrame();
  ImGui_ImplGlfw_NewFrame();
  begin_frame();
  app.shell.draw(*app.controller, app.commands);
  ImGui::Render();
  ++app.frames;
}

void show_frame(App& app, const WindowRequests& requests) {
  int width = 0, height = 0;
  glfwGetFramebufferSize(app.window.get(), &width, &height);
  app.gl.clear(width, height, colour(app.controller->state().preferences.theme, Token::ground));
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  app.controller->window_is(width, height);
  if (requests.picture) app.controller->save_picture(*requests.picture, app.gl.read_pixels(width, height));
  glfwSwapBuffers(app.window.get());
  if (++app.pictures == 1 && environment("ATTNSCOPE_TIMINGS"))
    std::fprintf(stderr, "first frame %.2f s after exec\n", seconds_since_start());
}

void draw_frame(App& app, Pace& pace) {
  const double begun = glfwGetTime();
  const std::clock_t used = std::clock();
  make_frame(app);
  const WindowRequests requests = app.controller->take_requests();
  if (requests.clipboard) ImGui::SetClipboardText(requests.clipboard->c_str());
  if (requests.quit) glfwSetWindowShouldClose(app.window.get(), GLFW_TRUE);
  // To make a frame is little, to show it is much where no GPU helps: the same picture is not shown again.
  const auto sum = frame_sum(*ImGui::GetDrawData());
  const bool differs = std::exchange(app.exposed, false) || !sum || sum != app.shown || requests.picture;
  if (differs) show_frame(app, requests);
  app.shown = sum;
  pace.drawn(begun, glfwGetTime(), differs);
  pace.at(glfwGetTime() + app.shell.seconds_to_motion());
  if (app.shell.moves()) pace.moving(begun, static_cast<double>(std::clock() - used) / CLOCKS_PER_SEC);
  if (!app.commands.empty()) pace.news(false);
}

// Pictures a second of the display that the window began on.
double display_rate() {
  GLFWmonitor* monitor = glfwGetPrimaryMonitor();
  const GLFWvidmode* mode = monitor == nullptr ? nullptr : glfwGetVideoMode(monitor);
  return mode == nullptr ? 0 : mode->refreshRate;
}

// Sleeps until there is something to draw, and obeys what came meanwhile.
void wait(App& app, Pace& pace, double& looked) {
  const double before = glfwGetTime();
  const double until = std::min({pace.next() - before, app.controller->seconds_to_step(), kLookSeconds});
  until > 0 ? glfwWaitEventsTimeout(until) : glfwPollEvents();
  const double now = glfwGetTime();
  if (app.exposed || ImGui::GetCurrentContext()->InputEventsQueue.Size > 0) pace.input();
  // First what the time has brought, then what the user did with it.
  const bool stepped = app.controller->advance(now - std::exchange(looked, now));
  const bool news = app.controller->update(std::exchange(app.commands, {}));
  if (stepped || news) pace.news(app.controller->tasks_run());
}

State start_state(const WindowOptions& options, const Settings& settings) {
  State state = options.state ? *options.state : initial_state();
  state.preferences = settings.preferences;
  if (options.theme) state.preferences.theme = *options.theme;
  if (options.scale) state.preferences.scale = std::clamp(*options.scale, 1.0F, 3.0F);
  return state;
}

void make_controller(App& app, const State& state, const LoadedSettings& loaded, const WindowOptions& options) {
  ControllerOptions setup;
  setup.state = state;
  setup.wake = [] { glfwPostEmptyEvent(); };
  setup.save_folder = default_save_folder();
  setup.runs = run_folders();
  setup.drafts = drafts_folder();
  setup.sweeps.gpu = std::make_shared<GpuBench>();
  setup.sweeps.cpu = std::make_shared<CpuBench>();
  setup.sweeps.rings = std::make_shared<RingBench>();
  setup.sweeps.tiles = tuned_folder();
  setup.sweeps.peers = PeerSetup{state.preferences.python, {}};
  setup.lister = list_kernel_here;
  if (const auto assets = find_assets()) setup.lessons = {*assets / "lessons", progress_file()};
  app.controller = std::make_unique<Controller>(std::move(setup));
  app.controller->look_around();
  for (const std::string& said : loaded.said) app.controller->log().warn(said);
  if (!options.open_file.empty()) app.commands.emplace_back(OpenFile{options.open_file.string()});
}

void listen(App& app) {
  glfwSetWindowUserPointer(app.window.get(), &app);
  glfwSetDropCallback(app.window.get(), [](GLFWwindow* w, int count, const char** paths) {
    App& to = *static_cast<App*>(glfwGetWindowUserPointer(w));
    const Commands opened = open_dropped({paths, static_cast<std::size_t>(std::max(0, count))});
    to.commands.insert(to.commands.end(), opened.begin(), opened.end());
  });
  const auto lost = [](GLFWwindow* w) { static_cast<App*>(glfwGetWindowUserPointer(w))->exposed = true; };
  glfwSetWindowRefreshCallback(app.window.get(), lost);
  glfwSetFramebufferSizeCallback(app.window.get(), [](GLFWwindow* w, int, int) {
    static_cast<App*>(glfwGetWindowUserPointer(w))->exposed = true;
  });
}

Result<void> open_app(App& app, const Settings& settings) {
  const auto assets = find_assets();
  if (!assets) return tl::unexpected(assets.error());
  auto glfw = Glfw::start();
  if (!glfw) return tl::unexpected(glfw.error());
  app.glfw = *std::move(glfw);
  const WindowSize size = first_size({settings.window_width, settings.window_height}, room_on_screen());
  auto window = open_glfw_window(size.width, size.height, true);
  if (!window) return tl::unexpected(window.error());
  app.window = *std::move(window);
  glfwSwapInterval(1);
  glfwSetWindowSizeLimits(app.window.get(), 640, 420, GLFW_DONT_CARE, GLFW_DONT_CARE);
  auto gl = load_gl();
  if (!gl) return tl::unexpected(gl.error());
  app.gl = *gl;
  auto backends = Backends::start(app.window.get());
  if (!backends) return tl::unexpected(backends.error());
  app.backends = *std::move(backends);
  listen(app);
  if (auto ready = app.shell.set_up(*assets); !ready) return ready;
  app.shell.load_layout(settings.layout);
  return ok();
}

}  // namespace

Result<int> run_window(const WindowOptions& options) {
  const LoadedSettings loaded = load_settings(settings_file());
  App app;
  if (auto opened = open_app(app, loaded.settings); !opened) return tl::unexpected(opened.error());
  watch_display();
  const State state = start_state(options, loaded.settings);
  make_controller(app, state, loaded, options);
  SettingsKeeper keeper(settings_file(), loaded, state.preferences);
  const auto keep = [&](bool at_once) {
    keeper.look(app.controller->state(), app.shell, app.window.get(), app.controller->log(), at_once);
  };
  const std::stop_callback stopped(options.stop, [] { glfwPostEmptyEvent(); });
  // The desktop is asked aside: its program takes longer than a frame.
  auto less_motion = std::async(std::launch::async, [] {
    const bool less = desktop_asks_less_motion();
    glfwPostEmptyEvent();
    return less;
  });
  Pace pace(display_rate());
  double looked = glfwGetTime();
  while (options.max_frames == 0 || app.frames < options.max_frames) {
    if (glfwWindowShouldClose(app.window.get()) != GLFW_FALSE || options.stop.stop_requested()) break;
    wait(app, pace, looked);
    if (less_motion.valid() && less_motion.wait_for(std::chrono::seconds(0)) == std::future_status::ready)
      app.shell.ask_less_motion(less_motion.get());
    if (pace.next() <= glfwGetTime()) draw_frame(app, pace);
    follow_class(app.window.get(), teaches(app.controller->state().view), app.before_class);
    keep(false);
  }
  keep(true);
  if (environment("ATTNSCOPE_TIMINGS")) std::fprintf(stderr, "%d frames made, %d shown\n", app.frames, app.pictures);
  return display_has_gone() ? say_display_has_gone() : 0;
}

Result<std::string> check_display() {
  const auto glfw = Glfw::start();
  if (!glfw) return tl::unexpected(glfw.error());
  const auto window = open_glfw_window(64, 64, false);
  if (!window) return tl::unexpected(window.error());
  const auto gl = load_gl();
  if (!gl) return tl::unexpected(gl.error());
  const char* platform = glfwGetPlatform() == GLFW_PLATFORM_WAYLAND ? "Wayland" : "X11";
  return fmt::format("{}, {}", platform, gl->renderer());
}

}  // namespace attn
