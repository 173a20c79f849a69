#include "app/web/page.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <system_error>
#include <utility>

#include <emscripten.h>
#include <emscripten/html5.h>

#include "app/graphics/frame_sum.h"
#include "app/shell/dropped_files.h"
#include "app/shell/frame.h"
#include "app/state/apply/apply.h"
#include "app/state/inputs/own_numbers.h"
#include "app/state/string/state_string.h"
#include "app/system/assets.h"
#include "imgui.h"
#include "imgui_impl_opengl3.h"
#include "imgui_internal.h"
#include "kernels/base/text.h"
#include "profiling/session/sweep_run.h"
#include "viz/learn/card/learn_scene.h"
#include "viz/step/bars/wrong_run.h"

// What page.js does for the page.
EM_JS(void, page_download, (const char* path), { Module.page.download(UTF8ToString(path)); });
EM_JS(int, page_less_motion, (), { return matchMedia("(prefers-reduced-motion: reduce)").matches ? 1 : 0; });
EM_JS(void, page_copy, (const char* text), { Module.page.copy(UTF8ToString(text)); });
EM_JS(void, page_says, (const char* title, const char* sentence, const char* values),
      { Module.page.says(UTF8ToString(title), UTF8ToString(sentence), UTF8ToString(values)); });
EM_JS(void, page_state_is, (const char* state), { Module.page.stateIs(UTF8ToString(state)); });
EM_JS(void, page_wants_text, (int on), { Module.page.wantsText(on > 0); });
EM_JS(void, page_cursor, (const char* name), { Module.page.cursor(UTF8ToString(name)); });

namespace attn {
namespace {

constexpr const char* kSaved = "/saved";                 // what is written there goes to the user as a download
constexpr const char* kKept = "/kept/lessons.json";      // page.js keeps it in the browser
constexpr double kStateSeconds = 0.4, kLookSeconds = 1;  // the view rests so long before the link follows

const char* cursor_name(ImGuiMouseCursor cursor) {
  switch (cursor) {
    case ImGuiMouseCursor_TextInput:
      return "text";
    case ImGuiMouseCursor_ResizeNS:
      return "ns-resize";
    case ImGuiMouseCursor_ResizeEW:
      return "ew-resize";
    case ImGuiMouseCursor_Hand:
      return "pointer";
    default:
      return "default";
  }
}

// The tasks of FileTask write whole files, so what lies there is finished.
void hand_over_downloads() {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(kSaved, error))
    if (entry.is_regular_file(error)) page_download(entry.path().c_str());
}

}  // namespace

Result<std::unique_ptr<Page>> Page::open(const PageOptions& options) {
  auto gl = Gl::load([](const char* name) { return emscripten_webgl_get_proc_address(name); });
  if (!gl) return tl::unexpected(gl.error());
  auto page = std::unique_ptr<Page>(new Page(*gl));
  if (auto ready = page->set_up(options); !ready) return tl::unexpected(ready.error());
  return page;
}

Page::~Page() {
  ImGui_ImplOpenGL3_Shutdown();
}

Result<void> Page::set_up(const PageOptions& options) {
  if (!ImGui_ImplOpenGL3_Init("#version 300 es"))
    return fail(ErrorKind::cannot_run, tr("This browser lacks WebGL 2, which the page needs."));
  const auto assets = find_assets();
  if (!assets) return tl::unexpected(assets.error());
  if (auto ready = shell_.set_up(*assets); !ready) return ready;
  shell_.live_in_page();
  ImGui::GetPlatformIO().Platform_SetClipboardTextFn = [](ImGuiContext*, const char* text) { page_copy(text); };
  size_is(options.width, options.height, options.ratio);
  std::error_code error;
  std::filesystem::create_directories(kSaved, error);
  const auto panel = panel_named(options.panel);
  if (panel) shell_.show_alone(*panel);
  auto state = state_of(options);
  begin(state ? *state : initial_state());
  if (!state) return tl::unexpected(state.error());
  return ok();
}

void Page::begin(State state) {
  ControllerOptions setup;
  setup.state = std::move(state);
  setup.save_folder = kSaved;
  setup.tasks = TaskPlace::between_frames;
  if (const auto assets = find_assets()) {
    setup.lessons = {*assets / "lessons", kKept};
    setup.runs.bundled = *assets / "sessions";
  }
  commands_.clear();
  std::vector<SweepRun> before;
  if (controller_ != nullptr) before = controller_->take_runs();
  controller_ = std::make_unique<Controller>(std::move(setup));
  controller_->let_go(std::move(before));
  controller_->look_around();
  pace_.input();
}

void Page::size_is(int width, int height, float ratio) {
  width_ = std::clamp(width, 1, 16384);
  height_ = std::clamp(height, 1, 16384);
  ratio_ = std::clamp(ratio, 1.0F, 4.0F);
  ImGui::GetIO().DisplaySize = {static_cast<float>(width_), static_cast<float>(height_)};
  exposed_ = true;
}

void Page::scale_by(float factor) {
  if (!std::isfinite(factor)) return;
  const float scale = std::clamp(controller_->state().preferences.scale * factor, 1.0F, 3.0F);
  command(SetScale{scale});
}

void Page::hands_touch(bool touch) {
  ImGuiConfigFlags& flags = ImGui::GetIO().ConfigFlags;
  flags = touch ? flags | ImGuiConfigFlags_IsTouchScreen : flags & ~ImGuiConfigFlags_IsTouchScreen;
  pace_.input();
}

Result<void> Page::open_state(const std::string& text) {
  const double begun = emscripten_get_now();
  PageOptions options;
  options.state = text;
  auto state = state_of(options);
  if (!state) return tl::unexpected(state.error());
  state->preferences = controller_->state().preferences;
  begin(*std::move(state));  // records what is small at once
  longest_ms_ = std::max(longest_ms_, emscripten_get_now() - begun);
  return ok();
}

void Page::open_files(std::vector<std::string> files) {
  if (const auto arrays = arrays_of_numbers(files)) {
    if (!*arrays) return controller_->log().error(arrays->error().message);
    return command(SetInputFiles{**arrays});
  }
  std::vector<const char*> paths;
  for (const std::string& file : files) paths.push_back(file.c_str());
  for (Command& opened : open_dropped(paths)) command(std::move(opened));
}

bool Page::touch_drags(float x, float y) const {
  const std::vector<DragPlace>& dragged = shell_.step_ui().dragged;
  const auto lies_on = [&](const DragPlace& p) { return x >= p.left && x < p.right && y >= p.top && y < p.bottom; };
  const bool shown = controller_->state().view.workspace == Workspace::step;
  return (shown && std::ranges::any_of(dragged, lies_on)) || ImGui::GetIO().WantTextInput;
}

void Page::stand_still() {
  still_ = true;
  shell_.show_toasts(false);
  command(SetReducedMotion{true});
}

void Page::settle() {
  controller_->update(std::exchange(commands_, {}));
  controller_->wait();
  controller_->update({});
}

bool Page::frame(double now) {
  if (exposed_ || touch_.busy() || ImGui::GetCurrentContext()->InputEventsQueue.Size > 0) pace_.input();
  gif_.before(commands_);
  const Recording* recording = controller_->model().recording.get();
  gif_.take(commands_, controller_->state().view.step.cursor,
            recording == nullptr ? 0 : static_cast<EventIndex>(recording->events.size()), kSaved, controller_->log());
  const double begun = emscripten_get_now();
  const bool stepped = controller_->advance(std::clamp(now - std::exchange(looked_, now), 0.0, 1.0));
  const bool news = controller_->update(std::exchange(commands_, {}));
  longest_ms_ = std::max(longest_ms_, emscripten_get_now() - begun);
  if (stepped || news) pace_.news(false);
  if (stepped || news) changed_ = now;
  if (gif_.running()) pace_.input();
  if (controller_->tasks_run()) pace_.news(true);
  tell(now);
  if (pace_.next() > now) return false;
  const double drawing = emscripten_get_now();
  draw(now);
  longest_drawn_ms_ = std::max(longest_drawn_ms_, emscripten_get_now() - drawing);
  return true;
}

bool Page::work() {
  const double begun = emscripten_get_now();
  if (controller_->update({})) pace_.news(controller_->tasks_run());
  longest_ms_ = std::max(longest_ms_, emscripten_get_now() - begun);
  return controller_->tasks_run();
}

void Page::draw(double now) {
  ImGuiIO& io = ImGui::GetIO();
  const double begun = emscripten_get_now() / 1000;
  static double before = now;
  io.DeltaTime = static_cast<float>(std::clamp(now - std::exchange(before, now), 1e-4, 0.25));
  shell_.follow(controller_->state(), ratio_);
  shell_.ask_less_motion(page_less_motion() > 0 || gif_.running());
  ImGui_ImplOpenGL3_NewFrame();
  touch_.before_frame(ratio_);
  begin_frame();
  shell_.draw(*controller_, commands_);
  ImGui::Render();
  touch_.after_frame();
  const WindowRequests requests = controller_->take_requests();
  const auto sum = frame_sum(*ImGui::GetDrawData());
  const bool differs = std::exchange(exposed_, false) || !sum || sum != shown_ || requests.picture || gif_.running();
  if (differs) {
    gl_.clear(width_, height_, colour(controller_->state().preferences.theme, Token::ground));
    ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
    controller_->window_is(width_, height_);
  }
  shown_ = sum;
  follow_requests(requests);
  gif_.after([&] { return gl_.read_pixels(width_, height_); }, commands_, controller_->log());
  pace_.drawn(now, now + emscripten_get_now() / 1000 - begun, differs);
  pace_.at(now + shell_.seconds_to_motion());
  if (shell_.moves()) pace_.moving(now, emscripten_get_now() / 1000 - begun);
  if (!commands_.empty()) pace_.news(false);
}

void Page::follow_requests(const WindowRequests& requests) {
  if (requests.clipboard) page_copy(requests.clipboard->c_str());
  if (requests.picture) controller_->save_picture(*requests.picture, gl_.read_pixels(width_, height_));
  const bool wants = ImGui::GetIO().WantTextInput;
  if (wants != std::exchange(wants_text_, wants)) page_wants_text(wants ? 1 : 0);
  page_cursor(cursor_name(ImGui::GetMouseCursor()));
}

void Page::tell(double now) {
  hand_over_downloads();
  const State& state = controller_->state();
  const Model& model = controller_->model();
  if (const auto text = mirror_.follow(state, model, shell_.step_ui().texts))
    page_says(text->title.c_str(), text->sentence.c_str(), text->values.c_str());
  if (now - changed_ < kStateSeconds || gif_.running() || keeps_name_back(state, lesson_asks(state, model))) return;
  changed_ = now + kLookSeconds;  // again when something changes, else now and then
  const auto link = state_string(state);
  if (!link || *link == state_said_) return;
  state_said_ = *link;
  page_state_is(link->c_str());
}

}  // namespace attn
