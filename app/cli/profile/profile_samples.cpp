#include "app/cli/profile/profile_samples.h"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/arguments/console_text.h"
#include "app/cli/arguments/session_file.h"
#include "app/control/bench/run_list.h"
#include "app/worker/collect.h"
#include "kernels/base/text.h"
#include "profiling/figures/baseline.h"
#include "profiling/session/session.h"

namespace attn::cli {
namespace {

using nlohmann::json;

constexpr std::string_view kSampledRun = "sampled, ", kBeatRun = "heartbeat, ",
                           kCountedRun = "counted, ";  // how names of runs made here begin
constexpr double kLongest = 120;  // seconds: a first context, a compilation, the check against fp64

std::string percent(std::uint64_t part, std::uint64_t whole) {
  if (part == 0) return "";
  return fmt::format("{:.1f}", 100 * share_of(part, whole));
}

// A column a state that has samples in the kernel, under the shortest name that tells them apart.
struct StateHead {
  WarpState state;
  const char* head;
};
std::vector<StateHead> heads_of(const SampleCounts& all) {
  constexpr std::array<const char*, kWarpStates> kHeads{"issues",  "ready",   "disp",  "last", "pipe",
                                                        "shared",  "special", "queue", "L1",   "device",
                                                        "barrier", "tensor",  "fetch"};
  std::vector<StateHead> heads;
  for (const WarpState state : all_warp_states())
    if (const auto n = static_cast<std::size_t>(state); all.of.at(n) > 0) heads.push_back({state, kHeads.at(n)});
  return heads;
}

std::string cells(const SampleCounts& counts, const SampleCounts& all) {
  std::string text =
      fmt::format("{:>7} {:>7} ", percent(counts.all, all.all), percent(counts.not_issued, all.not_issued));
  for (const StateHead& head : heads_of(all))
    text += fmt::format("{:>8}", percent(counts.of.at(static_cast<std::size_t>(head.state)), all.all));
  return text;
}

std::string heads(std::string_view first, const SampleCounts& all) {
  std::string text = fmt::format("{:<17}{:>7} {:>7} ", first, "time", "empty");
  for (const StateHead& head : heads_of(all)) text += fmt::format("{:>8}", head.head);
  return text + "\n";
}

std::string line_text(const KernelSamples& s, const SampledLine& line, const gpu::KernelListing& listing) {
  const std::string& name = s.files.at(line.file);
  const auto file = std::ranges::find(listing.files, name, &gpu::ListedFile::name);
  if (s.text_hash != listing.text_hash || file == listing.files.end() || line.line > file->lines.size()) return {};
  const std::string& text = file->lines[line.line - 1].text;
  return text.substr(std::min(text.size(), text.find_first_not_of(' ')));
}

std::string short_name(const std::string& name) {
  return name.substr(name.rfind('/') + 1);
}

// The reasons as CUPTI names them, of all samples.
std::string reasons_words(const KernelSamples& s, const SampleCounts& all) {
  std::vector<std::pair<std::uint64_t, std::string>> reasons;
  for (std::size_t n = 0; n < all.by_reason.size(); ++n)
    if (all.by_reason[n] > 0) reasons.emplace_back(all.by_reason[n], s.reasons[n]);
  std::ranges::sort(reasons, std::greater<>());
  std::string words;
  for (const auto& [count, name] : reasons)
    words += fmt::format("{}{} {} %", words.empty() ? "" : ", ", name, percent(count, all.all));
  return words;
}

json counts_json(const SampleCounts& counts, std::uint64_t all) {
  json states = json::object();
  for (const std::string_view column : state_columns()) states[std::string(column)] = counts.in(column);
  return {{"samples", counts.all},
          {"share", share_of(counts.all, all)},
          {"samples_not_issued", counts.not_issued},
          {"states", std::move(states)}};
}

Problem with_d(Problem p, std::int64_t d) {
  p.D = p.Dv = d;
  return p;
}

// A run of this device whose rows are of this problem, but for D: others could not stand beside them.
bool takes(const SweepRun& run, const SampledRow& sampled) {
  const Provenance &a = run.provenance, &b = sampled.provenance;
  return a.host == b.host && same_device(a.device, a.device_uuid, b.device, b.device_uuid) && !run.rows.empty() &&
         with_d(run.rows.front().key.problem, 1) == with_d(sampled.row.key.problem, 1);
}

bool made_here(const std::string& name) {
  return name.starts_with(kSampledRun) || name.starts_with(kBeatRun) || name.starts_with(kCountedRun);
}

// The sweep of its rows: every kernel, along D where they differ in it.
std::string spec_of(const SweepRun& run) {
  const MeasurementKey& first = run.rows.front().key;
  SweepSpec sweep;
  sweep.arch = run.provenance.device_arch;
  for (const Measurement& m : run.rows)
    if (std::ranges::find(sweep.kernels, m.key.kernel) == sweep.kernels.end()) sweep.kernels.push_back(m.key.kernel);
  std::set<std::int64_t> values;
  for (const Measurement& m : run.rows) values.insert(m.key.problem.D);
  sweep.axis = values.size() > 1 ? Axis::D : Axis::L;
  sweep.values = {first.problem.Lk};
  if (sweep.axis == Axis::D) sweep.values.assign(values.begin(), values.end());
  sweep.base = first.problem;
  return sweep_text(sweep);
}

void put_row(Session& session, const SampledRow& sampled) {
  Measurement row = sampled.row;
  row.samples_us.clear();  // their statistics stay
  auto run = std::ranges::find_if(session.runs, [&](const SweepRun& r) { return takes(r, sampled); });
  if (run == session.runs.end()) {
    session.runs.push_back(new_run(""));
    run = std::prev(session.runs.end());
    const std::string_view made = row.counts != nullptr ? kCountedRun : row.samples != nullptr ? kSampledRun : kBeatRun;
    run->name = fmt::format("{}{}, L = {}", made, name_of(row.key.problem.dtype), row.key.problem.Lk);
    run->provenance = sampled.provenance;
  }
  const auto old = std::ranges::find_if(run->rows, [&](const Measurement& m) { return replaces(row, m); });
  if (old == run->rows.end())
    run->rows.push_back(std::move(row));
  else
    *old = std::move(row);
  relate_to_baseline(run->rows);
  if (made_here(run->name)) run->spec = spec_of(*run);
  if (made_here(session.runs.front().name)) session.state = session.runs.front().spec;
}

}  // namespace

Result<SampledRow> take_samples(const gpu::ListingSubject& subject, const gpu::OwnKernels& own,
                                const SampleRequest& request, Stopper& stopper) {
  GpuClient client;
  client.bring(own);
  const auto hello = client.hello({kLongest, stopper.token()});
  if (!hello) return tl::unexpected(hello.error());
  const auto at = std::ranges::find(hello->gpus, request.gpu, &gpu::GpuProperties::index);
  if (at == hello->gpus.end())
    return fail(ErrorKind::cannot_run,
                phrase("there is no GPU {}: this machine has {}", request.gpu, hello->gpus.size()));
  Point p;
  p.gpu = request.gpu;
  p.arch = at->arch();
  p.kernel = subject.kernel;
  p.problem = subject.problem;
  p.options = subject.options;
  p.seconds_per_point = request.seconds;
  auto row = client.measure(p, {kLongest + 4 * request.seconds, stopper.token()}, say_progress);
  say_progress("");
  if (!row) return tl::unexpected(row.error());
  if (row->state != RowState::done)
    return fail(row->state == RowState::refused ? ErrorKind::cannot_run : ErrorKind::failed, row->reason);
  const Deadline deadline{kLongest, stopper.token()};
  if (request.samples) sample_row(client, p, p.arch, deadline, say_progress, *row);
  if (request.heartbeat) beat_row(client, p, deadline, say_progress, *row);
  if (request.counts) count_row(client, p, p.arch, deadline, say_progress, *row);
  say_progress("");
  SampledRow sampled{std::move(*row), provenance_on(*hello, request.gpu)};
  sampled.provenance.peak_gflops = sampled.row.peaks.peak_gflops;
  sampled.provenance.copy_gb_per_s = sampled.row.peaks.copy_gb_per_s;
  return sampled;
}

Result<void> save_row(const std::string& file, const SampledRow& sampled) {
  return change_session(file, [&](Session& session) { put_row(session, sampled); });
}

std::string samples_text(const KernelSamples* samples, const std::string& why, const gpu::KernelListing& listing,
                         std::int64_t lines) {
  if (samples == nullptr) return phrase("Where the time goes (not available): {}.\n", why);
  const KernelSamples& s = *samples;
  const SampleCounts all = counts_of(s);
  std::string text = phrase(
      "Where the warps' time goes: {} samples in {} launch{} of {:.1f} µs, one per multiprocessor "
      "every 2^{} cycles; {} dropped, {} in other code; {}, {:.2f} s.\n",
      all.all, s.launches, s.launches == 1 ? "" : "es", s.kernel_us, s.period_log2, s.dropped, s.unattributed, s.method,
      s.seconds);
  if (!s.no_lines.empty()) return text + phrase("By phase and line (not available): {}.\n", s.no_lines);
  text += phrase(
      "Percent of all samples; under \"empty\", percent of the samples from cycles in which nothing was issued.\n"
      "{}",
      heads("phase", all));
  for (const SampledPhase& phase : samples_by_phase(s))
    text += fmt::format("{:<17}{}\n", gpu::name_of(phase.phase), cells(phase.counts, all));
  text += fmt::format("{:<17}{}\n", "all", cells(all, all));
  text += phrase("By CUPTI's names: {}\n", reasons_words(s, all));
  if (lines == 0) return text;
  text += phrase("\nLines with the most samples:\n{}", heads("line", all));
  for (const SampledLine& line : samples_by_line(s)) {
    if (lines-- <= 0) break;
    text += fmt::format("{:<17}{}  {:<9} {}\n", fmt::format("{}:{}", short_name(s.files[line.file]), line.line),
                        cells(line.counts, all), gpu::name_of(line.phase), line_text(s, line, listing));
  }
  return text;
}

json samples_figures(const KernelSamples* samples, const std::string& why) {
  if (samples == nullptr) return {{"not_available", why}};
  const KernelSamples& s = *samples;
  const SampleCounts all = counts_of(s);
  json phases = json::array(), lines = json::array(), reasons = json::object();
  for (const SampledPhase& phase : samples_by_phase(s)) {
    json j = counts_json(phase.counts, all.all);
    j["phase"] = gpu::name_of(phase.phase);
    phases.push_back(std::move(j));
  }
  for (const SampledLine& line : samples_by_line(s)) {
    json j = counts_json(line.counts, all.all);
    j["file"] = s.files[line.file];
    j["line"] = line.line;
    j["phase"] = gpu::name_of(line.phase);
    lines.push_back(std::move(j));
  }
  for (std::size_t n = 0; n < all.by_reason.size(); ++n) reasons[s.reasons[n]] = all.by_reason[n];
  json instructions = json::array();
  for (const SampledFunction& f : s.functions)
    for (const SampledInstruction& i : f.instructions) {
      SampleCounts counts;
      counts.add(s, i);
      instructions.push_back({{"function", f.name},
                              {"address", i.address},
                              {"phase", gpu::name_of(i.phase)},
                              {"samples", counts.all},
                              {"samples_not_issued", counts.not_issued}});
    }
  json j = counts_json(all, all.all);
  j.update({{"not_available", ""},
            {"method", s.method},
            {"period_log2", s.period_log2},
            {"launches", s.launches},
            {"kernel_us", s.kernel_us},
            {"seconds", s.seconds},
            {"dropped", s.dropped},
            {"unattributed", s.unattributed},
            {"no_lines", s.no_lines},
            {"reasons", std::move(reasons)},
            {"phases", std::move(phases)},
            {"lines", std::move(lines)},
            {"instructions", std::move(instructions)}});
  return j;
}

std::string sample_columns() {
  std::string text = ",samples,samples_not_issued";
  for (const std::string_view column : state_columns()) text += fmt::format(",samples_{}", column);
  return text;
}

std::string sample_cells(const SampleCounts* counts) {
  if (counts == nullptr) return std::string(2 + state_columns().size(), ',');
  std::string text = fmt::format(",{},{}", counts->all, counts->not_issued);
  for (const std::string_view column : state_columns()) text += fmt::format(",{}", counts->in(column));
  return text;
}

}  // namespace attn::cli
