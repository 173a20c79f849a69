#include "viz/profile/figures/findings_sampled.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "kernels/base/text.h"
#include "kernels/ladder.h"
#include "kernels/model/traffic.h"
#include "profiling/figures/counts.h"
#include "profiling/figures/heartbeat.h"
#include "profiling/figures/metrics.h"
#include "profiling/figures/samples.h"
#include "viz/bench/scene/bench_scene.h"
#include "viz/draw/figure_text.h"
#include "viz/profile/figures/bytes_and_pipes.h"
#include "viz/profile/figures/proposed_rungs.h"
#include "viz/profile/source/source.h"

namespace attn {
namespace {

// From where on a figure is worth a word.
constexpr double kL1Waits = 0.25;      // of the samples
constexpr double kUncoalesced = 0.25;  // of the sectors
constexpr double kDramWorks = 30;      // % of a plain copy
constexpr double kDramLimit = 60;      // the same, from where on DRAM is the limit and dram_bound says so
constexpr double kCopies = 0.08;       // of the samples
constexpr double kHeld = 0.08;         // of the samples

std::uint64_t in(const std::array<std::uint64_t, kWarpStates>& of, WarpState state) {
  return of.at(static_cast<std::size_t>(state));
}

std::string percent(double share) {
  return percent_text(100 * share);
}

// Without this part of its time.
double without(double share) {
  return share < 1 ? 1 / (1 - share) : 0;
}

// What of the issue slots dispatch holds. In a cycle with an issue one warp issues and those beside it are looked at as
// often, so that the samples of such cycles over those that issue are the warps of a scheduler; of those one alone is
// held, and what is sampled beside it stands in the same lost slot.
double warps_a_scheduler(const SampleCounts& all) {
  const std::uint64_t issues = in(all.of, WarpState::issues);
  return issues == 0 ? 1 : std::max(1.0, static_cast<double>(all.all - all.not_issued) / static_cast<double>(issues));
}
double held_slots(const SampleCounts& all) {
  return std::min(share_of(all.not_issued, all.all),
                  warps_a_scheduler(all) * share_of(in(all.of, WarpState::dispatch), all.all));
}

// "line 45", "line 203 of flash_tile.cuh"
std::string line_words(const std::string& file, std::uint32_t line, bool own) {
  return own ? phrase("line {}", line) : phrase("line {} of {}", line, file.substr(file.rfind('/') + 1));
}

// Microseconds of the launches of this function, as they were heard; nothing where nobody listened.
std::optional<double> heard_us(const Measurement& m, std::string_view function) {
  if (m.heartbeat == nullptr) return std::nullopt;
  const double us = busy_us(*m.heartbeat, function);
  return us > 0 ? std::optional(us) : std::nullopt;
}

// If each launch took as much less as its sectors would be fewer side by side. 0: the launches' times are not known.
double side_by_side(const Measurement& m) {
  double now = 0, then = 0;
  for (const CountedFunction& f : m.counts->functions) {
    const auto us = heard_us(m, f.name);
    if (!us) return 0;
    CounterSums sums;
    for (const CountedInstruction& i : f.instructions) sums.add(i.counts);
    const auto sectors = static_cast<double>(sums[InstructionCounter::sectors]);
    const auto ideal = static_cast<double>(sums[InstructionCounter::sectors_ideal]);
    now += *us;
    then += sectors > ideal ? *us * ideal / sectors : *us;
  }
  return then > 0 ? now / then : 0;
}

// The launch that is softmax alone, where there is one: as it was timed, else as it was heard.
std::optional<BeatLaunch> softmax_of(const Measurement& m) {
  if (m.heartbeat == nullptr) return std::nullopt;
  const auto& launches = m.heartbeat->launches;
  const auto at = std::ranges::find_if(launches, [](const BeatLaunch& l) { return l.kernel.ends_with("softmax"); });
  if (at == launches.end()) return std::nullopt;
  if (m.launch_us.size() != launches.size()) return *at;
  return BeatLaunch{at->kernel, 0, m.launch_us[static_cast<std::size_t>(at - launches.begin())]};
}

const Measurement* other_row(const FindingContext& context, const Measurement& m, std::string_view kernel) {
  for (const Measurement* other : context.others)
    if (other->key.kernel == kernel && other->key.problem == m.key.problem && other->state == RowState::done &&
        other->time.n > 0)
      return other;
  return nullptr;
}

// What the kernel's row says; nothing of a kernel that this program does not know.
Betters betters_of(const Measurement& m) {
  const auto row = find_kernel(m.key.kernel);
  return row ? (*row)->betters : Betters();
}

// The phase in which a warp was most often in this state.
gpu::CodePhase phase_of_most(const KernelSamples& samples, WarpState state) {
  const auto phases = samples_by_phase(samples);
  const auto most = std::ranges::max_element(phases, {}, [&](const SampledPhase& p) { return in(p.counts.of, state); });
  return most == phases.end() ? gpu::CodePhase::none : most->phase;
}

}  // namespace

Finding uncoalesced(const Measurement& m, const FindingContext& context) {
  Finding f;
  if (m.samples == nullptr || m.counts == nullptr || !m.counts->no_lines.empty()) return f;
  const SampleCounts all = counts_of(*m.samples);
  const double waits = share_of(in(all.of, WarpState::l1), all.all);
  const auto excess = [&](const CounterSums& sums) {
    return static_cast<double>(derived(*m.counts, sums, DerivedCount::excess_sectors).value_or(0));
  };
  const CounterSums sums = sums_of(*m.counts);
  const auto sectors = static_cast<double>(sums[InstructionCounter::sectors]);
  if (waits < kL1Waits || sectors <= 0 || excess(sums) < kUncoalesced * sectors) return f;
  const auto lines = counts_by_line(*m.counts);
  const auto most = std::ranges::max_element(lines, {}, [&](const CountedLine& line) { return excess(line.sums); });
  if (most == lines.end()) return f;
  f.at_most = without(share_of(in(all.not_issued_of, WarpState::l1), all.all));
  if (const double by_launch = side_by_side(m); by_launch > 0) f.at_most = std::min(f.at_most, by_launch);
  std::string where = line_words(m.counts->files.at(most->file), most->line, most->file == 0);
  where.front() = 'L';
  f.text = phrase(
      "{} ({}) has uncoalesced reads: {} of {} sectors would be unnecessary if its bytes were contiguous. In {} of the "
      "samples, a warp waits for the L1 cache's queue.",
      where, sign_of(most->phase).text, count_words(excess(most->sums)),
      count_words(static_cast<double>(most->sums[InstructionCounter::sectors])), percent(waits));
  f.experiment = tr("neighbouring threads reading neighbouring elements");
  f.other_kernel = betters_of(m).reads_together;
  if (f.other_kernel.empty()) return f;
  // It does more than to read side by side, so that the bound of that is not its own.
  const Measurement* const other = other_row(context, m, f.other_kernel);
  if (other == nullptr || other->time.median >= m.time.median) {
    f.experiment = phrase("{}, as in {}, which also reads each element less often", f.experiment, f.other_kernel);
    return f;
  }
  f.seen = m.time.median / other->time.median;
  f.text += phrase(" Contiguous access would make the kernel at most {} times as fast.", times_text(f.at_most));
  f.at_most = 0;
  f.experiment = phrase("tiles read contiguously and kept in shared memory: {}", f.other_kernel);
  return f;
}

Finding stored_scores(const Measurement& m, const FindingContext& context) {
  Finding f;
  const auto kernel = find_kernel(m.key.kernel);
  if (!kernel || !(*kernel)->stores_scores) return f;
  const double share = figure(m, "dram_peak_share_pct").value;
  if (share < kDramWorks || share >= kDramLimit) return f;
  const std::string_view keeps = keeps_scores(m.key.problem.dtype);
  const Measurement* const other = other_row(context, m, keeps);
  if (other == nullptr || other->time.median >= m.time.median) return f;
  f.seen = m.time.median / other->time.median;
  const double least = figure(m, "compulsory_bytes").value;
  const double scores = least - static_cast<double>(compulsory(Order::flash, m.key.problem).total());
  f.text = phrase(
      "S and P account for {} of the kernel's minimum traffic ({}), and DRAM runs at {} % of a plain copy's rate",
      bytes_text(scores), bytes_text(least), figure_text(share));
  if (const auto softmax = softmax_of(m)) {
    const double us = softmax->length_us();
    f.text += phrase("; {} alone takes {}", softmax->kernel, value_with_unit(us, time_unit(us, us)));
  }
  const double us = other->time.median;
  f.text += phrase(". {} takes {} in total.", keeps, value_with_unit(us, time_unit(us, us)));
  f.other_kernel = keeps;
  f.experiment = phrase("keeping S and P on chip, as {} does", keeps);
  return f;
}

Finding late_copies(const Measurement& m, const FindingContext&) {
  Finding f;
  if (m.samples == nullptr || !m.samples->no_lines.empty()) return f;
  const SampleCounts all = counts_of(*m.samples);
  SampleCounts waits;
  for (SampledPhase& phase : samples_by_phase(*m.samples))
    if (phase.phase == gpu::CodePhase::barrier) waits = std::move(phase.counts);
  const double share = share_of(in(waits.of, WarpState::global), all.all);
  if (share < kCopies) return f;
  const auto lines = samples_by_line(*m.samples);
  const auto at = std::ranges::find_if(lines, [](const SampledLine& line) {
    return line.phase == gpu::CodePhase::barrier && line.counts.main_state() == WarpState::global;
  });
  const std::uint64_t empty = in(waits.not_issued_of, WarpState::global);
  f.at_most = without(share_of(empty, all.all));
  const std::string where =
      at == lines.end()
          ? std::string()
          : phrase(", most of them at {}", line_words(m.samples->files.at(at->file), at->line, at->file == 0));
  f.text = phrase(
      "In {} of the samples, a warp waits at a barrier for copies from device memory{}: {} of the empty issue slots.",
      percent(share), where, percent(share_of(empty, all.not_issued)));
  f.experiment = tr("one more tile in shared memory, in flight while another tile is used");
  f.other_kernel = betters_of(m).copies_ahead;
  if (!f.other_kernel.empty()) f.experiment += ": " + f.other_kernel;
  return f;
}

Finding held_at_dispatch(const Measurement& m, const FindingContext&) {
  Finding f;
  if (m.samples == nullptr || !m.samples->no_lines.empty()) return f;
  const SampleCounts all = counts_of(*m.samples);
  const double share = share_of(in(all.of, WarpState::dispatch), all.all);
  if (share < kHeld) return f;
  const double slots = held_slots(all);
  f.at_most = without(slots);
  f.text = phrase(
      "In {} of the samples, a warp was picked and then held at dispatch, most often in {}. With {} warps per "
      "scheduler, held warps leave {} of the scheduler's slots empty.",
      percent(share), sign_of(phase_of_most(*m.samples, WarpState::dispatch)).text, times_text(warps_a_scheduler(all)),
      percent(slots));
  f.experiment = tr("reordering a thread's products so that fewer operands share a register bank");
  return f;
}

double filled_slots(const Measurement& m) {
  if (m.samples == nullptr) return 0;
  const SampleCounts all = counts_of(*m.samples);
  if (all.all == 0) return 0;
  // Samples beside a warp that is held and those of a busy pipe may be the same ones: no more than the larger is known.
  const double held = share_of(in(all.of, WarpState::dispatch), all.all),
               pipe = share_of(in(all.not_issued_of, WarpState::pipe), all.all);
  const double lost = held + std::max(held_slots(all) - held, pipe);
  return without(std::max(0.0, share_of(all.not_issued, all.all) - lost));
}

}  // namespace attn
