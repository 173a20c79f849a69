#include "kernels/ladder.h"

#include <algorithm>
#include <deque>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/base/text.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/training.h"

namespace attn {
namespace {

constexpr std::int64_t kFewRows = 64;  // query rows that share a KV head: a tile of theirs at most

// The tables do not change while the program runs, and a chart asks for a kernel thousands of times.
const std::vector<const KernelRow*>& all_rows() {
  static const std::vector<const KernelRow*> kRows = [] {
    std::vector<const KernelRow*> rows = ladder();
    for (const KernelRow& step : training_table()) rows.push_back(&step);
    return rows;
  }();
  return kRows;
}

bool is_made_for(const KernelRow& row, const Problem& p, const Options& o) {
  const bool splits = row.processor == Processor::gpu && spec_of(row, kSplits) != nullptr;
  return !splits || chosen(o, kSplits) || p.Lq * (p.Hq / p.Hkv) <= kFewRows;
}

}  // namespace

std::vector<const KernelRow*> ladder() {
  std::vector<const KernelRow*> rows;
  for (const std::span<const KernelRow> table : {cpu_kernel_table(), gpu::gpu_kernel_table(), cpu_backward_table()}) {
    for (const KernelRow& row : table) rows.push_back(&row);
  }
  return rows;
}

std::span<const KernelRow> training_table() {
  struct Table {
    std::deque<StepOf> steps;  // their addresses hold
    std::vector<KernelRow> rows;
    Table() {
      const std::vector<const KernelRow*> all = ladder();
      for (const KernelRow* backward : all) {
        const std::string_view forward = backward->training.forward;
        const auto at = std::ranges::find(all, forward, &KernelRow::id);
        if (!forward.empty() && at != all.end()) steps.emplace_back(**at, *backward);
      }
      for (const StepOf& step : steps) rows.push_back(step.row());
    }
  };
  static const Table kTable;
  return kTable.rows;
}

std::vector<const KernelRow*> measured_rows() {
  return all_rows();
}

bool takes_pass(const KernelRow& row, Pass pass) {
  return std::ranges::find(row.passes, pass) != row.passes.end();
}

std::vector<const KernelRow*> ladder_of(Pass pass) {
  std::vector<const KernelRow*> rows = measured_rows();
  std::erase_if(rows, [pass](const KernelRow* row) { return !takes_pass(*row, pass); });
  return rows;
}

std::size_t ladder_rank(std::string_view id) {
  const auto& rows = all_rows();
  const auto at = std::find_if(rows.begin(), rows.end(), [&](const KernelRow* row) { return row->id == id; });
  return static_cast<std::size_t>(at - rows.begin());
}

Result<const KernelRow*> find_kernel(std::string_view id) {
  const auto& rows = all_rows();
  if (const auto at = std::ranges::find(rows, id, &KernelRow::id); at != rows.end()) return *at;
  std::vector<std::string_view> ids;
  ids.reserve(rows.size());
  for (const KernelRow* row : rows) ids.push_back(row->id);
  return bad_input(phrase("unknown kernel '{}'; use {}", id, fmt::join(ids, ", ")));
}

Result<const KernelRow*> find_kernel(std::string_view id, const gpu::OwnKernels& own) {
  for (const auto& kernel : own)
    if (kernel->id == id) return kernel.get();
  return find_kernel(id);
}

const KernelRow* highest_rung(Processor processor, const Problem& p, const Options& o, const Device& d) {
  const KernelRow* highest = nullptr;
  for (const KernelRow* row : ladder_of(p.pass))
    if (row->processor == processor && row->supports(*row, p, o, d)) highest = row;
  return highest;
}

const KernelRow* best_rung(Processor processor, const Problem& p, const Options& o, const Device& d) {
  const KernelRow* best = nullptr;
  for (const KernelRow* row : ladder_of(p.pass))
    if (row->processor == processor && is_made_for(*row, p, o) && row->supports(*row, p, o, d)) best = row;
  return best;
}

std::vector<const KernelRow*> kernels_with_fragments() {
  std::vector<const KernelRow*> rows = ladder();
  std::erase_if(rows, [](const KernelRow* row) { return row->fragments == nullptr; });
  return rows;
}

const KernelRow* shown_fragments(std::string_view id) {
  const std::vector<const KernelRow*> rows = kernels_with_fragments();
  const auto it = std::ranges::find(rows, id, &KernelRow::id);
  if (it != rows.end()) return *it;
  return rows.empty() ? nullptr : rows.front();
}

const KernelRow* first_of(Order order, Processor processor) {
  for (const KernelRow* row : ladder())
    if (row->order == order && row->processor == processor) return row;
  return nullptr;
}

std::vector<const Option*> declared_options() {
  std::vector<const Option*> all, further;
  const auto rows = ladder();
  const auto add = [&](std::vector<const Option*>& into, const Option* option) {
    if (std::ranges::find(into, option->name, [](const Option* o) { return o->name; }) == into.end())
      into.push_back(option);
  };
  for (const Option* common : common_options())
    if (std::ranges::any_of(rows, [&](const KernelRow* row) { return spec_of(*row, *common) != nullptr; }))
      all.push_back(common);
  for (const KernelRow* row : rows)
    for (const OptionSpec& spec : row->options)
      if (common_option(spec.option->name) == nullptr) add(further, spec.option);
  all.insert(all.end(), further.begin(), further.end());
  return all;
}

Result<const Option*> find_option(std::string_view name) {
  if (const Option* common = common_option(name)) return common;
  std::vector<std::string_view> names;
  for (const Option* option : declared_options()) {
    if (option->name == name) return option;
    names.push_back(option->name);
  }
  return bad_input(phrase("unknown option '{}'; kernels declare {}", name, fmt::join(names, ", ")));
}

AxisKind kind_of(const Axis& axis) {
  const std::string_view name = axis.name();
  for (const ProblemAxis& common : common_axes())
    if (common.name == name) return {&common, nullptr};
  if (const Option* common = common_option(name)) return {nullptr, common->is_choice() ? nullptr : common};
  for (const KernelRow* row : ladder()) {
    for (const ProblemAxis& further : row->axes)
      if (further.name == name) return {&further, nullptr};
    for (const OptionSpec& spec : row->options)
      if (spec.option->name == name && !spec.option->is_choice()) return {nullptr, spec.option};
  }
  return {};
}

std::vector<Axis> all_axes() {
  std::vector<Axis> axes;
  const auto add = [&](std::string_view name) {
    if (const Axis axis(name); std::ranges::find(axes, axis) == axes.end()) axes.push_back(axis);
  };
  for (const ProblemAxis& common : common_axes()) add(common.name);
  for (const KernelRow* row : ladder())
    for (const ProblemAxis& further : row->axes) add(further.name);
  for (const Option* option : declared_options())
    if (!option->is_choice()) add(option->name);
  return axes;
}

Result<Axis> axis_from_name(std::string_view name) {
  const auto axes = all_axes();
  const auto at = std::ranges::find_if(axes, [&](const Axis& axis) { return axis.name() == name; });
  if (at != axes.end()) return *at;
  std::string names;
  for (std::size_t i = 0; i < axes.size(); ++i)
    names += fmt::format("{}{}", i == 0 ? "" : i + 1 == axes.size() ? " and " : ", ", axes[i].name());
  return bad_input(phrase("Unknown sweep axis '{}'; use {}.", name, names));
}

bool reads_axis(const KernelRow& row, const Axis& axis) {
  const AxisKind kind = kind_of(axis);
  return kind.option == nullptr || varies(row, *kind.option);
}

std::optional<std::int64_t> option_value(std::string_view kernel, const Option& option, const Options& o) {
  // A member of Options that counts something is 0 where it was left to the kernel.
  std::optional<std::int64_t> value = chosen(o, option);
  if (value == 0 && option.get != nullptr && !option.is_choice()) value = std::nullopt;
  const auto row = find_kernel(kernel);
  if (!row) return value;
  const OptionSpec* spec = spec_of(**row, option);
  if (spec == nullptr) return std::nullopt;
  if (value || spec->default_value < spec->min) return value;
  return spec->default_value;
}

std::int64_t axis_value(const Axis& axis, std::string_view kernel, const Problem& p, const Options& o) {
  const AxisKind kind = kind_of(axis);
  if (kind.problem != nullptr) return kind.problem->of(p);
  if (kind.option == nullptr) return 0;
  if (const auto row = find_kernel(kernel); row && !varies(**row, *kind.option)) return 0;
  return option_value(kernel, *kind.option, o).value_or(0);
}

}  // namespace attn
