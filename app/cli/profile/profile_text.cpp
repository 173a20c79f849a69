#include "app/cli/profile/profile_text.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/profile/profile_counts.h"
#include "app/cli/profile/profile_heartbeat.h"
#include "app/cli/profile/profile_samples.h"
#include "kernels/base/text.h"
#include "profiling/figures/counts.h"
#include "profiling/figures/heartbeat.h"
#include "profiling/figures/metrics.h"
#include "profiling/figures/sampled_lines.h"
#include "profiling/figures/samples.h"
#include "viz/profile/heartbeat/heartbeat.h"

namespace attn::cli {
namespace {

using nlohmann::json;

std::string mix_cells(const gpu::InstructionMix& mix) {
  std::string cells = fmt::format("{:>7}", mix.total());
  for (const std::uint32_t n : mix.of) cells += n == 0 ? fmt::format("{:>8}", "") : fmt::format("{:>8}", n);
  return cells;
}

std::string entries_text(const Profiled& p) {
  if (p.entries.empty()) return phrase("Registers and occupancy (not available): {}\n", p.why_no_entries);
  std::string text;
  for (const gpu::EntryReport& e : p.entries)
    text += phrase(
        "{}: {} registers, {} + {} B shared, {} B spilled, {} blocks of {} threads per SM: {:.1f} %, "
        "limited by {}.\n",
        e.figures.name, e.figures.registers, e.figures.shared_bytes, e.dynamic_bytes,
        e.figures.spill_store_bytes + e.figures.spill_load_bytes, e.occupancy.blocks, e.threads, e.occupancy.percent(),
        e.occupancy.limiter);
  return text;
}

std::string phases_text(const Profiled& p) {
  if (!p.listing.why_no_sass.empty())
    return phrase("Instructions by phase and line (not available): {}\n", p.listing.why_no_sass);
  std::string text = phrase(
      "Instructions by phase, as they appear in the machine code, however often they run:\n"
      "{:<10}{:>7}",
      "phase", "all");
  for (const gpu::InstructionKind kind : gpu::all_instruction_kinds()) text += fmt::format("{:>8}", name_of(kind));
  text += "\n";
  for (const PhaseRow& row : p.source.phases) text += fmt::format("{:<10}{}\n", name_of(row.phase), mix_cells(row.mix));
  return text;
}

std::string lines_text(const Profiled& p, std::int64_t count) {
  if (!p.listing.why_no_sass.empty() || count == 0) return {};
  std::string text = phrase("Lines of {} with the most instructions:\n{:>6} {:>7}  {:<10} {}\n",
                            p.listing.files.front().name, "line", "all", "phase", "text");
  for (const std::int32_t line : p.source.hot) {
    if (count-- <= 0) break;
    const SourceRow& row = p.source.rows[static_cast<std::size_t>(line - 1)];
    const std::size_t first = std::min(row.text.size(), row.text.find_first_not_of(' '));
    text += fmt::format("{:>6} {:>7}  {:<10} {}\n", line, row.total, name_of(row.phase), row.text.substr(first));
  }
  return text;
}

std::string measured_text(const Profiled& p) {
  if (!p.row) return phrase("Measured: {}.\n", p.why_no_row);
  std::string text = phrase("Measured on {}:\n", p.row_device);
  for (const MetricRow& metric : metric_table()) {
    const Figure& f = figure(*p.row, metric.id);
    if (!f.available()) continue;
    const std::string unit = metric.unit == "1" ? "" : " " + std::string(metric.unit);
    const std::string value = fmt::format("{:.6g}{}", f.value, unit);
    text += fmt::format("  {:<30} {} ({})\n", tr_of(metric.label),
                        f.min_of_launches ? phrase("at least {}", value) : value, name_of(f.origin));
  }
  return text;
}

json mix_json(const gpu::InstructionMix& mix) {
  json j{{"instructions", mix.total()}};
  for (const gpu::InstructionKind kind : gpu::all_instruction_kinds()) j[std::string(name_of(kind))] = mix[kind];
  return j;
}

json lines_json(const Profiled& p) {
  json lines = json::array();
  for (const gpu::ListedFile& file : p.listing.files) {
    for (std::size_t n = 0; n < file.lines.size(); ++n) {
      const gpu::ListedLine& line = file.lines[n];
      if (line.instructions.empty()) continue;
      json j = mix_json(line.mix);
      j["file"] = file.name;
      j["line"] = n + 1;
      j["phase"] = name_of(line.phase);
      j["text"] = line.text;
      json sass = json::array();
      for (const gpu::InstructionPlace& place : line.instructions)
        sass.push_back({{"function", p.listing.sass.functions[place.function].name},
                        {"address", p.listing.at(place).address},
                        {"phase", name_of(p.listing.phase_at(place))},
                        {"text", p.listing.at(place).text}});
      j["sass"] = std::move(sass);
      lines.push_back(std::move(j));
    }
  }
  return lines;
}

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

// Of each phase and of each line of a file its samples.
class SampleTable {
 public:
  explicit SampleTable(const Profiled& p) {
    if (p.samples() == nullptr || !p.samples()->no_lines.empty()) return;
    there_ = true;
    for (SampledPhase& phase : samples_by_phase(*p.samples())) phases_[phase.phase] = std::move(phase.counts);
    for (SampledLine& line : samples_by_line(*p.samples()))
      lines_[{p.samples()->files.at(line.file), line.line}] = std::move(line.counts);
  }
  std::string of(gpu::CodePhase phase) const { return cells(phases_, phase); }
  std::string of(const std::string& file, std::size_t line) const { return cells(lines_, std::pair(file, line)); }

 private:
  template <class Key>
  std::string cells(const std::map<Key, SampleCounts>& counts, const Key& key) const {
    static const SampleCounts none;
    if (!there_) return sample_cells(nullptr);
    const auto found = counts.find(key);
    return sample_cells(found == counts.end() ? &none : &found->second);
  }
  bool there_ = false;
  std::map<gpu::CodePhase, SampleCounts> phases_;
  std::map<std::pair<std::string, std::size_t>, SampleCounts> lines_;
};

}  // namespace

std::string text_of(const Profiled& p, std::int64_t lines) {
  const std::string files = p.listing.sass.functions.empty() ? "" : fmt::format(", {}", p.source.title);
  return fmt::format("{} on {}{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", p.listing.label, describe(p.subject.problem), files,
                     entries_text(p), phases_text(p), lines_text(p, lines), measured_text(p),
                     samples_text(p.samples(), p.why_no_samples, p.listing, lines),
                     counts_text(p.counts(), p.why_no_counts, p.listing, lines),
                     heartbeat_text(p.heartbeat(), p.why_no_heartbeat, p.row ? p.row->time.median : 0,
                                    p.row && has_beat_of_tiles(*p.row)));
}

json json_of(const Profiled& p) {
  const InEnglish recorded;
  json entries = json::array();
  for (const gpu::EntryReport& e : p.entries)
    entries.push_back({{"entry", e.figures.name},
                       {"threads", e.threads},
                       {"registers", e.figures.registers},
                       {"shared_bytes", e.figures.shared_bytes + e.dynamic_bytes},
                       {"spill_bytes", e.figures.spill_store_bytes + e.figures.spill_load_bytes},
                       {"blocks_per_sm", e.occupancy.blocks},
                       {"occupancy_theoretical_pct", e.occupancy.percent()},
                       {"limiter", e.occupancy.limiter}});
  json phases = json::array();
  for (const PhaseRow& row : p.source.phases) {
    json j = mix_json(row.mix);
    j["phase"] = name_of(row.phase);
    phases.push_back(std::move(j));
  }
  json measured{{"device", p.row_device}, {"not_available", p.row ? "" : p.why_no_row}, {"figures", json::object()}};
  for (const MetricRow& metric : metric_table()) {
    if (!p.row || !figure(*p.row, metric.id).available()) continue;
    const Figure& f = figure(*p.row, metric.id);
    measured["figures"][std::string(metric.id)] = {{"value", f.value}, {"origin", name_of(f.origin)}};
  }
  return {{"kernel", p.listing.label},
          {"arch", p.subject.arch},
          {"problem", describe(p.subject.problem)},
          {"source_hash", p.listing.source_hash},
          {"machine_code_not_available", p.listing.why_no_sass},
          {"entries", std::move(entries)},
          {"phases", std::move(phases)},
          {"lines", lines_json(p)},
          {"measured", std::move(measured)},
          {"sampled", samples_figures(p.samples(), p.why_no_samples)},
          {"counted", counts_figures(p.counts(), p.why_no_counts)},
          {"heartbeat", heartbeat_figures(p.heartbeat(), p.why_no_heartbeat, p.row && has_beat_of_tiles(*p.row))}};
}

std::string csv_of(const Profiled& p) {
  const InEnglish recorded;
  const SampleTable samples(p);
  const CountTable counts(p.counts());
  std::string text = "kernel,arch,row,file,line,phase,instructions";
  for (const gpu::InstructionKind kind : gpu::all_instruction_kinds()) text += fmt::format(",{}", name_of(kind));
  text += ",text" + sample_columns() + count_columns() + "\n";
  const auto add = [&](std::string_view row, const std::string& file, const std::string& line, gpu::CodePhase phase,
                       const gpu::InstructionMix& mix, std::string_view words, const std::string& sampled) {
    text += fmt::format("{},{},{},{},{},{},{}", p.listing.label, p.subject.arch, row, in_quotes(file), line,
                        name_of(phase), mix.total());
    for (const std::uint32_t n : mix.of) text += fmt::format(",{}", n);
    text += fmt::format(",{}{}\n", in_quotes(words), sampled);
  };
  for (const PhaseRow& row : p.source.phases)
    add("phase", "", "", row.phase, row.mix, row.words, samples.of(row.phase) + counts.of(row.phase));
  for (const gpu::ListedFile& file : p.listing.files)
    for (std::size_t n = 0; n < file.lines.size(); ++n) {
      const gpu::ListedLine& line = file.lines[n];
      if (line.instructions.empty()) continue;
      add("line", file.name, fmt::format("{}", n + 1), line.phase, line.mix, line.text,
          samples.of(file.name, n + 1) + counts.of(file.name, n + 1));
    }
  return text;
}

}  // namespace attn::cli
