// What page.js calls. The page is the one thing that lives as long as the module does.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <emscripten.h>
#include <emscripten/html5.h>

#include "app/state/lessons/lesson_check.h"
#include "app/state/lessons/lesson_files.h"
#include "app/state/string/state_string.h"
#include "app/system/assets.h"
#include "app/web/chosen_file.h"
#include "app/web/keys.h"
#include "app/web/page.h"
#include "imgui.h"
#include "kernels/base/text.h"

// Dear ImGui asks before every picture how things stand, to put them back. Nobody else draws here, and each such
// question waits for the browser's process of the GPU: they are answered with what stood there at first.
EM_JS(void, page_keeps_nothing, (), {
  const gl = GLctx;
  const ask = gl.getParameter;
  const known = {};
  for (const name of["VIEWPORT", "SCISSOR_BOX", "BLEND_SRC_RGB", "BLEND_DST_RGB", "BLEND_SRC_ALPHA", "BLEND_DST_ALPHA",
                     "BLEND_EQUATION_RGB", "BLEND_EQUATION_ALPHA"])
    known[gl[name]] = gl.getParameter(gl[name]);
  gl.getParameter = function(name) {
    return name in known ? known[name] : ask.call(gl, name);
  };
});
EM_JS(void, page_refuses, (const char* words), { Module.page.refuses(UTF8ToString(words)); });

namespace attn {
namespace {

struct Held {
  std::unique_ptr<Page> page;
  std::optional<std::string> chosen;
  std::string said;  // the last text that was handed to the script
  MirroredText none;
};

Held& held() {
  static Held the_page;
  return the_page;
}

Page* page() {
  return held().page.get();
}

const char* hand_over(std::string text) {
  held().said = std::move(text);
  return held().said.c_str();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (end > at) lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

bool open_context() {
  EmscriptenWebGLContextAttributes wanted;
  emscripten_webgl_init_context_attributes(&wanted);
  wanted.majorVersion = 2;
  wanted.alpha = false;
  wanted.depth = false;
  wanted.antialias = false;
  wanted.preserveDrawingBuffer = true;  // a frame that shows nothing new is not drawn
  const EMSCRIPTEN_WEBGL_CONTEXT_HANDLE context = emscripten_webgl_create_context("#canvas", &wanted);
  if (context <= 0 || emscripten_webgl_make_context_current(context) != EMSCRIPTEN_RESULT_SUCCESS) return false;
  page_keeps_nothing();
  return true;
}

}  // namespace

void put_chosen_file(std::string path) {
  held().chosen = std::move(path);
}

std::optional<std::string> take_chosen_file() {
  return std::exchange(held().chosen, std::nullopt);
}

}  // namespace attn

using namespace attn;

extern "C" {

// Whether the page is there; what was wrong with the link is said, and the page is as without that part.
EMSCRIPTEN_KEEPALIVE int page_start(const char* state, const char* order, const char* step, const char* theme,
                                    const char* panel, int width, int height, float ratio) {
  if (!open_context()) {
    page_refuses(tr("This browser lacks WebGL 2, which the page needs."));
    return 0;
  }
  PageOptions options{state, order, step, theme, panel, width, height, ratio};
  if (const auto right = state_of(options); !right) {
    page_refuses(right.error().message.c_str());
    options = what_is_right(options);
  }
  auto opened = Page::open(options);
  if (!opened) {
    page_refuses(opened.error().message.c_str());
    return 0;
  }
  held().page = *std::move(opened);
  return 1;
}

EMSCRIPTEN_KEEPALIVE int page_frame(double seconds) {
  return page()->frame(seconds) ? 1 : 0;
}
EMSCRIPTEN_KEEPALIVE int page_work() {
  return page()->work() ? 1 : 0;
}
EMSCRIPTEN_KEEPALIVE void page_size(int width, int height, float ratio) {
  page()->size_is(width, height, ratio);
}

EMSCRIPTEN_KEEPALIVE void page_pointer(float x, float y, int touch) {
  ImGui::GetIO().AddMouseSourceEvent(touch != 0 ? ImGuiMouseSource_TouchScreen : ImGuiMouseSource_Mouse);
  ImGui::GetIO().AddMousePosEvent(x, y);
}
EMSCRIPTEN_KEEPALIVE void page_button(int button, int down) {
  // A browser counts left, middle, right.
  const int number = button == 1 ? 2 : button == 2 ? 1 : button;
  if (number >= 0 && number < ImGuiMouseButton_COUNT) ImGui::GetIO().AddMouseButtonEvent(number, down != 0);
}
EMSCRIPTEN_KEEPALIVE void page_wheel(float x, float y) {
  ImGui::GetIO().AddMouseWheelEvent(x, y);
}
EMSCRIPTEN_KEEPALIVE void page_focus(int on) {
  ImGui::GetIO().AddFocusEvent(on != 0);
}
// `down`: 0 up, 1 down, 2 still down, as the browser says of a key that is held. Only then it repeats: under load
// frames pass before the browser says that a key which was struck is up. `modifiers`: 1 Ctrl, 2 Shift, 4 Alt, 8 Super.
EMSCRIPTEN_KEEPALIVE int page_key(const char* code, int down, int modifiers) {
  ImGuiIO& io = ImGui::GetIO();
  io.AddKeyEvent(ImGuiMod_Ctrl, (modifiers & 1) != 0);
  io.AddKeyEvent(ImGuiMod_Shift, (modifiers & 2) != 0);
  io.AddKeyEvent(ImGuiMod_Alt, (modifiers & 4) != 0);
  io.AddKeyEvent(ImGuiMod_Super, (modifiers & 8) != 0);
  const ImGuiKey key = key_of(code);
  if (key == ImGuiKey_None) return 0;
  constexpr float kUsual = 0.275F, kNever = 1e9F;  // seconds
  io.KeyRepeatDelay = down == 1 ? kNever : kUsual;
  io.AddKeyEvent(key, down != 0);
  return 1;
}
EMSCRIPTEN_KEEPALIVE void page_text(const char* text) {
  ImGui::GetIO().AddInputCharactersUTF8(text);
}
// `what`: 1 a finger presses there, 2 it moves there, 0 it is lifted.
EMSCRIPTEN_KEEPALIVE void page_touch(float x, float y, int what) {
  Touch& touch = page()->touch();
  if (what == 1)
    touch.press(x, y);
  else if (what == 2)
    touch.move(x, y);
  else
    touch.release();
}
EMSCRIPTEN_KEEPALIVE void page_left() {
  page()->touch().leave();
}
EMSCRIPTEN_KEEPALIVE int page_touch_drags(float x, float y) {
  return page()->touch_drags(x, y) ? 1 : 0;
}
EMSCRIPTEN_KEEPALIVE void page_scale(float factor) {
  page()->scale_by(factor);
}
EMSCRIPTEN_KEEPALIVE void page_hands(int touch) {
  page()->hands_touch(touch != 0);
}
EMSCRIPTEN_KEEPALIVE void page_still() {
  page()->stand_still();
}
EMSCRIPTEN_KEEPALIVE int page_wants() {
  return ImGui::GetIO().WantTextInput ? 1 : 0;
}
EMSCRIPTEN_KEEPALIVE int page_busy() {
  return page()->controller().tasks_run() ? 1 : 0;
}
EMSCRIPTEN_KEEPALIVE double page_longest_ms() {
  return page()->longest_ms();
}
EMSCRIPTEN_KEEPALIVE double page_longest_drawn_ms() {
  return page()->longest_drawn_ms();
}
// What frames do besides drawing, until no task is left; for tests of many files.
EMSCRIPTEN_KEEPALIVE void page_settle() {
  page()->settle();
}

// Paths in the page's file system, one a line.
EMSCRIPTEN_KEEPALIVE void page_open(const char* paths) {
  page()->open_files(lines_of(paths));
}
// Steps from 1.
EMSCRIPTEN_KEEPALIVE void page_save_steps(int first, int last, const char* name) {
  page()->command(SaveSteps{name, static_cast<EventIndex>(std::max(1, first) - 1),
                            static_cast<EventIndex>(std::max(1, last) - 1), 1});
}
EMSCRIPTEN_KEEPALIVE void page_chosen(const char* path) {
  put_chosen_file(path);
}
// "" or why not.
EMSCRIPTEN_KEEPALIVE const char* page_open_state(const char* text) {
  const auto opened = page()->open_state(text);
  return hand_over(opened ? "" : opened.error().message);
}
EMSCRIPTEN_KEEPALIVE const char* page_state() {
  const auto text = state_string(page()->controller().state());
  return hand_over(text ? *text : "");
}
EMSCRIPTEN_KEEPALIVE int page_step() {
  return static_cast<int>(page()->controller().state().view.step.cursor);
}
EMSCRIPTEN_KEEPALIVE int page_steps() {
  const auto& recording = page()->controller().model().recording;
  return recording == nullptr ? 0 : static_cast<int>(recording->events.size());
}
// As `attnscope step --json` has them, from 1.
EMSCRIPTEN_KEEPALIVE const char* page_json(int first, int last) {
  Mirror mirror;
  return hand_over(mirror.json(page()->controller().model(), page()->shell().step_ui().texts,
                               static_cast<std::uint32_t>(std::max(1, first) - 1),
                               static_cast<std::uint32_t>(std::max(1, last) - 1)));
}
// The newest lines of the log, oldest first.
EMSCRIPTEN_KEEPALIVE const char* page_log() {
  std::string text;
  for (const LogEntry& entry : page()->controller().log().after(0)) text += entry.text + "\n";
  return hand_over(text);
}
// The desktop's check of every lesson: "ID: ok" or what is false, a line each.
EMSCRIPTEN_KEEPALIVE const char* page_check_lessons() {
  const auto assets = find_assets();
  if (!assets) return hand_over(assets.error().message);
  std::string text;
  const FoundLessons found = read_lessons(*assets / "lessons");
  for (const std::string& said : found.refused) text += "not read: " + said + "\n";
  for (const Lesson& lesson : found.lessons) {
    const auto wrong = check_lesson(lesson);
    if (wrong.empty()) text += lesson.id + ": ok\n";
    for (const std::string& line : wrong) text += line + "\n";
  }
  return hand_over(text);
}

}  // extern "C"

int main() {
  return 0;
}
