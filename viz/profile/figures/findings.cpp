#include "viz/profile/figures/findings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/base/text.h"
#include "kernels/gpu/compile/occupancy.h"
#include "kernels/lab/experiments.h"
#include "kernels/ladder.h"
#include "profiling/figures/heartbeat.h"
#include "profiling/figures/metrics.h"
#include "viz/bench/scene/bench_scene.h"
#include "viz/draw/figure_text.h"
#include "viz/profile/figures/bytes_and_pipes.h"
#include "viz/profile/figures/findings_sampled.h"
#include "viz/profile/figures/proposed_rungs.h"
#include "viz/profile/occupancy/occupancy.h"

namespace attn {
namespace {

// From where on a figure is worth a word.
constexpr double kSlotsBusy = 85;     // % of the issue slots, or of what the shared memory can pass
constexpr double kConflicts = 0.05;   // of the shared memory's turns
constexpr double kWorthIt = 1.03;     // times as fast: less is not proposed
constexpr double kWholeWarps = 90;    // % of a warp's threads
constexpr double kFewWarps = 20;      // % of what an SM holds
constexpr double kTailLost = 0.05;    // of the time, were every wave as long
constexpr double kHardlyMore = 1.05;  // times the least bytes

double value(const Measurement& m, std::string_view metric) {
  return figure(m, metric).value;
}

bool stores_scores(const Measurement& m) {
  const auto row = find_kernel(m.key.kernel);
  return row && (*row)->stores_scores;
}

Finding dram_bound(const Measurement& m, const FindingContext&) {
  Finding f;
  const double share = value(m, "dram_peak_share_pct"), over = value(m, "dram_over_compulsory_ratio");
  if (share < kDramBusy || share <= 0) return f;
  const bool more = over > kHardlyMore;
  f.at_most = more ? over : std::max(1.0, 100 / share);
  f.text = phrase("DRAM runs at {} of a plain copy's rate and moves {} times the minimum bytes: {}.",
                  percent_text(share), times_text(over),
                  more ? phrase("with the minimum bytes, the kernel could be {} times as fast", times_text(f.at_most))
                       : phrase("the kernel could be at most {} times as fast", times_text(f.at_most)));
  f.experiment = tr("larger query tiles");
  if (!stores_scores(m)) return f;
  f.other_kernel = keeps_scores(m.key.problem.dtype);
  f.experiment = phrase("keeping S and P on chip, as {} does", f.other_kernel);
  return f;
}

Finding multiply_bound(const Measurement& m, const FindingContext& context) {
  Finding f;
  const double share = value(m, "peak_share_pct"), tensor = value(m, "tensor_pipe_pct");
  if (share < kMultiplyBusy || tensor >= kTensorWorks || m.peaks.tensor_gflops > 0) return f;
  f.at_most = std::max(1.0, 100 / share);
  f.text = phrase("The kernel reaches {} % of the multiply-add peak, with tensor cores busy in {} of 100 cycles.",
                  figure_text(share), figure_text(tensor));
  f.other_kernel = on_tensor_cores(m.key.problem.dtype, context.arch);
  f.experiment = phrase("tensor cores: {}", f.other_kernel);
  return f;
}

// Were the shared memory never idle, the turns that remain would bound it; as it is, the time that the others take: an
// SM passes one a cycle.
Finding bank_conflicts(const Measurement& m, const FindingContext& context) {
  Finding f;
  const double turns = value(m, "shared_wavefronts_count"), extra = value(m, "shared_conflicts_count");
  if (turns <= 0 || extra / turns <= kConflicts || extra >= turns) return f;
  f.at_most = turns / (turns - extra);
  f.text =
      phrase("{} of {} passes through shared memory are due to bank conflicts", count_words(extra), count_words(turns));
  const double cycles = context.sms * clock_mhz(m), us = cycles > 0 ? extra / cycles : 0;
  if (us > 0 && us < m.time.median) {
    f.at_most = std::min(f.at_most, m.time.median / (m.time.median - us));
    f.text = phrase("{}: at one per cycle per SM, they take {} of {}", f.text, value_with_unit(us, time_unit(us, us)),
                    value_with_unit(m.time.median, time_unit(m.time.median, m.time.median)));
  }
  if (f.at_most < kWorthIt) return {};
  f.text += ".";
  f.experiment = tr("rows of shared memory further apart, or swizzled");
  return f;
}

Finding spills(const Measurement& m, const FindingContext&) {
  Finding f;
  const double bytes = value(m, "spill_bytes");
  if (bytes <= 0) return f;
  f.text = phrase("{} B of each thread's registers are spilled to memory.", figure_text(bytes));
  f.experiment = tr("a smaller tile, or more threads");
  return f;
}

Finding partial_warps(const Measurement& m, const FindingContext&) {
  Finding f;
  const double share = value(m, "warp_efficiency_pct");
  if (share >= kWholeWarps || share <= 0) return f;
  f.at_most = 100 / share;
  f.text = phrase("On average, {} of a warp's threads are active per instruction.", percent_text(share));
  f.experiment = tr("tiles that divide the lengths");
  return f;
}

// What a launch takes of an SM.
struct Taken {
  std::int32_t threads = 0, registers = 0;
  std::int64_t shared = 0;  // bytes
};
Taken taken_by(const Measurement& m) {
  const Launch& l = m.launches.front();
  return {static_cast<std::int32_t>(l.block[0] * l.block[1] * l.block[2]),
          static_cast<std::int32_t>(value(m, "registers_count")),
          static_cast<std::int64_t>(value(m, "shared_static_bytes")) + l.shared_bytes};
}

// What one block more would have; nothing where that is not known, or none fits.
std::optional<BlockRoom> room_of_next(const Measurement& m, const FindingContext& context) {
  const auto limits = gpu::limits_of(context.arch);
  if (!limits || m.launches.size() != 1 || !figure(m, "registers_count").available()) return std::nullopt;
  const Taken t = taken_by(m);
  const std::int32_t blocks = gpu::occupancy(*limits, t.threads, t.registers, t.shared).blocks;
  return blocks == 0 ? std::nullopt : room_of(*limits, t.threads, blocks + 1);
}

// The experiment that is prepared for it, where the kernel has one; else the limit of registers, if they are all that
// stands in the way.
void put_attempt(const Measurement& m, const FindingContext& context, Finding& f) {
  if (const auto row = find_kernel(m.key.kernel)) {
    const auto prepared = std::ranges::find_if((*row)->experiments, &Experiment::more_blocks);
    if (prepared != (*row)->experiments.end()) {
      f.prepared = prepared->id;
      f.experiment = tr("half the warps and rows per block, for fewer registers and more blocks per SM");
      return;
    }
  }
  const auto room = room_of_next(m, context);
  if (!room) return;
  const Taken t = taken_by(m);
  if (t.registers > room->registers && t.shared <= room->shared) f.max_registers = room->registers;
}

// What must become smaller for one more block an SM: those resources alone that are in its way.
std::string room_for_a_block(const Measurement& m, const FindingContext& context) {
  const auto limits = gpu::limits_of(context.arch);
  constexpr const char* kUnknown = marked("a kernel with more blocks per SM");
  if (!limits || m.launches.size() != 1 || !figure(m, "registers_count").available()) return tr_of(kUnknown);
  const Taken t = taken_by(m);
  const std::int32_t blocks = gpu::occupancy(*limits, t.threads, t.registers, t.shared).blocks;
  const auto room = room_of(*limits, t.threads, blocks + 1);
  if (blocks == 0 || !room) return tr("more warps per block, because no more blocks fit");
  std::vector<std::string> less;
  if (t.registers > room->registers) less.push_back(phrase("at most {} registers per thread", room->registers));
  if (t.shared > room->shared) less.push_back(phrase("{} of shared memory per block", kibibytes(room->shared)));
  if (less.empty()) return tr_of(kUnknown);
  return phrase("{} for {} blocks per SM", fmt::join(less, tr(" and ")), blocks + 1);
}

// What of an SM was busy over the run, where somebody listened to it.
struct HeardShare {
  const char* id;     // of profiling/figures/heartbeat.h
  const char* words;  // "issue slots"
  double share = 0;   // %
};
std::vector<HeardShare> heard_shares(const Measurement& m) {
  std::vector<HeardShare> heard;
  if (m.heartbeat == nullptr) return heard;
  for (HeardShare h : {HeardShare{"issue", tr("issue slots")}, HeardShare{"shared", tr("shared memory")}}) {
    const auto mean = mean_of(*m.heartbeat, h.id);
    if (!mean || *mean <= 0) continue;
    h.share = *mean;
    heard.push_back(h);
  }
  return heard;
}

// Its threads move registers: few warps, which cover each other, are what it is built on.
bool moves_registers(const Measurement& m) {
  const auto row = find_kernel(m.key.kernel);
  return row && (*row)->registers != nullptr;
}

// Neither bytes nor products keep it busy, and few warps are there to wait in.
Finding few_warps(const Measurement& m, const FindingContext& context) {
  Finding f;
  if (moves_registers(m)) return f;
  const double active = value(m, "occupancy_achieved_pct"), multiply = value(m, "peak_share_pct"),
               dram = value(m, "dram_peak_share_pct"), tensor = value(m, "tensor_pipe_pct");
  if (active >= kFewWarps || multiply >= kMultiplyBusy || dram >= kDramBusy || tensor >= kTensorBusy) return f;
  const bool by_tensor = tensor >= kTensorWorks;
  double busiest = std::max(dram, by_tensor ? tensor : multiply);
  std::string busy;
  for (const HeardShare& heard : heard_shares(m)) {
    if (heard.share >= kSlotsBusy) return f;
    busiest = std::max(busiest, heard.share);
    busy += phrase("{} at {}, ", heard.words, percent_text(heard.share));
  }
  if (busiest > 0) f.at_most = 100 / busiest;
  if (const double filled = filled_slots(m); filled > 0 && (f.at_most <= 0 || filled < f.at_most)) f.at_most = filled;
  if (f.at_most > 0 && f.at_most < kWorthIt) return {};
  f.text = phrase("{} % of an SM's warps are active, and nothing is at its limit: {}{} at {} %, DRAM at {} %.",
                  figure_text(active), busy, by_tensor ? tr("tensor cores") : tr("multiply-adds"),
                  figure_text(by_tensor ? tensor : multiply), figure_text(dram));
  f.experiment = room_for_a_block(m, context);
  put_attempt(m, context, f);
  return f;
}

Finding tensor_idle(const Measurement& m, const FindingContext& context) {
  Finding f;
  const double tensor = value(m, "tensor_pipe_pct");
  if (m.key.problem.dtype == DType::f32 || tensor >= kTensorWorks) return f;
  f.text = phrase("The {} products could run on the tensor cores, which are busy in {} of 100 cycles.",
                  name_of(m.key.problem.dtype), figure_text(tensor));
  f.other_kernel = on_tensor_cores(m.key.problem.dtype, context.arch);
  f.experiment = phrase("tensor cores: {}", f.other_kernel);
  return f;
}

// Blocks of the last wave leave the rest of the GPU idle. Of one launch, since several have waves of their own.
Finding tail(const Measurement& m, const FindingContext& context) {
  Finding f;
  const auto limits = gpu::limits_of(context.arch);
  if (!limits || context.sms <= 0 || m.launches.size() != 1) return f;
  const Launch& l = m.launches.front();
  const Taken t = taken_by(m);
  const gpu::Occupancy fits = gpu::occupancy(*limits, t.threads, t.registers, t.shared);
  const double blocks = static_cast<double>(l.grid[0] * l.grid[1] * l.grid[2]);
  const double places = static_cast<double>(fits.blocks) * context.sms;
  if (places <= 0 || blocks <= 0) return f;
  const double waves = blocks / places, whole = std::ceil(waves);
  if (1 - waves / whole < kTailLost) return f;
  f.at_most = whole / waves;
  f.text = phrase("{:.0f} blocks on {:.0f} slots are {} waves: the last wave leaves slots empty.", blocks, places,
                  figure_text(waves));
  f.experiment = tr("a tile that divides the work into whole waves");
  return f;
}

using Needs = std::string_view;
constexpr auto kDramNeeds = std::to_array<Needs>({"dram_peak_share_pct", "dram_over_compulsory_ratio"});
constexpr auto kMultiplyNeeds = std::to_array<Needs>({"peak_share_pct", "tensor_pipe_pct"});
constexpr auto kConflictNeeds = std::to_array<Needs>({"shared_wavefronts_count", "shared_conflicts_count"});
constexpr auto kSpillNeeds = std::to_array<Needs>({"spill_bytes"});
constexpr auto kWarpNeeds = std::to_array<Needs>({"warp_efficiency_pct"});
constexpr auto kFewNeeds =
    std::to_array<Needs>({"occupancy_achieved_pct", "peak_share_pct", "dram_peak_share_pct", "tensor_pipe_pct"});
constexpr auto kTensorNeeds = std::to_array<Needs>({"tensor_pipe_pct"});
constexpr auto kTailNeeds = std::to_array<Needs>({"registers_count", "shared_static_bytes"});
constexpr auto kStoredNeeds = std::to_array<Needs>({"dram_peak_share_pct", "compulsory_bytes"});

constexpr auto kRules = std::to_array<FindingRule>({
    {"dram_bound", kDramNeeds, dram_bound},
    {"multiply_bound", kMultiplyNeeds, multiply_bound},
    {"bank_conflicts", kConflictNeeds, bank_conflicts},
    {"spills", kSpillNeeds, spills},
    {"partial_warps", kWarpNeeds, partial_warps},
    {"few_warps", kFewNeeds, few_warps},
    {"tensor_idle", kTensorNeeds, tensor_idle},
    {"tail", kTailNeeds, tail},
    {"uncoalesced", {}, uncoalesced},
    {"stored_scores", kStoredNeeds, stored_scores},
    {"late_copies", {}, late_copies},
    {"held_at_dispatch", {}, held_at_dispatch},
});

}  // namespace

std::string attempt_label(const Finding& f) {
  if (!f.prepared.empty()) {
    const auto prepared = find_experiment(f.prepared);
    if (prepared) return std::string(tr_of((*prepared)->title));
  }
  if (f.max_registers > 0) return phrase("At most {} registers", f.max_registers);
  if (!f.other_kernel.empty()) return f.other_kernel;
  return tr("Open the lab");
}

std::span<const FindingRule> finding_rules() {
  return kRules;
}

std::vector<Finding> findings_of(const Measurement& m, const FindingContext& context, std::size_t max) {
  std::vector<Finding> found;
  if (m.state != RowState::done || m.time.n == 0 || m.processor != Processor::gpu) return found;
  for (const FindingRule& rule : finding_rules()) {
    // The least of several launches bounds nothing.
    const bool known = std::ranges::all_of(rule.needs, [&](std::string_view metric) {
      const Figure& f = figure(m, metric);
      return f.available() && !f.min_of_launches;
    });
    if (!known) continue;
    Finding f = rule.look(m, context);
    f.rule = rule.id;
    if (!f.text.empty()) found.push_back(std::move(f));
  }
  std::ranges::stable_sort(found, [](const Finding& a, const Finding& b) {
    return std::max(a.at_most, a.seen) > std::max(b.at_most, b.seen);
  });
  if (found.size() > max) found.resize(max);
  return found;
}

}  // namespace attn
