#include "viz/bench/verdict/speed_verdict_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "kernels/base/text.h"
#include "kernels/ladder.h"
#include "kernels/model/kernel.h"
#include "profiling/figures/metrics.h"
#include "viz/bench/runs/slice.h"
#include "viz/bench/scene/bench_scene.h"
#include "viz/draw/figure_text.h"

namespace attn {
namespace {

// DRAM bytes of a row, measured, or 0.
double measured_bytes(const Measurement& m) {
  const Figure& read = figure(m, "dram_read_bytes");
  const Figure& written = figure(m, "dram_write_bytes");
  return read.available() && written.available() ? read.value + written.value : 0;
}

// How many bytes one moves beside the other. As many where the figures that are shown say so.
enum class Moves : std::uint8_t { fewer, as_many, more };

Moves moves(double mine, double its) {
  if (times_text(std::max(mine, its) / std::min(mine, its)) == times_text(1)) return Moves::as_many;
  return mine < its ? Moves::fewer : Moves::more;
}

std::string dram_words(double mine, double its, const std::string& other) {
  switch (moves(mine, its)) {
    case Moves::fewer:
      return phrase("Bytes: it moves {} times fewer DRAM bytes than {}", times_text(its / mine), other);
    case Moves::as_many:
      return phrase("Bytes: it moves as many DRAM bytes as {}", other);
    case Moves::more:
      break;
  }
  return phrase("Bytes: it moves {} times as many DRAM bytes as {}", times_text(mine / its), other);
}

std::string predicted_words(double mine, double its, const std::string& other) {
  const std::string bytes = bytes_text(mine);
  switch (moves(mine, its)) {
    case Moves::fewer:
      return phrase("Predicted: its tiles request {} from memory, {} times fewer bytes than {}.", bytes,
                    times_text(its / mine), other);
    case Moves::as_many:
      return phrase("Predicted: its tiles request {} from memory, as many bytes as {}.", bytes, other);
    case Moves::more:
      break;
  }
  return phrase("Predicted: its tiles request {} from memory, {} times as many bytes as {}.", bytes,
                times_text(mine / its), other);
}

// How many times fewer bytes than the baseline the model expects of DRAM. What either moves lies between each element
// once and every tile load (naive: with the reads of S that its row declares). Both are 0 where nothing is known.
struct Expected {
  double min = 0, max = 0;
};

Expected expected_ratio(const Measurement& subject, const Measurement& baseline) {
  const Figure& once = figure(subject, "compulsory_bytes");
  const Figure& tiles = figure(subject, "tile_load_bytes");
  const Figure& its_once = figure(baseline, "compulsory_bytes");
  const Figure& its_tiles = figure(baseline, "tile_load_bytes");
  if (!once.available() || !tiles.available() || !its_once.available() || !its_tiles.available()) return {};
  if (once.value <= 0 || tiles.value <= 0) return {};
  return {its_once.value / tiles.value, its_tiles.value / once.value};
}

// What a kernel's DRAM bytes came to against the model that speaks of it: an order that stores S asks for every tile
// load, flash lies between each element once and its tile loads.
std::string counted_words(const Measurement& m) {
  const bool stores = m.workspace_bytes > 0 && is_plain(m);
  const Figure& model = figure(m, stores ? "tile_load_bytes" : "compulsory_bytes");
  const double bytes = measured_bytes(m);
  if (!model.available() || model.value <= 0 || bytes <= 0) return {};
  const double share = bytes / model.value;
  std::string of = phrase("{} moved {:.2f} times {}", shown_name(m), share,
                          stores ? tr("its tile loads") : tr("the minimum, each element once"));
  // What an L2 cache of today's GPUs may hold of S and P.
  constexpr std::uint64_t kMayStay = 200'000'000;
  if (stores && share < 0.9 && m.workspace_bytes < kMayStay)
    return phrase("{} (the L2 cache keeps much of what the kernel stores)", of);
  if (!stores && share < 0.995 && share > 0.8) return phrase("{} (output still in the L2 cache is not counted)", of);
  return of;
}

// Whether the model foretold the ratio: only where it names one number, and the ratio is that number.
std::string expectation_words(double ratio, const Expected& e, const Measurement& subject,
                              const Measurement& baseline) {
  if (e.max <= 0) return "";
  const bool one_number = e.max < 1.1 * e.min;
  if (one_number && ratio >= 0.95 * e.min && ratio <= 1.05 * e.max) {
    return phrase(", as predicted ({})", times_text(e.max));
  }
  const std::string range = one_number ? times_text(e.max) : phrase("{} to {}", times_text(e.min), times_text(e.max));
  const std::string its = counted_words(baseline), mine = counted_words(subject);
  const bool both = !its.empty() && !mine.empty();
  // A range as wide as that foretells nothing: what each moved against its own model does.
  constexpr double kWide = 10;
  std::string words = both && e.max > kWide * e.min ? std::string() : phrase("; the model predicts {}", range);
  if (both) words += fmt::format(": {}, {}", its, mine);
  return words;
}

// Fewer bytes are no reason to be faster where bytes did not hold the other one back.
std::string not_by_bytes(const Measurement& baseline) {
  constexpr double kFar = 50;  // percent of the copy rate below which bytes are not what a kernel waits for
  const Figure& copy = figure(baseline, "dram_peak_share_pct");
  if (!copy.available() || copy.value >= kFar) return {};
  return phrase(" Moving fewer bytes is not why it is faster: {} runs at {} of the copy rate.", shown_name(baseline),
                percent_text(copy.value));
}

// `full`: something else is what holds it back, so that no latency shows.
std::string occupancy_words(const Measurement& m, bool full) {
  const Figure& reached = figure(m, "occupancy_achieved_pct");
  const Figure& possible = figure(m, "occupancy_theoretical_pct");
  if (!possible.available()) return {};
  const std::string by = possible.limiter.empty() ? "" : " (" + possible.limiter + ")";
  const std::string fit = possible.min_of_launches
                              ? phrase("room for at least {} of an SM's maximum{}", percent_text(possible.value), by)
                              : phrase("room for {} of an SM's maximum{}", percent_text(possible.value), by);
  constexpr double kFew = 25;  // percent
  const Figure& known = reached.available() ? reached : possible;
  const bool few = known.value < kFew && !(possible.min_of_launches && !reached.available());
  const std::string end = few && !full ? tr(": too few to hide latency") : "";
  if (!reached.available()) return phrase(" Warps: {}{}.", fit, end);
  return phrase(" Warps: {}; {} are active{}.", fit, percent_text(reached.value), end);
}

// Where the products do not run on the fp32 pipes, whose peak was measured, that peak is no limit of theirs. Empty
// where it is.
std::string elsewhere_words(const Measurement& m) {
  const Figure& peak = figure(m, "peak_share_pct");
  const Figure& tensor = figure(m, "tensor_pipe_pct");
  if (tensor.available() && tensor.value >= kTensorWorks) {
    const std::string busy = percent_text(tensor.value);
    if (tensor.value >= kTensorBusy) return phrase("Limited by the tensor cores: busy in {} of the cycles.", busy);
    return phrase("The products run on the tensor cores, which are busy in {} of the cycles.", busy);
  }
  if (m.processor == Processor::cpu || !peak.available() || peak.value <= 100) return {};
  return phrase("The kernel reaches {} of the fp32 multiply-add peak, so its products do not run on the fp32 pipes.",
                percent_text(peak.value));
}

}  // namespace

bool is_plain(const Measurement& m) {
  const auto row = find_kernel(m.key.kernel);
  return row && (*row)->stores_scores;
}

std::string bytes_words(const Measurement& subject, const Measurement& baseline) {
  const Figure& mine = figure(subject, "tile_load_bytes");
  const Figure& its = figure(baseline, "tile_load_bytes");
  if (!mine.available() || !its.available() || mine.value <= 0) return {};
  const double a = measured_bytes(subject), b = measured_bytes(baseline);
  if (a <= 0 || b <= 0) return predicted_words(mine.value, its.value, shown_name(baseline));
  Expected expected = expected_ratio(subject, baseline);
  // Said the other way round, it is predicted the other way round too.
  const bool more = moves(a, b) == Moves::more;
  if (more && expected.min > 0) expected = {1 / expected.max, 1 / expected.min};
  return fmt::format("{}{}.{}", dram_words(a, b, shown_name(baseline)),
                     expectation_words(more ? a / b : b / a, expected, subject, baseline),
                     moves(a, b) == Moves::fewer ? not_by_bytes(baseline) : "");
}

std::string limit_words(const Measurement& subject) {
  const Figure& peak = figure(subject, "peak_share_pct");
  const Figure& copy = figure(subject, "dram_peak_share_pct");
  const char* device = subject.processor == Processor::cpu ? "CPU" : "GPU";
  if (!peak.available() && !copy.available()) return {};
  std::string elsewhere = elsewhere_words(subject);
  if (!copy.available() && !elsewhere.empty()) return elsewhere;
  if (!copy.available())
    return phrase("The kernel reaches {} of this {}'s measured peak.", percent_text(peak.value), device);
  const double arithmetic = peak.available() ? peak.value : 0;
  if (copy.value >= kDramBusy && (copy.value >= arithmetic || !elsewhere.empty()))
    return phrase("Limited by memory: {} of the measured copy rate.", percent_text(copy.value));
  if (!elsewhere.empty())
    return phrase("{} Memory: {} of the copy rate.{}", elsewhere, percent_text(copy.value),
                  occupancy_words(subject, figure(subject, "tensor_pipe_pct").value >= kTensorBusy));
  if (arithmetic >= kMultiplyBusy)
    return phrase("Limited by arithmetic: {} of this {}'s measured peak.", percent_text(arithmetic), device);
  const std::string words = peak.available()
                                ? phrase(
                                      "Limited neither by memory ({} of the copy rate) nor by arithmetic ({} of the "
                                      "peak).",
                                      percent_text(copy.value), percent_text(arithmetic))
                                : phrase("Not limited by memory: {} of the copy rate.", percent_text(copy.value));
  return words + occupancy_words(subject, false);
}

}  // namespace attn
