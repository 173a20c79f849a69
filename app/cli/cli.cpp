#include "app/cli/cli.h"

#include <algorithm>
#include <cerrno>
#include <exception>
#include <filesystem>
#include <iostream>
#include <new>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "app/cli/arguments/command.h"
#include "app/cli/arguments/console_text.h"
#include "app/cli/describe.h"
#include "app/cli/not_taken.h"
#include "app/system/assets.h"
#include "app/system/language.h"
#include "attnscope_version.h"
#include "kernels/base/files.h"
#include "kernels/base/printable.h"
#include "kernels/base/text.h"

namespace attn::cli {
namespace {

constexpr int kBadUsage = 2;
constexpr int kCannotRun = 3;
constexpr std::uint64_t kMaxLicenceBytes = 1 << 20;

Result<int> print_licenses() {
  const auto folder = find_asset("licenses");
  if (!folder) return tl::unexpected(folder.error());
  for (const char* name : {"AttnScope", "THIRD_PARTY"}) {
    const auto bytes = read_file(*folder / name, kMaxLicenceBytes);
    if (!bytes) return tl::unexpected(bytes.error());
    const std::string text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    if (auto r = print(text + "\n"); !r) return tl::unexpected(r.error());
  }
  if (auto r = print(phrase("The full licence texts are in {}\n", folder->string())); !r) {
    return tl::unexpected(r.error());
  }
  return 0;
}

// What the program says of itself, where it was asked to.
struct Asked {
  bool licenses = false, manual = false, parse_only = false;
  std::string completion;

  void add_to(Parser program) {
    program.add_flag("--licenses", licenses, tr("Show bundled software and its licences"));
    program.add_flag("--man", manual, tr("Print the manual page, to be piped into man -l -"));
    program
        .add_option("--completion", completion, tr("Print a script that completes these options in bash, zsh or fish"))
        ->type_name("SHELL");
    program.add_flag("--parse-only", parse_only,
                     tr("Check the following command line without running it: exit code 0 or 2"));
  }
  bool anything() const { return licenses || manual || !completion.empty(); }
  Result<int> answer(const CLI::App& program) const {
    if (licenses) return print_licenses();
    const Result<std::string> text =
        manual ? Result<std::string>(manual_page(program, ATTNSCOPE_VERSION)) : completion_script(program, completion);
    if (!text) return tl::unexpected(text.error());
    if (auto r = print(*text); !r) return tl::unexpected(r.error());
    return 0;
  }
};

int finish(const Result<int>& result, const Stopper& stopper) {
  if (result) return *result;
  if (result.error().kind == ErrorKind::cancelled) {
    if (const auto seconds = stopper.reached_limit()) {
      say(phrase("attnscope: time limit of {:g} s reached; increase --time-limit to continue.", *seconds));
      return kCannotRun;
    }
  }
  say("attnscope: " + result.error().message);
  return exit_code(result.error().kind);
}

int finish_without_room() {
  say("attnscope: " + why_no_output(errno));
  return kCannotRun;
}

// `--preset ""`, as from a variable of a script that is not set: not the same as leaving it out.
std::optional<std::string> option_without_value(const CLI::App& parser) {
  for (const CLI::Option* option : parser.get_options()) {
    for (const std::string& value : option->results()) {
      if (value.empty() && option->get_type_size() > 0) return option->get_name();
    }
  }
  for (const CLI::App* command : parser.get_subcommands()) {
    if (auto empty = option_without_value(*command)) return empty;
  }
  return std::nullopt;
}

// The chosen command; the program itself (the window) where no other was named.
const Command& chosen(const std::vector<Command>& commands) {
  for (const Command& command : commands) {
    if (&command != &commands.front() && command.parser.parsed()) return command;
  }
  return commands.front();
}

// "help COMMAND", as other programs of several commands have it, is COMMAND --help.
std::vector<std::string> arguments_of(int argc, char** argv) {
  std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  if (arguments.empty() || arguments.front() != "help") return arguments;
  arguments.erase(arguments.begin());
  arguments.emplace_back("--help");
  return arguments;
}

// A word before a command, which would open as a file if there were no command.
std::string word_before_command(const CLI::App& program) {
  if (program.get_subcommands().empty()) return {};
  for (const CLI::Option* option : program.get_options())
    if (option->get_positional() && option->count() > 0) return option->results().front();
  return {};
}

int run_checked(int argc, char** argv) {
  CLI::App program(tr("A microscope for attention kernels: step through them, measure them, and check them.\n"
                      "With no command, attnscope opens the window."),
                   "attnscope");
  program.footer(
      tr("Exit codes: 0 done, 1 a check failed, 2 bad usage or input, 3 cannot run on this machine, 130 "
         "cancelled.\n"
         "Examples:\n"
         "  attnscope session.attn\n"
         "  attnscope --state attn1,workspace=step,preset=late_outlier,cursor=40\n"
         "  attnscope step --preset blackboard\n"
         "For help on a command:  attnscope COMMAND --help"));
  program.set_version_flag("--version", fmt::format("attnscope {} ({})", ATTNSCOPE_VERSION, ATTNSCOPE_COMMIT));
  Asked asked;
  const Parser parser(&program);
  asked.add_to(parser);
  program.require_subcommand(0, 1);
  const std::vector<Command> commands{add_window(parser),  add_step(parser),     add_run(parser),    add_bench(parser),
                                      add_verify(parser),  add_list(parser),     add_doctor(parser), add_shot(parser),
                                      add_report(parser),  add_inspect(parser),  add_lab(parser),    add_museum(parser),
                                      add_profile(parser), add_timeline(parser), add_sass(parser),   add_tune(parser),
                                      add_ring(parser),    add_lesson(parser),   add_worker(parser)};
  try {
    std::vector<std::string> arguments = arguments_of(argc, argv);
    std::ranges::reverse(arguments);  // as CLI11 takes them
    program.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    std::ostringstream wrong;                                // it repeats what was typed
    const int code = program.exit(error, std::cout, wrong);  // help and version to stdout, errors to stderr
    std::cerr << printable(wrong.str());
    if (const std::string why = why_not_taken({argv, static_cast<std::size_t>(argc)}); code != 0 && !why.empty())
      say("attnscope: " + why);
    if (code != 0) return kBadUsage;
    return std::cout.flush() ? 0 : finish_without_room();
  }
  if (const auto empty = option_without_value(program)) {
    say(phrase("attnscope: {} has an empty value; omit the option, or give a value.", *empty));
    return kBadUsage;
  }
  if (const std::string word = word_before_command(program); !word.empty()) {
    say(phrase("attnscope: unknown command '{}' before '{}'; give one command.", printable(word),
               program.get_subcommands().front()->get_name()));
    return kBadUsage;
  }
  if (asked.parse_only) return 0;
  const Command& command = chosen(commands);
  Stopper stopper(command.stoppable && !asked.anything());
  return finish(asked.anything() ? asked.answer(program) : command.run(stopper), stopper);
}

}  // namespace

int run(int argc, char** argv) {
  try {
    if (const auto spoken = speak_as_asked(); !spoken) {
      say(fmt::format("attnscope: {}", spoken.error().message));
      return spoken.error().kind == ErrorKind::bad_input ? kBadUsage : kCannotRun;
    }
    return run_checked(argc, argv);
  } catch (const std::bad_alloc&) {
    say(tr("attnscope: not enough free memory; use a smaller L, B or H, or --memory-limit."));
  } catch (const std::exception& error) {
    say(phrase("attnscope: {}. This is a bug in AttnScope. Nothing was changed.", error.what()));
  }
  return kCannotRun;
}

}  // namespace attn::cli
