#include "app/cli/describe.h"

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "kernels/gpu/own_kernel/build_line.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/input_spec.h"
#include "kernels/model/kernel.h"
#include "profiling/figures/peers.h"

namespace attn::cli {
namespace {

// An option without a group is for the program's own children, not for people.
std::vector<const CLI::Option*> shown_options(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) { return !option->get_group().empty(); });
}

std::vector<const CLI::App*> commands_of(const CLI::App& program) {
  return program.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
}

bool takes_value(const CLI::Option& option) {
  return option.get_items_expected_max() > 0;
}

bool positional(const CLI::Option& option) {
  return option.get_lnames().empty() && option.get_snames().empty();
}

// "-o", "--out"
std::vector<std::string> flags_of(const CLI::Option& option) {
  std::vector<std::string> flags;
  for (const std::string& name : option.get_snames()) flags.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) flags.push_back("--" + name);
  return flags;
}

std::vector<std::string> flags_of(const CLI::App& app) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : shown_options(app)) {
    for (std::string& flag : flags_of(*option)) flags.push_back(std::move(flag));
  }
  return flags;
}

// What can stand after the option, where a table of the program lists it.
std::vector<std::string> values_of(const CLI::Option& option) {
  std::vector<std::string> values;
  const auto is = [&](std::string_view name) {
    for (const std::string& own : option.get_lnames()) {
      if (own == name) return true;
    }
    return positional(option) && option.get_name(true) == name;
  };
  if (is("kernel") || is("kernels")) {
    for (const KernelRow* row : measured_rows()) values.emplace_back(row->id);
  } else if (is("peers") && takes_value(option)) {
    for (const PeerRow& row : peer_table()) values.emplace_back(row.id);
  } else if (is("preset")) {
    for (const Preset& preset : presets()) values.emplace_back(preset.id);
  } else if (is("theme")) {
    values = {"dark", "light"};
  } else if (is("completion")) {
    values = {"bash", "zsh", "fish"};
  }
  return values;
}

std::string replaced(std::string text, std::string_view what, std::string_view with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size()) {
    text.replace(at, what.size(), with);
  }
  return text;
}

// ---- the manual page

// Text as roff prints it: no escape, no line that reads as a request, hyphens that can be searched for.
std::string roff(std::string text) {
  text = replaced(replaced(std::move(text), "\\", "\\e"), "-", "\\-");
  text = replaced(replaced(std::move(text), "\n.", "\n\\&."), "\n'", "\n\\&'");
  if (!text.empty() && (text.front() == '.' || text.front() == '\'')) text.insert(0, "\\&");
  return text;
}

std::string manual_option(const CLI::Option& option) {
  const std::string value = takes_value(option) && !positional(option) ? option.get_type_name() : "";
  const std::string name =
      positional(option) ? option.get_name(true) : fmt::format("{}", fmt::join(flags_of(option), ", "));
  return fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", roff(name), value.empty() ? "" : " \\fI" + roff(value) + "\\fR",
                     roff(option.get_description()));
}

// "Examples:" and its lines stay as they are laid out.
std::string manual_footer(const CLI::App& app) {
  return app.get_footer().empty() ? "" : ".PP\n.nf\n" + roff(app.get_footer()) + "\n.fi\n";
}

// ---- completion

std::string single_quoted(const std::string& text) {
  return "'" + replaced(text, "'", "'\\''") + "'";
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

std::string bash_script(const CLI::App& program) {
  std::vector<std::string> names;
  std::string options = fmt::format("    '') options='{}' ;;\n", fmt::join(flags_of(program), " ")), values;
  const auto add_values = [&](const CLI::App& app, const std::string& command) {
    for (const CLI::Option* option : shown_options(app)) {
      const std::vector<std::string> can = values_of(*option);
      if (can.empty() || positional(*option)) continue;
      for (const std::string& flag : flags_of(*option)) {
        values += fmt::format("    '{} {}') values='{}' ;;\n", command, flag, fmt::join(can, " "));
      }
    }
  };
  add_values(program, "");
  for (const CLI::App* command : commands_of(program)) {
    names.push_back(command->get_name());
    options += fmt::format("    {}) options='{}' ;;\n", command->get_name(), fmt::join(flags_of(*command), " "));
    add_values(*command, command->get_name());
  }
  return fmt::format(R"(# bash completion, made by: attnscope --completion bash
_attnscope() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" command='' options='' values='' n
  local commands='{0}'
  for ((n = 1; n < COMP_CWORD; ++n)); do
    if [[ " $commands " == *" ${{COMP_WORDS[n]}} "* ]]; then command="${{COMP_WORDS[n]}}"; break; fi
  done
  case "$command" in
{1}  esac
  case "$command $before" in
{2}  esac
  if [[ -n $values ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word")
  elif [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
  else
    mapfile -t COMPREPLY < <(if [[ -z $command ]]; then compgen -W "$commands" -- "$word"; fi; compgen -f -- "$word")
  fi
}}
complete -o filenames -F _attnscope attnscope
)",
                     fmt::join(names, " "), options, values);
}

// One word for _arguments.
std::string zsh_argument(const CLI::Option& option) {
  const std::string words = replaced(replaced(first_line(option.get_description()), "[", "\\["), "]", "\\]");
  const std::vector<std::string> can = values_of(option);
  const std::string value = can.empty() ? ":" + replaced(option.get_type_name(), ":", "") + ":_files"
                                        : fmt::format(":value:({})", fmt::join(can, " "));
  std::string text;
  for (const std::string& flag : flags_of(option)) {
    text += " " + single_quoted(fmt::format("{}[{}]{}", flag, words, takes_value(option) ? value : ""));
  }
  return text;
}

std::string zsh_script(const CLI::App& program) {
  std::string described, cases, own;
  for (const CLI::Option* option : shown_options(program)) own += zsh_argument(*option);
  for (const CLI::App* command : commands_of(program)) {
    described += " " + single_quoted(command->get_name() + ":" + first_line(command->get_description()));
    std::string arguments;
    for (const CLI::Option* option : shown_options(*command)) arguments += zsh_argument(*option);
    cases += fmt::format("        {}) _arguments{} '*:file:_files' ;;\n", command->get_name(), arguments);
  }
  return fmt::format(R"(#compdef attnscope
# zsh completion, made by: attnscope --completion zsh
_attnscope() {{
  local context state line
  local -a commands=({0})
  _arguments -C{1} '1: :->first' '*::rest:->rest'
  case $state in
    first) _describe command commands; _files ;;
    rest)
      case $words[1] in
{2}      esac
      ;;
  esac
}}
_attnscope "$@"
)",
                     described, own, cases);
}

std::string fish_options(const CLI::App& app, const std::string& condition) {
  std::string text;
  for (const CLI::Option* option : shown_options(app)) {
    if (positional(*option)) continue;
    text += "complete -c attnscope -n " + single_quoted(condition);
    for (const std::string& name : option->get_snames()) text += " -s " + name;
    for (const std::string& name : option->get_lnames()) text += " -l " + name;
    if (takes_value(*option)) text += " -r";
    const std::vector<std::string> can = values_of(*option);
    if (!can.empty()) text += fmt::format(" -f -a '{}'", fmt::join(can, " "));
    text += " -d " + single_quoted(first_line(option->get_description())) + "\n";
  }
  return text;
}

std::string fish_script(const CLI::App& program) {
  std::string text = "# fish completion, made by: attnscope --completion fish\n";
  text += fish_options(program, "__fish_use_subcommand");
  for (const CLI::App* command : commands_of(program)) {
    text += fmt::format("complete -c attnscope -n __fish_use_subcommand -a {} -d {}\n", command->get_name(),
                        single_quoted(first_line(command->get_description())));
    text += fish_options(*command, "__fish_seen_subcommand_from " + command->get_name());
  }
  return text;
}

}  // namespace

std::string manual_page(const CLI::App& program, std::string_view version) {
  const std::string words = first_line(program.get_description());
  std::string text = fmt::format(
      ".TH ATTNSCOPE 1 \"\" \"AttnScope {}\" \"User Commands\"\n.SH NAME\nattnscope \\- {}\n.SH SYNOPSIS\n"
      ".B attnscope\n[\\fIFILE.attn\\fR] [\\fIOPTION\\fR]...\n.br\n.B attnscope\n\\fICOMMAND\\fR "
      "[\\fIOPTION\\fR]...\n.SH DESCRIPTION\n{}\n.SH OPTIONS\n",
      version, roff(words), roff(program.get_description()));
  for (const CLI::Option* option : shown_options(program)) text += manual_option(*option);
  text += ".SH COMMANDS\n";
  for (const CLI::App* command : commands_of(program)) {
    text += fmt::format(".SS attnscope {}\n{}\n", roff(command->get_name()), roff(command->get_description()));
    for (const CLI::Option* option : shown_options(*command)) text += manual_option(*option);
    text += manual_footer(*command);
  }
  return text + ".SH EXIT STATUS AND EXAMPLES\n" + manual_footer(program);
}

Result<std::string> completion_script(const CLI::App& program, std::string_view shell) {
  if (shell == "bash") return bash_script(program);
  if (shell == "zsh") return zsh_script(program);
  if (shell == "fish") return fish_script(program);
  return bad_input(fmt::format("Unknown --completion {}; use bash, zsh or fish.", shell));
}

}  // namespace attn::cli
