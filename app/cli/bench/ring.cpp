// attnscope ring: cpu_flash or cpu_flash_bwd dealt to the ranks of a ring, a process each; what each computed, waited
// and sent, and whether the bits are those of one process. With --gpus on GPUs (gpu_ring.h).
#include <algorithm>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/cli/arguments/command.h"
#include "app/cli/arguments/console_text.h"
#include "app/cli/arguments/kernel_arguments.h"
#include "app/cli/arguments/problem_arguments.h"
#include "app/cli/bench/gpu_ring.h"
#include "app/cli/bench/ring_rows.h"
#include "app/cli/bench/ring_runs.h"
#include "app/ring/gpu/gpu_ring.h"
#include "app/ring/measured_ring.h"
#include "app/ring/ring_row.h"
#include "kernels/base/bytes.h"
#include "kernels/base/on_threads.h"
#include "kernels/base/text.h"
#include "kernels/cpu/backward/forward.h"
#include "kernels/cpu/device.h"
#include "kernels/cpu/thread_crew.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/model/kernel.h"
#include "kernels/model/problem/validate.h"
#include "kernels/model/problem_json.h"
#include "profiling/figures/metrics.h"
#include "profiling/figures/statistics.h"
#include "profiling/session/session.h"
#include "profiling/spec/ring_point.h"

namespace attn::cli {
namespace {

using nlohmann::json;

constexpr std::int64_t kLength = 2048, kHeadDim = 64;  // where none is given
constexpr std::int64_t kUsualRanks = 2;
constexpr std::int64_t kGpuLength = 16384, kGpuHeads = 16, kGpuHeadDim = 128;

struct RingArguments {
  std::int64_t spared_sms = 24;
  std::optional<std::int64_t> repeats;
  std::string ranks, kernel, deal = "zigzag", generator = "normal", seed, json_file, csv_file, gpus, travel = "ipc";
  double hang_limit = 60;
  ProblemArguments problem;
  OptionArguments options;
  RingFiles files;
};

Result<Problem> problem_of(const RingArguments& a) {
  Problem p;
  const bool on_gpus = !a.gpus.empty();
  p.Lq = p.Lk = on_gpus ? kGpuLength : kLength;
  p.D = p.Dv = on_gpus ? kGpuHeadDim : kHeadDim;
  if (on_gpus) p.Hq = p.Hkv = kGpuHeads, p.dtype = DType::f16;
  if (auto r = a.problem.apply_to(p); !r) return tl::unexpected(r.error());
  if (auto r = validate(p); !r) return tl::unexpected(r.error());
  return p;
}

Result<InputSpec> inputs_asked(const RingArguments& a) {
  InputSpec spec;
  const auto generator = generator_from_name(a.generator);
  if (!generator) return bad_input(phrase("Unknown --generator {}; use normal, for example.", a.generator));
  spec.generator = *generator;
  spec.seed = 1;
  if (a.seed.empty()) return spec;
  const auto seed = parse_seed(a.seed, std::numeric_limits<std::uint64_t>::max());
  if (!seed) return tl::unexpected(seed.error());
  spec.seed = *seed;
  return spec;
}

Result<Options> options_of(const RingArguments& a, const KernelRow& row, std::int64_t ranks) {
  Options o;
  const KernelRow* const rows[] = {&row};
  if (auto r = a.options.check_read_by(rows); !r) return tl::unexpected(r.error());
  if (auto r = a.options.apply_to(o); !r) return tl::unexpected(r.error());
  const auto deal = value_from_text(kDeal, a.deal);
  if (!deal) return bad_input(phrase("Unknown --deal {}; use zigzag or in_order.", a.deal));
  choose(o, kRanks, ranks);
  choose(o, kDeal, *deal);
  return o;
}

std::int64_t tiles_of(const KeyParts& parts, const Ring& ring, std::int64_t rank) {
  std::int64_t tiles = 0;
  for (std::int64_t n = 0; n < ring.chunks_each(); ++n)
    tiles += parts.end(ring.chunk(rank, n)) - parts.first(ring.chunk(rank, n));
  return tiles;
}

std::string table_of(const MeasuredRing& m) {
  const Ring& ring = m.ring;
  const RingRun& run = middle_run(m.runs);
  std::string text = tr("rank  query tiles  key tiles   compute ms   wait ms        sent  sending GB/s\n");
  for (std::size_t n = 0; n < run.ranks.size(); ++n) {
    const RankTimes& r = run.ranks[n];
    const auto rank = static_cast<std::int64_t>(n);
    const double sending = us_of(r.spans, RankWork::send);
    text += fmt::format("{:>4}  {:>11}  {:>9}  {:>11.3f}  {:>8.3f}  {:>10}  {:>12}\n", n,
                        tiles_of(ring.queries(), ring, rank), tiles_of(ring.keys(), ring, rank),
                        us_of(r.spans, RankWork::compute) / 1e3, us_of(r.spans, RankWork::wait) / 1e3,
                        format_bytes(r.sent_bytes),
                        sending > 0 ? fmt::format("{:.3f}", static_cast<double>(r.sent_bytes) / sending / 1e3) : "-");
  }
  return text;
}

std::string words_of(const MeasuredRing& m) {
  const Ring& ring = m.ring;
  std::string text = phrase(
      "ring of {}, {}, on {}: {}, {} x {} tiles, threads per rank: {}\n"
      "\n",
      ring.ranks, value_text(kDeal, ring.zigzag ? 1 : 0), describe(m.problem), m.kernel->id, m.options.br, m.options.bc,
      m.options.threads);
  text += table_of(m);
  text += phrase(
      "\n"
      "from first start to last end: {:.3f} ms, median of {} ({:.3f} to {:.3f})\n",
      m.time.median / 1e3, m.time.n, m.time.q1 / 1e3, m.time.q3 / 1e3);
  if (ring.ranks > 1)
    text +=
        phrase("one rank with the same number of threads: {:.3f} ms; speed-up of the ring: {:.2f}, or {:.0f} % of {}\n",
               m.one_rank.median / 1e3, m.one_rank.median / m.time.median,
               100 * m.one_rank.median / m.time.median / static_cast<double>(ring.ranks), ring.ranks);
  if (m.link_bytes_a_us > 0)
    text += phrase("link: {:.3f} GB/s, for a plain copy of a share of K and V to the neighbour while all ranks copy\n",
                   m.link_bytes_a_us / 1e3);
  text += m.same_bits ? tr("bits: identical to those of a single process walking the same ring\n")
                      : tr("bits: DIFFERENT from those of a single process walking the same ring\n");
  text += m.verdict->pass ? phrase("correct: error {:.3g}, allowed {:.3g}, {}\n", m.verdict->error(),
                                   m.verdict->allowed(), tr("against the fp64 reference"))
                          : phrase("WRONG: {}\n", m.verdict->reason);
  return text;
}

json json_of(const MeasuredRing& m) {
  const Ring& ring = m.ring;
  json runs = json::array();
  for (const RingRun& run : m.runs) {
    json ranks = json::array();
    for (const RankTimes& r : run.ranks) ranks.push_back({{"sent_bytes", r.sent_bytes}, {"spans", to_json(r.spans)}});
    runs.push_back({{"us", run.us()}, {"ranks", std::move(ranks)}});
  }
  return {{"kernel", m.kernel->id},
          {"problem", problem_to_json(m.problem)},
          {"options", options_to_json(m.options)},
          {"ranks", ring.ranks},
          {"deal", value_text(kDeal, ring.zigzag ? 1 : 0)},
          {"us_median", m.time.median},
          {"us_q1", m.time.q1},
          {"us_q3", m.time.q3},
          {"one_rank_us_median", ring.ranks > 1 ? json(m.one_rank.median) : json()},
          {"link_bytes_a_us", m.link_bytes_a_us},
          {"same_bits_as_one_process", m.same_bits},
          {"right", m.verdict->pass},
          {"error", m.verdict->error()},
          {"allowed", m.verdict->allowed()},
          {"runs", std::move(runs)}};
}

Result<int> ring_on_gpus(const RingArguments& a, const Problem& p, const InputSpec& inputs, std::int64_t repeats,
                         const Stopper& stopper) {
  GpuRingArguments g;
  g.gpus = a.gpus, g.travel = a.travel, g.deal = a.deal;
  if (p.pass == Pass::backward) g.kernel = kGpuBackwardRingKernel;
  if (!a.kernel.empty()) g.kernel = a.kernel;
  const auto row = find_kernel(g.kernel);
  if (!row) return tl::unexpected(row.error());
  if ((*row)->processor != Processor::gpu) return bad_input(phrase("{} does not run on a GPU.", g.kernel));
  const KernelRow* const rows[] = {*row};
  if (auto r = a.options.check_read_by(rows); !r) return tl::unexpected(r.error());
  if (auto r = a.options.apply_to(g.options); !r) return tl::unexpected(r.error());
  g.json_file = a.json_file, g.csv_file = a.csv_file, g.files = a.files;
  g.repeats = repeats, g.spared_sms = a.spared_sms, g.hang_limit = a.hang_limit;
  g.problem = p, g.inputs = inputs;
  return run_gpu_ring(g, stopper);
}

// One ring, run as often as asked.
Result<MeasuredRing> measure(const KernelRow& row, const Problem& p, const Options& options, const Inputs& in,
                             std::int64_t repeats, const RingLimits& limits, std::optional<TimeStatistics>& alone) {
  RingMeasure how;
  how.rule = [repeats] {
    return [repeats](const RepeatsSoFar& so_far) { return std::ssize(so_far.samples_us) >= repeats; };
  };
  how.run = [&](std::int64_t ranks, std::size_t n) {
    say_progress(phrase("ring of {}: run {} of {}", ranks, n, repeats));
  };
  how.limits = limits;
  auto m = measure_ring(row, p, options, in, how, alone);
  say_progress("");
  return m;
}

// Rings beside one another.
std::string scaling_table(const std::vector<MeasuredRing>& all) {
  std::string text = tr("ranks     time ms  quartiles ms        scaling  efficiency        sent  of link\n");
  for (const MeasuredRing& m : all) {
    const Measurement row = row_of_ring(m);
    const auto shown = [&](std::string_view id, const auto& words) {
      const Figure& f = figure(row, id);
      return f.available() ? words(f.value) : std::string("-");
    };
    const auto percent = [](double value) { return fmt::format("{:.0f} %", value); };
    text += fmt::format("{:>5}  {:>10.3f}  {:<18}  {:>7}  {:>10}  {:>10}  {:>7}\n", m.ring.ranks, m.time.median / 1e3,
                        fmt::format("{:.3f} to {:.3f}", m.time.q1 / 1e3, m.time.q3 / 1e3),
                        shown("ring_scaling_ratio", [](double v) { return fmt::format("{:.2f}", v); }),
                        shown("ring_efficiency_pct", percent),
                        shown("ring_sent_bytes", [](double v) { return format_bytes(static_cast<std::uint64_t>(v)); }),
                        shown("ring_link_share_pct", percent));
  }
  return text;
}

// Rising, each once.
Result<std::vector<std::int64_t>> ranks_of(const RingArguments& a) {
  if (a.ranks.empty()) return std::vector{kUsualRanks};
  auto ranks = parse_numbers("--ranks", a.ranks);
  if (!ranks) return ranks;
  for (const std::int64_t n : *ranks)
    if (n < 1 || n > kMostRanksOfRing)
      return bad_input(phrase("Invalid --ranks {}: a ring has 1 to {} ranks.", n, kMostRanksOfRing));
  std::ranges::sort(*ranks);
  if (std::ranges::adjacent_find(*ranks) != ranks->end())
    return bad_input(phrase("--ranks {} contains the same number twice; use each number once.", a.ranks));
  return ranks;
}

Result<void> check_arguments(const RingArguments& a) {
  if (auto r = check_hang_limit(a.hang_limit); !r) return r;
  for (const auto& [name, file] : {NamedFile{"--json", a.json_file}, {"--csv", a.csv_file}}) {
    if (file.empty()) continue;
    if (auto r = check_writable(name, file); !r) return r;
  }
  if (auto r = check_files(a.files); !r) return r;
  if (auto r = check_distinct(
          {},
          {{"--json", a.json_file}, {"--csv", a.csv_file}, {"--attn", a.files.attn}, {"--rows-csv", a.files.rows_csv}});
      !r)
    return r;
  if (!a.gpus.empty() && !a.ranks.empty())
    return bad_input(
        phrase("--ranks {} and --gpus {}: a ring of GPUs has one rank per GPU. Use one of them.", a.ranks, a.gpus));
  return ok();
}

Result<void> write_all(const RingArguments& a, const SweepSpec& sweep, const std::vector<MeasuredRing>& all) {
  if (!a.json_file.empty()) {
    json rings = json::array();
    for (const MeasuredRing& m : all) rings.push_back(json_of(m));
    const json& said = all.size() == 1 ? rings.front() : rings;
    if (auto r = write_text(a.json_file, said.dump(1) + "\n"); !r) return r;
  }
  if (!a.csv_file.empty()) {
    std::string spans;
    for (const MeasuredRing& m : all) spans += spans_csv(m.runs, spans.empty());
    if (auto r = write_text(a.csv_file, spans); !r) return r;
  }
  if (a.files.any()) {
    std::vector<Measurement> rows;
    rows.reserve(all.size());
    for (const MeasuredRing& m : all) rows.push_back(row_of_ring(m));
    if (auto r = write_rows(a.files, sweep, provenance_here(), std::move(rows)); !r) return r;
  }
  if (a.json_file == "-" || a.csv_file == "-" || a.files.rows_csv == "-") return ok();
  std::string text;
  for (const MeasuredRing& m : all) text += words_of(m) + (all.size() > 1 ? "\n" : "");
  if (all.size() > 1) text += scaling_table(all);
  return print(text);
}

Result<int> run_ring(const RingArguments& a, const Stopper& stopper) {
  const auto problem = problem_of(a);
  if (!problem) return tl::unexpected(problem.error());
  const auto spec = inputs_asked(a);
  if (!spec) return tl::unexpected(spec.error());
  const std::int64_t repeats = a.repeats.value_or(a.gpus.empty() ? 5 : 20);
  if (repeats < 1 || repeats > 1000) return bad_input(phrase("Invalid --repeats {}; use 1 to 1000.", repeats));
  if (auto r = check_arguments(a); !r) return tl::unexpected(r.error());
  if (!a.gpus.empty()) return ring_on_gpus(a, *problem, *spec, repeats, stopper);
  const auto ranks = ranks_of(a);
  if (!ranks) return tl::unexpected(ranks.error());
  const auto row = a.kernel.empty() ? ring_kernel(problem->pass) : find_kernel(a.kernel);
  if (!row) return tl::unexpected(row.error());
  SweepSpec sweep;
  sweep.kernels = {std::string((*row)->id)};
  sweep.axis = Axis(kRanks.name);
  sweep.values = *ranks;
  sweep.base = *problem;
  sweep.generator = spec->generator, sweep.seed = spec->seed;
  cpu::ThreadCrew crew(cpu_device().cores);
  const auto in = make_all_inputs(*problem, *spec, on_threads, 0, Stream{stopper.token(), nullptr, &crew});
  if (!in) return tl::unexpected(in.error());
  std::vector<MeasuredRing> all;
  std::optional<TimeStatistics> alone;
  for (const std::int64_t n : *ranks) {
    auto options = options_of(a, **row, n);
    if (!options) return tl::unexpected(options.error());
    // The same number of threads a rank in all rings, so that their times compare.
    if (options->threads == 0) options->threads = threads_of_rank(cpu_device().cores, ranks->back());
    auto m = measure(**row, *problem, *options, *in, repeats, {a.hang_limit, stopper.token()}, alone);
    if (!m) return tl::unexpected(m.error());
    sweep.options = m->options;
    all.push_back(*std::move(m));
  }
  choose(sweep.options, kRanks, std::nullopt);
  if (auto r = write_all(a, sweep, all); !r) return tl::unexpected(r.error());
  return std::ranges::all_of(all, [](const MeasuredRing& m) { return m.same_bits && m.verdict->pass; }) ? 0 : 1;
}

}  // namespace

Command add_ring(Parser program) {
  auto a = std::make_shared<RingArguments>();
  Parser parser = program.add_subcommand("ring", tr("Distribute a kernel over a ring of processes: K and V travel, "
                                                    "and either m, l and O are merged or dK and dV are summed"));
  parser
      .add_option("--kernel", a->kernel,
                  tr("Kernel; default: cpu_flash, or flash_hopper with --gpus; with --pass backward: cpu_flash_bwd, or "
                     "flash_bwd_hopper with --gpus"))
      ->type_name("ID");
  parser
      .add_option("--ranks", a->ranks,
                  tr("Number of ranks, 1 to 64, one process each; several numbers: one ring of each size"))
      ->type_name("N,N,...");
  parser
      .add_option("--gpus", a->gpus,
                  tr("Run a ring of GPUs, one process each: the number of GPUs, or a list such as 0,1"))
      ->type_name("N|LIST");
  parser
      .add_option("--travel", a->travel,
                  tr("With --gpus: how K and V travel: ipc (copy engines) or nccl (a library; occupies SMs)"))
      ->type_name("NAME");
  parser
      .add_option("--spared-sms", a->spared_sms,
                  tr("With --travel nccl: number of SMs that the kernel leaves for NCCL"))
      ->type_name("N");
  parser
      .add_option("--deal", a->deal,
                  tr("zigzag (an early and a late chunk per rank, which balances a causal mask), in_order or, with "
                     "--gpus, heads (no ring: each GPU has some heads)"))
      ->type_name("NAME");
  a->problem.add_to(parser, "--scale");
  a->options.add_to(parser, false);
  parser.add_option("--generator", a->generator, tr("How to generate numbers"))->type_name("NAME");
  parser.add_option("--seed", a->seed, tr("Seed of the generator"))->type_name("N");
  parser.add_option("--repeats", a->repeats, tr("Number of repeats after one warm-up; default: 5, or 20 with --gpus"))
      ->type_name("N");
  add_hang_limit(parser, a->hang_limit, tr("Stop the ring if no rank reports for this many seconds"));
  parser.add_option("--json", a->json_file, tr("Write all measurements and every span of every rank"))
      ->type_name("FILE");
  parser.add_option("--csv", a->csv_file, tr("Write only the spans: run, rank, turn, work, begin_us, end_us, ranks"))
      ->type_name("FILE");
  parser
      .add_option("--rows-csv", a->files.rows_csv, tr("Write one row per ring, with scaling and efficiency; -: stdout"))
      ->type_name("FILE");
  parser.add_option("-o,--attn", a->files.attn, tr("Session file for the window, with one row per ring"))
      ->type_name("FILE.attn");
  parser.add_flag("--resume", a->files.resume, tr("Add the rows to the session in --attn"));
  parser.add_flag("--force", a->files.force, tr("Overwrite the file in --attn"));
  parser.footer(
      tr("Exit code 1: the output is wrong, or its bits differ from those of a single process.\n"
         "Examples:\n"
         "  attnscope ring --ranks 3 --l 1024 --hq 4 --causal\n"
         "  attnscope ring --ranks 1,2,4 --l 4096 --causal -o rings.attn\n"
         "  attnscope ring --ranks 3 --l 1024 --hq 4 --causal --pass backward\n"
         "  attnscope ring --ranks 2 --deal in_order --l 1024 --causal --csv spans.csv\n"
         "  attnscope ring --gpus 2 --l 65536 --causal --json ring.json\n"
         "  attnscope ring --gpus 2 --l 32768 --pass backward"));
  return {parser, [a](Stopper& stopper) { return run_ring(*a, stopper); }};
}

}  // namespace attn::cli
