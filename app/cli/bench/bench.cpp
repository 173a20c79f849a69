// attnscope bench: a sweep to CSV, JSON, a session file and a picture.
#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/cli/arguments/command.h"
#include "app/cli/arguments/console_text.h"
#include "app/cli/arguments/kernel_arguments.h"
#include "app/cli/arguments/output_argument.h"
#include "app/cli/arguments/peer_arguments.h"
#include "app/cli/arguments/problem_arguments.h"
#include "app/cli/bench/bench_file.h"
#include "app/cli/bench/gate.h"
#include "app/cli/bench/row_words.h"
#include "app/control/bench/run_list.h"
#include "app/ring/ring_bench.h"
#include "app/state/apply/apply.h"
#include "app/window/pictures.h"
#include "app/worker/bench.h"
#include "app/worker/cpu_bench.h"
#include "app/worker/tuner.h"
#include "kernels/base/text.h"
#include "kernels/gpu/rungs/own_kernel.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/ragged.h"
#include "kernels/model/kernel.h"
#include "profiling/figures/baseline.h"
#include "profiling/session/layouts.h"
#include "profiling/session/session.h"
#include "profiling/session/trace.h"
#include "profiling/spec/sweep_point.h"
#include "profiling/spec/sweep_spec.h"
#include "profiling/sweep/estimate.h"
#include "profiling/sweep/finished.h"
#include "profiling/sweep/sweep.h"

namespace attn::cli {
namespace {

constexpr std::size_t kMaxValues = 1024;  // as many as a state string takes

struct BenchArguments {
  std::string layout, output, ragged;
  std::string kernels, axis = "L", values, generator, seed, verify = "sampled", memory_limit, device, arch;
  bool no_counters = false, warm_l2 = false, resume = false, force = false, no_samples = false;
  std::string csv, json, trace, attn, png;
  std::optional<std::int64_t> tokens;
  double time_limit = 1, hang_limit = 0;
  std::int32_t repeats = 5;
  ProblemArguments problem;
  OptionArguments options;
  PeerArguments peers;
  BuildArguments build;
  GateArguments gate;
};

// Left out: the kernels of the device. A kernel that does not run on the named device is refused.
Result<NamedKernels> choose_kernels(const BenchArguments& a, SweepSpec& s) {
  const auto device = choose_device(a.device);
  if (!device) return tl::unexpected(device.error());
  s.gpu = device->index;
  s.l2 = a.warm_l2 ? L2State::warm : L2State::cold;
  s.counters = !a.no_counters;
  if (!a.arch.empty()) s.arch = a.arch;
  auto named = kernels_named("--kernels", a.kernels.empty() ? std::vector<std::string>{} : split(a.kernels, ','));
  if (!named) return named;
  if (named->rows.empty()) {
    for (const KernelRow* row : ladder_of(s.base.pass))
      if (row->processor == device->processor) named->rows.push_back(row);
    if (named->rows.empty())
      return fail(ErrorKind::cannot_run,
                  phrase("--device {}: no kernel supports --pass {}.", a.device, name_of(s.base.pass)));
  }
  if (auto r = a.build.apply_to(*named); !r) return tl::unexpected(r.error());
  for (const KernelRow* row : named->rows) {
    s.kernels.emplace_back(row->id);
    if (a.device == "cpu" && row->processor == Processor::gpu)
      return bad_input(phrase("{} runs on a GPU, but --device cpu was given; use --device gpu.", row->id));
  }
  return named;
}

// What is measured: the sweep, and the rows of its kernels.
struct BenchSweep {
  SweepSpec spec;
  NamedKernels kernels;
};

// Each point has keys of its own, so lengths are held against them with the sweep, not against Lk of the problem alone.
Result<void> apply_problem(ProblemArguments arguments, Problem& p) {
  MaskArguments lengths;
  lengths.key_lengths = std::exchange(arguments.mask.key_lengths, {});
  if (auto r = arguments.apply_to(p); !r) return r;
  return lengths.apply_to(p.mask);
}

Result<BenchSweep> sweep_of(const BenchArguments& a) {
  SweepSpec s;
  s.base = initial_state().document.sweep.base;
  if (auto r = apply_problem(a.problem, s.base); !r) return tl::unexpected(r.error());
  const auto layout = layout_of(a.layout);
  if (!layout) return tl::unexpected(layout.error());
  s.base.layout = *layout;
  const auto output = output_of(a.output, s.base.dtype);
  if (!output) return tl::unexpected(output.error());
  s.base.output = *output;
  if (auto r = a.options.apply_to(s.options); !r) return tl::unexpected(r.error());
  s.tuned = a.options.tuned();
  auto kernels = choose_kernels(a, s);
  if (!kernels) return tl::unexpected(kernels.error());
  const auto axis = axis_from_name(a.axis);
  if (!axis) return tl::unexpected(axis.error());
  s.axis = *axis;
  const auto values = parse_numbers("--values", a.values);
  if (!values) return tl::unexpected(values.error());
  if (values->size() > kMaxValues) {
    return bad_input(phrase("--values has {} numbers; the maximum is {}.", values->size(), kMaxValues));
  }
  s.values = *values;
  if (!a.generator.empty()) {
    const auto g = generator_from_name(a.generator);
    if (!g) return bad_input(phrase("Unknown --generator {}; use normal, for example.", a.generator));
    s.generator = *g;
  }
  if (!a.seed.empty()) {
    // A state string writes it as a signed number.
    const auto seed = parse_seed(a.seed, static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
    if (!seed) return tl::unexpected(seed.error());
    s.seed = *seed;
  }
  if (a.tokens) s.tokens = *a.tokens;
  if (!a.ragged.empty()) {
    const auto ragged = ragged_from_name(a.ragged);
    if (!ragged) return bad_input(phrase("Unknown --ragged {}; use uniform, zipf, even or one_long.", a.ragged));
    s.ragged = *ragged;
  }
  s.seconds_per_point = a.time_limit;
  s.min_repeats = a.repeats;
  if (a.verify != "sampled" && a.verify != "full" && a.verify != "none") {
    return bad_input(phrase("Unknown --verify {}; use sampled, full or none.", a.verify));
  }
  s.verify = a.verify != "none";
  s.verify_full = a.verify == "full";
  const auto limit = memory_limit_of(a.memory_limit);
  if (!limit) return tl::unexpected(limit.error());
  s.memory_limit = *limit;
  const std::vector<const KernelRow*>& rows = kernels->rows;
  if (auto r = validate(s, rows); !r) return tl::unexpected(r.error());
  if (auto r = check_hang_limit(a.hang_limit); !r) return tl::unexpected(r.error());
  if (auto r = a.options.check_read_by(rows); !r) return tl::unexpected(r.error());
  const auto has = [&](Processor p) {
    return std::ranges::any_of(rows, [&](auto* row) { return row->processor == p; });
  };
  const auto peers = a.peers.ids(has(Processor::cpu), has(Processor::gpu));
  if (!peers) return tl::unexpected(peers.error());
  if (!peers->empty() && s.base.output != OutputType::as_inputs)
    return bad_input(tr("Peers return O in the type of Q, K and V; omit --out-dtype."));
  s.peers = *peers;
  return BenchSweep{std::move(s), *std::move(kernels)};
}

std::string time_words(double seconds) {
  return seconds < 0    ? ""
         : seconds < 90 ? phrase(", {:.0f} s left", seconds)
                        : phrase(", {:.0f} min left", seconds / 60);
}

Result<void> write_picture(const SweepSpec& spec, const SweepRun& run, const std::string& file) {
  PictureSpec picture;
  picture.state = initial_state();
  picture.state.document.sweep = spec;
  picture.state.view.workspace = Workspace::bench;
  picture.runs.push_back({run, RunFrom::here, false, true});
  return take_picture(picture, file);
}

// Every output that can be written is, whatever the others do; the first failure is told.
Result<void> write_outputs(const BenchArguments& a, const SweepSpec& spec, BenchFile& file) {
  file.relate();
  Session session = session_of(file.run().provenance, file.run().rows);
  session.runs.front().id = file.run().id;
  session.state = file.run().spec;
  Result<void> first = ok();
  const auto keep = [&first](const Result<void>& r) {
    if (!r && first) {
      first = r;
    } else if (!r) {
      say("attnscope: " + r.error().message);
    }
  };
  const bool nowhere = a.csv.empty() && a.json.empty() && a.trace.empty() && a.attn.empty() && a.png.empty();
  if (nowhere || !a.csv.empty()) keep(write_text(nowhere ? "-" : a.csv, to_csv(session)));
  if (!a.json.empty()) keep(write_text(a.json, to_json(session)));
  if (!a.trace.empty()) keep(write_text(a.trace, to_trace(session)));
  keep(file.write());
  if (!a.png.empty()) keep(write_picture(spec, file.run(), a.png));
  return first;
}

// Tells of each row once it is on disk: who reads of one may count on it.
class Teller {
 public:
  Teller(BenchFile& file, const Axis& axis) : file_(file), axis_(axis) {}
  void add(Measurement m) {
    file_.add(m);
    untold_.push_back(row_words(m, axis_, file_.rows()));
    relate_to_layouts(m, rows_among(file_.run(), file_.runs()));
    if (const std::string layout = layout_words(m); !layout.empty()) untold_.back() += ", " + layout;
    look();
  }
  void look() {
    if (!untold_.empty() && file_.is_due()) tell();
  }
  void tell() {
    if (untold_.empty()) return;
    if (const auto kept = file_.write(); !kept) say("attnscope: " + kept.error().message);
    for (const std::string& words : untold_) say(words);
    untold_.clear();
  }

 private:
  BenchFile& file_;
  Axis axis_;
  std::vector<std::string> untold_;
};

Result<int> exit_of(const std::vector<Measurement>& rows) {
  std::size_t wrong = 0, done = 0, not_judged = 0;
  for (const Measurement& m : rows) {
    if (m.state == RowState::failed || (m.verdict && outcome_of(*m.verdict) == Outcome::wrong)) ++wrong;
    if (m.verdict && m.verdict->not_judged) ++not_judged;
    if (m.state == RowState::done) ++done;
    if (m.state == RowState::cancelled) return fail(ErrorKind::cancelled, tr("Cancelled. Finished rows were kept."));
  }
  if (wrong > 0) return fail(ErrorKind::failed, phrase("{} of {} rows failed or are wrong.", wrong, rows.size()));
  if (not_judged > 0) {
    return fail(ErrorKind::failed,
                phrase("{} of {} rows could not be judged. Each row says why.", not_judged, rows.size()));
  }
  if (done == 0) return fail(ErrorKind::cannot_run, tr("No point was measured. Each row says why."));
  return 0;
}

Result<void> check_outputs(const BenchArguments& a) {
  if (a.resume && a.attn.empty()) return bad_input(tr("--resume continues a session; name the session with --attn."));
  if (a.force && a.attn.empty()) return bad_input(tr("--force needs a session to replace; specify one with --attn."));
  if (a.resume && a.force)
    return bad_input(tr("--resume continues a session and --force replaces it; use only one of the two."));
  int to_stdout = 0;
  for (const auto& [option, file] :
       {std::pair("--csv", a.csv), std::pair("--json", a.json), std::pair("--trace", a.trace),
        std::pair("--attn", a.attn), std::pair("--png", a.png)}) {
    if (file.empty()) continue;
    if (file == "-" && (option == std::string_view("--attn") || option == std::string_view("--png"))) {
      return bad_input(phrase("{} -: cannot write to stdout; name a file.", option));
    }
    std::error_code error;
    if (option == std::string_view("--attn") && std::filesystem::is_fifo(file, error))
      return bad_input(phrase("--attn {} is a pipe, but a session is rewritten as it grows; name a file.", file));
    to_stdout += file == "-" ? 1 : 0;
    if (auto r = check_writable(option, file); !r) return tl::unexpected(r.error());
  }
  if (to_stdout > 1) return bad_input(tr("Only one of --csv -, --json - and --trace - can use stdout."));
  if (!a.png.empty()) {
    if (auto r = check_is_png("--png", a.png); !r) return r;
  }
  return check_distinct(
      {{"--against", a.gate.against}},
      {{"--csv", a.csv}, {"--json", a.json}, {"--trace", a.trace}, {"--attn", a.attn}, {"--png", a.png}});
}

// Rows of an earlier text of the same file are those of another kernel: beside new ones they would be taken for its
// own.
Result<void> check_unchanged(const gpu::OwnKernels& own, std::span<const Measurement> earlier,
                             const std::string& file) {
  for (const auto& kernel : own) {
    const std::string_view stem = gpu::own_stem(kernel->id);
    for (const Measurement& m : earlier) {
      if (gpu::own_stem(m.key.kernel) != stem || m.key.kernel == kernel->id) continue;
      return bad_input(phrase("{} has rows for {}, but {} has changed since then and is now {}. Name another session.",
                              file, m.key.kernel, gpu::own_source(*kernel)->name, kernel->id));
    }
  }
  return ok();
}

Result<int> bench(const BenchArguments& a, Stopper& stopper) {
  const auto sweep = sweep_of(a);
  if (!sweep) return tl::unexpected(sweep.error());
  const SweepSpec* const spec = &sweep->spec;
  const std::vector<const KernelRow*>& kernels = sweep->kernels.rows;
  if (auto r = check_outputs(a); !r) return tl::unexpected(r.error());
  const auto earlier = a.gate.earlier();
  if (!earlier) return tl::unexpected(earlier.error());

  const auto setup = a.peers.setup();
  if (!setup) return tl::unexpected(setup.error());
  GpuBench gpu;
  gpu.bring(sweep->kernels.own);
  gpu.limit_points(a.hang_limit);
  CpuBench cpu;
  PeerBench peers(*setup, &gpu, &cpu);
  SweepCallbacks callbacks;
  RingBench rings;
  callbacks.cpu = rings.runner(cpu.runner());
  callbacks.gpu = gpu.runner(*spec, stopper.token());
  Tuner tuner(&gpu);
  callbacks.tuned = tuner.options(spec->gpu);
  if (a.peers.asked()) callbacks.peers = peers.source(*spec);
  auto file = BenchFile::open({a.attn, a.resume, a.force, !a.no_samples}, sweep_text(*spec), gpu.provenance(*spec));
  if (!file) return tl::unexpected(file.error());
  for (const std::string& note : file->notes()) say(phrase("attnscope: {}: {}.", a.attn, note));
  callbacks.kept = file->earlier();
  if (auto r = check_unchanged(sweep->kernels.own, file->earlier(), a.attn); !r) return tl::unexpected(r.error());
  say(estimate(*spec, kernels, file->earlier()).words);
  const SweepCount known = count_finished(*spec, kernels, file->earlier(), callbacks.gpu->device);
  if (a.resume) say(phrase("{} of {} points in {} are finished.", known.finished, known.points, a.attn));
  Teller teller(*file, spec->axis);
  callbacks.progress = [&](const SweepProgress& p) {
    teller.look();
    say_progress(fmt::format("{}/{}  {}{}", p.done, p.total, p.now, time_words(p.seconds_left)));
  };
  callbacks.row = [&](const Measurement& m) { teller.add(m); };
  const auto rows = run_sweep(*spec, kernels, callbacks, stopper.token());
  say_progress("");
  teller.tell();
  if (!rows) return tl::unexpected(rows.error());
  if (auto r = write_outputs(a, *spec, *file); !r) return tl::unexpected(r.error());
  if (stopper.token().stop_requested()) return fail(ErrorKind::cancelled, tr("Cancelled. Finished rows were kept."));
  auto code = exit_of(file->rows());
  if (!*earlier) return code;
  const auto held = a.gate.judge(file->rows(), file->run().provenance, **earlier);
  return held || !code ? code : tl::unexpected(held.error());
}

void add_outputs(Parser parser, BenchArguments& a) {
  parser.add_option("--csv", a.csv, tr("Write the rows as CSV; - or no output option: stdout"))->type_name("FILE");
  parser.add_option("--json", a.json, tr("Write the rows with every sample as JSON; -: stdout"))->type_name("FILE");
  parser
      .add_option("--trace", a.trace,
                  tr("Write the start and duration of each stage of each point, for Perfetto; -: stdout"))
      ->type_name("FILE");
  parser.add_option("-o,--attn", a.attn, tr("Session file for the window, updated during the run"))
      ->type_name("FILE.attn");
  parser.add_flag("--resume", a.resume,
                  tr("Continue the session in --attn: keep its contents and skip finished points"));
  parser.add_flag("--force", a.force, tr("Overwrite the file in --attn"));
  parser.add_flag("--no-samples", a.no_samples, tr("Store only statistics, not the individual repeats"));
  parser.add_option("--png", a.png, tr("Save a picture of the Bench workspace"))->type_name("FILE.png");
}

}  // namespace

Command add_bench(Parser program) {
  auto a = std::make_shared<BenchArguments>();
  Parser parser = program.add_subcommand("bench", tr("Time kernels along one axis"));
  parser
      .add_option("--kernels", a->kernels,
                  tr("Kernels from `attnscope list`, or your own FILE.cu; default: all kernels for the device"))
      ->type_name("ID,ID,...");
  parser.add_option("--axis", a->axis, tr("L, B, H, D, br, bc, threads, or another option from `list`; default: L"))
      ->type_name("NAME");
  parser.add_option("--values", a->values, tr("Points on the axis"))->required()->type_name("N,N,...");
  parser.add_option("--tokens", a->tokens, tr("With axis L: B = tokens / L"))->type_name("N");
  parser
      .add_option("--ragged", a->ragged,
                  tr("Key lengths within a batch: uniform, zipf, even (the same total as zipf) or one_long"))
      ->type_name("NAME");
  parser.add_option("--generator", a->generator, tr("How to generate the numbers; default: normal"))->type_name("NAME");
  parser.add_option("--seed", a->seed, tr("Seed of the generator"))->type_name("N");
  parser.add_option("--repeats", a->repeats, tr("Minimum number of repeats per point"))->type_name("N");
  parser.add_option("--verify", a->verify, tr("Output rows to check: sampled, full or none"))->type_name("WHICH");
  parser.add_option("--time-limit", a->time_limit, tr("Seconds to spend on each point's repeats; default: 1"))
      ->type_name("SECONDS");
  add_hang_limit(
      parser, a->hang_limit,
      tr("GPU: stop a point after this many seconds and mark it as failed; default: 120 plus 8 times --time-limit"));
  parser
      .add_option("--memory-limit", a->memory_limit,
                  tr("Reject points that need more memory than this; default: free memory"))
      ->type_name("BYTES");
  parser
      .add_option("--device", a->device,
                  tr("cpu, gpu, or gpu:1 for the second GPU; default: GPU kernels run on the first GPU"))
      ->type_name("NAME");
  parser.add_option("--arch", a->arch, tr("Architecture to compile for without a GPU; default: sm_90a"))
      ->type_name("SM");
  parser.add_flag("--no-counters", a->no_counters,
                  tr("Measure times only, so that another profiler can use the counters"));
  parser.add_flag("--warm-l2", a->warm_l2, tr("GPU: leave the L2 cache as the previous repeat left it"));
  a->problem.training = true;
  a->problem.add_to(parser, "--scale");
  add_layout(parser, a->layout,
             tr("Memory layout of Q, K, V and O: bhld, or blhd if the kernel supports it; default: bhld"));
  add_output(parser, a->output);
  a->options.takes_tuned = true;
  a->options.add_to(parser, true);
  a->build.add_to(parser);
  a->peers.add_to(parser);
  add_outputs(parser, *a);
  a->gate.add_to(parser);
  parser.footer(
      tr("Ctrl+C stops the sweep and writes the finished rows.\n"
         "Examples:\n"
         "  attnscope bench --kernels cpu_multicore,cpu_flash --axis L --values 512,1024,2048 --csv "
         "sweep.csv\n"
         "  attnscope bench --kernels naive,tiled,flash_simt --values 512,1024,2048 --tokens 16384 --hq "
         "16 -o gpu.attn\n"
         "  attnscope bench --kernels my_attention.cu,flash_simt --values 512,1024,2048 --hq 16 --d 64\n"
         "  attnscope bench --kernels my_attention.cu --values 2048 --hq 16 --d 64 --maxrregcount 64 "
         "--fast-math\n"
         "  attnscope bench --kernels naive,flash_mma --values 1024,4096 --dtype f16 --peers -o "
         "beside_torch.attn\n"
         "  attnscope bench --pass training --kernels cpu_flash_train --values 512,1024\n"
         "  attnscope bench --kernels cpu_flash --values 512,1024 --against last_week.attn --fail-under "
         "0.97\n"
         "  attnscope bench --axis bc --values 16,32,64,128 --kernels cpu_flash --lq 1024 --d 128 "
         "--causal --json -"));
  return {parser, [a](Stopper& stopper) { return bench(*a, stopper); }};
}

}  // namespace attn::cli
