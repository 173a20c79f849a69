// What changed from one rung to the next, in sentences. A sentence holds no number but those of the two measurements,
// and their ratios and sums.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/base/text.h"
#include "kernels/ladder.h"
#include "profiling/figures/metrics.h"
#include "viz/bench/ladder/ladder.h"
#include "viz/draw/figure_text.h"

namespace attn {
namespace {

constexpr double kAlike = 0.02;          // relative: closer than this two figures read alike
constexpr double kLittle = 2;            // points of percent
constexpr std::size_t kLongReason = 90;  // bytes: longer reasons stand in the tooltip of the figure alone

bool alike(double a, double b) {
  return a == b || std::abs(a - b) <= kAlike * std::max(std::abs(a), std::abs(b));
}

std::string percent(double x) {
  return percent_text(x);
}

// The first of these figures that one of the two lacks, in words; empty: both have all.
std::string lacking(const Measurement& a, const Measurement& b, std::initializer_list<std::string_view> metrics) {
  for (const std::string_view id : metrics) {
    for (const Measurement* m : {&b, &a}) {
      const Figure& f = figure(*m, id);
      if (f.available()) continue;
      const bool tell = !f.reason.empty() && f.reason.size() <= kLongReason;
      return phrase("not available for {}{}", m->key.kernel, tell ? ": " + std::string(tr_of(f.reason)) : "");
    }
  }
  return {};
}

LadderSentence missing(std::string lead, const std::string& why) {
  return {std::move(lead), sentence(why), true};
}

double both_ways(const Measurement& m) {
  return figure(m, "dram_read_bytes").value + figure(m, "dram_write_bytes").value;
}

// S and P in the device's memory.
double stored(const Measurement& m) {
  const auto row = find_kernel(m.key.kernel);
  const Figure& f = figure(m, "memory_overhead_bytes");
  return row && (*row)->stores_scores && f.available() ? f.value : 0;
}

std::string became(const std::string& from, const std::string& to, bool same) {
  return same ? phrase("{}, unchanged", to) : phrase("{} became {}", from, to);
}

// What changed and why; of no reason the change alone.
std::string with_reason(const std::string& words, const std::string& why) {
  return why.empty() ? words : fmt::format("{}: {}", words, why);
}

// Bytes in the unit of the largest of what they stand beside.
class MovedBytes {
 public:
  explicit MovedBytes(double largest) : largest_(largest) {}
  std::string text(double bytes) const {
    return largest_ < 1e3 ? bytes_text(bytes) : value_with_unit(bytes, bytes_unit(largest_));
  }

 private:
  double largest_;
};

// Why the bytes changed, as far as figures tell.
std::string why_bytes(const Measurement& a, const Measurement& b, const MovedBytes& moved) {
  const double before = stored(a), now = stored(b);
  if (before > 0 && now == 0) return phrase("S and P, which took {}, are no longer stored", moved.text(before));
  if (before == 0 && now > 0) return phrase("S and P ({}) are stored", moved.text(now));
  // A reason points the same way as what it explains.
  const bool fewer = both_ways(b) < both_ways(a);
  const Figure &tiles_a = figure(a, "tile_load_bytes"), &tiles_b = figure(b, "tile_load_bytes");
  if (tiles_a.available() && tiles_b.available() && !alike(tiles_a.value, tiles_b.value) &&
      fewer == (tiles_b.value < tiles_a.value))
    return phrase("its tiles request {} instead of {}", moved.text(tiles_b.value), moved.text(tiles_a.value));
  const Figure &hit_a = figure(a, "l2_hit_pct"), &hit_b = figure(b, "l2_hit_pct");
  if (hit_a.available() && hit_b.available() && std::abs(hit_a.value - hit_b.value) >= kLittle &&
      fewer == (hit_b.value > hit_a.value))
    return phrase("the L2 cache serves {} of the requests instead of {}", percent(hit_b.value), percent(hit_a.value));
  return {};
}

std::optional<LadderSentence> dram(const Measurement& a, const Measurement& b, double most_bytes) {
  if (const std::string why = lacking(a, b, {"dram_read_bytes", "dram_write_bytes"}); !why.empty())
    return missing(tr("DRAM"), why);
  const double from = both_ways(a), to = both_ways(b);
  const bool same = alike(from, to);
  const MovedBytes moved(std::max({from, to, most_bytes}));
  return LadderSentence{tr("DRAM"),
                        sentence(with_reason(became(moved.text(from), moved.text(to), same),
                                             same ? std::string() : why_bytes(a, b, moved))),
                        false};
}

// Shared memory of a block, laid out by the compiler and asked for by the launch.
std::optional<double> shared_of_block(const Measurement& m) {
  const Figure &fixed = figure(m, "shared_static_bytes"), &asked = figure(m, "shared_dynamic_bytes");
  if (!fixed.available() || !asked.available()) return std::nullopt;
  return fixed.value + asked.value;
}

// What fits an SM, and what holds that down.
std::string why_warps(const Measurement& b) {
  const Figure &fit = figure(b, "occupancy_theoretical_pct"), &registers = figure(b, "registers_count");
  if (!fit.available()) return {};
  std::string words = fit.min_of_launches ? phrase("at least {} fit on an SM", percent(fit.value))
                                          : phrase("{} fit on an SM", percent(fit.value));
  std::vector<std::string> held;
  if (registers.available() && fit.limiter.find("registers") != std::string::npos)
    held.push_back(phrase("{:.0f} registers per thread", registers.value));
  if (const auto shared = shared_of_block(b); shared && fit.limiter.find("shared") != std::string::npos)
    held.push_back(phrase("{} KiB of shared memory per block", figure_text(*shared / 1024)));
  if (!held.empty()) return words + phrase(", limited by {}", fmt::join(held, tr(" and ")));
  return fit.limiter.empty() ? words : words + phrase(", limited by {}", fit.limiter);
}

std::optional<LadderSentence> warps(const Measurement& a, const Measurement& b) {
  constexpr const char* kReached = "occupancy_achieved_pct";
  if (const std::string why = lacking(a, b, {kReached}); !why.empty()) return missing(tr("Occupancy"), why);
  const double from = figure(a, kReached).value, to = figure(b, kReached).value;
  return LadderSentence{
      tr("Occupancy"),
      sentence(with_reason(became(percent(from), phrase("{} of the warps active", percent(to)), alike(from, to)),
                           why_warps(b))),
      false};
}

// How a block's work is cut, from the launch's options.
std::string why_registers(const Measurement& b) {
  const Options& o = b.key.options;
  std::string words;
  if (o.br > 0 && o.bc > 0 && o.threads > 0)
    words = phrase("{} threads work on a tile of {} × {}", o.threads, o.br, o.bc);
  const Figure& spilled = figure(b, "spill_bytes");
  if (!spilled.available()) return words;
  const std::string spill = spilled.value > 0 ? phrase("{} of them spilled", bytes_text(spilled.value)) : "";
  return spill.empty() ? words : words + (words.empty() ? "" : ", ") + spill;
}

std::optional<LadderSentence> registers(const Measurement& a, const Measurement& b) {
  constexpr const char* kRegisters = "registers_count";
  if (const std::string why = lacking(a, b, {kRegisters}); !why.empty()) return missing(tr("Registers"), why);
  const double from = figure(a, kRegisters).value, to = figure(b, kRegisters).value;
  return LadderSentence{
      tr("Registers"),
      sentence(with_reason(became(fmt::format("{:.0f}", from), phrase("{:.0f} per thread", to), from == to),
                           why_registers(b))),
      false};
}

// Of the turns of shared memory. The hardware's counter takes some turns of wide reads for conflicts as well: "at
// most".
std::optional<LadderSentence> conflicts(const Measurement& a, const Measurement& b) {
  constexpr const char *kTurns = "shared_wavefronts_count", *kConflicts = "shared_conflicts_count";
  if (const std::string why = lacking(a, b, {kTurns, kConflicts}); !why.empty())
    return missing(tr("Bank conflicts"), why);
  const auto share = [](const Measurement& m) {
    const double turns = figure(m, kTurns).value;
    const double of = turns > 0 ? 100 * figure(m, kConflicts).value / turns : 0;
    return phrase("{} of {} passes", percent(of), figure_text(turns));
  };
  const std::string from = share(a), to = share(b);
  if (from == to) return LadderSentence{tr("Bank conflicts"), phrase("at most {}, unchanged.", to), false};
  return LadderSentence{tr("Bank conflicts"), phrase("at most {}, previously {}.", to, from), false};
}

std::optional<LadderSentence> tensor(const Measurement& a, const Measurement& b) {
  constexpr const char* kTensor = "tensor_pipe_pct";
  if (const std::string why = lacking(a, b, {kTensor}); !why.empty()) return missing(tr("Tensor cores"), why);
  const double from = figure(a, kTensor).value, to = figure(b, kTensor).value;
  std::string why;
  if (from < kTensorWorks && to >= kTensorWorks) why = tr("the products run on the tensor cores");
  if (from >= kTensorWorks && to < kTensorWorks) why = tr("the products run elsewhere");
  if (from < kTensorWorks && to < kTensorWorks) why = tr("they are hardly used");
  const std::string now = phrase("busy in {} of the cycles", percent(to));
  return LadderSentence{
      tr("Tensor cores"),
      sentence(with_reason(from == to ? phrase("{}, unchanged", now) : phrase("{}, previously {}", now, percent(from)),
                           why)),
      false};
}

// Instructions are counted where the table of metrics has them.
std::optional<LadderSentence> instructions(const Measurement& a, const Measurement& b) {
  const auto at =
      std::ranges::find_if(metric_table(), [](const MetricRow& m) { return m.id.starts_with("instructions"); });
  if (at == metric_table().end()) return std::nullopt;
  if (const std::string why = lacking(a, b, {at->id}); !why.empty()) return missing(tr("Instructions"), why);
  const double from = figure(a, at->id).value, to = figure(b, at->id).value;
  const bool same = alike(from, to);
  std::string words = became(figure_text(from), figure_text(to), same);
  const Figure &works_a = figure(a, "tensor_pipe_pct"), &works_b = figure(b, "tensor_pipe_pct");
  if (!same && works_a.available() && works_b.available() && works_a.value < kTensorWorks &&
      works_b.value >= kTensorWorks)
    words = phrase(
        "{}: one tensor-core instruction does the work of many, and the tensor cores are busy in {} of the cycles",
        words, percent(works_b.value));
  return LadderSentence{tr("Instructions"), sentence(words), false};
}

// By the intervals of the two medians; of few repeats their ratio alone.
std::optional<LadderSentence> time(const Measurement& a, const Measurement& b) {
  if (const std::string why = lacking(a, b, {"time_us_median"}); !why.empty()) return missing(tr("Time"), why);
  const TimeStatistics &x = a.time, &y = b.time;
  const std::string& id = a.key.kernel;
  const bool known = x.ci_high > 0 && y.ci_high > 0;
  const bool apart = !known || x.ci_low > y.ci_high || y.ci_low > x.ci_high;
  if (!apart)
    return LadderSentence{
        tr("Time"), phrase("cannot be distinguished from {}: the 95 % intervals of the medians overlap.", id), false};
  const double ratio = x.median / y.median;
  return LadderSentence{tr("Time"),
                        ratio >= 1 ? phrase("{} times as fast as {}.", times_text(ratio), id)
                                   : phrase("takes {} times as long as {}.", times_text(1 / ratio), id),
                        false};
}

}  // namespace

std::vector<LadderSentence> ladder_sentences(const Measurement& a, const Measurement& b, double most_bytes) {
  std::vector<LadderSentence> sentences;
  const auto add = [&](std::optional<LadderSentence> words) {
    if (words) sentences.push_back(*std::move(words));
  };
  add(time(a, b));
  add(dram(a, b, most_bytes));
  for (const auto respect : {warps, registers, conflicts, tensor, instructions}) add(respect(a, b));
  return sentences;
}

}  // namespace attn
