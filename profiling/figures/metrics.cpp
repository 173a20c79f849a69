#include "profiling/figures/metrics.h"

#include <fmt/format.h>

#include <array>
#include <string>

#include "kernels/base/text.h"
#include "kernels/gpu/rungs/own_kernel.h"
#include "kernels/ladder.h"
#include "kernels/model/fits.h"
#include "kernels/model/problem/costs.h"
#include "kernels/model/problem/validate.h"
#include "kernels/model/traffic.h"
#include "profiling/figures/metric_makers.h"

namespace attn {
namespace {

using metric_rows::none;
using metric_rows::untimed;

Figure measured(double value, std::string method) {
  return {Origin::measured, value, std::move(method), ""};
}

Figure derived(double value, std::string method) {
  return {Origin::derived, value, std::move(method), ""};
}

// ---- time

constexpr std::string_view kNeedsDram = "needs DRAM bytes: ";

template <double TimeStatistics::*field>
Figure time_figure(const Measurement& m) {
  if (m.time.n == 0) return untimed(m);
  return measured(m.time.*field, fmt::format("{}, {} caches, {} repeats", m.clock, name_of(m.key.l2), m.time.n));
}

template <double TimeStatistics::*field>
Figure interval_figure(const Measurement& m) {
  if (m.time.n > 0 && m.time.n < 6)
    return none(marked("with fewer than 6 repeats, there is no 95 % interval of the median; allow more time"));
  return time_figure<field>(m);
}

Figure repeats(const Measurement& m) {
  if (m.time.n == 0) return untimed(m);
  return measured(m.time.n, "counted");
}

Figure spread(const Measurement& m) {
  if (m.time.n == 0) return untimed(m);
  if (m.time.median <= 0) return none(marked("the median time is not above 0"));
  return derived(100 * (m.time.q3 - m.time.q1) / m.time.median, marked("from the quartiles"));
}

Figure tflops(const Measurement& m) {
  if (m.time.n == 0) return untimed(m);
  if (m.time.median <= 0) return none(marked("the median time is not above 0"));
  return derived(flops_of(m.key.problem) / m.time.median * 1e-6, marked("from the median time"));
}

bool by_warpgroups(const Measurement& m) {
  const auto row = find_kernel(m.key.kernel);
  return row && (*row)->products.pipe == Pipe::warpgroup_half;
}
// By the rung's own word, else by what was counted.
bool multiplies_on_tensor_cores(const Measurement& m) {
  if (const auto row = find_kernel(m.key.kernel); row)
    return products_of(**row, m.key.problem.dtype).pipe != Pipe::multiply_add;
  const Figure& busy = figure(m, "tensor_pipe_pct");
  return busy.available() && busy.value >= kTensorWorks;
}

Figure peak_share(const Measurement& m) {
  const Figure& rate = figure(m, "tflops");
  if (!rate.available()) return rate;
  if (m.peaks.tensor_gflops > 0) {
    const double each = m.peaks.products_each;
    return derived(100 * rate.value * each * 1e3 / m.peaks.tensor_gflops,
                   fmt::format("peak of the tensor cores {:.4g} GFLOP/s measured with {}{}", m.peaks.tensor_gflops,
                               by_warpgroups(m) ? "wgmma" : "mma.sync",
                               each > 1 ? fmt::format(", {} products for each", m.peaks.products_each) : ""));
  }
  if (multiplies_on_tensor_cores(m))
    return none(marked("its products run on tensor cores, whose peak was not measured in this session"));
  if (m.peaks.peak_gflops <= 0) return none(marked("the peak of this device was not measured in this session"));
  return derived(100 * rate.value * 1e3 / m.peaks.peak_gflops,
                 fmt::format("peak {:.4g} GFLOP/s measured, all cores", m.peaks.peak_gflops));
}

Figure speedup(const Measurement& m) {
  if (m.time.n == 0) return untimed(m);
  if (m.time.median <= 0) return none(marked("the median time is not above 0"));
  if (m.peaks.baseline_us <= 0)
    return none(
        fmt::format("no baseline on this problem; measure {} as well", baseline_of(m.processor, m.key.problem.pass)));
  return derived(m.peaks.baseline_us / m.time.median, fmt::format("over {}", m.peaks.baseline));
}

Figure against_run(const Measurement& m) {
  if (m.peaks.reference.empty()) return none(marked("no run was chosen for comparison"));
  if (m.time.n == 0) return untimed(m);
  if (m.time.median <= 0) return none(marked("the median time is not above 0"));
  if (m.peaks.reference_us <= 0)
    return none(fmt::format("{} has no measured time for this kernel on this problem", m.peaks.reference));
  return derived(m.peaks.reference_us / m.time.median, fmt::format("against {}", m.peaks.reference));
}

// ---- memory

bool planned(const Measurement& m) {
  return !m.launches.empty();
}

Figure unplanned(const Measurement& m) {
  if (!m.ranks || m.time.n == 0) return untimed(m);
  return none(marked("each rank of a ring has its own memory, which is not counted"));
}

Figure peak_memory(const Measurement& m) {
  if (!planned(m)) return unplanned(m);
  return derived(static_cast<double>(tensor_bytes(m.key.problem)) + static_cast<double>(m.workspace_bytes),
                 marked("from the plan"));
}

Figure overhead(const Measurement& m) {
  if (!planned(m)) return unplanned(m);
  return derived(static_cast<double>(m.workspace_bytes), marked("from the plan"));
}

// DRAM bytes both ways, or the figure that is missing.
Figure dram_total(const Measurement& m) {
  const Figure& read = figure(m, "dram_read_bytes");
  if (!read.available()) return none(std::string(kNeedsDram) + read.reason);
  const Figure& written = figure(m, "dram_write_bytes");
  if (!written.available()) return none(std::string(kNeedsDram) + written.reason);
  return derived(read.value + written.value, read.method);
}

Figure dram_rate(const Measurement& m) {
  Figure bytes = dram_total(m);
  if (!bytes.available()) return bytes;
  if (m.time.n == 0 || m.time.median <= 0) return untimed(m);
  return derived(bytes.value / m.time.median * 1e-3, bytes.method);
}

constexpr std::string_view kNoCopyRate = marked("the copy rate of this device was not measured in this session");
constexpr std::string_view kNoReadRate = marked("the read rate of this device was not measured in this session");

Figure dram_peak_share(const Measurement& m) {
  return metric_rows::share_of_roof(figure(m, "dram_gb_per_s"), m.peaks.copy_gb_per_s, "copy", kNoCopyRate);
}

// ---- predictions

// The row's kernel in this program's table, on a problem that is one.
Result<const KernelRow*> kernel_of(const Measurement& m) {
  if (auto valid = validate(m.key.problem); !valid) return tl::unexpected(valid.error());
  if (!gpu::own_stem(m.key.kernel).empty())
    return fail(ErrorKind::cannot_run, marked("AttnScope does not know which bytes your kernel must load"));
  return find_kernel(m.key.kernel);
}

Figure compulsory_bytes(const Measurement& m) {
  const auto row = kernel_of(m);
  if (!row) return none(row.error().message);
  return derived(static_cast<double>(compulsory(**row, m.key.problem).total()), marked("counted from the shape"));
}

Figure needed_rate(const Measurement& m) {
  if (makes_gradients(m.key.problem.pass)) return none(marked("required bytes are defined only for a forward pass"));
  return metric_rows::rate_in_span(static_cast<double>(needed_bytes(m.key.problem)), figure(m, "launch_span_us"),
                                   m.time.median);
}
Figure needed_copy_share(const Measurement& m) {
  return metric_rows::share_of_roof(figure(m, "needed_gb_per_s"), m.peaks.copy_gb_per_s, "copy", kNoCopyRate);
}
Figure needed_read_share(const Measurement& m) {
  return metric_rows::share_of_roof(figure(m, "needed_gb_per_s"), m.peaks.read_gb_per_s, "read", kNoReadRate);
}

Figure tile_load_bytes(const Measurement& m) {
  if (!planned(m)) return unplanned(m);
  const auto row = kernel_of(m);
  if (!row) return none(row.error().message);
  const Problem& p = m.key.problem;
  if (makes_gradients(p.pass) || p.storage.kind() != Storage::dense)
    return none(marked("tile loads are defined only for a forward pass over dense K and V"));
  return derived(static_cast<double>(tile_loads(**row, m.key.problem, m.key.options).total()),
                 marked("counted from shape, mask and tile"));
}

Figure over_prediction(const Measurement& m, std::string_view prediction) {
  Figure bytes = dram_total(m);
  if (!bytes.available()) return bytes;
  const Figure& predicted = figure(m, prediction);
  if (!predicted.available()) return predicted;
  return derived(bytes.value / predicted.value, bytes.method);
}

Figure over_compulsory(const Measurement& m) {
  return over_prediction(m, "compulsory_bytes");
}
Figure over_tile_loads(const Measurement& m) {
  return over_prediction(m, "tile_load_bytes");
}

// ---- correctness

template <double (Verdict::*value)() const>
Figure verdict_figure(const Measurement& m) {
  if (!m.verdict) return m.state == RowState::done ? none(marked("not verified: verification was off")) : untimed(m);
  if (m.verdict->not_judged) return none(m.verdict->reason);
  if (m.verdict->no_lse() && (value == &Verdict::lse_error || value == &Verdict::lse_allowed))
    return none(m.key.problem.pass == Pass::backward   ? marked("a backward pass has no LSE of its own")
                : m.key.problem.pass == Pass::training ? marked("it returns no LSE, so O and the gradients were judged")
                                                       : marked("it returns no LSE, so only O was judged"));
  return measured(((*m.verdict).*value)(), "against the fp64 reference, " + m.verdict->sample);
}

// ---- the table

using namespace metric_rows;

constexpr auto kUnits = std::to_array<MetricUnit>({
    {"us", {"_us"}},
    {"%", {"_pct"}},
    {"B", {"_bytes"}},
    {"MHz", {"_mhz"}},
    {"C", {"_c"}},
    {"W", {"_w"}},
    {"TFLOP/s", {"tflops"}},
    {"GB/s", {"_gb_per_s"}},
    {"1", {"_count", "_ratio", "_abs"}},
});

using enum Better;
using enum MetricGroup;

constexpr std::array kMetrics{
    read_directly("time_us_median", marked("Time"), "us", time, down,
                  marked("Half of the repeats were faster than this, and half were slower."),
                  time_figure<&TimeStatistics::median>),
    read_directly("time_us_q1", marked("Time, lower quartile"), "us", time, down,
                  marked("A quarter of the repeats were faster than this."), time_figure<&TimeStatistics::q1>),
    read_directly("time_us_q3", marked("Time, upper quartile"), "us", time, down,
                  marked("A quarter of the repeats were slower than this."), time_figure<&TimeStatistics::q3>),
    read_directly("time_us_ci_low", marked("Time, interval from"), "us", time, down,
                  marked("Lower end of the 95 % interval of the median, from binomial order statistics."),
                  interval_figure<&TimeStatistics::ci_low>),
    read_directly("time_us_ci_high", marked("Time, interval to"), "us", time, down,
                  marked("Upper end of the 95 % interval of the median, from binomial order statistics."),
                  interval_figure<&TimeStatistics::ci_high>),
    read_directly("repeats_count", marked("Repeats"), "1", time, neither,
                  marked("How many times the kernel was timed after the warm-up."), repeats),
    computed("time_spread_pct", marked("Spread"), "%", time, down,
             marked("Distance between the quartiles as a fraction of the median."), "100 (q3 - q1) / median", spread),
    of_launches("launch_span_us", marked("First start to last end"), "us", time, down,
                marked("Time from the start of the first launch to the end of the last; median of the repeats. This "
                       "span includes gaps, which the kernel's time excludes.")),
    sensed("sm_clock_mhz", marked("SM clock, NVML"), "MHz", time, neither,
           marked("Clock of the GPU's SMs as read by NVML between launches while the kernel was timed; median of "
                  "several readings. Drops in clock rate within a launch are missed.")),
    sensed("sm_clock_spread_pct", marked("SM clock, NVML spread"), "%", time, down,
           marked("Range of NVML's SM clock readings, as a fraction of the highest.")),
    sensed("gpu_temperature_c", marked("Temperature"), "C", time, neither,
           marked("Highest temperature of the GPU while the kernel was timed.")),
    sensed("memory_clock_mhz", marked("Memory clock, NVML"), "MHz", time, neither,
           marked("Clock of the GPU's memory as read by NVML while the kernel was timed; median of several "
                  "readings.")),
    sensed("power_w", marked("Power"), "W", time, neither,
           marked("Power drawn by the GPU while the kernel was timed; median of several readings. On most chips, "
                  "each reading is a mean over the last second.")),
    sensed("power_limit_w", marked("Power limit"), "W", time, neither,
           marked("Power limit of the GPU while the kernel was timed.")),
    sensed("held_down_pct", marked("Clocks throttled"), "%", time, down,
           marked("Fraction of the readings in which the clocks were throttled. The row gives the reason: the power "
                  "limit, heat, or fixed clocks.")),
    computed("speedup_ratio", marked("Speed-up"), "1", time, up,
             marked("Speed relative to the baseline on the same problem and device."),
             marked("baseline median / median"), speedup),
    computed("against_run_ratio", marked("Against run"), "1", time, up,
             marked("Speed relative to the same kernel on the same problem in the run chosen for comparison."),
             marked("reference run's median / median"), against_run),
    among_rows("over_contiguous_ratio", marked("Paged / contiguous"), "1", time, down,
               marked("Time relative to the same kernel on the same problem with contiguous K and V."),
               marked("median / median with contiguous K and V")),
    among_rows("over_even_ratio", marked("Ragged / even"), "1", time, down,
               marked("Time relative to the same kernel with the same number of keys, spread evenly over the batches."),
               marked("median / median with equal key lengths")),
    kRingScaling,
    kRingEfficiency,
    kRingSent,
    kRingLinkShare,
    computed("tflops", marked("Rate"), "TFLOP/s", compute, up,
             marked("Useful arithmetic per second, counting only the query-key pairs that the mask lets through."),
             marked("2 pairs (D + Dv) / median time"), tflops),
    computed(
        "peak_share_pct", marked("Share of peak"), "%", compute, up,
        marked("Rate as a fraction of the peak measured on this device. The peak is that of the tensor cores if the "
               "kernel's products run there, otherwise that of fp32 multiply-adds."),
        marked("100 rate / measured peak"), peak_share),
    counted("tensor_pipe_pct", marked("Tensor pipe"), "%", compute, neither,
            marked("Fraction of the active time during which the tensor cores were busy."), kTensorPipe, kNoGpuCounter),
    counted("warp_efficiency_pct", marked("Warp efficiency"), "%", compute, up,
            marked("Average percentage of a warp's 32 threads that take part in an instruction."), kWarpEfficiency,
            kNoGpuCounter),
    counted("dram_read_bytes", marked("DRAM read"), "B", memory, down,
            marked("Bytes read from the device's main memory while the kernel ran."), kDramRead, kNoCpuDram),
    counted("dram_write_bytes", marked("DRAM write"), "B", memory, down,
            marked("Bytes written to the device's main memory while the kernel ran."), kDramWrite, kNoCpuDram),
    computed("dram_gb_per_s", marked("DRAM rate"), "GB/s", memory, neither,
             marked("Bytes read and written per second, in units of 1e9."),
             marked("(DRAM read + DRAM write) / median time"), dram_rate),
    computed("dram_peak_share_pct", marked("Share of copy rate"), "%", memory, neither,
             marked("DRAM rate as a fraction of the rate of a plain copy, measured on this device."),
             marked("100 DRAM rate / measured copy rate"), dram_peak_share),
    counted("l2_hit_pct", marked("L2 hits"), "%", memory, neither,
            marked("Fraction of the sectors requested from the L2 cache that the cache already held."), kL2Hits,
            kNoGpuCounter),
    counted("l2_sectors_count", marked("L2 sectors"), "1", memory, down,
            marked("32-byte sectors that the SMs requested from the L2 cache or wrote to it."), kL2Sectors,
            kNoGpuCounter),
    computed("memory_peak_bytes", marked("Peak memory"), "B", memory, down,
             marked("Memory held while the kernel runs: inputs, outputs and workspace."), marked("tensors + workspace"),
             peak_memory),
    computed("memory_overhead_bytes", marked("Memory overhead"), "B", memory, down,
             marked("Memory used in addition to inputs and outputs, such as a stored S."), "workspace", overhead),
    counted("occupancy_achieved_pct", marked("Achieved occupancy"), "%", occupancy, neither,
            marked("Active warps as a fraction of what an SM can hold."), kWarpsActive, kNoGpuCounter),
    compiled("occupancy_theoretical_pct", marked("Theoretical occupancy"), "%", occupancy, neither,
             marked("Number of warps that registers, shared memory and threads allow, as a fraction of what an SM can "
                    "hold."),
             marked("from registers, shared memory and threads per block")),
    compiled("registers_count", marked("Registers"), "1", occupancy, neither,
             marked("Registers per thread, as assigned by the compiler.")),
    compiled("spill_bytes", marked("Spills"), "B", occupancy, down,
             marked("Bytes per thread that the compiler spilled to memory, counting stores and "
                    "loads.")),
    compiled("shared_static_bytes", marked("Static shared memory"), "B", shared_memory, neither,
             marked("Shared memory that the compiler allocated for a block.")),
    compiled("shared_dynamic_bytes", marked("Dynamic shared memory"), "B", shared_memory, neither,
             marked("Shared memory that the launch requests for a block.")),
    counted("shared_wavefronts_count", marked("Shared wavefronts"), "1", shared_memory, neither,
            marked("Number of shared-memory passes that all accesses needed."), kWavefronts, kNoGpuCounter),
    counted("shared_conflicts_count", marked("Bank conflicts"), "1", shared_memory, down,
            marked("Extra passes caused by threads of a warp accessing the same bank."), kConflicts, kNoGpuCounter),
    computed("compulsory_bytes", marked("Compulsory bytes"), "B", prediction, down,
             marked("Bytes that this order must move: inputs and outputs once, plus S and P once each way if it "
                    "stores them."),
             marked("Q, K, V, bias, O and LSE once each; orders that store S add S and P"), compulsory_bytes),
    computed("needed_gb_per_s", marked("Required rate"), "GB/s", prediction, up,
             marked("Bytes per second over the launches' span, in units of 1e9: Q, O and LSE, and the K and V that "
                    "rows see."),
             marked("bytes of Q, O, LSE and visible keys / (first start to last end)"), needed_rate),
    computed("needed_copy_share_pct", marked("Required, of copy rate"), "%", prediction, up,
             marked("Required rate as a fraction of the rate of a plain copy, measured on this device."),
             marked("100 required rate / measured copy rate"), needed_copy_share),
    computed("needed_read_share_pct", marked("Required, of read rate"), "%", prediction, up,
             marked("Required rate as a fraction of this device's measured memory read rate."),
             marked("100 required rate / measured read rate"), needed_read_share),
    computed("tile_load_bytes", marked("Tile loads"), "B", prediction, down,
             marked("Bytes that the order of the tiles would request from memory if nothing were cached."),
             marked("the paper's model, per order"), tile_load_bytes),
    computed("dram_over_compulsory_ratio", marked("DRAM / compulsory"), "1", prediction, neither,
             marked("Measured DRAM bytes relative to the minimum that this order must move."),
             marked("(DRAM read + DRAM write) / compulsory bytes"), over_compulsory),
    computed("dram_over_tile_loads_ratio", marked("DRAM / tile loads"), "1", prediction, neither,
             marked("Measured DRAM bytes relative to what the order requests without any cache."),
             marked("(DRAM read + DRAM write) / tile loads"), over_tile_loads),
    computed("error_abs", marked("Error"), "1", correctness, down,
             marked("Largest difference between an output element and the fp64 reference."), "max |O - reference|",
             verdict_figure<&Verdict::error>),
    computed("error_allowed_abs", marked("Error allowed"), "1", correctness, neither,
             marked("Largest difference that the correctness rule allows on this problem."),
             marked("2 max |baseline - reference| + rounding terms, including those of S"),
             verdict_figure<&Verdict::allowed>),
    computed("lse_error_abs", marked("LSE error"), "1", correctness, down,
             marked("Largest difference between an LSE and the fp64 reference."), marked("max |LSE - reference|"),
             verdict_figure<&Verdict::lse_error>),
    computed("lse_error_allowed_abs", marked("LSE error allowed"), "1", correctness, neither,
             marked("Largest LSE difference that the correctness rule allows on this problem."),
             marked("c max(1, max |S|), c = 1e-5 for f32, 1e-3 for 16-bit types"),
             verdict_figure<&Verdict::lse_allowed>),
};

}  // namespace

std::string said_reason(const Figure& f) {
  const std::string_view reason = f.reason;
  if (reason.starts_with(kNeedsDram)) return phrase("needs DRAM bytes: {}", tr_of(reason.substr(kNeedsDram.size())));
  return std::string(tr_of(reason));
}

std::span<const MetricRow> metric_table() {
  return kMetrics;
}

std::span<const MetricUnit> metric_units() {
  return kUnits;
}

Result<std::size_t> find_metric(std::string_view id) {
  for (std::size_t i = 0; i < kMetrics.size(); ++i)
    if (kMetrics[i].id == id) return i;
  std::string known;
  for (const MetricRow& row : kMetrics) known += fmt::format("{}{}", known.empty() ? "" : ", ", row.id);
  return bad_input(fmt::format("Unknown metric '{}'; use {}.", id, known));
}

// Of a peer time and error are taken; nothing is known of its launches, registers and bytes.
bool has_for_peers(const MetricRow& row) {
  const bool rate = row.group == MetricGroup::compute && row.compute != nullptr;
  return row.group == MetricGroup::time || row.group == MetricGroup::correctness || rate;
}

void fill_figures(Measurement& m) {
  std::vector<Figure> kept(kMetrics.size());
  kept.swap(m.figures);
  // What was counted first, wherever it stands: figures are computed of it.
  for (std::size_t i = 0; i < kMetrics.size(); ++i) {
    const MetricRow& row = kMetrics[i];
    if (m.peer && !has_for_peers(row)) {
      m.figures[i] = none(marked("for peers, only time and error are measured"));
    } else if (row.compute != nullptr) {
      continue;
    } else if (i < kept.size() && (kept[i].available() || !kept[i].reason.empty())) {
      m.figures[i] = std::move(kept[i]);
    } else {
      m.figures[i] = none(std::string(
          m.processor == Processor::cpu ? row.not_on_cpu : marked("this metric was not collected for this row")));
    }
  }
  for (std::size_t i = 0; i < kMetrics.size(); ++i) {
    const MetricRow& row = kMetrics[i];
    if (row.compute != nullptr && !(m.peer && !has_for_peers(row))) m.figures[i] = row.compute(m);
  }
}

const Figure& figure(const Measurement& m, std::string_view metric_id) {
  static const Figure unknown = none(marked("this version does not know the metric, or the row has no value for it"));
  for (std::size_t i = 0; i < m.figures.size() && i < kMetrics.size(); ++i)
    if (kMetrics[i].id == metric_id) return m.figures[i];
  return unknown;
}

}  // namespace attn
