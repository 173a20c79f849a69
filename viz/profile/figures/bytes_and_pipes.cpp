#include "viz/profile/figures/bytes_and_pipes.h"

#include <algorithm>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "profiling/figures/counts.h"
#include "profiling/figures/exact_shared.h"
#include "profiling/figures/heartbeat.h"
#include "profiling/figures/metrics.h"
#include "viz/bench/runs/results_in_cache.h"
#include "viz/bench/scene/bench_scene.h"
#include "viz/draw/figure_text.h"
#include "viz/profile/figures/cpu_lines.h"
#include "viz/profile/roofline/roofline.h"

namespace attn {
namespace {

BytesLine line_of(const Measurement& m, const char* metric, const char* title) {
  const Figure& f = figure(m, metric);
  BytesLine line{title, "–", said_reason(f), f.available()};
  return line;
}

BytesLine dram_rate(const Measurement& m) {
  BytesLine line = line_of(m, "dram_gb_per_s", tr("DRAM rate"));
  if (!line.available) return line;
  const double rate = figure(m, "dram_gb_per_s").value;
  line.text = value_with_unit(rate * 1e9, {1e-9, "GB/s"});
  const Figure& share = figure(m, "dram_peak_share_pct");
  line.words = share.available() ? phrase("{} of a plain copy's rate on this device.", percent_text(share.value))
                                 : said_reason(share);
  return line;
}

BytesLine l2(const Measurement& m) {
  BytesLine line = line_of(m, "l2_hit_pct", tr("L2 hits"));
  if (!line.available) return line;
  const double hit = figure(m, "l2_hit_pct").value;
  line.text = percent_text(hit);
  // Not "came from DRAM": a miss may be served by the other half of a large L2, whose bytes DRAM does not move.
  line.words = phrase("Of every 100 sectors requested from the L2 cache, {} missed.", figure_text(100 - hit));
  return line;
}

BytesLine conflicts(const Measurement& m) {
  BytesLine line = line_of(m, "shared_conflicts_count", tr("Bank conflicts"));
  const Figure& turns = figure(m, "shared_wavefronts_count");
  if (!line.available || !turns.available()) {
    line.available = false;
    if (!turns.available()) line.words = said_reason(turns);
    return line;
  }
  const double extra = figure(m, "shared_conflicts_count").value;
  if (turns.value <= 0) {
    line.text = "none";
    line.words = tr("No shared memory used.");
    return line;
  }
  const double share = 100 * extra / turns.value;
  line.text = extra > 0 && share < 0.01 ? "< 0.01 %" : percent_text(share);
  line.words = phrase("{} of {} passes through shared memory, {}.", count_words(extra), count_words(turns.value),
                      exact_shared(m) ? tr("counted at each instruction") : tr("from the counter for the whole run"));
  return line;
}

// Sectors that the launch with the most of them asked of the L1 cache in a cycle of an SM; nothing where its time, its
// clock or the SMs are not known.
struct SectorRate {
  std::string launch;
  double rate = 0;
};
std::optional<SectorRate> sector_rate(const Measurement& m, std::int32_t sms) {
  const double mhz = clock_mhz(m);
  if (mhz <= 0 || sms <= 0) return std::nullopt;
  const CountedFunction* most = nullptr;
  double sectors = 0;
  for (const CountedFunction& f : m.counts->functions) {
    CounterSums sums;
    for (const CountedInstruction& i : f.instructions) sums.add(i.counts);
    const auto of = static_cast<double>(sums[InstructionCounter::sectors]);
    if (of <= sectors) continue;
    sectors = of;
    most = &f;
  }
  if (most == nullptr) return std::nullopt;
  double us = m.counts->functions.size() == 1 ? m.time.median : 0;
  if (us <= 0 && m.heartbeat != nullptr) us = busy_us(*m.heartbeat, most->name);
  if (us <= 0) return std::nullopt;
  return SectorRate{m.counts->functions.size() == 1 ? "" : most->name, sectors / (us * mhz * sms)};
}

// What the instructions asked of device memory's addresses: the L1 cache meets all of it.
BytesLine l1(const Measurement& m, std::int32_t sms) {
  BytesLine line{"L1", "–", m.no_counts, false};
  if (line.words.empty())
    line.words = tr("this row's instructions have not been counted yet; on Source, press \"Count it\"");
  if (m.counts == nullptr) return line;
  if (!m.counts->has(InstructionCounter::sectors)) {
    line.words = phrase("{} does not count sectors per instruction", m.counts->chip);
    return line;
  }
  line.available = true;
  const CounterSums sums = sums_of(*m.counts);
  const auto sectors = static_cast<double>(sums[InstructionCounter::sectors]);
  const double excess = static_cast<double>(derived(*m.counts, sums, DerivedCount::excess_sectors).value_or(0));
  line.text = count_words(sectors);
  line.words = phrase("32-byte sectors, {} % more than with contiguous accesses",
                      figure_text(sectors > 0 ? 100 * excess / std::max(1.0, sectors - excess) : 0));
  if (const auto rate = sector_rate(m, sms))
    line.words = rate->launch.empty()
                     ? phrase("{}; {} per cycle per SM", line.words, figure_text(rate->rate))
                     : phrase("{}; {} per cycle per SM in {}", line.words, figure_text(rate->rate), rate->launch);
  line.words += ".";
  return line;
}

BytesLine warps(const Measurement& m) {
  BytesLine line = line_of(m, "warp_efficiency_pct", tr("Warp efficiency"));
  if (!line.available) return line;
  const double share = figure(m, "warp_efficiency_pct").value;
  line.text = percent_text(share);
  line.words =
      phrase("On average, {} of 32 threads are active per instruction, including threads that are predicated off.",
             figure_text(share * 0.32));
  return line;
}

BytesLine tensor(const Measurement& m) {
  BytesLine line = line_of(m, "tensor_pipe_pct", tr("Tensor cores"));
  if (!line.available) return line;
  const double share = figure(m, "tensor_pipe_pct").value;
  line.text = percent_text(share);
  line.words = share < 1 ? tr("Almost idle: the counter moves a little even without tensor instructions in the code.")
                         : phrase("Busy in {} of 100 active cycles.", figure_text(share));
  return line;
}

BytesLine spills(const Measurement& m) {
  BytesLine line = line_of(m, "spill_bytes", tr("Spills"));
  if (!line.available) return line;
  const double bytes = figure(m, "spill_bytes").value;
  line.text = fmt::format("{:.0f} B", bytes);
  line.words = bytes > 0 ? tr("Values per thread that the compiler spilled to memory.")
                         : tr("Everything that a thread holds fits in its registers.");
  return line;
}

bool uses_no_shared_memory(const Measurement& m) {
  const Figure& turns = figure(m, "shared_wavefronts_count");
  return turns.available() && turns.value <= 0;
}

// Turns of the shared memory that the heartbeat heard: an SM passes one a cycle at most. They are not those that are
// counted at the instructions: of asynchronous copies some are missing, and some are there that no instruction asked
// for.
void put_turns(const Measurement& m, std::int32_t sms, BytesLine& line) {
  const double mhz = clock_mhz(m);
  const auto mean = m.heartbeat == nullptr ? std::nullopt : mean_of(*m.heartbeat, "shared");
  if (!line.available || uses_no_shared_memory(m) || !mean || *mean <= 0 || mhz <= 0 || sms <= 0) return;
  const double turns = *mean / 100 * busy_us(*m.heartbeat) * mhz * sms;
  line.words = phrase("As a share of the data pipe's cycles, from the heartbeat: {} passes.", count_words(turns));
  // The roof of the shared memory is what loads were measured to reach: less than a turn a cycle.
  const Figure& counted = figure(m, "shared_wavefronts_count");
  if (m.peaks.shared_gb_per_s <= 0 || !counted.available() || m.time.median <= 0) return;
  constexpr double kTurnBytes = 128;
  const double share = 100 * counted.value * kTurnBytes / (m.time.median * 1e-6) / (m.peaks.shared_gb_per_s * 1e9);
  line.words += phrase(" {} of the measured rate.", percent_text(share));
}

// Over its launches, where somebody listened to it; the reason else.
BytesLine heard(const Measurement& m, const char* id, const char* title, const char* words) {
  BytesLine line{title, "–", m.no_heartbeat, false};
  if (m.heartbeat == nullptr) {
    if (line.words.empty()) line.words = tr("this row has no heartbeat yet; on Heartbeat, press \"Read heartbeat\"");
    return line;
  }
  if (line.title == tr("Shared memory") && uses_no_shared_memory(m))
    return {title, "none", tr("No shared memory used."), true};
  const auto mean = mean_of(*m.heartbeat, id);
  if (!mean) {
    line.words = tr("this heartbeat does not include the counter");
    return line;
  }
  return {title, percent_text(*mean), words, true};
}

std::string position_words(const BytesScene& b) {
  if (!b.dram) return {};
  std::string words = phrase("DRAM moved {}", b.dram_text);
  if (b.compulsory > 0) words += phrase(": {} times the minimum", times_text(*b.dram / b.compulsory));
  if (b.tile_loads > 0) words += phrase(", {} times the tile loads", figure_text(*b.dram / b.tile_loads));
  return words + ".";
}

void add_missing(std::vector<MissingFigures>& missing, const BytesLine& line) {
  const auto same =
      std::find_if(missing.begin(), missing.end(), [&](const MissingFigures& m) { return m.reason == line.words; });
  if (same == missing.end()) {
    missing.push_back({line.title, line.words});
  } else {
    same->titles += ", " + line.title;
  }
}

}  // namespace

std::string count_words(double count) {
  if (count >= 1e9) return phrase("{} billion", figure_text(count / 1e9));
  return count >= 1e6 ? phrase("{} million", figure_text(count / 1e6)) : figure_text(count);
}

BytesScene bytes_scene(const Measurement& m, std::int32_t sms, std::span<const CacheLevel> caches) {
  BytesScene b;
  const Figure& least = figure(m, "compulsory_bytes");
  const Figure& loads = figure(m, "tile_load_bytes");
  if (least.available()) b.compulsory = least.value;
  if (loads.available()) b.tile_loads = loads.value;
  b.dram = dram_bytes(m);
  // On one axis stands one unit, but for what would be a small part of it there.
  constexpr double kPart = 0.1;
  const double most = std::max({b.compulsory, b.tile_loads, b.dram.value_or(0)});
  const auto text = [&](double bytes) {
    const BenchUnit unit = bytes_unit(most);
    return most < 1e3 || bytes * unit.factor < kPart ? bytes_text(bytes) : value_with_unit(bytes, unit);
  };
  b.compulsory_text = least.available() ? text(b.compulsory) : said_reason(least);
  b.tile_loads_text = loads.available() ? text(b.tile_loads) : said_reason(loads);
  b.dram_text = b.dram ? text(*b.dram) : said_reason(figure(m, "dram_read_bytes"));
  b.words = position_words(b);
  if (b.dram && b.compulsory > 0) b.words += results_in_cache(m, *b.dram, b.compulsory);
  if (m.processor == Processor::cpu) {
    b.lines = cpu_lines(m, caches);
    return b;
  }
  BytesLine shared =
      heard(m, "shared", tr("Shared memory"), tr("As a share of the data pipe's cycles, from the heartbeat."));
  put_turns(m, sms, shared);
  for (const BytesLine& line :
       {heard(m, "issue", tr("Issue slots"), tr("As a share of the schedulers' slots, from the heartbeat.")), shared,
        dram_rate(m), l1(m, sms), l2(m), conflicts(m), warps(m), tensor(m), spills(m)}) {
    if (line.available) {
      b.lines.push_back(line);
    } else {
      add_missing(b.missing, line);
    }
  }
  return b;
}

}  // namespace attn
