// attnscope ring: cpu_flash dealt to the ranks of a ring, a process each; what each computed, waited and sent, and
// whether the bits are those of one process. With --gpus on GPUs (gpu_ring.h).
#include <algorithm>
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
#include "app/cli/bench/ring_runs.h"
#include "app/ring/ring.h"
#include "kernels/base/bytes.h"
#include "kernels/base/text.h"
#include "kernels/cpu/run.h"
#include "kernels/judge/verdict.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/model/kernel.h"
#include "kernels/model/problem/tensor_bytes.h"
#include "kernels/model/problem/validate.h"
#include "kernels/model/problem_json.h"
#include "profiling/figures/statistics.h"

namespace attn::cli {
namespace {

using nlohmann::json;

constexpr std::int64_t kLength = 2048, kHeadDim = 64;  // where none is given
constexpr std::int64_t kUsualRanks = 2;
constexpr std::int64_t kGpuLength = 16384, kGpuHeads = 16, kGpuHeadDim = 128;

struct RingArguments {
  std::int64_t spared_sms = 24;
  std::optional<std::int64_t> ranks, repeats;
  std::string kernel, deal = "zigzag", generator = "normal", seed, json_file, csv_file, gpus, travel = "ipc";
  double hang_limit = 60;
  ProblemArguments problem;
  OptionArguments options;
};

// What was asked, and the figures of all repeats.
struct Measured {
  Problem problem;
  RingProcesses* ring = nullptr;
  std::vector<RingRun> runs;
  TimeStatistics time;      // of the ring
  TimeStatistics one_rank;  // of one rank with as many threads
  bool same_bits = false;
  Verdict verdict;
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
  if (!generator) return bad_input(phrase("Unknown --generator {}; see `attnscope list`.", a.generator));
  spec.generator = *generator;
  spec.seed = 1;
  if (a.seed.empty()) return spec;
  const auto seed = parse_seed(a.seed, std::numeric_limits<std::uint64_t>::max());
  if (!seed) return tl::unexpected(seed.error());
  spec.seed = *seed;
  return spec;
}

Result<Options> options_of(const RingArguments& a, const KernelRow& row) {
  Options o;
  const KernelRow* const rows[] = {&row};
  if (auto r = a.options.check_read_by(rows); !r) return tl::unexpected(r.error());
  if (auto r = a.options.apply_to(o); !r) return tl::unexpected(r.error());
  const std::int64_t ranks = a.ranks.value_or(kUsualRanks);
  if (ranks < 1 || ranks > kMostRanksOfRing)
    return bad_input(phrase("Invalid --ranks {}: a ring has 1 to {} ranks.", ranks, kMostRanksOfRing));
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

std::string table_of(const Measured& m) {
  const Ring& ring = m.ring->ring();
  const RingRun& run = middle_run(m.runs);
  std::string text = tr("rank  query tiles  key tiles   compute ms   wait ms        sent  sending GB/s\n");
  for (std::size_t n = 0; n < run.ranks.size(); ++n) {
    const RankTimes& r = run.ranks[n];
    const auto rank = static_cast<std::int64_t>(n);
    const double sending = r.us(RankWork::send);
    text += fmt::format("{:>4}  {:>11}  {:>9}  {:>11.3f}  {:>8.3f}  {:>10}  {:>12}\n", n,
                        tiles_of(ring.queries(), ring, rank), tiles_of(ring.keys(), ring, rank),
                        r.us(RankWork::compute) / 1e3, r.us(RankWork::wait) / 1e3, format_bytes(r.sent_bytes),
                        sending > 0 ? fmt::format("{:.3f}", static_cast<double>(r.sent_bytes) / sending / 1e3) : "-");
  }
  return text;
}

std::string words_of(const Measured& m) {
  const Ring& ring = m.ring->ring();
  std::string text = phrase(
      "ring of {}, {}, on {}: {}, {} x {} tiles, threads per rank: {}\n"
      "\n",
      ring.ranks, value_text(kDeal, ring.zigzag ? 1 : 0), describe(m.problem), m.ring->kernel().id,
      m.ring->options().br, m.ring->options().bc, m.ring->options().threads);
  text += table_of(m);
  text += phrase(
      "\n"
      "from first start to last end: {:.3f} ms, median of {} ({:.3f} to {:.3f})\n",
      m.time.median / 1e3, m.time.n, m.time.q1 / 1e3, m.time.q3 / 1e3);
  if (ring.ranks > 1)
    text += phrase("one rank with as many threads: {:.3f} ms; speed-up of the ring: {:.2f}, or {:.0f} % of {}\n",
                   m.one_rank.median / 1e3, m.one_rank.median / m.time.median,
                   100 * m.one_rank.median / m.time.median / static_cast<double>(ring.ranks), ring.ranks);
  text += m.same_bits ? tr("bits: identical to those of a single process walking the same ring\n")
                      : tr("bits: DIFFERENT from those of a single process walking the same ring\n");
  text += m.verdict.pass ? phrase("correct: error {:.3g}, allowed {:.3g}, {}\n", m.verdict.error(), m.verdict.allowed(),
                                  tr("against the fp64 reference"))
                         : phrase("WRONG: {}\n", m.verdict.reason);
  return text;
}

json json_of(const Measured& m) {
  const Ring& ring = m.ring->ring();
  json runs = json::array();
  for (const RingRun& run : m.runs) {
    json ranks = json::array();
    for (const RankTimes& r : run.ranks) ranks.push_back({{"sent_bytes", r.sent_bytes}, {"spans", to_json(r.spans)}});
    runs.push_back({{"us", run.us()}, {"ranks", std::move(ranks)}});
  }
  return {{"kernel", m.ring->kernel().id},
          {"problem", problem_to_json(m.problem)},
          {"options", options_to_json(m.ring->options())},
          {"ranks", ring.ranks},
          {"deal", value_text(kDeal, ring.zigzag ? 1 : 0)},
          {"us_median", m.time.median},
          {"us_q1", m.time.q1},
          {"us_q3", m.time.q3},
          {"one_rank_us_median", ring.ranks > 1 ? json(m.one_rank.median) : json()},
          {"same_bits_as_one_process", m.same_bits},
          {"right", m.verdict.pass},
          {"error", m.verdict.error()},
          {"allowed", m.verdict.allowed()},
          {"runs", std::move(runs)}};
}

std::string csv_of(const Measured& m) {
  std::string text = "run,rank,turn,work,begin_us,end_us\n";
  for (std::size_t n = 0; n < m.runs.size(); ++n) {
    for (std::size_t rank = 0; rank < m.runs[n].ranks.size(); ++rank) {
      for (const RankSpan& s : m.runs[n].ranks[rank].spans)
        text += fmt::format("{},{},{},{},{:.3f},{:.3f}\n", n, rank, s.turn, name_of(s.work), s.begin_us, s.end_us);
    }
  }
  return text;
}

// The same walk in one process, and the rule.
Result<void> check(Measured& m, const Inputs& in, const Outputs& out, const Stopper& stopper) {
  const auto alone = run_on_cpu(m.ring->kernel(), m.problem, m.ring->options(), in, 0, stopper.token());
  if (!alone) return tl::unexpected(alone.error());
  m.same_bits = same_bits(*alone, out);
  const RowSample sample = choose_rows(m.problem, false);
  const auto reference = reference_rows(m.problem, in, sample.rows, 0, stopper.token());
  if (!reference) return tl::unexpected(reference.error());
  m.verdict = judge(m.problem, in, *reference, out, sample);
  return ok();
}

Result<int> ring_on_gpus(const RingArguments& a, const Problem& p, const InputSpec& inputs, std::int64_t repeats,
                         const Stopper& stopper) {
  GpuRingArguments g;
  g.gpus = a.gpus, g.travel = a.travel, g.deal = a.deal;
  if (!a.kernel.empty()) g.kernel = a.kernel;
  const auto row = find_kernel(g.kernel);
  if (!row) return tl::unexpected(row.error());
  if ((*row)->processor != Processor::gpu) return bad_input(phrase("{} does not run on a GPU.", g.kernel));
  const KernelRow* const rows[] = {*row};
  if (auto r = a.options.check_read_by(rows); !r) return tl::unexpected(r.error());
  if (auto r = a.options.apply_to(g.options); !r) return tl::unexpected(r.error());
  g.json_file = a.json_file, g.csv_file = a.csv_file;
  g.repeats = repeats, g.spared_sms = a.spared_sms, g.hang_limit = a.hang_limit;
  g.problem = p, g.inputs = inputs;
  return run_gpu_ring(g, stopper);
}

Result<int> run_ring(const RingArguments& a, const Stopper& stopper) {
  const auto problem = problem_of(a);
  if (!problem) return tl::unexpected(problem.error());
  const auto spec = inputs_asked(a);
  if (!spec) return tl::unexpected(spec.error());
  const std::int64_t repeats = a.repeats.value_or(a.gpus.empty() ? 5 : 20);
  if (repeats < 1 || repeats > 1000) return bad_input(phrase("Invalid --repeats {}: use 1 to 1000.", repeats));
  if (auto r = check_hang_limit(a.hang_limit); !r) return tl::unexpected(r.error());
  for (const auto& [name, file] : {NamedFile{"--json", a.json_file}, {"--csv", a.csv_file}}) {
    if (file.empty()) continue;
    if (auto r = check_writable(name, file); !r) return tl::unexpected(r.error());
  }
  if (auto r = check_distinct({}, {{"--json", a.json_file}, {"--csv", a.csv_file}}); !r)
    return tl::unexpected(r.error());
  if (!a.gpus.empty() && a.ranks)
    return bad_input(
        phrase("--ranks {} and --gpus {}: a ring of GPUs has a rank per GPU. Use one of them.", *a.ranks, a.gpus));
  if (!a.gpus.empty()) return ring_on_gpus(a, *problem, *spec, repeats, stopper);
  const auto row = a.kernel.empty() ? ring_kernel() : find_kernel(a.kernel);
  if (!row) return tl::unexpected(row.error());
  const auto options = options_of(a, **row);
  if (!options) return tl::unexpected(options.error());
  const auto in = make_inputs(*problem, *spec);
  if (!in) return tl::unexpected(in.error());

  const RingLimits limits{a.hang_limit, stopper.token()};
  auto ring = RingProcesses::start(**row, *problem, *options, *in, limits);
  if (!ring) return tl::unexpected(ring.error());
  Measured m;
  m.problem = *problem;
  m.ring = &*ring;
  Outputs out;
  auto runs = repeat_ring(ring->ring().ranks, repeats, [&] { return ring->go(out, limits); });
  if (!runs) return tl::unexpected(runs.error());
  m.runs = *std::move(runs);
  m.time = time_of_runs(m.runs);
  if (ring->ring().ranks > 1) {
    Options one = ring->options();
    choose(one, kRanks, std::nullopt);
    choose(one, kDeal, std::nullopt);
    auto alone = RingProcesses::start(**row, *problem, one, *in, limits);
    if (!alone) return tl::unexpected(alone.error());
    Outputs unused;
    const auto times = repeat_ring(alone->ring().ranks, repeats, [&] { return alone->go(unused, limits); });
    if (!times) return tl::unexpected(times.error());
    m.one_rank = time_of_runs(*times);
  }
  if (auto checked = check(m, *in, out, stopper); !checked) return tl::unexpected(checked.error());
  if (!a.json_file.empty()) {
    if (auto r = write_text(a.json_file, json_of(m).dump(1) + "\n"); !r) return tl::unexpected(r.error());
  }
  if (!a.csv_file.empty()) {
    if (auto r = write_text(a.csv_file, csv_of(m)); !r) return tl::unexpected(r.error());
  }
  if (a.json_file != "-" && a.csv_file != "-") {
    if (auto r = print(words_of(m)); !r) return tl::unexpected(r.error());
  }
  return m.same_bits && m.verdict.pass ? 0 : 1;
}

}  // namespace

Command add_ring(Parser program) {
  auto a = std::make_shared<RingArguments>();
  Parser parser = program.add_subcommand(
      "ring", tr("Distribute cpu_flash over a ring of processes: K and V travel; m, l and O are merged"));
  parser.add_option("--kernel", a->kernel, tr("Kernel; default: cpu_flash, with --gpus flash_hopper"))->type_name("ID");
  parser.add_option("--ranks", a->ranks, tr("Processes, 1 to 64"))->type_name("N");
  parser.add_option("--gpus", a->gpus, tr("A ring of GPUs, a process each: how many, or which, as in 0,1"))
      ->type_name("N|LIST");
  parser
      .add_option("--travel", a->travel,
                  tr("With --gpus: how K and V travel: ipc (copy engines) or nccl (a library; takes SMs)"))
      ->type_name("NAME");
  parser.add_option("--spared-sms", a->spared_sms, tr("With --travel nccl: SMs that the kernel leaves to NCCL"))
      ->type_name("N");
  parser
      .add_option("--deal", a->deal,
                  tr("zigzag (each rank gets an early and a late chunk, which balances a causal mask) or "
                     "in_order; with --gpus also heads (no ring: each GPU has some heads)"))
      ->type_name("NAME");
  a->problem.add_to(parser, "--scale");
  a->options.add_to(parser, false);
  parser.add_option("--generator", a->generator, tr("How to generate numbers"))->type_name("NAME");
  parser.add_option("--seed", a->seed, tr("Seed of the generator"))->type_name("N");
  parser.add_option("--repeats", a->repeats, tr("Number of timed runs after one warm-up; default: 5, with --gpus 20"))
      ->type_name("N");
  add_hang_limit(parser, a->hang_limit, tr("Stop the ring if no rank reports for this many seconds"));
  parser.add_option("--json", a->json_file, tr("Write all figures and every span of every rank"))->type_name("FILE");
  parser.add_option("--csv", a->csv_file, tr("Write only the spans: run, rank, turn, work, begin_us, end_us"))
      ->type_name("FILE");
  parser.footer(
      tr("Exit code 1: the output is wrong, or its bits differ from those of a single process.\n"
         "Examples:\n"
         "  attnscope ring --ranks 3 --l 1024 --hq 4 --causal\n"
         "  attnscope ring --ranks 2 --deal in_order --l 1024 --causal --csv spans.csv\n"
         "  attnscope ring --gpus 2 --l 65536 --causal --json ring.json"));
  return {parser, [a](Stopper& stopper) { return run_ring(*a, stopper); }};
}

}  // namespace attn::cli
