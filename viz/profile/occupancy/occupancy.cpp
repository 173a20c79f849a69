#include "viz/profile/occupancy/occupancy.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "kernels/gpu/compile/occupancy.h"
#include "kernels/gpu/rungs/common.h"
#include "kernels/ladder.h"
#include "profiling/figures/heartbeat.h"
#include "profiling/figures/metrics.h"
#include "viz/bench/scene/bench_scene.h"
#include "viz/draw/figure_text.h"

namespace attn {
namespace {

using Fits = std::function<gpu::Occupancy(std::int64_t)>;

std::string blocks_text(std::int64_t n) {
  return plural(n, "{} block", "{} blocks");
}

std::string warps_text(std::int64_t n) {
  return plural(n, "{} warp", "{} warps");
}

std::string fit_words(const gpu::Occupancy& o) {
  if (o.blocks == 0) return tr("it cannot be launched");
  return fmt::format("{}, {}", blocks_text(o.blocks), warps_text(o.warps));
}

std::vector<StairStep> steps_of(std::int64_t first, std::int64_t last, std::int64_t unit, const Fits& fits) {
  std::vector<StairStep> steps;
  for (std::int64_t x = first; x <= last; x += unit) {
    const std::int32_t warps = fits(x).warps;
    if (steps.empty() || steps.back().warps != warps) steps.push_back({x, x, warps});
    steps.back().to = x;
  }
  return steps;
}

// The largest value below `here` at which more blocks fit, and the smallest above at which fewer do.
struct Neighbours {
  std::optional<std::int64_t> below, above;
};
Neighbours neighbours(std::int64_t here, std::int64_t first, std::int64_t last, std::int64_t unit, const Fits& fits) {
  Neighbours n;
  const std::int32_t blocks = fits(here).blocks;
  // The grid of what is tried: `here` need not lie on it.
  const std::int64_t down = here - 1 - (here - 1 - first) % unit;
  for (std::int64_t x = down; x >= first && !n.below; x -= unit)
    if (fits(x).blocks > blocks) n.below = x;
  for (std::int64_t x = down + unit; x <= last && !n.above; x += unit)
    if (x > here && fits(x).blocks < blocks) n.above = x;
  return n;
}

struct Resource {
  const char* title;
  std::int64_t here, first, last, unit;
  std::string (*amount)(std::int64_t);
};

std::string plain(std::int64_t n) {
  return fmt::format("{}", n);
}
std::string next_words(const Resource& r, const Fits& fits, bool limits) {
  const Neighbours n = neighbours(r.here, r.first, r.last, r.unit, fits);
  std::string words;
  if (n.below) {
    words = phrase("{} fewer: {}.", r.amount(r.here - *n.below), fit_words(fits(*n.below)));
  } else {
    words = limits ? tr("Reducing this alone would not help, because another limit allows no more blocks.")
                   : tr("Not the limit.");
  }
  if (n.above) words += phrase(" {} more: {}.", r.amount(*n.above - r.here), fit_words(fits(*n.above)));
  return words;
}

Staircase staircase(const Resource& r, const Fits& fits, bool limits) {
  Staircase s;
  s.title = r.title;
  s.here = r.here;
  s.here_text = r.amount(r.here);
  s.limits = limits;
  s.steps = steps_of(r.first, r.last, r.unit, fits);
  s.next = next_words(r, fits, limits);
  return s;
}

// Blocks of the grid against what the GPU holds at once.
std::string wave_words(const Launch& launch, std::int32_t sms, std::int32_t blocks_of_sm) {
  const std::int64_t blocks = launch.grid[0] * launch.grid[1] * launch.grid[2];
  const std::int64_t at_once = std::int64_t{sms} * blocks_of_sm;
  if (at_once < 1 || blocks < 1) return {};
  const double waves = static_cast<double>(blocks) / static_cast<double>(at_once);
  const std::int64_t last = blocks % at_once;
  std::string words = waves == 1
                          ? phrase("{} on {} SMs, {} at once: 1 wave.", blocks_text(blocks), sms, at_once)
                          : phrase("{} on {} SMs, {} at once: {:.3g} waves.", blocks_text(blocks), sms, at_once, waves);
  if (blocks < at_once) {
    words += plural(at_once - blocks, " {} slot stays empty.", " {} slots stay empty.");
  } else if (last != 0) {
    words += phrase(" The last wave fills {:.0f} % of the GPU.",
                    100.0 * static_cast<double>(last) / static_cast<double>(at_once));
  }
  return words;
}

std::string more_words(const gpu::ArchLimits& arch, std::int32_t threads, std::int32_t blocks) {
  const auto room = room_of(arch, threads, blocks + 1);
  if (!room)
    return phrase("No more blocks fit: an SM holds at most {} threads and {} blocks.", arch.threads, arch.blocks);
  return phrase("To fit {}, use at most {} registers per thread and {} of shared memory per block.",
                blocks_text(blocks + 1), room->registers, kibibytes(room->shared));
}

std::string why_none(const Measurement& m) {
  if (m.processor == Processor::cpu)
    return tr("Occupancy is how many warps an SM holds, so it applies only to GPUs. This kernel runs on the CPU.");
  if (m.state != RowState::done) return fmt::format("{}: {}", name_of(m.state), m.reason);
  const Figure& registers = figure(m, "registers_count");
  if (!registers.available()) return phrase("The compiler reported nothing: {}", tr_of(registers.reason));
  if (m.launches.size() != 1)
    return phrase(
        "{} has {} launches, each with its own occupancy. Each value on the left is the highest or lowest of all "
        "launches, as its tooltip says.",
        m.key.kernel, m.launches.size());
  return {};
}

// "tiled_softmax: 898 µs, 29.0 % of the time; 65536 blocks of 256 threads; issue slots 24.1 %, DRAM reads 40.2 %". What
// its time was, and what the heartbeat heard of it where there is one.
std::vector<std::string> launch_lines(const Measurement& m) {
  constexpr double kSeen = 0.5;  // %: what rounds to nothing was not kept busy
  std::vector<std::string> lines;
  if (m.launches.size() < 2) return lines;
  const Heartbeat* const heard =
      m.heartbeat != nullptr && m.heartbeat->launches.size() == m.launches.size() ? m.heartbeat.get() : nullptr;
  std::vector<double> times = m.launch_us;
  if (times.size() != m.launches.size() && heard != nullptr) {
    times.clear();
    for (const BeatLaunch& launch : heard->launches) times.push_back(launch.length_us());
  }
  double all = 0;
  for (const double us : times) all += us;
  for (std::size_t n = 0; n < m.launches.size(); ++n) {
    const Launch& l = m.launches[n];
    std::string line = (heard != nullptr ? heard->launches[n].kernel : l.name) + ": ";
    if (times.size() == m.launches.size() && all > 0)
      line += phrase("{}, {:.1f} % of the time; ", value_with_unit(times[n], time_unit(times[n], times[n])),
                     100 * times[n] / all);
    line += phrase("{} of {} threads", blocks_text(l.grid[0] * l.grid[1] * l.grid[2]),
                   l.block[0] * l.block[1] * l.block[2]);
    std::string busy;
    for (const auto& [id, words] : {std::pair("issue", tr("issue slots")), std::pair("fma", tr("multiply-adds")),
                                    std::pair("shared", tr("shared memory")), std::pair("l2", "L2"),
                                    std::pair("dram_read", tr("DRAM reads")), std::pair("dram_write", tr("writes"))}) {
      const BeatCounter* const counter = heard == nullptr ? nullptr : counter_of(*heard, id);
      if (counter == nullptr) continue;
      const BeatLaunch& launch = heard->launches[n];
      const auto mean = mean_between(*heard, *counter, launch.start_us, launch.end_us);
      if (mean && *mean >= kSeen) busy += fmt::format("{}{} {:.0f} %", busy.empty() ? "" : ", ", words, *mean);
    }
    if (!busy.empty()) line += "; " + busy;
    line += '.';
    lines.push_back(std::move(line));
  }
  return lines;
}

// What the stairs cannot show: they go by the registers that a block is launched with.
std::string register_line(const Measurement& m) {
  const auto row = find_kernel(m.key.kernel);
  const std::string then = row ? gpu::register_words(**row, m.key.problem, m.key.options) : std::string();
  return then.empty() ? then : phrase("Registers are redistributed after the start: {} (setmaxnreg).", then);
}

}  // namespace

std::string kibibytes(std::int64_t bytes) {
  if (bytes == 0) return "0";
  return bytes % 1024 == 0 ? phrase("{} KiB", bytes / 1024) : phrase("{:.1f} KiB", static_cast<double>(bytes) / 1024);
}

std::optional<BlockRoom> room_of(const gpu::ArchLimits& arch, std::int32_t threads, std::int32_t blocks) {
  const auto fits = [&](std::int32_t registers, std::int64_t shared) {
    return gpu::occupancy(arch, threads, registers, shared).blocks >= blocks;
  };
  if (!fits(1, 0)) return std::nullopt;
  BlockRoom room{gpu::kMaxRegisters, arch.shared_block};
  while (!fits(room.registers, 0)) --room.registers;
  while (room.shared > 0 && !fits(1, room.shared)) room.shared -= std::min(room.shared, arch.shared_unit);
  return room;
}

OccupancyScene occupancy_scene(const Measurement& m, const std::string& arch, std::int32_t sms) {
  OccupancyScene scene;
  scene.arch = arch;
  scene.empty = why_none(m);
  if (m.state == RowState::done) scene.launches = launch_lines(m);
  const auto limits = gpu::limits_of(arch);
  if (scene.empty.empty() && !limits)
    scene.empty = phrase("This version of AttnScope does not know the limits of {}.", arch);
  if (!scene.empty.empty()) return scene;
  const Launch& launch = m.launches.front();
  const auto threads = static_cast<std::int32_t>(launch.block[0] * launch.block[1] * launch.block[2]);
  const auto registers = static_cast<std::int32_t>(figure(m, "registers_count").value);
  const Figure& laid_out = figure(m, "shared_static_bytes");
  const std::int64_t shared =
      launch.shared_bytes + (laid_out.available() ? static_cast<std::int64_t>(laid_out.value) : 0);
  const gpu::Occupancy now = gpu::occupancy(*limits, threads, registers, shared);
  const auto holds = [&now](const char* name) { return now.limiter.find(name) != std::string::npos; };

  scene.theoretical = now.percent();
  scene.words = phrase("{} of {}: {} of {} warps, {:.3g} %", blocks_text(now.blocks),
                       warps_text((threads + gpu::kWarp - 1) / gpu::kWarp), now.warps, now.max_warps, now.percent());
  scene.words += now.warps == now.max_warps ? tr(": the SM is full.") : phrase(", limited by {}.", now.limiter);
  scene.registers = register_line(m);
  scene.more = more_words(*limits, threads, now.blocks);
  const Figure& achieved = figure(m, "occupancy_achieved_pct");
  if (achieved.available()) scene.achieved = achieved.value;
  scene.achieved_text =
      achieved.available() ? fmt::format("{:.3g} %", achieved.value) : std::string(tr_of(achieved.reason));
  scene.waves = wave_words(launch, sms, now.blocks);
  if (const std::int64_t at_once = std::int64_t{sms} * now.blocks; at_once > 0)
    scene.wave_count =
        static_cast<double>(launch.grid[0] * launch.grid[1] * launch.grid[2]) / static_cast<double>(at_once);
  scene.stairs = {
      staircase(
          {tr("Registers per thread"), registers, 1, gpu::kMaxRegisters, 1, plain},
          [&](std::int64_t x) { return gpu::occupancy(*limits, threads, static_cast<std::int32_t>(x), shared); },
          holds(tr("registers"))),
      staircase(
          {tr("Shared memory per block"), shared, 0, limits->shared_block, limits->shared_unit, kibibytes},
          [&](std::int64_t x) { return gpu::occupancy(*limits, threads, registers, x); }, holds(tr("shared memory"))),
      staircase(
          {tr("Threads per block"), threads, gpu::kWarp, gpu::kMaxThreads, gpu::kWarp, plain},
          [&](std::int64_t x) { return gpu::occupancy(*limits, static_cast<std::int32_t>(x), registers, shared); },
          holds(tr("threads")))};
  for (const Staircase& s : scene.stairs)
    for (const StairStep& step : s.steps) scene.top = std::max(scene.top, step.warps);
  return scene;
}

}  // namespace attn
