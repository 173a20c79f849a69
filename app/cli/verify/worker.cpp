// attnscope worker: the GPU's process, which the program starts for itself; and a check that its end is survived.
#include <algorithm>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "app/cli/arguments/command.h"
#include "app/cli/arguments/console_text.h"
#include "app/cli/arguments/problem_arguments.h"
#include "app/ring/gpu/rank.h"
#include "app/ring/rank.h"
#include "app/system/child_process.h"
#include "app/worker/client.h"
#include "app/worker/collect.h"
#include "app/worker/user_compiler.h"
#include "app/worker/worker.h"
#include "kernels/base/text.h"
#include "kernels/model/problem/costs.h"
#include "profiling/figures/baseline.h"
#include "profiling/figures/counts.h"
#include "profiling/figures/heartbeat.h"
#include "profiling/figures/samples.h"
#include "profiling/figures/statistics.h"
#include "profiling/session/session.h"

namespace attn::cli {
namespace {

constexpr double kLongLimit = 120;  // for what must work: a first context and a compilation

// A small right answer from the GPU, or why not.
Result<void> small_run(GpuClient& client, std::int32_t gpu) {
  GpuRunRequest r;
  r.gpu = gpu;
  r.kernel = "naive";
  r.problem.Lq = r.problem.Lk = 16;
  r.problem.D = r.problem.Dv = 8;
  const auto answer = client.run(r, {kLongLimit, {}});
  if (!answer) return tl::unexpected(answer.error());
  return ok();
}

// A worker is ended from outside, and the next one runs a kernel. Kernels that hang or go astray are the tests'
// (tests/gpu/survive.sh).
Result<int> check_survival(std::int32_t gpu) {
  GpuClient client;
  if (auto ran = small_run(client, gpu); !ran) return tl::unexpected(ran.error());
  end_process(client.worker_id());
  const auto ended = small_run(client, gpu);
  if (ended) return fail(ErrorKind::failed, tr("The worker answered although it had been killed."));
  if (auto r = print(fmt::format("{}\n", ended.error().message)); !r) return tl::unexpected(r.error());
  if (auto ran = small_run(client, gpu); !ran) return tl::unexpected(ran.error());
  if (auto r = print(tr("The next run works.\n")); !r) return tl::unexpected(r.error());
  return 0;
}

struct WorkerArguments {
  bool check = false, compile = false, rank = false, gpu_rank = false;
  std::int32_t gpu = 0;
  std::string timed;     // kernels
  std::string measured;  // kernels
  std::string json;
  bool no_counters = false, warm = false, sample = false, heartbeat = false, counts = false;
  std::string memory_limit;
  double seconds = 1;
  ProblemArguments problem;
  OptionArguments options;
};

// One line of CSV a kernel: its median time by CUDA events on one problem, cold L2.
Result<int> time_kernels(const WorkerArguments& a, const Stopper& stopper) {
  GpuRunRequest r;
  r.gpu = a.gpu;
  r.problem.D = r.problem.Dv = 64;
  r.problem.Lq = r.problem.Lk = 1024;
  r.timing.seconds = a.seconds;
  const auto limit = memory_limit_of(a.memory_limit);
  if (!limit) return tl::unexpected(limit.error());
  r.memory_limit = *limit;
  if (auto good = a.problem.apply_to(r.problem); !good) return tl::unexpected(good.error());
  if (auto good = a.options.apply_to(r.options); !good) return tl::unexpected(good.error());
  GpuClient client;
  Result<int> all = 0;  // the first kernel that could not be timed
  std::string text = "kernel,problem,br,bc,threads,n,time_us_median,time_us_q1,time_us_q3,tflops,error\n";
  for (const std::string& id : split(a.timed, ',')) {
    r.kernel = id;
    const auto answer = client.run(r, {kLongLimit + a.seconds, stopper.token()}, say_progress);
    say_progress("");
    if (!answer) {
      std::string words = answer.error().message;
      std::ranges::replace(words, '"', '\'');
      if (all) all = tl::unexpected(answer.error());
      text += fmt::format("{},{},,,,,,,,,\"{}\"\n", id, describe(r.problem), words);
      continue;
    }
    const TimeStatistics t = statistics_of(answer->samples_us);
    text += fmt::format("{},{},{},{},{},{},{:.2f},{:.2f},{:.2f},{:.3f},\n", answer->source, describe(r.problem),
                        answer->options.br, answer->options.bc, answer->options.threads, t.n, t.median, t.q1, t.q3,
                        flops_of(r.problem) / t.median / 1e6);
  }
  if (auto printed = print(text); !printed) return tl::unexpected(printed.error());
  return all;
}

std::string sampled_words(const Measurement& m) {
  if (m.samples == nullptr) return phrase("{}: not sampled: {}", m.key.kernel, m.no_samples);
  return phrase("{}: {} samples, {} dropped, in {:.2f} s{}{}", m.key.kernel, counts_of(*m.samples).all,
                m.samples->dropped, m.samples->seconds, m.samples->no_lines.empty() ? "" : tr("; no lines: "),
                m.samples->no_lines);
}

std::string beat_words(const Measurement& m) {
  if (m.heartbeat == nullptr) return phrase("{}: no heartbeat: {}", m.key.kernel, m.no_heartbeat);
  return phrase("{}: {} samples over {:.1f} µs, one every {} {}, run {}, in {:.2f} s", m.key.kernel,
                m.heartbeat->samples.size(), m.heartbeat->length_us(), m.heartbeat->interval,
                m.heartbeat->in_cycles ? "cycles" : "ns", m.heartbeat->tries, m.heartbeat->seconds);
}

std::string counted_words(const Measurement& m) {
  if (m.counts == nullptr) return phrase("{}: not counted: {}", m.key.kernel, m.no_counts);
  return phrase("{}: {} instructions executed, in {:.2f} s{}{}", m.key.kernel,
                sums_of(*m.counts)[InstructionCounter::executed], m.counts->seconds,
                m.counts->no_lines.empty() ? "" : tr("; no lines: "), m.counts->no_lines);
}

// A session of one row a kernel, all that the GPU can tell of it, as CSV and JSON.
Result<int> measure_kernels(const WorkerArguments& a, const Stopper& stopper) {
  Point p;
  p.gpu = a.gpu;
  p.problem.D = p.problem.Dv = 64;
  p.problem.Lq = p.problem.Lk = 1024;
  p.seconds_per_point = a.seconds;
  p.counters = !a.no_counters;
  p.l2 = a.warm ? L2State::warm : L2State::cold;
  const auto limit = memory_limit_of(a.memory_limit);
  if (!limit) return tl::unexpected(limit.error());
  p.memory_limit = *limit;
  if (auto good = a.problem.apply_to(p.problem); !good) return tl::unexpected(good.error());
  if (auto good = a.options.apply_to(p.options); !good) return tl::unexpected(good.error());
  GpuClient client;
  const auto hello = client.hello({kLongLimit, stopper.token()}, p.counters);
  if (!hello) return tl::unexpected(hello.error());
  const auto gpu = std::ranges::find(hello->gpus, a.gpu, &gpu::GpuProperties::index);
  std::vector<Measurement> rows;
  for (const std::string& id : split(a.measured, ',')) {
    p.kernel = id;
    auto m = client.measure(p, {kLongLimit + 4 * a.seconds, stopper.token()}, say_progress);
    say_progress("");
    if (!m) return tl::unexpected(m.error());
    if (m->state != RowState::done) say(fmt::format("{}: {}: {}", id, name_of(m->state), m->reason));
    if (a.sample && gpu != hello->gpus.end()) {
      sample_row(client, p, gpu->arch(), {kLongLimit, stopper.token()}, say_progress, *m);
      say_progress("");
      say(sampled_words(*m));
    }
    if (a.heartbeat) {
      beat_row(client, p, {kLongLimit, stopper.token()}, say_progress, *m);
      say_progress("");
      say(beat_words(*m));
    }
    if (a.counts && gpu != hello->gpus.end()) {
      count_row(client, p, gpu->arch(), {kLongLimit, stopper.token()}, say_progress, *m);
      say_progress("");
      say(counted_words(*m));
    }
    rows.push_back(std::move(*m));
  }
  relate_to_baseline(rows);
  for (Measurement& m : rows) relate_to_layouts(m, {rows});
  Provenance provenance = provenance_on(*hello, a.gpu);
  if (!rows.empty()) {
    provenance.peak_gflops = rows.front().peaks.peak_gflops;
    provenance.copy_gb_per_s = rows.front().peaks.copy_gb_per_s;
  }
  const Session session = session_of(std::move(provenance), std::move(rows));
  if (!a.json.empty()) {
    if (auto written = write_text(a.json, to_json(session)); !written) return tl::unexpected(written.error());
  }
  if (auto printed = print_data(to_csv(session)); !printed) return tl::unexpected(printed.error());
  for (const Measurement& m : session.runs.front().rows) {
    if (m.state == RowState::refused) return fail(ErrorKind::cannot_run, m.reason);
    if (m.state != RowState::done) return fail(ErrorKind::failed, m.reason);
  }
  return 0;
}

}  // namespace

Command add_worker(Parser program) {
  auto a = std::make_shared<WorkerArguments>();
  Parser parser = program.add_subcommand("worker", tr("Drive a GPU; started by the program"));
  parser.add_flag("--check", a->check, tr("Run a small kernel, kill its worker, and check that the next one works"));
  parser.add_flag("--compile", a->compile,
                  tr("Compile your sources, with limits on time and memory; started by the program"));
  parser.add_flag("--rank", a->rank, tr("Act as a rank of a ring; started by the program"));
  parser.add_flag("--gpu-rank", a->gpu_rank, tr("Act as a rank of a ring of GPUs; started by the program"));
  parser.add_option("--gpu", a->gpu, tr("GPU for --check, --time and --measure"))->type_name("N");
  parser.add_option("--time", a->timed, tr("Time these kernels with CUDA events on one problem, and print CSV"))
      ->type_name("ID,ID,...");
  parser
      .add_option("--measure", a->measured, tr("Check, time and profile these kernels on one problem, and print CSV"))
      ->type_name("ID,ID,...");
  parser.add_option("--json", a->json, tr("With --measure: write a session with every sample"))->type_name("FILE");
  parser.add_flag("--sample", a->sample, tr("With --measure: also report where the warps wait, by line and phase"));
  parser.add_flag("--counts", a->counts, tr("With --measure: also count what each instruction of each kernel does"));
  parser.add_flag("--heartbeat", a->heartbeat, tr("With --measure: also sample the GPU's counters during one run"));
  parser.add_flag("--no-counters", a->no_counters, tr("With --measure: do not use CUPTI, so that you can use ncu"));
  parser.add_flag("--warm", a->warm, tr("With --measure: leave the L2 cache as the previous run left it"));
  parser
      .add_option("--memory-limit", a->memory_limit,
                  tr("Reject problems that need more memory than this; default: the GPU's free memory"))
      ->type_name("BYTES");
  parser.add_option("--seconds", a->seconds, tr("Seconds to spend on each kernel's repeats"))->type_name("SECONDS");
  a->problem.add_to(parser, "--scale");
  a->options.add_to(parser, false);
  parser.footer(
      tr("Examples:\n  attnscope worker --check\n  attnscope worker --measure naive,tiled,flash_simt --l 4096 --hq 16 "
         "--d 128"));
  const auto run = [a](Stopper& stopper) -> Result<int> {
    if (a->check) return check_survival(a->gpu);
    if (!a->timed.empty()) return time_kernels(*a, stopper);
    if (!a->measured.empty()) return measure_kernels(*a, stopper);
    Socket socket(kChildSocket);
    if (a->compile) return compile_for_users(socket);
    if (a->gpu_rank) return work_as_gpu_rank(socket);
    if (a->rank) {
      Socket left(kLeftNeighbour), right(kRightNeighbour);
      return work_as_rank(socket, left, right);
    }
    return work(socket, {});
  };
  return {parser, run, false};
}

}  // namespace attn::cli
