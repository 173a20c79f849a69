#include "app/window/lost_display.h"

#include <cstdio>
#include <utility>

#include <unistd.h>

#include <fmt/format.h>

#define GLFW_EXPOSE_NATIVE_X11
#include <GLFW/glfw3.h>
#include <GLFW/glfw3native.h>

#include "kernels/base/library.h"

namespace attn {
namespace {

constexpr int kCannotRun = 3;

// Xlib cannot go on, and calls these in the midst of a call of its own: no way back to the loop.
int say_nothing_yet(Display*) {
  return 0;
}
void leave(Display*, void* words) {
  std::fputs(static_cast<const std::string*>(words)->c_str(), stderr);
  ::_exit(kCannotRun);
}

// Null for both: what Xlib does by itself.
void set_handlers(XIOErrorHandler on_error, void (*on_exit)(Display*, void*), void* data) {
  if (glfwGetPlatform() != GLFW_PLATFORM_X11) return;
  Display* display = glfwGetX11Display();
  // GLFW has opened this library too, and keeps it. Before its version 1.7 nothing can be done: the exit code stays 1.
  const auto library = Library::open("libX11.so.6");
  if (display == nullptr || !library) return;
  const auto set_exit = reinterpret_cast<decltype(&XSetIOErrorExitHandler)>(library->symbol("XSetIOErrorExitHandler"));
  const auto set_error = reinterpret_cast<decltype(&XSetIOErrorHandler)>(library->symbol("XSetIOErrorHandler"));
  if (set_exit == nullptr || set_error == nullptr) return;
  set_exit(display, on_exit, data);
  set_error(on_error);
}

}  // namespace

std::string words_of_loss(const std::filesystem::path& runs) {
  const std::string rows =
      runs.empty() ? std::string("Rows are not kept on this machine: neither XDG_DATA_HOME nor HOME names a folder.")
                   : fmt::format("Every row that was measured is in {}; the next window lists it.", runs.string());
  return fmt::format("attnscope: The display was lost. {}\n", rows);
}

LostDisplay::LostDisplay(std::string words) : words_(std::move(words)) {
  set_handlers(say_nothing_yet, leave, &words_);
}

LostDisplay::~LostDisplay() {
  set_handlers(nullptr, nullptr, nullptr);
}

}  // namespace attn
