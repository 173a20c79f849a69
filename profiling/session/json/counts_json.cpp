#include "profiling/session/json/counts_json.h"

#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kernels/base/text.h"
#include "kernels/formats/json_fields.h"
#include "profiling/session/json/functions_json.h"
#include "profiling/session/json/number_groups.h"

namespace attn {
namespace {

using nlohmann::json;

constexpr std::int64_t kVersion = 1;
constexpr std::size_t kMaxFiles = 64, kMaxFunctions = 64;
constexpr std::size_t kMaxText = 4096;

// "12624 S 0:100 64:2048:32:32:0:0": address, phase, file:line of each line, a number a counter in the table's order.
std::string instruction_text(const CountedInstruction& i) {
  std::string counts;
  for (const InstructionCounterRow& row : instruction_counter_table())
    counts += fmt::format("{}{}", counts.empty() ? "" : ":", i.counts[row.counter]);
  return fmt::format("{} {} {} {}", i.address, gpu::name_of(i.phase), lines_text(i.lines), counts);
}

// What is wrong with it; empty: it was read.
std::string read_instruction(const json& j, const KernelCounts& c, CountedInstruction& i) {
  constexpr const char* kNone = "is not a string of address, phase, lines and counts";
  if (!j.is_string()) return kNone;
  const auto parts = parts_of(j.get_ref<const std::string&>(), ' ');
  const auto address = number_of(parts.front());
  if (parts.size() != 4 || !address || *address > std::numeric_limits<std::uint32_t>::max()) return kNone;
  i.address = static_cast<std::uint32_t>(*address);
  const auto phase = gpu::code_phase_from_name(parts[1]);
  if (!phase) return tr("has an unknown phase");
  i.phase = *phase;
  if (std::string wrong = read_lines(parts[2], c.files.size(), i.lines); !wrong.empty()) return wrong;
  const auto counts = groups_of(parts[3], kInstructionCounters, 1);
  if (!counts || counts->size() != kInstructionCounters)
    return phrase("has counts that are not {} integers", kInstructionCounters);
  for (const InstructionCounterRow& row : instruction_counter_table()) {
    const std::int64_t count = (*counts)[static_cast<std::size_t>(row.counter)];
    if (count != 0 && !c.has(row.counter)) return phrase("has {}, which no metric counted", row.id);
    i.counts[row.counter] = static_cast<std::uint64_t>(count);
  }
  return {};
}

}  // namespace

json counts_to_json(const KernelCounts& c) {
  json functions = json::array();
  for (const CountedFunction& f : c.functions) {
    json instructions = json::array();
    for (const CountedInstruction& i : f.instructions) instructions.push_back(instruction_text(i));
    functions.push_back({{"name", f.name}, {"instructions", std::move(instructions)}});
  }
  json metrics = json::object();
  for (const InstructionCounterRow& row : instruction_counter_table())
    metrics[std::string(row.id)] = c.metrics.at(static_cast<std::size_t>(row.counter));
  return {{"version", kVersion},    {"method", c.method},
          {"arch", c.arch},         {"text_hash", c.text_hash},
          {"chip", c.chip},         {"seconds", c.seconds},
          {"no_lines", c.no_lines}, {"metrics", std::move(metrics)},
          {"files", c.files},       {"functions", std::move(functions)}};
}

Result<KernelCounts> begin_counts_from_json(const json& j, const std::string& where) {
  JsonFields fields(j, where);
  KernelCounts c;
  const std::int64_t version = fields.integer("version", 1, kLargestNumber);
  if (version > kVersion) fields.refuse("version", phrase("is {}; this version supports up to {}", version, kVersion));
  if (auto read = fields.result(); !read) return tl::unexpected(read.error());
  c.method = fields.text("method", kMaxText);
  c.arch = fields.text("arch");
  c.text_hash = fields.text("text_hash");
  c.chip = fields.text("chip");
  c.seconds = fields.number("seconds");
  if (!std::isfinite(c.seconds) || c.seconds < 0) fields.refuse("seconds", tr("must be a finite number, 0 or more"));
  c.no_lines = fields.text("no_lines", kMaxText);
  c.files = fields.texts("files", kMaxFiles);
  const json& functions = fields.array("functions");
  if (functions.size() > kMaxFunctions) fields.refuse("functions", phrase("has more than {}", kMaxFunctions));
  const json& metrics = fields.object("metrics");
  if (auto read = fields.result(); !read) return tl::unexpected(read.error());
  JsonFields names(metrics, where + ", metrics");
  for (const InstructionCounterRow& row : instruction_counter_table())
    c.metrics.at(static_cast<std::size_t>(row.counter)) = names.text(std::string(row.id).c_str());
  if (auto read = names.result(); !read) return tl::unexpected(read.error());
  return c;
}

Result<bool> more_counts_from_json(const json& j, const std::string& where, KernelCounts& c) {
  return read_some_instructions(j.at("functions"), where, c, read_instruction);
}

Result<KernelCounts> counts_from_json(const json& j, const std::string& where) {
  auto c = begin_counts_from_json(j, where);
  while (c) {
    const auto all = more_counts_from_json(j, where, *c);
    if (!all) return tl::unexpected(all.error());
    if (*all) break;
  }
  return c;
}

}  // namespace attn
