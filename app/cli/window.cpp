// attnscope without a command: the window.
#include "app/window/window.h"

#include <memory>
#include <optional>
#include <string>
#include <system_error>

#include "app/cli/arguments/command.h"
#include "app/cli/arguments/console_text.h"
#include "app/state/lessons/lesson_files.h"
#include "app/state/string/state_string.h"
#include "app/system/assets.h"
#include "kernels/base/text.h"

namespace attn::cli {
namespace {

struct WindowArguments {
  std::string state, theme, file;
  std::optional<float> scale;
};

Result<int> open_window(const WindowArguments& a, const Stopper& stopper) {
  WindowOptions options;
  options.stop = stopper.token();
  if (!a.file.empty()) {
    std::error_code error;
    if (!std::filesystem::exists(a.file, error)) {
      return bad_input(phrase("Unknown file or command '{}'; see attnscope --help.", a.file));
    }
    options.open_file = a.file;
  }
  if (!a.state.empty()) {
    auto state = open_state_string(a.state);
    if (!state) return bad_input("--state: " + state.error().message);
    if (!state->view.learn.lesson.empty()) {
      const auto assets = find_assets();
      if (!assets) return tl::unexpected(assets.error());
      if (auto r = check_lesson_place(*assets / "lessons", state->view.learn); !r)
        return bad_input("--state: " + r.error().message);
    }
    options.state = *std::move(state);
  }
  if (!a.theme.empty()) {
    if (a.theme != "dark" && a.theme != "light") {
      return bad_input(phrase("Unknown --theme {}; use dark or light.", a.theme));
    }
    options.theme = a.theme == "dark" ? Theme::dark : Theme::light;
  }
  if (a.scale) {
    if (!(*a.scale >= 1 && *a.scale <= 3)) return bad_input(phrase("Invalid --scale {}; use 1 to 3.", *a.scale));
    options.scale = a.scale;
  }
  return run_window(options);
}

}  // namespace

Command add_window(Parser program) {
  auto a = std::make_shared<WindowArguments>();
  program.add_option("FILE", a->file, tr("Session or recording (.attn), or your own kernel (.cu), to open"));
  program.add_option("--state", a->state, tr("State string from Copy state; reopens exactly that view"))
      ->type_name("STRING");
  program.add_option("--theme", a->theme, tr("Theme for this run: dark or light"))->type_name("NAME");
  program.add_option("--scale", a->scale, tr("Scale for this run: 1 to 3"))->type_name("X");
  return {program, [a](Stopper& stopper) { return open_window(*a, stopper); }};
}

}  // namespace attn::cli
