#include "app/window/display_lost.h"

#include <cstdio>
#include <cstdlib>
#include <string>

#include <GLFW/glfw3.h>

#define GLFW_EXPOSE_NATIVE_WAYLAND
#define GLFW_NATIVE_INCLUDE_NONE
#include <GLFW/glfw3native.h>

#include "app/control/bench/run_list.h"
#include "app/system/child_process.h"
#include "kernels/base/library.h"
#include "kernels/base/printable.h"
#include "kernels/base/text.h"

namespace attn {
namespace {

constexpr int kCannotRun = 3;

// Xlib calls it in the thread that asked the display for something, and ends the process should it return.
int say_and_end(void* /*display*/) {
  std::_Exit(say_display_has_gone());
}

}  // namespace

int say_display_has_gone() {
  const auto folder = run_folders().runs;
  const std::string rows =
      folder.empty()
          ? ""
          : phrase(" The finished rows are in {}. The next window you open lists your runs.", folder.string());
  std::fputs(printable(phrase("attnscope: the display is gone.{}\n", rows)).c_str(), stderr);
  return kCannotRun;
}

bool display_has_gone() {
  if (glfwGetPlatform() != GLFW_PLATFORM_WAYLAND) return false;
  // GLFW has opened it; this is the same one.
  const auto wayland = Library::open("libwayland-client.so.0");
  if (!wayland) return false;
  using AskDisplay = int (*)(wl_display*);
  const auto error = reinterpret_cast<AskDisplay>(wayland->symbol("wl_display_get_error"));
  const auto connection = reinterpret_cast<AskDisplay>(wayland->symbol("wl_display_get_fd"));
  if (error == nullptr || connection == nullptr) return false;
  if (error(glfwGetWaylandDisplay()) != 0) return true;
  // What breaks while something is sent is no error to libwayland before it reads.
  return has_hung_up(connection(glfwGetWaylandDisplay()));
}

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
