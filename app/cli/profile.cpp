// attnscope profile: one kernel on one problem down to its lines and instructions, without a window. What the compiler
// and nvdisasm say needs no GPU; measured figures come from a session.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/command.h"
#include "app/cli/kernel_arguments.h"
#include "app/cli/picture_arguments.h"
#include "app/cli/problem_arguments.h"
#include "app/cli/profile_counts.h"
#include "app/cli/profile_heartbeat.h"
#include "app/cli/profile_samples.h"
#include "app/cli/text.h"
#include "app/window/pictures.h"
#include "app/worker/bench.h"
#include "app/worker/disassemble.h"
#include "app/worker/tuner.h"
#include "kernels/gpu/rungs/inspect.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/model/validate.h"
#include "profiling/figures/counts.h"
#include "profiling/figures/heartbeat.h"
#include "profiling/figures/metrics.h"
#include "profiling/figures/sampled_lines.h"
#include "profiling/figures/samples.h"
#include "profiling/session/session.h"
#include "viz/profile/heartbeat.h"
#include "viz/profile/source.h"

namespace attn::cli {
namespace {

using nlohmann::json;

constexpr std::int64_t kLength = 4096;  // of the problem that is compiled for, where none is named
constexpr const char* kNeedsGpu =
    "not available: times and counters need an NVIDIA GPU; --session FILE.attn takes those of a saved session";
constexpr const char* kNotSampled =
    "--sample takes samples on an NVIDIA GPU, and --session FILE.attn those of a saved session";
constexpr const char* kNotCounted =
    "--counts counts on an NVIDIA GPU, and --session FILE.attn takes those of a saved session";
constexpr const char* kNoHeartbeat =
    "--heartbeat reads counters over time on an NVIDIA GPU, and --session FILE.attn those of a saved session";

struct ProfileArguments {
  std::string kernel, arch, json_file, csv_file, beats_file, session;
  PictureArguments picture;
  std::int64_t lines = 12;
  SampleRequest request;
  ProblemArguments problem;
  OptionArguments options;
};

// All that is said, in whatever form.
struct Profiled {
  NamedKernels named;
  const KernelRow& kernel() const { return *named.rows.front(); }
  gpu::ListingSubject subject;
  gpu::KernelListing listing;
  SourceScene source;
  std::vector<gpu::EntryReport> entries;  // empty: `why_no_entries`
  std::string why_no_entries;
  std::optional<Measurement> row;  // of the session; nothing: `why_no_row`
  std::string why_no_row, row_device;
  std::string why_no_samples = kNotSampled, why_no_heartbeat = kNoHeartbeat, why_no_counts = kNotCounted;
  const KernelSamples* samples() const { return row ? row->samples.get() : nullptr; }
  const KernelCounts* counts() const { return row ? row->counts.get() : nullptr; }
  const Heartbeat* heartbeat() const { return row ? row->heartbeat.get() : nullptr; }
  std::vector<ListedRun> runs;  // the session's, for the picture
};

// A row of the session that was timed, and where.
struct Candidate {
  const Measurement* row;
  const SweepRun* run;
};

// The session's row of the problem that was named; where none was, that of the longest.
Result<void> take_row(const ProfileArguments& a, const Problem& named, bool any_named, Profiled& p) {
  p.why_no_row = kNeedsGpu;
  if (a.session.empty()) return ok();
  auto session = read_session(a.session);
  if (!session) return bad_input(session.error().message);
  std::vector<Candidate> rows;
  for (const SweepRun& run : session->runs)
    for (const Measurement& m : run.rows)
      if (m.key.kernel == p.kernel().id && m.state == RowState::done) rows.push_back({&m, &run});
  if (rows.empty()) return bad_input(fmt::format("{} has no measured row of {}.", a.session, p.kernel().id));
  const auto longer = [](const Candidate& x, const Candidate& y) {
    return x.row->key.problem.Lk < y.row->key.problem.Lk;
  };
  auto found = std::ranges::max_element(rows, longer);
  if (any_named) {
    found = std::ranges::find_if(rows, [&](const Candidate& c) { return c.row->key.problem == named; });
    if (found == rows.end())
      return bad_input(fmt::format("{} has no row of {} on {}; one that it has: {}.", a.session, p.kernel().id,
                                   describe(named), describe(rows.back().row->key.problem)));
  }
  p.row = *found->row;
  p.row_device = found->run->provenance.device;
  p.subject.problem = p.row->key.problem;
  p.subject.options = p.row->key.options;
  if (a.arch.empty()) p.subject.arch = found->run->provenance.device_arch;
  for (SweepRun& run : session->runs) p.runs.push_back({std::move(run), RunFrom::file, false, false});
  return ok();
}

// The row of the GPU of this machine, measured now with what is asked for besides.
Result<void> take_here(const ProfileArguments& a, Profiled& p, Stopper& stopper) {
  auto sampled = take_samples(p.subject, p.named.own, a.request, stopper);
  if (!sampled) return tl::unexpected(sampled.error());
  p.row_device = sampled->provenance.device;
  p.subject.arch = sampled->provenance.device_arch;
  p.subject.options = sampled->row.key.options;
  if (!a.request.save.empty())
    if (auto saved = save_row(a.request.save, *sampled); !saved) return saved;
  SweepRun run = new_run("");
  run.provenance = sampled->provenance;
  run.rows = {sampled->row};
  p.runs.push_back({std::move(run), RunFrom::here, false, false});
  p.row = std::move(sampled->row);
  return ok();
}

// The tile that tuning kept for the GPU that is here.
Result<void> take_tuned(const ProfileArguments& a, const KernelRow& row, Options& options, const Problem& problem,
                        Stopper& stopper) {
  if (!a.options.tuned()) return ok();
  if (!a.request.any())
    return bad_input("--tile tuned is of the GPU that is here: it goes with --sample, --heartbeat or --counts.");
  GpuBench gpu;
  Tuner tuner(&gpu);
  const auto on = tuner.place(row, a.request.gpu, stopper.token());
  if (!on) return tl::unexpected(on.error());
  const auto with = tuner.options(a.request.gpu)(row, problem, options, on->device);
  if (!with) return tl::unexpected(with.error());
  options = *with;
  return ok();
}

Result<void> take_subject(const ProfileArguments& a, Profiled& p, Stopper& stopper) {
  auto named = kernel_named(a.kernel);
  if (!named) return tl::unexpected(named.error());
  p.named = *std::move(named);
  const KernelRow* const row = &p.kernel();
  if (row->processor != Processor::gpu)
    return bad_input(fmt::format("{} runs on the CPU: it has no machine code of a GPU.", a.kernel));
  if (!p.named.own.empty() && a.picture.asked()) return bad_input(kLadderAlone);
  p.subject.kernel = row->id;
  p.subject.arch = a.arch.empty() ? std::string(gpu::kArchRunOn) : a.arch;
  Problem& problem = p.subject.problem;
  problem.Lq = problem.Lk = kLength;
  problem.D = problem.Dv = 64;
  problem.dtype = row->dtypes.front();
  const Problem before = problem;
  if (auto r = a.problem.apply_to(problem); !r) return r;
  if (auto r = validate(problem); !r) return r;
  const KernelRow* const rows[] = {row};
  if (auto r = a.options.check_read_by(rows); !r) return r;
  if (auto r = a.options.apply_to(p.subject.options); !r) return r;
  if (auto r = take_tuned(a, *row, p.subject.options, problem, stopper); !r) return r;
  const bool here = a.request.any();
  if (auto r = here ? take_here(a, p, stopper) : take_row(a, problem, !(problem == before), p); !r) return r;
  if (p.row && !p.row->no_samples.empty()) p.why_no_samples = p.row->no_samples;
  if (p.row && !p.row->no_heartbeat.empty()) p.why_no_heartbeat = p.row->no_heartbeat;
  if (p.row && !p.row->no_counts.empty()) p.why_no_counts = p.row->no_counts;
  const auto device = gpu::device_for(p.subject.arch);
  if (!device) return tl::unexpected(device.error());
  if (auto takes = row->supports(*row, problem, p.subject.options, *device); !takes) return takes;
  const auto plan = row->plan(*row, p.subject.problem, p.subject.options, *device);
  if (!plan) return tl::unexpected(plan.error());
  p.subject.options = plan->options;
  const auto compiler = gpu::open_nvrtc();
  if (!compiler) {
    p.why_no_entries = compiler.error().message;
    return ok();
  }
  gpu::CompileService service(**compiler, gpu::cubin_cache_folder());
  const auto report = gpu::inspect(service, *plan, *device, gpu::edited_kernels_folder());
  if (!report) return tl::unexpected(report.error());
  p.entries = report->entries;
  return ok();
}

Result<Profiled> profile(const ProfileArguments& a, Stopper& stopper) {
  Profiled p;
  if (auto r = take_subject(a, p, stopper); !r) return tl::unexpected(r.error());
  say_progress(fmt::format("{} for {}", a.kernel, p.subject.arch));
  auto listing = list_row_here(p.kernel(), p.subject, stopper.token());
  say_progress("");
  if (!listing) return tl::unexpected(listing.error());
  p.listing = *std::move(listing);
  if (p.row && p.row->samples != nullptr)
    p.row->samples = std::make_shared<const KernelSamples>(with_machine_code(*p.row->samples, p.listing));
  const ListingView view{key_of(p.subject), false, std::make_shared<const gpu::KernelListing>(p.listing), ""};
  p.source = source_scene(view, view.of, {});
  return p;
}

// ---- text

std::string mix_cells(const gpu::InstructionMix& mix) {
  std::string cells = fmt::format("{:>7}", mix.total());
  for (const std::uint32_t n : mix.of) cells += n == 0 ? fmt::format("{:>8}", "") : fmt::format("{:>8}", n);
  return cells;
}

std::string entries_text(const Profiled& p) {
  if (p.entries.empty()) return "Registers and occupancy: not available: " + p.why_no_entries + "\n";
  std::string text;
  for (const gpu::EntryReport& e : p.entries)
    text += fmt::format(
        "{}: {} registers, {} + {} B shared, {} B spilled, {} blocks of {} threads on an SM: {:.1f} %, "
        "limited by {}.\n",
        e.figures.name, e.figures.registers, e.figures.shared_bytes, e.dynamic_bytes,
        e.figures.spill_store_bytes + e.figures.spill_load_bytes, e.occupancy.blocks, e.threads, e.occupancy.percent(),
        e.occupancy.limiter);
  return text;
}

std::string phases_text(const Profiled& p) {
  if (!p.listing.why_no_sass.empty())
    return "Instructions by phase and line: not available: " + p.listing.why_no_sass + "\n";
  std::string text = fmt::format(
      "Instructions by phase, as they stand in the machine code, however often they run:\n"
      "{:<10}{:>7}",
      "phase", "all");
  for (const gpu::InstructionKind kind : gpu::all_instruction_kinds()) text += fmt::format("{:>8}", name_of(kind));
  text += "\n";
  for (const PhaseRow& row : p.source.phases) text += fmt::format("{:<10}{}\n", name_of(row.phase), mix_cells(row.mix));
  return text;
}

std::string lines_text(const Profiled& p, std::int64_t count) {
  if (!p.listing.why_no_sass.empty() || count == 0) return {};
  std::string text = fmt::format("Lines of {} with the most instructions:\n{:>6} {:>7}  {:<10} {}\n",
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
  if (!p.row) return fmt::format("Measured: {}.\n", p.why_no_row);
  std::string text = fmt::format("Measured on {}:\n", p.row_device);
  for (const MetricRow& metric : metric_table()) {
    const Figure& f = figure(*p.row, metric.id);
    if (!f.available()) continue;
    const std::string unit = metric.unit == "1" ? "" : " " + std::string(metric.unit);
    text += fmt::format("  {:<30} {}{:.6g}{} ({})\n", metric.label, f.min_of_launches ? "at least " : "", f.value, unit,
                        name_of(f.origin));
  }
  return text;
}

std::string text_of(const Profiled& p, std::int64_t lines) {
  const std::string files = p.listing.sass.functions.empty() ? "" : fmt::format(", {}", p.source.title);
  return fmt::format("{} on {}{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", p.listing.label, describe(p.subject.problem), files,
                     entries_text(p), phases_text(p), lines_text(p, lines), measured_text(p),
                     samples_text(p.samples(), p.why_no_samples, p.listing, lines),
                     counts_text(p.counts(), p.why_no_counts, p.listing, lines),
                     heartbeat_text(p.heartbeat(), p.why_no_heartbeat, p.row ? p.row->time.median : 0,
                                    p.row && has_beat_of_tiles(*p.row)));
}

// ---- JSON and CSV

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

json json_of(const Profiled& p) {
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

std::string csv_of(const Profiled& p) {
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

// ---- the picture: the window's Profile with the source open

Result<void> draw(const ProfileArguments& a, Profiled& p) {
  auto picture = a.picture.of_profile(ProfilePage::source, p.subject);
  if (!picture) return tl::unexpected(picture.error());
  if (p.row) {
    picture->state.view.bench.value = p.subject.problem.Lk;
    picture->runs = std::move(p.runs);
  } else {
    show_run(picture->state.document.runs, std::string(kPredictedRun));
  }
  return take_picture(*picture, a.picture.png);
}

// They are taken of what is profiled, on the GPU that is there.
Result<void> check_taking(const ProfileArguments& a) {
  const bool takes = a.request.any();
  const char* option = a.request.samples ? "--sample" : a.request.heartbeat ? "--heartbeat" : "--counts";
  if (!a.request.save.empty() && !takes)
    return bad_input("--save keeps what --sample, --heartbeat and --counts took: give one of them.");
  if (takes && !a.session.empty())
    return bad_input(fmt::format("{} measures here, --session reads a file: give one.", option));
  if (takes && !a.arch.empty())
    return bad_input(fmt::format("{} compiles for the GPU that it runs on: leave --arch out.", option));
  if (a.request.seconds <= 0 || a.request.seconds > 60)
    return bad_input(fmt::format("--seconds {} is not in 0 to 60.", a.request.seconds));
  return a.request.save.empty() ? ok() : check_writable("--save", a.request.save);
}

Result<int> profile_kernel(const ProfileArguments& a, Stopper& stopper) {
  if (auto r = check_taking(a); !r) return tl::unexpected(r.error());
  if (a.lines < 0 || a.lines > 100000) return bad_input(fmt::format("--lines {} is not in 0 to 100000.", a.lines));
  for (const auto& [option, file] :
       {std::pair("--json", a.json_file), std::pair("--csv", a.csv_file), std::pair("--heartbeat-csv", a.beats_file)})
    if (!file.empty())
      if (auto r = check_writable(option, file); !r) return tl::unexpected(r.error());
  if (auto r = a.picture.check(); !r) return tl::unexpected(r.error());
  if (auto r = check_distinct({{"--session", a.session}}, {{"--json", a.json_file},
                                                           {"--csv", a.csv_file},
                                                           {"--heartbeat-csv", a.beats_file},
                                                           {"--png", a.picture.png},
                                                           {"--save", a.request.save}});
      !r)
    return tl::unexpected(r.error());
  auto p = profile(a, stopper);
  if (!p) return tl::unexpected(p.error());
  if (a.json_file != "-" && a.csv_file != "-" && a.beats_file != "-")
    if (auto r = print(text_of(*p, a.lines)); !r) return tl::unexpected(r.error());
  if (!a.json_file.empty())
    if (auto r = write_text(a.json_file, json_of(*p).dump(2) + "\n"); !r) return tl::unexpected(r.error());
  if (!a.csv_file.empty())
    if (auto r = write_text(a.csv_file, csv_of(*p)); !r) return tl::unexpected(r.error());
  if (!a.beats_file.empty())
    if (auto r = write_text(a.beats_file, heartbeat_csv(a.kernel, p->heartbeat())); !r)
      return tl::unexpected(r.error());
  if (a.picture.asked())
    if (auto r = draw(a, *p); !r) return tl::unexpected(r.error());
  return 0;
}

}  // namespace

Command add_profile(Parser program) {
  auto a = std::make_shared<ProfileArguments>();
  Parser parser = program.add_subcommand("profile", "One GPU kernel down to its lines and phases; no GPU needed");
  parser.add_option("kernel", a->kernel, "A GPU kernel of `attnscope list`, or FILE.cu of your own")
      ->required()
      ->type_name("ID");
  parser.add_option("--arch", a->arch, "Architecture; left out: the session's, else sm_90a")->type_name("SM");
  parser
      .add_option("--session", a->session,
                  "Take what was measured from this file; its longest problem where none is named")
      ->type_name("FILE.attn");
  parser.add_flag("--sample", a->request.samples,
                  "Measure it on the GPU and sample its instructions: where the warps wait, by phase and line");
  parser.add_flag("--heartbeat", a->request.heartbeat,
                  "Measure it on the GPU and read its pipes and memories over the time of one run");
  parser.add_flag("--counts", a->request.counts,
                  "Measure it on the GPU and count at each instruction: how often it is executed, bank conflicts, "
                  "uncoalesced sectors");
  parser
      .add_option("--save", a->request.save,
                  "With --sample, --heartbeat or --counts: a session that the row is added to")
      ->type_name("FILE.attn");
  parser.add_option("--gpu", a->request.gpu, "With one of them: which GPU; left out: 0")->type_name("N");
  parser.add_option("--seconds", a->request.seconds, "With one of them: how long its time is measured; left out: 0.5")
      ->type_name("SECONDS");
  parser.add_option("--lines", a->lines, "How many lines of source the text lists; left out: 12")->type_name("N");
  parser.add_option("--json", a->json_file, "Everything, with the machine code of each line; - is stdout")
      ->type_name("FILE");
  parser.add_option("--csv", a->csv_file, "A row a phase, then a row a line; - is stdout")->type_name("FILE");
  parser.add_option("--heartbeat-csv", a->beats_file, "The heartbeat, a row a sample; - is stdout")->type_name("FILE");
  a->picture.add_to(parser, "A picture of Profile with the source open");
  a->problem.add_to(parser, "--scale");
  a->options.takes_tuned = true;
  a->options.add_to(parser, false);
  parser.footer(
      "Instructions are counted where they stand in the machine code. They come from nvdisasm, which a CUDA toolkit "
      "or\n"
      "`attnscope doctor --fetch-cuda` brings; without it the rest is said all the same.\n"
      "Examples:\n"
      "  attnscope profile flash_simt --d 64\n"
      "  attnscope profile flash_simt --l 4096 --hq 16 --d 64 --sample --save flash.attn\n"
      "  attnscope profile naive --l 4096 --hq 16 --d 64 --heartbeat --counts\n"
      "  attnscope profile flash_mma --arch sm_80 --dtype bf16 --causal --csv lines.csv --png source.png\n"
      "  attnscope profile my_attention.cu --d 64");
  return {parser, [a](Stopper& stopper) { return profile_kernel(*a, stopper); }};
}

}  // namespace attn::cli
