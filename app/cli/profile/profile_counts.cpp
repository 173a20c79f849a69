#include "app/cli/profile/profile_counts.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kernels/base/text.h"

namespace attn::cli {
namespace {

using nlohmann::json;

struct DerivedRow {
  DerivedCount what;
  std::string_view id;
};
constexpr std::array<DerivedRow, 2> kDerived{{
    {DerivedCount::conflicts, "shared_conflicts"},
    {DerivedCount::excess_sectors, "global_sectors_excess"},
}};

template <class T>
std::string cell(const std::optional<T>& value) {
  return value ? fmt::format("{:>14}", *value) : fmt::format("{:>14}", "-");
}

std::optional<std::uint64_t> counted(const KernelCounts& c, const CounterSums& sums, InstructionCounter counter) {
  if (!c.has(counter)) return std::nullopt;
  return sums[counter];
}

std::string heads(std::string_view first) {
  return fmt::format("{:<17}{:>14}{:>9}{:>14}{:>14}{:>14}{:>14}\n", first, "executed", "threads", "wavefronts",
                     "conflicts", "sectors", "excess");
}

std::string cells(const KernelCounts& c, const CounterSums& sums) {
  const auto threads = threads_per_instruction(c, sums);
  return cell(counted(c, sums, InstructionCounter::executed)) +
         (threads ? fmt::format("{:>9.2f}", *threads) : fmt::format("{:>9}", "-")) +
         cell(counted(c, sums, InstructionCounter::shared)) + cell(derived(c, sums, DerivedCount::conflicts)) +
         cell(counted(c, sums, InstructionCounter::sectors)) + cell(derived(c, sums, DerivedCount::excess_sectors));
}

std::string line_text(const KernelCounts& c, const CountedLine& line, const gpu::KernelListing& listing) {
  const std::string& name = c.files.at(line.file);
  const auto file = std::ranges::find(listing.files, name, &gpu::ListedFile::name);
  if (c.text_hash != listing.text_hash || file == listing.files.end() || line.line > file->lines.size()) return {};
  const std::string& text = file->lines[line.line - 1].text;
  return text.substr(std::min(text.size(), text.find_first_not_of(' ')));
}

json sums_json(const KernelCounts& c, const CounterSums& sums) {
  json j = json::object();
  for (const InstructionCounterRow& row : instruction_counter_table())
    j[std::string(row.id)] = c.has(row.counter) ? json(sums[row.counter]) : json();
  for (const DerivedRow& row : kDerived) {
    const auto value = derived(c, sums, row.what);
    j[std::string(row.id)] = value ? json(*value) : json();
  }
  return j;
}

std::string csv_cells(const KernelCounts* counts, const CounterSums& sums) {
  constexpr std::size_t kColumns = kInstructionCounters + kDerived.size();
  if (counts == nullptr) return std::string(kColumns, ',');
  std::string text;
  for (const InstructionCounterRow& row : instruction_counter_table())
    text += counts->has(row.counter) ? fmt::format(",{}", sums[row.counter]) : ",";
  for (const DerivedRow& row : kDerived) {
    const auto value = derived(*counts, sums, row.what);
    text += value ? fmt::format(",{}", *value) : ",";
  }
  return text;
}

}  // namespace

std::string counts_text(const KernelCounts* counts, const std::string& why, const gpu::KernelListing& listing,
                        std::int64_t lines) {
  if (counts == nullptr) return phrase("What each instruction did (not available): {}.\n", why);
  const KernelCounts& c = *counts;
  const CounterSums all = sums_of(c);
  std::string text = phrase("Instruction counts of one run, taken by {} at each instruction; {}, {:.2f} s.\n", c.chip,
                            c.method, c.seconds);
  for (const InstructionCounterRow& row : instruction_counter_table())
    if (!c.has(row.counter)) text += phrase("{} does not count {}.\n", c.chip, row.id);
  if (!c.no_lines.empty()) {
    text += heads("") + fmt::format("{:<17}{}\n", "all", cells(c, all));
    return text + phrase("By phase and line (not available): {}.\n", c.no_lines);
  }
  text += phrase(
      "executed   times that warps executed the instruction\n"
      "threads    active threads, out of 32\n"
      "conflicts  shared-memory wavefronts beyond the ideal number\n"
      "excess     32-byte sectors of global memory beyond the ideal number\n"
      "{}",
      heads("phase"));
  for (const CountedPhase& phase : counts_by_phase(c))
    text += fmt::format("{:<17}{}\n", gpu::name_of(phase.phase), cells(c, phase.sums));
  text += fmt::format("{:<17}{}\n", "all", cells(c, all));
  if (lines == 0) return text;
  text += phrase(
      "\n"
      "Lines with the most executed instructions:\n"
      "{}",
      heads("line"));
  for (const CountedLine& line : counts_by_line(c)) {
    if (lines-- <= 0) break;
    const std::string& file = c.files.at(line.file);
    text += fmt::format("{:<17}{}  {:<9} {}\n", fmt::format("{}:{}", file.substr(file.rfind('/') + 1), line.line),
                        cells(c, line.sums), gpu::name_of(line.phase), line_text(c, line, listing));
  }
  return text;
}

json counts_figures(const KernelCounts* counts, const std::string& why) {
  if (counts == nullptr) return {{"not_available", why}};
  const KernelCounts& c = *counts;
  json phases = json::array(), lines = json::array(), instructions = json::array(), metrics = json::object();
  for (const CountedPhase& phase : counts_by_phase(c)) {
    json j = sums_json(c, phase.sums);
    j["phase"] = gpu::name_of(phase.phase);
    phases.push_back(std::move(j));
  }
  for (const CountedLine& line : counts_by_line(c)) {
    json j = sums_json(c, line.sums);
    j["file"] = c.files.at(line.file);
    j["line"] = line.line;
    j["phase"] = gpu::name_of(line.phase);
    lines.push_back(std::move(j));
  }
  for (const CountedFunction& f : c.functions)
    for (const CountedInstruction& i : f.instructions) {
      json j = sums_json(c, i.counts);
      j["function"] = f.name;
      j["address"] = i.address;
      j["phase"] = gpu::name_of(i.phase);
      instructions.push_back(std::move(j));
    }
  for (const InstructionCounterRow& row : instruction_counter_table())
    metrics[std::string(row.id)] = c.metrics.at(static_cast<std::size_t>(row.counter));
  json j = sums_json(c, sums_of(c));
  j.update({{"not_available", ""},
            {"method", c.method},
            {"chip", c.chip},
            {"seconds", c.seconds},
            {"no_lines", c.no_lines},
            {"metrics", std::move(metrics)},
            {"phases", std::move(phases)},
            {"lines", std::move(lines)},
            {"instructions", std::move(instructions)}});
  return j;
}

std::string count_columns() {
  std::string text;
  for (const InstructionCounterRow& row : instruction_counter_table()) text += fmt::format(",{}", row.id);
  for (const DerivedRow& row : kDerived) text += fmt::format(",{}", row.id);
  return text;
}

CountTable::CountTable(const KernelCounts* counts)
    : counts_(counts != nullptr && counts->no_lines.empty() ? counts : nullptr) {
  if (counts_ == nullptr) return;
  for (const CountedPhase& phase : counts_by_phase(*counts_)) phases_[phase.phase] = phase.sums;
  for (const CountedLine& line : counts_by_line(*counts_))
    lines_[{counts_->files.at(line.file), line.line}] = line.sums;
}

std::string CountTable::of(gpu::CodePhase phase) const {
  const auto found = phases_.find(phase);
  return csv_cells(counts_, found == phases_.end() ? CounterSums() : found->second);
}

std::string CountTable::of(const std::string& file, std::size_t line) const {
  const auto found = lines_.find({file, line});
  return csv_cells(counts_, found == lines_.end() ? CounterSums() : found->second);
}

}  // namespace attn::cli
