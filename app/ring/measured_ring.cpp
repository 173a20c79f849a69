#include "app/ring/measured_ring.h"

#include <string>
#include <utility>

#include "app/ring/ring_row.h"
#include "kernels/base/clock.h"
#include "kernels/cpu/device.h"
#include "kernels/cpu/run.h"
#include "kernels/judge/verdict.h"
#include "kernels/model/problem/tensor_bytes.h"

namespace attn {
namespace {

void enter(const RingMeasure& how, std::string_view stage) {
  if (how.stage) how.stage(stage);
}

// A warm-up, then repeats until the rule ends them.
Result<std::vector<RingRun>> repeat(RingProcesses& ring, Outputs& out, const RingMeasure& how) {
  const RingMeasure::Rule enough = how.rule();
  std::vector<RingRun> runs;
  std::vector<double> us;
  double begin = 0, now = 0;
  for (std::size_t n = 0; n == 0 || !enough({us, now - begin}); ++n) {
    if (how.run) how.run(ring.ring().ranks, n);
    auto run = ring.go(out, how.limits);
    if (!run) return tl::unexpected(run.error());
    now = steady_seconds();
    if (n == 0) {
      begin = now;
      continue;
    }
    us.push_back(run->us());
    runs.push_back(*std::move(run));
  }
  return runs;
}

// Times one rank with as many threads where nobody has yet.
Result<void> time_alone(MeasuredRing& m, std::optional<TimeStatistics>& alone, const Inputs& in,
                        const RingMeasure& how) {
  if (m.ring.ranks == 1) alone = m.time;
  if (!alone) {
    enter(how, "one rank");
    auto ring = RingProcesses::start(*m.kernel, m.problem, of_one_rank(m.options), in, how.limits, how.start);
    if (!ring) return tl::unexpected(ring.error());
    Outputs unused;
    const auto runs = repeat(*ring, unused, how);
    if (!runs) return tl::unexpected(runs.error());
    alone = time_of_runs(*runs);
  }
  m.one_rank = *alone;
  return ok();
}

// The same walk in one process, and the rule.
Result<void> check(MeasuredRing& m, const Inputs& in, const Outputs& out, const RingMeasure& how) {
  if (!how.verify) return ok();
  enter(how, "verify");
  const auto alone = run_on_cpu(*m.kernel, m.problem, m.options, in, 0, how.limits.stop);
  if (!alone) return tl::unexpected(alone.error());
  m.same_bits = same_bits(*alone, out);
  const RowSample sample = choose_rows(m.problem, how.verify_full);
  const auto reference = reference_rows(m.problem, in, sample.rows, 0, how.limits.stop);
  if (!reference) return tl::unexpected(reference.error());
  m.verdict = judge(m.problem, in, *reference, out, sample);
  return ok();
}

}  // namespace

Options of_one_rank(Options o) {
  choose(o, kRanks, std::nullopt);
  choose(o, kDeal, std::nullopt);
  return o;
}

Ranks ranks_by_sockets(std::int64_t ranks, bool zigzag, Pass pass) {
  Ranks r;
  r.dealing = zigzag ? Dealing::zigzag : Dealing::in_order;
  r.carrier = Carrier::sockets;
  if (ranks > 1) r.travels = travelling(pass);
  return r;
}

Result<MeasuredRing> measure_ring(const KernelRow& row, const Problem& p, const Options& options, const Inputs& in,
                                  const RingMeasure& how, std::optional<TimeStatistics>& alone) {
  MeasuredRing m;
  m.problem = p;
  m.kernel = &row;
  Outputs out;
  {
    enter(how, "start");
    auto ring = RingProcesses::start(row, p, options, in, how.limits, how.start);
    if (!ring) return tl::unexpected(ring.error());
    m.options = ring->options();
    m.ring = ring->ring();
    enter(how, "time");
    auto runs = repeat(*ring, out, how);
    if (!runs) return tl::unexpected(runs.error());
    m.runs = *std::move(runs);
    m.time = time_of_runs(m.runs);
    if (m.ring.ranks > 1) enter(how, "link");
    const auto link = ring->link(how.limits);
    if (!link) return tl::unexpected(link.error());
    m.link_bytes_a_us = *link;
  }
  if (auto timed = time_alone(m, alone, in, how); !timed) return tl::unexpected(timed.error());
  if (auto checked = check(m, in, out, how); !checked) return tl::unexpected(checked.error());
  return m;
}

Measurement row_of_ring(const MeasuredRing& m) {
  TakenRing t;
  t.kernel = m.kernel, t.options = m.options, t.problem = m.problem, t.verdict = m.verdict;
  t.device = cpu_device().name;
  t.clock = "steady_clock, from the earliest start to the latest end of any rank";
  t.samples_us = us_of_runs(m.runs);
  if (!m.same_bits) t.wrong = "the bits differ from those of a single process walking the same ring";
  t.ranks = ranks_by_sockets(m.ring.ranks, m.ring.zigzag, m.problem.pass);
  t.ranks.devices = ranks_of_run(middle_run(m.runs), t.device);
  t.ranks.one_rank_us = m.one_rank.median;
  t.ranks.link_gb_per_s = m.link_bytes_a_us / 1e3;
  return ring_row(t);
}

}  // namespace attn
