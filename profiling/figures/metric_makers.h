// How the rows of the metric table are made, and the counters that they name. For profiling/figures/metrics.cpp.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "kernels/base/text.h"
#include "profiling/figures/measurement.h"
#include "profiling/figures/metric_row.h"

namespace attn::metric_rows {

// Names checked with CUPTI 13.0's host API for the chips it lists. GeForce Blackwell (GB20x) renamed DRAM bytes;
// Tegra-class chips (GV11B, GA10B, GB10B, GB20B) have neither.
using Counters1 = std::array<std::string_view, 1>;
using Counters2 = std::array<std::string_view, 2>;
inline constexpr Counters2 kDramRead{"dram__bytes_read.sum", "dram__bytes_op_read.sum"};
inline constexpr Counters2 kDramWrite{"dram__bytes_write.sum", "dram__bytes_op_write.sum"};
inline constexpr Counters1 kL2Hits{"lts__t_sector_hit_rate.pct"};
inline constexpr Counters1 kL2Sectors{"lts__t_sectors_srcunit_tex.sum"};
inline constexpr Counters1 kWarpsActive{"sm__warps_active.avg.pct_of_peak_sustained_active"};
inline constexpr Counters1 kWavefronts{"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"};
inline constexpr Counters1 kConflicts{"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"};
inline constexpr Counters1 kTensorPipe{"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"};
inline constexpr Counters1 kWarpEfficiency{"smsp__thread_inst_executed_per_inst_executed.pct"};

inline constexpr std::string_view kNoCpuDram =
    marked("this version does not read a CPU's memory counters; use a GPU kernel on an NVIDIA GPU");
inline constexpr std::string_view kNoGpuCounter =
    marked("this figure is a GPU counter, but the kernel runs on the CPU; use a GPU kernel on an NVIDIA GPU");
inline constexpr std::string_view kNoSensor =
    marked("this figure is a GPU sensor reading, but the kernel runs on the CPU; use a GPU kernel");
inline constexpr std::string_view kNoLaunches = marked(
    "this figure describes a GPU kernel's launches, but the kernel runs on the CPU, where the whole call is timed");
inline constexpr std::string_view kNoCompiler =
    marked("this figure comes from the GPU compiler, but the kernel runs on the CPU; use a GPU kernel");

inline constexpr std::string_view kNoOtherRow = marked("this row was not compared with others");

// One function for each kind of row, so that a row names nothing that it does not have.
using Text = std::string_view;
using Compute = Figure (*)(const Measurement&);

constexpr MetricRow read_directly(Text id, Text label, Text unit, MetricGroup group, Better better, Text help,
                                  Compute compute) {
  return {id, label, unit, group, better, help, "", {}, compute, ""};
}

constexpr MetricRow computed(Text id, Text label, Text unit, MetricGroup group, Better better, Text help, Text formula,
                             Compute compute) {
  return {id, label, unit, group, better, help, formula, {}, compute, ""};
}

constexpr MetricRow counted(Text id, Text label, Text unit, MetricGroup group, Better better, Text help,
                            std::span<const Text> counters, Text not_on_cpu) {
  return {id, label, unit, group, better, help, "", counters, nullptr, not_on_cpu};
}

constexpr MetricRow sensed(Text id, Text label, Text unit, MetricGroup group, Better better, Text help) {
  return {id, label, unit, group, better, help, "", {}, nullptr, kNoSensor};
}

constexpr MetricRow of_launches(Text id, Text label, Text unit, MetricGroup group, Better better, Text help) {
  return {id, label, unit, group, better, help, "", {}, nullptr, kNoLaunches};
}

constexpr MetricRow compiled(Text id, Text label, Text unit, MetricGroup group, Better better, Text help,
                             Text formula = "") {
  return {id, label, unit, group, better, help, formula, {}, nullptr, kNoCompiler};
}

// Found among other rows, not in its own: profiling/figures/baseline.h puts it there.
constexpr MetricRow among_rows(Text id, Text label, Text unit, MetricGroup group, Better better, Text help,
                               Text formula) {
  return {id, label, unit, group, better, help, formula, {}, nullptr, kNoOtherRow};
}

// ---- figures of several rows

// Why there is no figure.
inline Figure none(std::string reason) {
  return {Origin::not_available, 0, "", std::move(reason)};
}
// Why a row that was not timed has no figures.
Figure untimed(const Measurement& m);

// Bytes over the launches' span, from the first start to the last end; over the time where no clock tells it.
Figure rate_in_span(double bytes, const Figure& span, double time_us);
// A rate as a share of a roof that was measured, which the method names. `missing`: what is said where it was not.
Figure share_of_roof(const Figure& rate, double roof, std::string_view name, std::string_view missing);

// ---- a ring's rows

Figure ring_scaling(const Measurement& m);
Figure ring_efficiency(const Measurement& m);
Figure ring_sent_bytes(const Measurement& m);
Figure ring_link_share(const Measurement& m);

inline constexpr MetricRow kRingScaling =
    computed("ring_scaling_ratio", marked("Ring scaling"), "1", MetricGroup::time, Better::up,
             marked("Speed of the ring relative to one rank with the whole problem and the same number of threads."),
             marked("median of one rank / median"), ring_scaling);
inline constexpr MetricRow kRingEfficiency =
    computed("ring_efficiency_pct", marked("Ring efficiency"), "%", MetricGroup::time, Better::up,
             marked("Scaling of the ring as a fraction of its number of ranks."), marked("100 scaling / ranks"),
             ring_efficiency);
inline constexpr MetricRow kRingSent =
    read_directly("ring_sent_bytes", marked("Ring, sent"), "B", MetricGroup::time, Better::down,
                  marked("Bytes that all ranks of the ring sent to their neighbours."), ring_sent_bytes);
inline constexpr MetricRow kRingLinkShare =
    computed("ring_link_share_pct", marked("Ring, share of link"), "%", MetricGroup::time, Better::neither,
             marked("Sending rate of the slowest rank as a fraction of the rate of a plain copy to the neighbour while "
                    "all ranks copy."),
             marked("100 sent bytes / time spent sending / measured link rate"), ring_link_share);

}  // namespace attn::metric_rows
