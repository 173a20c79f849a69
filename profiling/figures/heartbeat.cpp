#include "profiling/figures/heartbeat.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "profiling/figures/intervals.h"
#include "profiling/figures/metrics.h"

namespace attn {
namespace {

using Names = std::string_view;

// Names of "TriageCompute" are those of a set that Hopper and Blackwell read together; other chips have the plain ones.
// All fit into one pass on GH100 and GB100. On GA10x and AD10x the multiply-adds do not fit beside the others, on GB20x
// the exponentials do not, on Turing the tensor pipe and DRAM do not (tests/profiling/cupti asks every chip).
constexpr std::array kIssue{
    Names("TPC.TriageCompute.sm__inst_executed_realtime.avg.pct_of_peak_sustained_elapsed"),
    Names("sm__inst_executed_realtime.avg.pct_of_peak_sustained_elapsed"),
};
constexpr std::array kFma{
    Names("TPC.TriageCompute.sm__inst_executed_pipe_fma_realtime.avg.pct_of_peak_sustained_elapsed"),
    Names("TPC.TriageCompute.sm__pipe_fma_cycles_active_realtime.avg.pct_of_peak_sustained_elapsed"),
    Names("sm__inst_executed_pipe_fma_realtime.avg.pct_of_peak_sustained_elapsed"),
    Names("sm__pipe_fma_cycles_active_realtime.avg.pct_of_peak_sustained_elapsed"),
    Names("sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_elapsed"),
};
constexpr std::array kTensor{
    Names("TPC.TriageCompute.sm__pipe_tensor_cycles_active_realtime.avg.pct_of_peak_sustained_elapsed"),
    Names("sm__pipe_tensor_cycles_active_realtime.avg.pct_of_peak_sustained_elapsed"),
    Names("sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"),
};
constexpr std::array kXu{
    Names("SM_A.TriageCompute.sm__inst_executed_pipe_xu_realtime.avg.pct_of_peak_sustained_elapsed"),
    Names("sm__inst_executed_pipe_xu_realtime.avg.pct_of_peak_sustained_elapsed"),
};
constexpr std::array kShared{
    Names("SM_A.TriageCompute.l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed"),
    Names("l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed"),
};
constexpr std::array kL2{
    Names("LTS.TriageCompute.lts__throughput.avg.pct_of_peak_sustained_elapsed"),
    Names("lts__t_sectors.avg.pct_of_peak_sustained_elapsed"),
};
constexpr std::array kDramRead{Names("dram__read_throughput.avg.pct_of_peak_sustained_elapsed")};
constexpr std::array kDramWrite{Names("dram__write_throughput.avg.pct_of_peak_sustained_elapsed")};
constexpr std::array kSms{
    Names("TPC.TriageCompute.sm__cycles_active.avg.pct_of_peak_sustained_elapsed"),
    Names("sm__cycles_active.avg.pct_of_peak_sustained_elapsed"),
};
constexpr std::array kClock{Names("gpc__cycles_elapsed.avg.per_second")};

constexpr std::array kTable{
    BeatRow{"issue", marked("instructions issued"), "%", 1, kIssue,
            marked("Share of all schedulers' issue slots that were used over the whole run. Samples come only from "
                   "schedulers with work.")},
    BeatRow{"fma", marked("multiply-add pipe"), "%", 1, kFma, marked("How busy the fp32 multiply-add pipes were.")},
    BeatRow{"tensor", marked("tensor pipe"), "%", 1, kTensor, marked("How busy the tensor cores were.")},
    BeatRow{"xu", marked("exponential pipe"), "%", 1, kXu,
            marked("How busy the pipe for exponentials, reciprocals and conversions was.")},
    BeatRow{"shared", marked("shared memory"), "%", 1, kShared,
            marked("Shared-memory wavefronts, relative to the maximum of the data pipe.")},
    BeatRow{"l2", "L2 cache", "%", 1, kL2, marked("How busy the L2 slices were.")},
    BeatRow{"dram_read", marked("DRAM read"), "%", 1, kDramRead,
            marked("Reads from device memory, relative to its peak rate.")},
    BeatRow{"dram_write", marked("DRAM write"), "%", 1, kDramWrite,
            marked("Writes to device memory, relative to its peak rate.")},
    BeatRow{"sms", marked("busy multiprocessors"), "%", 1, kSms,
            marked("Multiprocessors that held at least one warp.")},
    BeatRow{"clock", marked("SM clock"), "MHz", 1e-6, kClock,
            marked("Cycles of the multiprocessors' clock divided by the elapsed time.")},
};

double overlap_ns(const BeatSpan& s, double from_ns, double to_ns) {
  return std::max(0.0,
                  std::min(static_cast<double>(s.end_ns), to_ns) - std::max(static_cast<double>(s.start_ns), from_ns));
}

struct Sum {
  double weighted = 0, ns = 0;
  void add(const Heartbeat& h, const BeatCounter& c, double from_us, double to_us) {
    for (std::size_t n = 0; n < c.values.size(); ++n) {
      const double shared = overlap_ns(h.samples[n], from_us * 1e3, to_us * 1e3);
      weighted += shared * c.values[n];
      ns += shared;
    }
  }
  std::optional<double> mean() const { return ns > 0 ? std::optional(weighted / ns) : std::nullopt; }
};

// Values of the samples that lie within a launch.
std::vector<double> values_within(const Heartbeat& h, const BeatCounter& c, const BeatLaunch& launch) {
  std::vector<double> values;
  for (std::size_t n = 0; n < c.values.size(); ++n)
    if (static_cast<double>(h.samples[n].start_ns) >= launch.start_us * 1e3 &&
        static_cast<double>(h.samples[n].end_ns) <= launch.end_us * 1e3)
      values.push_back(c.values[n]);
  return values;
}

// Less what is slow: the mean of the `width` around each, so that waves and drifts of the clock are no beat.
std::vector<double> without_drift(const std::vector<double>& values, std::size_t width) {
  std::vector<double> sums(values.size() + 1);
  std::partial_sum(values.begin(), values.end(), sums.begin() + 1);
  std::vector<double> out(values.size());
  for (std::size_t n = 0; n < values.size(); ++n) {
    const std::size_t from = n > width ? n - width : 0, to = std::min(values.size(), n + width + 1);
    out[n] = values[n] - (sums[to] - sums[from]) / static_cast<double>(to - from);
  }
  return out;
}

std::vector<double> autocorrelation(const std::vector<double>& values, std::size_t lags) {
  const auto at = [&](std::size_t lag) {
    double sum = 0;
    for (std::size_t n = 0; n + lag < values.size(); ++n) sum += values[n] * values[n + lag];
    return sum / static_cast<double>(values.size() - lag);
  };
  const double whole = at(0);
  std::vector<double> likeness(lags + 1, whole > 0 ? 1.0 : 0.0);
  for (std::size_t lag = 1; whole > 0 && lag <= lags; ++lag) likeness[lag] = at(lag) / whole;
  return likeness;
}

struct Peak {
  double lag = 0, likeness = 0;
};

// The first maximum that is nearly as high as the highest, so that two beats are not taken for one. Its place between
// the samples is the top of the parabola through it and its neighbours.
std::optional<Peak> first_peak(const std::vector<double>& likeness) {
  constexpr double kClear = 0.25, kNearly = 0.85;
  constexpr std::size_t kLeast = 4;  // samples a beat: fewer cannot be told from a beat of the reading itself
  std::vector<std::size_t> tops;
  for (std::size_t n = 2; n + 1 < likeness.size(); ++n)
    if (likeness[n] >= kClear && likeness[n] >= likeness[n - 1] && likeness[n] > likeness[n + 1]) tops.push_back(n);
  if (tops.empty()) return std::nullopt;
  const auto by_likeness = [&](std::size_t n) { return likeness[n]; };
  const double highest = likeness[*std::ranges::max_element(tops, {}, by_likeness)];
  const std::size_t top = *std::ranges::find_if(tops, [&](std::size_t n) { return likeness[n] >= kNearly * highest; });
  if (top < kLeast) return std::nullopt;
  const double bend = likeness[top - 1] - 2 * likeness[top] + likeness[top + 1];
  const double shift = bend < 0 ? 0.5 * (likeness[top - 1] - likeness[top + 1]) / bend : 0;
  return Peak{static_cast<double>(top) + shift, likeness[top]};
}

// Those of one entry; empty: all.
std::vector<Interval<double>> launches_of(const Heartbeat& h, std::string_view entry) {
  std::vector<Interval<double>> all;
  for (const BeatLaunch& launch : h.launches)
    if (entry.empty() || launch.kernel == entry) all.push_back({launch.start_us, launch.end_us});
  return all;
}

}  // namespace

double Heartbeat::length_us() const {
  double end = 0;
  for (const BeatLaunch& launch : launches) end = std::max(end, launch.end_us);
  return end;
}

std::span<const BeatRow> beat_table() {
  return kTable;
}

const BeatRow* find_beat_row(std::string_view id) {
  const auto* const at = std::ranges::find(kTable, id, &BeatRow::id);
  return at == kTable.end() ? nullptr : at;
}

const BeatCounter* counter_of(const Heartbeat& h, std::string_view id) {
  const auto at = std::ranges::find(h.counters, id, &BeatCounter::id);
  return at == h.counters.end() || at->values.empty() ? nullptr : &*at;
}

double three_digits(double value) {
  if (value == 0 || !std::isfinite(value)) return 0;
  const double tens = std::pow(10.0, 2 - std::floor(std::log10(std::fabs(value))));
  return std::round(value * tens) / tens;
}

std::optional<double> mean_between(const Heartbeat& h, const BeatCounter& c, double from_us, double to_us) {
  Sum sum;
  sum.add(h, c, from_us, to_us);
  return sum.mean();
}

std::optional<double> mean_of(const Heartbeat& h, const BeatCounter& c) {
  Sum sum;
  for (const auto& [start, end] : united(launches_of(h, {}))) sum.add(h, c, start, end);
  return sum.mean();
}

std::optional<double> mean_of(const Heartbeat& h, std::string_view id) {
  const BeatCounter* counter = counter_of(h, id);
  return counter == nullptr ? std::nullopt : mean_of(h, *counter);
}

double clock_mhz(const Measurement& m) {
  if (m.heartbeat != nullptr)
    if (const auto mean = mean_of(*m.heartbeat, "clock"); mean && *mean > 0) return *mean;
  const Figure& read = figure(m, "sm_clock_mhz");
  return read.available() ? read.value : 0;
}

double busy_us(const Heartbeat& h, std::string_view entry) {
  return union_of(launches_of(h, entry));
}

std::vector<double> strip_of(const Heartbeat& h, const BeatCounter& c, std::size_t parts) {
  std::vector<double> strip;
  const double width = h.length_us() / static_cast<double>(parts);
  // Samples stand in order: each part begins to look where the one before began.
  std::size_t first = 0;
  for (std::size_t n = 0; n < parts; ++n) {
    const double from = static_cast<double>(n) * width * 1e3, to = static_cast<double>(n + 1) * width * 1e3;
    while (first < c.values.size() && static_cast<double>(h.samples[first].end_ns) <= from) ++first;
    double weighted = 0, ns = 0;
    for (std::size_t i = first; i < c.values.size() && static_cast<double>(h.samples[i].start_ns) < to; ++i) {
      const double shared = overlap_ns(h.samples[i], from, to);
      weighted += shared * c.values[i];
      ns += shared;
    }
    strip.push_back(ns > 0 ? weighted / ns : std::numeric_limits<double>::quiet_NaN());
  }
  return strip;
}

double scale_of(const BeatCounter& c) {
  const BeatRow* row = find_beat_row(c.id);
  const double most = c.values.empty() ? 0 : std::ranges::max(c.values);
  double tens = 1, scale = 1;
  while (scale < most) {
    for (const double step : {1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0})
      if (scale = step * tens; scale >= most) break;
    tens *= 10;
  }
  // What a counter gives above its peak is noise of its clock.
  return row != nullptr && row->unit == "%" ? std::min(scale, 100.0) : scale;
}

std::optional<std::size_t> sample_at(const Heartbeat& h, double us) {
  const auto after = std::ranges::upper_bound(h.samples, us * 1e3, {},
                                              [](const BeatSpan& s) { return static_cast<double>(s.start_ns); });
  if (after == h.samples.begin()) return std::nullopt;
  const auto n = static_cast<std::size_t>(after - h.samples.begin()) - 1;
  if (us * 1e3 > static_cast<double>(h.samples[n].end_ns)) return std::nullopt;
  return n;
}

std::size_t longest_launch(const Heartbeat& h) {
  return static_cast<std::size_t>(std::ranges::max_element(h.launches, {}, &BeatLaunch::length_us) -
                                  h.launches.begin());
}

std::optional<Pulse> beat_of(const Heartbeat& h) {
  constexpr std::size_t kLeast = 64;     // samples within the launch
  constexpr std::size_t kMostLag = 256;  // samples: a slower beat has too few repeats, or is a wave of blocks
  constexpr double kLeastMean = 1;       // per cent: what is hardly used says nothing of a kernel
  if (h.launches.empty()) return std::nullopt;
  const std::size_t which = longest_launch(h);
  const BeatLaunch& launch = h.launches[which];
  std::optional<Pulse> best;
  for (const std::string_view id : {"xu", "fma", "tensor", "issue", "shared"}) {
    const BeatCounter* c = counter_of(h, id);
    if (c == nullptr) continue;
    const std::vector<double> values = values_within(h, *c, launch);
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    if (values.size() < kLeast || sum < kLeastMean * static_cast<double>(values.size())) continue;
    const std::size_t lags = std::min(kMostLag, values.size() / 8);
    const auto peak = first_peak(autocorrelation(without_drift(values, lags), lags));
    if (!peak || (best && peak->likeness <= best->likeness)) continue;
    const double us = launch.length_us(), period = peak->lag * us / static_cast<double>(values.size());
    best = Pulse{std::string(id), period, peak->likeness, us / period, which};
  }
  return best;
}

namespace {

BeatTail tail_of_launch(const Heartbeat& h, const BeatCounter* sms, std::size_t which) {
  constexpr std::size_t kLeast = 2;  // samples: one alone is the edge of the launch
  const BeatLaunch& launch = h.launches[which];
  double from = launch.end_us;
  std::size_t few = 0;
  for (std::size_t n = h.samples.size(); n-- > 0;) {
    const double start = static_cast<double>(h.samples[n].start_ns) * 1e-3;
    const double end = static_cast<double>(h.samples[n].end_ns) * 1e-3;
    if (end > launch.end_us) continue;  // it is not of the launch alone
    if (start < launch.start_us || sms->values[n] >= kFullSms) break;
    from = start;
    ++few;
  }
  if (few < kLeast) from = launch.end_us;
  const double share = (launch.end_us - from) / launch.length_us();
  const auto at_work = mean_between(h, *sms, from, launch.end_us);
  return BeatTail{which, from, share, at_work ? share * (1 - *at_work / 100) : 0};
}

}  // namespace

std::optional<BeatTail> tail_of(const Heartbeat& h) {
  const BeatCounter* const sms = counter_of(h, "sms");
  if (sms == nullptr || h.launches.empty()) return std::nullopt;
  const auto costs = [&](const BeatTail& tail) { return tail.empty * h.launches[tail.launch].length_us(); };
  BeatTail most = tail_of_launch(h, sms, longest_launch(h));
  for (std::size_t n = 0; n < h.launches.size(); ++n)
    if (const BeatTail tail = tail_of_launch(h, sms, n); costs(tail) > costs(most)) most = tail;
  return most;
}

std::string what_is_lost(std::span<const BeatSpan> samples, double length_us) {
  if (samples.empty()) return marked("no sample was taken during the run");
  if (samples.front().start_ns > 0)
    return fmt::format("the first {:.1f} µs have no sample", static_cast<double>(samples.front().start_ns) * 1e-3);
  const double end_us = static_cast<double>(samples.back().end_ns) * 1e-3;
  if (end_us < length_us) return fmt::format("the last {:.1f} µs have no sample", length_us - end_us);
  std::int64_t lost = 0;
  for (std::size_t n = 1; n < samples.size(); ++n) lost += samples[n].start_ns - samples[n - 1].end_ns;
  // Time stamps of neighbours may differ by a tick of the timer (32 ns).
  const auto allowed = static_cast<std::int64_t>(64 * samples.size());
  if (lost > allowed) return fmt::format("{:.1f} µs between samples have none", static_cast<double>(lost) * 1e-3);
  return {};
}

}  // namespace attn
