#include "app/cli/bench/gpu_ring.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/cli/arguments/console_text.h"
#include "app/cli/bench/ring_runs.h"
#include "app/peers/python.h"
#include "app/ring/gpu/forecast.h"
#include "app/ring/gpu/gpu_ring.h"
#include "app/ring/ring_row.h"
#include "kernels/base/bytes.h"
#include "kernels/base/on_threads.h"
#include "kernels/base/text.h"
#include "kernels/cpu/backward/forward.h"
#include "kernels/judge/verdict.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/model/problem_json.h"
#include "profiling/figures/statistics.h"
#include "profiling/session/session.h"

namespace attn::cli {
namespace {

using nlohmann::json;

constexpr std::int64_t kForecast[] = {2, 4, 8};  // and the number that was measured

struct GpuRingMeasured {
  Problem problem;
  GpuRingRequest request;
  GpuTurns turns;
  std::vector<GpuOpened> opened;
  std::vector<GpuRingRun> runs;
  TimeStatistics time, one_gpu;
  std::vector<double> one_gpu_clocks;
  double link_bytes_a_us = 0;
  Verdict verdict;
};

// "2": the first two; "0,1": these.
Result<std::vector<std::int32_t>> gpus_of(const std::string& text) {
  const auto numbers = parse_numbers("--gpus", text);
  if (!numbers) return tl::unexpected(numbers.error());
  std::vector<std::int32_t> gpus;
  if (numbers->size() == 1 && text.find(',') == std::string::npos) {
    const std::int64_t count = numbers->front();
    if (count < 1 || count > kMostRanksOfRing)
      return bad_input(phrase("Invalid --gpus {}: a ring has 1 to {} GPUs.", count, kMostRanksOfRing));
    for (std::int32_t n = 0; n < count; ++n) gpus.push_back(n);
    return gpus;
  }
  for (const std::int64_t n : *numbers) {
    if (n < 0 || n > 1023) return bad_input(phrase("Invalid --gpus {}: GPUs are numbered from 0.", text));
    gpus.push_back(static_cast<std::int32_t>(n));
  }
  return gpus;
}

template <class E, std::size_t N>
Result<E> choice_of(const char* option, const std::string& text, const std::string_view (&choices)[N]) {
  for (std::size_t n = 0; n < N; ++n)
    if (choices[n] == text) return static_cast<E>(n);
  std::string all;
  for (const std::string_view c : choices) all += (all.empty() ? "" : ", ") + std::string(c);
  return bad_input(phrase("Unknown {} {}; use one of {}.", option, text, all));
}

Result<GpuRingRequest> request_of(const GpuRingArguments& a) {
  GpuRingRequest r;
  auto gpus = gpus_of(a.gpus);
  if (!gpus) return tl::unexpected(gpus.error());
  const auto deal = choice_of<GpuDeal>("--deal", a.deal, kGpuDeals);
  if (!deal) return tl::unexpected(deal.error());
  const auto travel = choice_of<Travel>("--travel", a.travel, kTravels);
  if (!travel) return tl::unexpected(travel.error());
  if (a.spared_sms < 1 || a.spared_sms > 64)
    return bad_input(phrase("Invalid --spared-sms {}; use 1 to 64.", a.spared_sms));
  r.gpus = *std::move(gpus);
  r.kernel = a.kernel;
  r.options = a.options;
  r.deal = *deal;
  r.travel = *travel;
  r.spared_sms = static_cast<std::int32_t>(a.spared_sms);
  return r;
}

double median_clock(const std::vector<GpuRingRun>& runs, std::size_t rank) {
  std::vector<double> mhz;
  for (const GpuRingRun& run : runs)
    if (run.ranks[rank].sm_clock_mhz > 0) mhz.push_back(run.ranks[rank].sm_clock_mhz);
  return mhz.empty() ? 0 : statistics_of(mhz).median;
}

// Where there is no model of a ring of several; empty: there is one.
std::string why_no_forecast(const GpuRingMeasured& m) {
  if (m.problem.pass == Pass::forward || m.request.travel != Travel::nccl || m.turns.turns() == 1) return "";
  return phrase("{} leaves no SMs for NCCL, and how long NCCL waits for them is unknown; use --travel ipc",
                m.opened.front().kernel);
}

// None where one GPU alone was measured, and for numbers among which the problem cannot be divided.
std::vector<RanksForecast> forecasts_of(const GpuRingMeasured& m) {
  if (m.turns.ranks < 2 || !why_no_forecast(m).empty()) return {};
  const RingRates rates =
      rates_of({.problem = m.problem,
                .turns = m.turns,
                .opened = m.opened.front(),
                .one_gpu_us = m.one_gpu.median,
                .link_bytes_a_us = m.link_bytes_a_us,
                .spared_sms = m.request.travel == Travel::nccl && m.turns.turns() > 1 ? m.request.spared_sms : 0,
                .ranks = middle_run(m.runs).ranks});
  std::set<std::int64_t> counts(std::begin(kForecast), std::end(kForecast));
  counts.insert(m.turns.ranks);
  std::vector<RanksForecast> all;
  for (const std::int64_t ranks : counts) {
    GpuTurns turns = m.turns;
    turns.ranks = ranks;
    if (turns.pieces() <= turns.most_pieces()) all.push_back({ranks, forecast_us(turns, rates)});
  }
  return all;
}

std::string ring_table(const GpuRingMeasured& m) {
  const GpuRingRun& run = middle_run(m.runs);
  const std::string merging = m.problem.pass == Pass::backward ? tr("of which adding") : tr("of which merging");
  std::string text =
      phrase("rank  GPU  queries   compute ms  {:>16}   wait ms        sent  sending GB/s  of link  SM MHz\n", merging);
  for (std::size_t n = 0; n < run.ranks.size(); ++n) {
    const GpuRankTimes& r = run.ranks[n];
    const double sending = us_of(r.spans, RankWork::send);
    const double rate = sending > 0 ? static_cast<double>(r.sent_bytes) / sending : 0;
    text +=
        fmt::format("{:>4}  {:>3}  {:>7}  {:>11.3f}  {:>16.3f}  {:>8.3f}  {:>10}  {:>12}  {:>7}  {:>6.0f}\n", n,
                    m.request.gpus[n], m.turns.count_of(static_cast<std::int64_t>(n)),
                    us_of(r.spans, RankWork::compute) / 1e3, r.merge_us / 1e3, us_of(r.spans, RankWork::wait) / 1e3,
                    format_bytes(r.sent_bytes), rate > 0 ? fmt::format("{:.1f}", rate / 1e3) : "-",
                    rate > 0 && m.link_bytes_a_us > 0 ? fmt::format("{:.0f} %", 100 * rate / m.link_bytes_a_us) : "-",
                    median_clock(m.runs, n));
  }
  return text;
}

std::string words_of_ring(const GpuRingMeasured& m) {
  const GpuOpened& first = m.opened.front();
  const std::string_view deal = kGpuDeals[static_cast<std::size_t>(m.request.deal)];
  const std::string travels = m.problem.pass == Pass::backward ? tr("K, V, dK and dV") : tr("K and V");
  std::string text =
      phrase("ring of {} GPUs ({}), {}, on {}: {}, {} x {} tiles; {} by {}\n\n", m.turns.ranks, first.gpu, deal,
             describe(m.problem), first.kernel, first.options.br, first.options.bc, travels, first.travel);
  text += ring_table(m);
  text += phrase(
      "\n"
      "from first start to last end: {:.3f} ms, median of {} ({:.3f} to {:.3f}), cold L2\n",
      m.time.median / 1e3, m.time.n, m.time.q1 / 1e3, m.time.q3 / 1e3);
  if (m.turns.ranks > 1) {
    text += phrase("one GPU: {:.3f} ms ({:.3f} to {:.3f}); speed-up of the ring: {:.3f}, or {:.1f} % of {}\n",
                   m.one_gpu.median / 1e3, m.one_gpu.q1 / 1e3, m.one_gpu.q3 / 1e3, m.one_gpu.median / m.time.median,
                   100 * m.one_gpu.median / m.time.median / static_cast<double>(m.turns.ranks), m.turns.ranks);
    if (m.link_bytes_a_us > 0)
      text += phrase("link: {:.1f} GB/s each way, for a plain copy of a share of K and V while all GPUs copy\n",
                     m.link_bytes_a_us / 1e3);
    for (const auto& [n, us] : forecasts_of(m)) {
      text += phrase("forecast for {} GPUs: {:.3f} ms, speed-up {:.2f}", n, us / 1e3, m.one_gpu.median / us);
      if (n == m.turns.ranks) text += phrase("; measured: {:+.1f} %", 100 * (m.time.median / us - 1));
      text += '\n';
    }
    if (const std::string why = why_no_forecast(m); !why.empty()) text += phrase("no forecast: {}\n", why);
  }
  text += m.verdict.pass ? phrase("correct: error {:.3g}, allowed {:.3g}, {} ({})\n", m.verdict.error(),
                                  m.verdict.allowed(), tr("against the fp64 reference"), m.verdict.sample)
                         : phrase("WRONG: {}\n", m.verdict.reason);
  return text;
}

json json_of_ring(const GpuRingMeasured& m) {
  json runs = json::array(), forecasts = json::array();
  for (const GpuRingRun& run : m.runs) {
    json ranks = json::array();
    for (const GpuRankTimes& r : run.ranks)
      ranks.push_back({{"sent_bytes", r.sent_bytes},
                       {"merge_us", r.merge_us},
                       {"barrier_us", r.barrier_us},
                       {"host_us", r.host_us},
                       {"sm_clock_mhz", r.sm_clock_mhz},
                       {"spans", to_json(r.spans)}});
    runs.push_back({{"us", run.us()}, {"ranks", std::move(ranks)}});
  }
  for (const auto& [n, us] : forecasts_of(m)) forecasts.push_back({{"gpus", n}, {"us", us}});
  const auto statistics = [](const TimeStatistics& t) {
    return json{{"n", t.n}, {"us_median", t.median}, {"us_q1", t.q1}, {"us_q3", t.q3}};
  };
  return {{"kernel", m.opened.front().kernel},
          {"gpu", m.opened.front().gpu},
          {"problem", problem_to_json(m.problem)},
          {"options", options_to_json(m.opened.front().options)},
          {"gpus", m.request.gpus},
          {"deal", kGpuDeals[static_cast<std::size_t>(m.request.deal)]},
          {"travel", kTravels[static_cast<std::size_t>(m.request.travel)]},
          {"time", statistics(m.time)},
          {"one_gpu", m.turns.ranks > 1 ? statistics(m.one_gpu) : json()},
          {"one_gpu_clocks_mhz", m.one_gpu_clocks},
          {"link_bytes_a_us", m.link_bytes_a_us},
          {"forecasts", std::move(forecasts)},
          {"right", m.verdict.pass},
          {"error", m.verdict.error()},
          {"allowed", m.verdict.allowed()},
          {"judged", m.verdict.sample},
          {"runs", std::move(runs)}};
}

// The ring's runs, its link and its answer; no process is left afterwards.
Result<Outputs> run_all(GpuRingMeasured& m, const Inputs& in, std::int64_t repeats, const RingLimits& limits) {
  auto ring = GpuRingProcesses::start(m.problem, m.request, in, limits);
  if (!ring) return tl::unexpected(ring.error());
  m.turns = ring->turns();
  m.opened = ring->opened();
  auto runs = repeat_ring(ring->turns().ranks, repeats, [&] { return ring->go(limits); });
  if (!runs) return tl::unexpected(runs.error());
  m.runs = *std::move(runs);
  m.time = time_of_runs(m.runs);
  auto out = ring->fetch(limits);
  if (!out || m.turns.turns() == 1) return out;
  const auto link = ring->link(limits);
  if (!link) return tl::unexpected(link.error());
  m.link_bytes_a_us = *link;
  return out;
}

Result<void> run_alone(GpuRingMeasured& m, const Inputs& in, std::int64_t repeats, const RingLimits& limits) {
  GpuRingRequest one = m.request;
  one.gpus.resize(1);
  one.deal = GpuDeal::in_order;
  one.travel = Travel::ipc;
  auto alone = GpuRingProcesses::start(m.problem, one, in, limits);
  if (!alone) return tl::unexpected(alone.error());
  const auto runs = repeat_ring(alone->turns().ranks, repeats, [&] { return alone->go(limits); });
  if (!runs) return tl::unexpected(runs.error());
  m.one_gpu = time_of_runs(*runs);
  for (const GpuRingRun& run : *runs) m.one_gpu_clocks.push_back(run.ranks.front().sm_clock_mhz);
  return ok();
}

// What a backward reads of its forward: by a ring of the same GPUs.
Result<void> add_forward_of_ring(const GpuRingMeasured& m, Inputs& in, const RingLimits& limits) {
  const Problem forward = forward_of(m.problem);
  GpuRingRequest request = m.request;
  request.kernel = kGpuRingKernel;
  request.options = {};
  auto ring = GpuRingProcesses::start(forward, request, in, limits);
  if (!ring) return tl::unexpected(ring.error());
  if (const auto run = ring->go(limits); !run) return tl::unexpected(run.error());
  auto out = ring->fetch(limits);
  if (!out) return tl::unexpected(out.error());
  in.o = std::move(out->out);
  in.lse = std::move(out->lse);
  return ok();
}

// Rows of one GPU and of the ring; along L, since the number of GPUs is no option of the kernel.
Result<void> write_session_rows(const GpuRingArguments& a, const GpuRingMeasured& m) {
  const auto row = find_kernel(m.opened.front().kernel);
  if (!row) return tl::unexpected(row.error());
  TakenRing t;
  t.kernel = *row, t.options = m.opened.front().options, t.problem = m.problem, t.verdict = m.verdict;
  t.device = m.opened.front().gpu;
  t.clock = "CUDA events, from the earliest start to the latest end of any rank";
  t.l2 = L2State::cold;
  t.samples_us = us_of_runs(m.runs);
  t.ranks.dealing = m.request.deal == GpuDeal::heads    ? Dealing::heads
                    : m.request.deal == GpuDeal::zigzag ? Dealing::zigzag
                                                        : Dealing::in_order;
  t.ranks.carrier = m.request.travel == Travel::nccl ? Carrier::nccl : Carrier::copy_engine;
  if (m.turns.turns() > 1) t.ranks.travels = travelling(m.problem.pass);
  t.ranks.devices = ranks_of_run(middle_run(m.runs), t.device);
  t.ranks.one_rank_us = m.one_gpu.median;
  t.ranks.link_gb_per_s = m.link_bytes_a_us / 1e3;
  t.ranks.forecasts = forecasts_of(m);
  SweepSpec sweep;
  sweep.kernels = {std::string((*row)->id)};
  sweep.values = {m.problem.Lq};
  sweep.base = m.problem;
  sweep.generator = a.inputs.generator, sweep.seed = a.inputs.seed;
  Provenance where = provenance_here();
  where.device = t.device;
  where.device_arch.clear();
  return write_rows(a.files, sweep, where, {ring_row(t)});
}

Result<void> write_files(const GpuRingArguments& a, const GpuRingMeasured& m) {
  if (!a.json_file.empty())
    if (auto r = write_text(a.json_file, json_of_ring(m).dump(1) + "\n"); !r) return r;
  if (!a.csv_file.empty())
    if (auto r = write_text(a.csv_file, spans_csv(m.runs)); !r) return r;
  if (a.files.any()) return write_session_rows(a, m);
  return ok();
}

}  // namespace

Result<int> run_gpu_ring(const GpuRingArguments& a, const Stopper& stopper) {
  auto request = request_of(a);
  if (!request) return tl::unexpected(request.error());
  GpuRingMeasured m;
  m.problem = a.problem;
  m.request = *std::move(request);
  if (auto good = check_gpu_ring(m.problem, m.request); !good) return tl::unexpected(good.error());
  if (m.request.travel == Travel::nccl)
    if (const auto python = look_for_python("", stopper.token()))
      m.request.nccl_folder = nccl_beside_torch(python->program.string());
  auto in = make_inputs(m.problem, a.inputs, on_threads);
  if (!in) return tl::unexpected(in.error());
  const RingLimits limits{a.hang_limit, stopper.token()};
  if (m.problem.pass == Pass::backward)
    if (auto made = add_forward_of_ring(m, *in, limits); !made) return tl::unexpected(made.error());
  const auto out = run_all(m, *in, a.repeats, limits);
  if (!out) return tl::unexpected(out.error());
  if (m.turns.ranks > 1)
    if (auto alone = run_alone(m, *in, a.repeats, limits); !alone) return tl::unexpected(alone.error());
  const RowSample sample = choose_rows(m.problem, false);
  const auto reference = reference_rows(m.problem, *in, sample.rows, 0, stopper.token());
  if (!reference) return tl::unexpected(reference.error());
  m.verdict = judge(m.problem, *in, *reference, *out, sample);
  if (auto written = write_files(a, m); !written) return tl::unexpected(written.error());
  if (a.json_file != "-" && a.csv_file != "-" && a.files.rows_csv != "-") {
    if (auto r = print(words_of_ring(m)); !r) return tl::unexpected(r.error());
  }
  return m.verdict.pass ? 0 : 1;
}

}  // namespace attn::cli
