// attnscope list: the ladder, and the metrics that a row of a sweep has.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/cli/arguments/command.h"
#include "app/cli/arguments/console_text.h"
#include "app/peers/python.h"
#include "app/system/assets.h"
#include "app/window/settings.h"
#include "kernels/base/files.h"
#include "kernels/base/text.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/ladder.h"
#include "kernels/model/kernel.h"
#include "profiling/figures/metrics.h"
#include "profiling/figures/peers.h"

namespace attn::cli {
namespace {

std::string processor_name(Processor processor) {
  return processor == Processor::cpu ? "cpu" : "gpu";
}

std::string joined_dtypes(const KernelRow& row) {
  std::string words;
  for (const DType t : row.dtypes) words += (words.empty() ? "" : " ") + std::string(name_of(t));
  return words;
}

// "on", "left to right".
std::string spoken(const Option& option, std::int64_t value) {
  std::string words = value_text(option, value);
  if (words == "true" || words == "false") return words == "true" ? "on" : "off";
  std::ranges::replace(words, '_', ' ');
  return words;
}

// Default and range of an option in words: "br 64 (1 to 4096)", "accumulate f32 (or f16, bf16)".
std::string option_words(const OptionSpec& o) {
  const Option& option = *o.option;
  if (option.is_choice()) {
    std::string others;
    for (std::int32_t value = o.min; value <= o.max; ++value)
      if (value != o.default_value) others += (others.empty() ? "" : ", ") + spoken(option, value);
    return fmt::format("{} {} (or {})", option.name, spoken(option, o.default_value), others);
  }
  if (o.min == o.max) return fmt::format("{} {}", option.name, o.min);
  const std::string defaults = o.default_value < o.min ? tr("all cores") : std::to_string(o.default_value);
  return fmt::format("{} {} ({} to {})", option.name, defaults, o.min, o.max);
}

// "run on sm_90a; compiled only: sm_80, sm_86".
std::string arch_words(const KernelRow& row) {
  std::vector<std::string_view> others;
  std::ranges::remove_copy(row.architectures, std::back_inserter(others), gpu::kArchRunOn);
  const bool run = others.size() < row.architectures.size();
  return fmt::format("{}{}{}", run ? phrase("run on {}", gpu::kArchRunOn) : "", run && !others.empty() ? "; " : "",
                     others.empty() ? "" : phrase("compiled only: {}", fmt::join(others, ", ")));
}

nlohmann::json row_json(const KernelRow& row) {
  nlohmann::json j{{"id", row.id},
                   {"title", row.title},
                   {"rung", row.rung},
                   {"order", name_of(row.order)},
                   {"place", processor_name(row.processor)},
                   {"what", row.what},
                   {"teaches", row.teaches},
                   {"source", row.source},
                   {"recordable", row.record != nullptr}};
  for (const std::string_view arch : row.architectures) j["architectures"].push_back(arch);
  for (const DType t : row.dtypes) j["dtypes"].push_back(name_of(t));
  for (const Pass pass : row.passes) j["passes"].push_back(name_of(pass));
  for (const KernelRow* part : row.parts) j["runs"].push_back(part->id);
  for (const OptionSpec& o : row.options) {
    nlohmann::json option{{"name", o.option->name}, {"what", o.option->help}, {"least", o.min},
                          {"most", o.max},          {"step", o.step},         {"default", o.default_value}};
    if (!o.option->unit.empty()) option["unit"] = o.option->unit;
    for (const std::string_view choice : o.option->choices) option["choices"].push_back(choice);
    j["options"].push_back(std::move(option));
  }
  for (const ProblemAxis& axis : row.axes)
    j["axes"].push_back({{"name", axis.name}, {"title", axis.title}, {"unit", axis.unit}});
  return j;
}

Result<int> list_kernels(bool as_json) {
  std::string text;
  if (as_json) {
    nlohmann::json all = nlohmann::json::array();
    for (const KernelRow* row : measured_rows()) all.push_back(row_json(*row));
    text = all.dump(2) + "\n";
  } else {
    std::size_t width = 6, order = 9;
    for (const KernelRow* row : measured_rows()) {
      width = std::max(width, row->id.size());
      order = std::max(order, name_of(row->order).size() + 2);
    }
    text = fmt::format("{:<5}{:<{}}  {:<{}}{:<5}{:<15}{}\n", "rung", "kernel", width, "order", order, "on", "dtypes",
                       tr("description"));
    for (const KernelRow* each : measured_rows()) {
      const KernelRow& row = *each;
      text += fmt::format("{:<5}{:<{}}  {:<{}}{:<5}{:<15}{}\n", row.rung, row.id, width, name_of(row.order), order,
                          processor_name(row.processor), joined_dtypes(row), tr_of(row.what));
      std::string options;
      for (const OptionSpec& o : row.options) options += (options.empty() ? "" : ", ") + option_words(o);
      text += fmt::format("{:<5}{}\n", "", tr_of(row.teaches));
      if (row.processor == Processor::gpu) text += fmt::format("{:<5}{}\n", "", arch_words(row));
      if (!takes_pass(row, Pass::forward)) text += phrase("{:<5}pass: {}\n", "", name_of(row.passes.front()));
      if (!row.parts.empty()) text += phrase("{:<5}runs: {}, then {}\n", "", row.parts[0]->id, row.parts[1]->id);
      if (!options.empty()) text += phrase("{:<5}options: {}\n", "", options);
    }
  }
  if (auto r = as_json ? print_data(text) : print(text); !r) return tl::unexpected(r.error());
  return 0;
}

// Whether peers can be run here, in words: "/usr/bin/python3: Python 3.11.2, torch 2.11.0, NumPy 1.24.2".
std::string python_words(const Result<PythonFound>& python) {
  if (!python) return phrase("not found: {}", python.error().message);
  return python->torch.empty() ? phrase("not found: {}", words_of(*python)) : words_of(*python);
}

Result<int> list_peers(bool as_json, const std::stop_token& stop) {
  const auto python = look_for_python(load_settings(settings_file()).settings.preferences.python, stop);
  std::string text;
  if (as_json) {
    nlohmann::json j{{"python", python_words(python)}, {"peers", nlohmann::json::array()}};
    for (const PeerRow& row : peer_table())
      j["peers"].push_back({{"id", row.id},
                            {"title", row.title},
                            {"place", processor_name(row.processor)},
                            {"what", row.what},
                            {"missing", why_missing(python, row)}});
    text = j.dump(2) + "\n";
  } else {
    for (const PeerRow& row : peer_table()) {
      text += fmt::format("{:<17}{:<5}{:<26}{}\n", row.id, processor_name(row.processor), tr_of(row.title),
                          tr_of(row.what));
      // Of torch's own the line about Python says it once.
      if (const std::string why = why_missing(python, row); !why.empty() && !row.package.empty())
        text += fmt::format("{:<22}{}\n", "", why);
    }
    text += phrase("python3 with torch: {}\n", python_words(python));
  }
  if (auto r = as_json ? print_data(text) : print(text); !r) return tl::unexpected(r.error());
  return 0;
}

std::string_view better_name(Better better) {
  switch (better) {
    case Better::up:
      return "up";
    case Better::down:
      return "down";
    case Better::neither:
      break;
  }
  return "neither";
}

nlohmann::json metric_json(const MetricRow& row) {
  nlohmann::json j{{"id", row.id},
                   {"label", row.label},
                   {"unit", row.unit},
                   {"group", name_of(row.group)},
                   {"better", better_name(row.better)},
                   {"what", row.help}};
  if (!row.formula.empty()) j["formula"] = row.formula;
  for (const std::string_view counter : row.counters) j["counters"].push_back(counter);
  return j;
}

// In the order of the CSV's columns.
Result<int> list_metrics(bool as_json) {
  nlohmann::json all = nlohmann::json::array();
  std::string text;
  for (const MetricRow& row : metric_table()) {
    all.push_back(metric_json(row));
    text += fmt::format("{:<28}{:<9}{}\n", row.id, row.unit, tr_of(row.help));
    if (!row.formula.empty()) text += phrase("{:<37}formula: {}\n", "", tr_of(row.formula));
    if (!row.counters.empty()) text += phrase("{:<37}counter: {}\n", "", fmt::join(row.counters, " or "));
  }
  if (auto r = as_json ? print_data(all.dump(2) + "\n") : print(text); !r) return tl::unexpected(r.error());
  return 0;
}

// A kernel to begin one's own with.
Result<int> print_template() {
  constexpr std::uint64_t kMaxBytes = 1 << 16;
  const auto file = find_asset("kernels/my_attention.cu");
  if (!file) return tl::unexpected(file.error());
  const auto bytes = read_file(*file, kMaxBytes);
  if (!bytes) return tl::unexpected(bytes.error());
  if (auto r = print_data({reinterpret_cast<const char*>(bytes->data()), bytes->size()}); !r)
    return tl::unexpected(r.error());
  return 0;
}

struct ListArguments {
  bool metrics = false, peers = false, as_json = false, own = false;
};

}  // namespace

Command add_list(Parser program) {
  auto a = std::make_shared<ListArguments>();
  Parser parser = program.add_subcommand("list", tr("List the kernels on the ladder"));
  parser.add_flag("--metrics", a->metrics, tr("List the metrics instead, with CSV column, unit and description"));
  parser.add_flag("--peers", a->peers,
                  tr("List peers that bench can time next to AttnScope's kernels, and the Python that runs them"));
  parser.add_flag("--template", a->own, tr("Print a template for your own kernel (docs/own_kernel.md)"));
  parser.add_flag("--json", a->as_json, tr("Print JSON"));
  parser.footer(
      tr("Examples:\n  attnscope list\n  attnscope list --peers\n  attnscope list --metrics\n  attnscope list "
         "--template > my_attention.cu\n  attnscope list --json | python3 -c \"import json, sys; print([k['id'] for k "
         "in json.load(sys.stdin)])\""));
  return {parser, [a](Stopper& stopper) -> Result<int> {
            if (a->metrics && a->peers)
              return bad_input(tr("--metrics and --peers are separate lists; use only one of the two."));
            if (a->own && (a->metrics || a->peers || a->as_json))
              return bad_input(tr("--template prints a file; use it without other options."));
            if (a->own) return print_template();
            if (a->peers) return list_peers(a->as_json, stopper.token());
            return a->metrics ? list_metrics(a->as_json) : list_kernels(a->as_json);
          }};
}

}  // namespace attn::cli
