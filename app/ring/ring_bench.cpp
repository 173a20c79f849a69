#include "app/ring/ring_bench.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <new>

#include "kernels/base/on_threads.h"
#include "kernels/base/text.h"
#include "kernels/cpu/backward/forward.h"
#include "kernels/cpu/device.h"
#include "kernels/cpu/thread_crew.h"
#include "kernels/judge/verdict.h"
#include "kernels/ladder.h"
#include "kernels/model/fits.h"
#include "kernels/model/inputs/input_spec.h"
#include "kernels/model/kernel.h"
#include "kernels/model/problem/validate.h"
#include "kernels/model/ring.h"
#include "profiling/figures/metrics.h"
#include "profiling/figures/row_state.h"
#include "profiling/measure/cpu/on_cpu.h"
#include "profiling/measure/point.h"
#include "profiling/measure/source_now.h"
#include "profiling/measure/stages.h"
#include "profiling/spec/ring_point.h"

namespace attn {
namespace {

// Refused before anything is allocated: besides the tensors here, the ranks have theirs, and the next share of K and V.
Result<void> check_point(const KernelRow& row, const Point& p) {
  const Device cpu = cpu_device();
  if (auto valid = validate(p.problem); !valid) return valid;
  if (auto takes = row.supports(row, p.problem, p.options, cpu); !takes) return takes;
  const auto plan = row.plan(row, p.problem, p.options, cpu);
  if (!plan) return tl::unexpected(plan.error());
  return check_memory(*plan, cpu, p.memory_limit, [&](const Problem& q) {
    const std::uint64_t ranks = 2 * tensor_bytes(q);  // below 2^64: it saturates at 2^63 - 1
    const std::uint64_t check = p.verify ? reference_bytes(q, p.verify_full, cpu.cores) : 0;
    return std::max(ranks, std::max(ranks, check) + std::min(ranks, check));
  });
}

// Of a row without figures: it stands for this ring, and for no single process.
std::optional<Ranks> asked_ranks(const Options& o, Pass pass, const std::string& device) {
  const std::int64_t ranks = ranks_of(o);
  if (ranks < 1 || ranks > kMostRanksOfRing) return std::nullopt;
  Ranks asked = ranks_by_sockets(ranks, deals_zigzag(o), pass);
  asked.devices.resize(static_cast<std::size_t>(ranks));
  for (Rank& rank : asked.devices) rank.device = device;
  return asked;
}

}  // namespace

PointRunner RingBench::runner(PointRunner others) {
  alone_.clear();
  return [this, others = std::move(others)](const Point& p, const Now& now, std::stop_token stop) {
    const auto row = find_kernel(p.kernel);
    if (row && runs_as_ring(**row, p.options)) return measure(**row, p, now, std::move(stop));
    if (others) return others(p, now, std::move(stop));
    return measure_on_cpu(*row.value(), p, {}, std::move(stop));
  };
}

std::optional<TimeStatistics>& RingBench::alone(const Point& p) {
  Point one = p;
  one.options = of_one_rank(std::move(one.options));
  const auto at = std::ranges::find(alone_, one, &decltype(alone_)::value_type::first);
  return at != alone_.end() ? at->second : alone_.emplace_back(std::move(one), std::nullopt).second;
}

Result<MeasuredRing> RingBench::run(const KernelRow& row, const Point& p, RingMeasure how) {
  how.stage("plan");
  if (auto fits = check_point(row, p); !fits) return tl::unexpected(fits.error());
  how.stage("inputs");
  InputSpec spec;
  spec.generator = p.generator;
  spec.seed = p.seed;
  cpu::ThreadCrew crew(cpu_device().cores);
  const auto in = make_all_inputs(p.problem, spec, on_threads, p.memory_limit, Stream{how.limits.stop, nullptr, &crew});
  if (!in) return tl::unexpected(in.error());
  how.rule = [&p]() -> RingMeasure::Rule {
    return [rule = StopRule(MinRepeats{p.min_repeats}, Settled{}, TimeLimit{p.seconds_per_point})](
               const RepeatsSoFar& so_far) mutable { return rule.stop(so_far); };
  };
  how.verify = p.verify, how.verify_full = p.verify_full;
  how.start = start_;
  return measure_ring(row, p.problem, p.options, *in, how, alone(p));
}

Measurement RingBench::measure(const KernelRow& row, const Point& p, const Now& now, std::stop_token stop) {
  const InEnglish recorded;
  Measurement m = empty_row(p, Processor::cpu);
  m.key.source_hash = source_hash_now(row, p.problem);
  m.key.device = cpu_device().name;
  if (validate(p.problem))
    if (const auto plan = row.plan(row, p.problem, p.options, cpu_device())) m.key.options = plan->options;
  m.ranks = asked_ranks(p.options, p.problem.pass, m.key.device);
  Stages stages(m);
  RingMeasure how;
  how.stage = [&](std::string_view name) { stages.enter(std::string(name)); };
  how.run = [&](std::int64_t ranks, std::size_t n) {
    if (now) now(n == 0 ? phrase("ring of {}: warm-up", ranks) : phrase("ring of {}: run {}", ranks, n));
  };
  how.limits = {120 + 8 * p.seconds_per_point, std::move(stop)};
  try {
    const auto measured = run(row, p, std::move(how));
    stages.end();
    if (measured) {
      Measurement taken = row_of_ring(*measured);
      taken.begun_unix_us = m.begun_unix_us;
      taken.stages = std::move(m.stages);
      m = std::move(taken);
    } else {
      give_up(m, measured.error());
    }
  } catch (const std::bad_alloc&) {
    give_up(m, {ErrorKind::failed, tr("Out of memory although the check passed; choose a smaller L.")});
  } catch (const std::exception& bug) {
    give_up(m, {ErrorKind::failed, phrase("The ring failed: {}. This is a bug in AttnScope.", bug.what())});
  }
  fill_figures(m);
  return m;
}

}  // namespace attn
