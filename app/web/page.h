// The program in a page: one canvas, one thread. page.js calls frame() once a picture of the browser, hands in what the
// user does, and does what only a browser can: downloads, the link, the clipboard, text for a screen reader.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/control/controller.h"
#include "app/graphics/gl.h"
#include "app/graphics/gui_context.h"
#include "app/shell/shell.h"
#include "app/web/mirror.h"
#include "app/web/steps_gif.h"
#include "app/web/touch.h"
#include "app/window/pace.h"
#include "kernels/base/result.h"
#include "viz/state/commands.h"
#include "viz/state/state.h"

namespace attn {

// What the link asks for. Empty: nothing.
struct PageOptions {
  std::string state;                      // a state string
  std::string order, step, theme, panel;  // of an <iframe>: docs/web.md
  int width = 0, height = 0;              // pixels
  float ratio = 1;                        // pixels of a logical one
};

class Page {
 public:
  // Needs a current WebGL context and the program's files under /share.
  static Result<std::unique_ptr<Page>> open(const PageOptions& options);
  ~Page();
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;

  // `now` in seconds. Whether it drew.
  bool frame(double now);
  // Between two frames while tasks run: a few milliseconds of their work. Whether there is more.
  bool work();
  void size_is(int width, int height, float ratio);
  void command(Command command) { commands_.push_back(std::move(command)); }
  void scale_by(float factor);
  // The last hand was a finger, or nothing but fingers can be there: no words name keys.
  void hands_touch(bool touch);
  Result<void> open_state(const std::string& text);
  // Files that were dropped, chosen or pasted, in the page's file system.
  void open_files(std::vector<std::string> files);
  const Controller& controller() const { return *controller_; }
  Controller& controller() { return *controller_; }
  const Shell& shell() const { return shell_; }
  Touch& touch() { return touch_; }
  // Whether a touch there drags what it lies on, rather than scrolls or steps.
  bool touch_drags(float x, float y) const;
  // Draws this state's picture as `attnscope shot` does, still and without toasts, until another is asked for.
  void stand_still();
  // What frames do besides drawing, until no task is left.
  void settle();
  // The longest that a frame or a link was held up by tasks and their results since it was asked last, in milliseconds.
  double longest_ms() { return std::exchange(longest_ms_, 0); }
  // Likewise the longest that drawing took.
  double longest_drawn_ms() { return std::exchange(longest_drawn_ms_, 0); }

 private:
  explicit Page(Gl gl) : gl_(gl), pace_(60) {}
  Result<void> set_up(const PageOptions& options);
  void begin(State state);
  void draw(double now);
  void follow_requests(const WindowRequests& requests);
  void tell(double now);

  Gl gl_;
  GuiContext gui_;
  Shell shell_;
  std::unique_ptr<Controller> controller_;
  Commands commands_;
  Pace pace_;
  StepsGif gif_;
  Touch touch_;
  Mirror mirror_;
  std::optional<std::uint64_t> shown_;  // frame_sum() of what the canvas shows
  bool exposed_ = true, still_ = false, wants_text_ = false;
  double looked_ = 0, changed_ = 0, longest_ms_ = 0, longest_drawn_ms_ = 0;
  int width_ = 0, height_ = 0;
  float ratio_ = 1;
  std::string state_said_;
};

// What the link's parameters come to on a state, or what is wrong with one of them.
Result<State> state_of(const PageOptions& options);
// The same without the parameters that are wrong: those of which state_of() makes a state.
PageOptions what_is_right(PageOptions options);

}  // namespace attn
