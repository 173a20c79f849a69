// Everything a user can do. Panels append commands; the controller obeys them between frames, so one frame never sees
// two states. Each workspace has a header of its own (commands_step.h, ...) that ends with its lists; here they join.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "viz/state/commands_app.h"
#include "viz/state/commands_bench.h"
#include "viz/state/commands_learn.h"
#include "viz/state/commands_profile.h"
#include "viz/state/commands_step.h"

namespace attn {

// Change the state, at once and by themselves: app/state/apply/apply.h.
using StateCommand = std::variant<StepCommand, BenchCommand, LearnCommand, ProfileCommand, AppCommand>;
// Need more than the state: a task, a file, the history, the window (app/control/controller.h).
using Effect = std::variant<StepEffect, BenchEffect, LearnEffect, ProfileEffect, AppEffect>;

template <class T>
constexpr bool is_list_of_commands = false;
template <class... T>
constexpr bool is_list_of_commands<std::variant<T...>> = true;

namespace command_detail {

// Whether T is that list, stands in it, or in a list that does.
template <class T, class CommandOrList>
constexpr bool is_in = std::is_same_v<T, CommandOrList>;
template <class T, class... Inner>
constexpr bool is_in<T, std::variant<Inner...>> = std::is_same_v<T, std::variant<Inner...>> || (is_in<T, Inner> || ...);

// Where it stands: its number in the list, then its number in that one's, down to itself.
template <class T, class List>
struct PlaceOf;
template <class T>
struct PlaceOf<T, T> {
  using Type = std::index_sequence<>;
};
template <class T, class... Inner>
struct PlaceOf<T, std::variant<Inner...>> {
  static constexpr std::size_t number() {
    std::size_t n = 0;
    static_cast<void>(((is_in<T, Inner> || (++n, false)) || ...));
    return n;
  }
  template <std::size_t... after>
  static std::index_sequence<number(), after...> and_then(std::index_sequence<after...>);
  using In = std::variant_alternative_t<number(), std::variant<Inner...>>;
  using Type = decltype(and_then(typename PlaceOf<T, In>::Type()));
};
template <class T, class List>
constexpr typename PlaceOf<T, List>::Type place_of() {
  return {};
}

}  // namespace command_detail

using AnyCommand = std::variant<StateCommand, Effect>;

// A command of any list. A conversion of std::variant tries every command of every list, in every file that appends
// one: this one counts its place instead. And what such a variant takes to be copied, moved and freed is compiled once.
class Command : public AnyCommand {
 public:
  template <class T>
  requires command_detail::is_in<T, AnyCommand> Command(
      T command)  // NOLINT(google-explicit-constructor): commands are appended as they are
      : Command(command_detail::place_of<T, AnyCommand>(), std::move(command)) {}
  Command(const Command&);
  Command(Command&&) noexcept;
  Command& operator=(const Command&);
  Command& operator=(Command&&) noexcept;
  ~Command();

 private:
  template <std::size_t... place, class T>
  Command(std::index_sequence<place...> /*where*/, T&& command)
      : AnyCommand(std::in_place_index<place>..., std::forward<T>(command)) {}
};
using Commands = std::vector<Command>;

template <>
inline constexpr bool is_list_of_commands<Command> = true;

// Calls `f` with the one command inside, whatever lists it lies in. An `f` that lacks one does not compile.
template <class CommandOrList, class F>
decltype(auto) visit_command(const CommandOrList& command, F&& f) {
  if constexpr (is_list_of_commands<CommandOrList>) {
    return std::visit([&](const auto& inner) -> decltype(auto) { return visit_command(inner, f); }, command);
  } else {
    return f(command);
  }
}

namespace command_detail {

template <class List>
const List* at(const List* list, std::index_sequence<>) {
  return list;
}
template <class List, std::size_t first, std::size_t... rest>
auto at(const List* list, std::index_sequence<first, rest...>) {
  const auto* inner = std::get_if<first>(list);  // of null it is null
  return at(inner, std::index_sequence<rest...>());
}

}  // namespace command_detail

// The command as the one that is asked for, or null.
template <class Wanted, class CommandOrList>
const Wanted* command_as(const CommandOrList& command) {
  using List = std::conditional_t<std::is_same_v<CommandOrList, Command>, AnyCommand, CommandOrList>;
  if constexpr (command_detail::is_in<Wanted, List>) {
    const List& list = command;
    return command_detail::at(&list, command_detail::place_of<Wanted, List>());
  } else {
    return nullptr;
  }
}

}  // namespace attn
