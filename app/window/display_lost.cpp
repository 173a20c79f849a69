#include "app/window/display_lost.h"

#include <cstdio>
#include <cstdlib>
#include <string>

#include <GLFW/glfw3.h>
#include <fmt/format.h>

#include "app/control/run_list.h"
#include "kernels/base/library.h"

namespace attn {
namespace {

constexpr int kCannotRun = 3;

// Xlib calls it in the thread that asked the display for something, and ends the process should it return.
int say_and_end(void* /*display*/) {
  const auto folder = run_folders().runs;
  const std::string rows =
      folder.empty()
          ? ""
          : fmt::format(" The rows that were finished are in {}; the next window lists them.", folder.string());
  std::fputs(fmt::format("attnscope: The display is gone.{}\n", rows).c_str(), stderr);
  std::_Exit(kCannotRun);
}

}  // namespace

void watch_display() {
  if (glfwGetPlatform() != GLFW_PLATFORM_X11) return;
  // GLFW has opened it; this is the same one.
  auto x11 = Library::open("libX11.so.6");
  if (!x11) return;
  using Handler = int (*)(void*);
  using SetHandler = Handler (*)(Handler);
  const auto set = reinterpret_cast<SetHandler>(x11->symbol("XSetIOErrorHandler"));
  if (set == nullptr) return;
  (void)set(say_and_end);
  x11->stay();
}

}  // namespace attn
