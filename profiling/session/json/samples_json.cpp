#include "profiling/session/json/samples_json.h"

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

constexpr std::size_t kMaxReasons = 256, kMaxFiles = 64, kMaxFunctions = 64;
constexpr std::size_t kMaxText = 4096;

// "12624 S 0:100 0:12:0,3:5:2": address, phase, file:line of each line, reason:samples:not issued of each reason. As
// lists they would take ten times the room, and a file has thousands.
std::string instruction_text(const SampledInstruction& i) {
  std::string reasons;
  for (const ReasonSamples& r : i.reasons)
    reasons += fmt::format("{}{}:{}:{}", reasons.empty() ? "" : ",", r.reason, r.all, r.not_issued);
  return fmt::format("{} {} {} {}", i.address, gpu::name_of(i.phase), lines_text(i.lines),
                     reasons.empty() ? "-" : reasons);
}

std::string read_reasons(std::string_view text, const KernelSamples& s, SampledInstruction& i) {
  const auto reasons = groups_of(text, 3, kMaxReasons);
  if (!reasons) return tr("has reasons that are not triples of integers");
  for (std::size_t n = 0; n < reasons->size(); n += 3) {
    const std::int64_t reason = (*reasons)[n], all = (*reasons)[n + 1], not_issued = (*reasons)[n + 2];
    if (reason >= static_cast<std::int64_t>(s.reasons.size())) return tr("refers to a reason that is not in the list");
    if (not_issued > all) return tr("has more samples with nothing issued than samples in total");
    i.reasons.push_back(
        {static_cast<std::uint32_t>(reason), static_cast<std::uint64_t>(all), static_cast<std::uint64_t>(not_issued)});
  }
  return {};
}

// What is wrong with it; empty: it was read.
std::string read_instruction(const json& j, const KernelSamples& s, SampledInstruction& i) {
  constexpr const char* kNone = "is not a string of address, phase, lines and reasons";
  if (!j.is_string()) return kNone;
  const auto parts = parts_of(j.get_ref<const std::string&>(), ' ');
  const auto address = number_of(parts.front());
  if (parts.size() != 4 || !address || *address > std::numeric_limits<std::uint32_t>::max()) return kNone;
  i.address = static_cast<std::uint32_t>(*address);
  const auto phase = gpu::code_phase_from_name(parts[1]);
  if (!phase) return tr("has an unknown phase");
  i.phase = *phase;
  if (std::string wrong = read_lines(parts[2], s.files.size(), i.lines); !wrong.empty()) return wrong;
  return read_reasons(parts[3], s, i);
}

}  // namespace

json samples_to_json(const KernelSamples& s) {
  json functions = json::array();
  for (const SampledFunction& f : s.functions) {
    json instructions = json::array();
    for (const SampledInstruction& i : f.instructions) instructions.push_back(instruction_text(i));
    functions.push_back({{"name", f.name}, {"instructions", std::move(instructions)}});
  }
  return {{"method", s.method},
          {"arch", s.arch},
          {"text_hash", s.text_hash},
          {"period_log2", s.period_log2},
          {"launches", s.launches},
          {"dropped", s.dropped},
          {"unattributed", s.unattributed},
          {"kernel_us", s.kernel_us},
          {"seconds", s.seconds},
          {"no_lines", s.no_lines},
          {"reasons", s.reasons},
          {"files", s.files},
          {"functions", std::move(functions)}};
}

Result<KernelSamples> begin_samples_from_json(const json& j, const std::string& where) {
  JsonFields fields(j, where);
  KernelSamples s;
  s.method = fields.text("method", kMaxText);
  s.arch = fields.text("arch");
  s.text_hash = fields.text("text_hash");
  s.period_log2 = static_cast<std::int32_t>(fields.integer("period_log2", 0, 31));
  s.launches = static_cast<std::int32_t>(fields.integer("launches", 1, 1 << 20));
  s.dropped = static_cast<std::uint64_t>(fields.integer("dropped", 0, kLargestNumber));
  s.unattributed = static_cast<std::uint64_t>(fields.integer("unattributed", 0, kLargestNumber));
  s.kernel_us = fields.number("kernel_us");
  s.seconds = fields.number("seconds");
  for (const auto& [key, value] : {std::pair("kernel_us", s.kernel_us), std::pair("seconds", s.seconds)})
    if (!std::isfinite(value) || value < 0) fields.refuse(key, tr("must be a finite number, 0 or more"));
  s.no_lines = fields.text("no_lines", kMaxText);
  s.reasons = fields.texts("reasons", kMaxReasons);
  s.files = fields.texts("files", kMaxFiles);
  const json& functions = fields.array("functions");
  if (functions.size() > kMaxFunctions) fields.refuse("functions", phrase("has more than {}", kMaxFunctions));
  if (auto read = fields.result(); !read) return tl::unexpected(read.error());
  return s;
}

Result<bool> more_samples_from_json(const json& j, const std::string& where, KernelSamples& s) {
  return read_some_instructions(j.at("functions"), where, s, read_instruction);
}

Result<KernelSamples> samples_from_json(const json& j, const std::string& where) {
  auto s = begin_samples_from_json(j, where);
  while (s) {
    const auto all = more_samples_from_json(j, where, *s);
    if (!all) return tl::unexpected(all.error());
    if (*all) break;
  }
  return s;
}

}  // namespace attn
