// Everything a user can do. Panels append commands; the controller obeys them between frames, so one frame never sees
// two states. Each workspace has a header of its own (commands_step.h, ...) that ends with its lists; here they join.
#pragma once

#include <type_traits>
#include <variant>
#include <vector>

#include "viz/state/commands_app.h"
#include "viz/state/commands_bench.h"
#include "viz/state/commands_learn.h"
#include "viz/state/commands_profile.h"
#include "viz/state/commands_step.h"

namespace attn {

// Change the state, at once and by themselves: app/state/apply.h.
using StateCommand = std::variant<StepCommand, BenchCommand, LearnCommand, ProfileCommand, AppCommand>;
// Need more than the state: a task, a file, the history, the window (app/control/controller.h).
using Effect = std::variant<StepEffect, BenchEffect, LearnEffect, ProfileEffect, AppEffect>;

using Command = std::variant<StateCommand, Effect>;
using Commands = std::vector<Command>;

template <class T>
constexpr bool is_list_of_commands = false;
template <class... T>
constexpr bool is_list_of_commands<std::variant<T...>> = true;

// Calls `f` with the one command inside, whatever lists it lies in. An `f` that lacks one does not compile.
template <class CommandOrList, class F>
decltype(auto) visit_command(const CommandOrList& command, F&& f) {
  if constexpr (is_list_of_commands<CommandOrList>) {
    return std::visit([&](const auto& inner) -> decltype(auto) { return visit_command(inner, f); }, command);
  } else {
    return f(command);
  }
}

// The command as the one that is asked for, or null.
template <class Wanted, class CommandOrList>
const Wanted* command_as(const CommandOrList& command) {
  return visit_command(command, [](const auto& c) -> const Wanted* {
    if constexpr (std::is_same_v<std::decay_t<decltype(c)>, Wanted>) {
      return &c;
    } else {
      return nullptr;
    }
  });
}

}  // namespace attn
