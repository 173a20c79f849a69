#include "profiling/figures/beat_borders.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "kernels/base/text.h"

namespace attn {
namespace {

constexpr std::size_t kCounters = 3;
using Values = std::array<double, kCounters>;

// The samples of a launch: their middles in microseconds, and fma, xu, shared.
struct Series {
  std::vector<double> at;
  std::vector<Values> values;
  double length_us = 0;  // of one, the median
};

Error lacking(std::string words) {
  return {ErrorKind::cannot_run, "The borders of S, P and O cannot be found: " + std::move(words)};
}

Result<Series> series_of(const Heartbeat& h) {
  constexpr std::array<const char*, kCounters> kIds{"fma", "xu", "shared"};
  std::array<const BeatCounter*, kCounters> counters{};
  for (std::size_t n = 0; n < kCounters; ++n) {
    counters.at(n) = counter_of(h, kIds.at(n));
    if (counters.at(n) == nullptr)
      return tl::unexpected(lacking(fmt::format("the counter '{}' has no values here.", kIds.at(n))));
  }
  if (h.launches.empty()) return tl::unexpected(lacking(marked("there is no launch.")));
  const BeatLaunch& launch = h.launches.at(longest_launch(h));
  Series s;
  std::vector<double> lengths;
  for (std::size_t n = 0; n < h.samples.size(); ++n) {
    const BeatSpan& span = h.samples[n];
    const double middle = static_cast<double>(span.start_ns + span.end_ns) / 2e3;
    if (middle <= launch.start_us || middle >= launch.end_us) continue;
    s.at.push_back(middle);
    lengths.push_back(static_cast<double>(span.end_ns - span.start_ns) / 1e3);
    Values v{};
    for (std::size_t c = 0; c < kCounters; ++c) v.at(c) = counters.at(c)->values.at(n);
    s.values.push_back(v);
  }
  if (lengths.size() < kBeatsLaidOver * kLeastSamplesABeat)
    return tl::unexpected(lacking(fmt::format("the launch has {} samples, and {} beats need {}.", lengths.size(),
                                              kBeatsLaidOver, kBeatsLaidOver * kLeastSamplesABeat)));
  std::ranges::nth_element(lengths, lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2));
  s.length_us = lengths[lengths.size() / 2];
  return s;
}

struct Window {
  std::size_t first = 0, end = 0;
  double period = 0;
  double alike = 0;
  double contrast = 0;  // variance of the exponentials between the places: a stretch out of step smears its pulse
  std::size_t parts = 0;
};

double mean_xu(const Series& s, const Window& w) {
  double sum = 0;
  for (std::size_t n = w.first; n < w.end; ++n) sum += s.values[n][1];
  return sum / static_cast<double>(w.end - w.first);
}

double strength(const Series& s, const Window& w, double mean, double period) {
  std::complex<double> sum = 0;
  for (std::size_t n = w.first; n < w.end; ++n)
    sum += (s.values[n][1] - mean) * std::polar(1.0, 2 * std::numbers::pi * s.at[n] / period);
  return std::abs(sum);
}

// The strongest period from `from` to `to`, in steps that shift the last sample by a twentieth of a beat.
double strongest(const Series& s, const Window& w, double from, double to) {
  const double mean = mean_xu(s, w), span = s.at[w.end - 1] - s.at[w.first];
  double best = 0, most = -1;
  for (double period = from; period <= to; period += period * period / span / 20) {
    const double now = strength(s, w, mean, period);
    if (now > most) {
      most = now;
      best = period;
    }
  }
  return best;
}

std::size_t place_of(const Series& s, const Window& w, std::size_t n) {
  const double turn = s.at[n] / w.period;
  return std::min(w.parts - 1, static_cast<std::size_t>((turn - std::floor(turn)) * static_cast<double>(w.parts)));
}

// Means a place within the beat, and by them how much of the variance the place explains.
std::vector<Values> folded(const Series& s, Window& w) {
  std::vector<Values> sums(w.parts, Values{});
  std::vector<double> counts(w.parts, 0);
  Values total{};
  for (std::size_t n = w.first; n < w.end; ++n) {
    const std::size_t at = place_of(s, w, n);
    counts[at] += 1;
    for (std::size_t c = 0; c < kCounters; ++c) {
      sums[at].at(c) += s.values[n].at(c);
      total.at(c) += s.values[n].at(c);
    }
  }
  const auto all = static_cast<double>(w.end - w.first);
  double alike = 0;
  for (std::size_t c = 0; c < kCounters; ++c) {
    const double mean = total.at(c) / all;
    double whole = 0, between = 0;
    for (std::size_t n = w.first; n < w.end; ++n) whole += std::pow(s.values[n].at(c) - mean, 2);
    for (std::size_t at = 0; at < w.parts; ++at)
      if (counts[at] > 0) between += counts[at] * std::pow(sums[at].at(c) / counts[at] - mean, 2);
    if (whole > 0) alike += between / whole / kCounters;
    if (c == 1) w.contrast = between / all;
  }
  w.alike = std::ranges::find(counts, 0.0) == counts.end() ? alike : 0;  // an empty place tells nothing
  for (std::size_t at = 0; at < w.parts; ++at)
    for (std::size_t c = 0; c < kCounters; ++c) sums[at].at(c) /= std::max(1.0, counts[at]);
  return sums;
}

// Places over their deviation, so that each counter weighs the same.
std::vector<Values> standardised(const std::vector<Values>& means) {
  std::vector<Values> out = means;
  const auto n = static_cast<double>(means.size());
  for (std::size_t c = 0; c < kCounters; ++c) {
    double mean = 0, squares = 0;
    for (const Values& v : means) mean += v.at(c) / n;
    for (const Values& v : means) squares += std::pow(v.at(c) - mean, 2) / n;
    const double over = squares > 0 ? std::sqrt(squares) : 1;
    for (Values& v : out) v.at(c) = (v.at(c) - mean) / over;
  }
  return out;
}

// Of the places from `from` on, `count` of them, around the beat.
Values mean_of_places(const std::vector<Values>& v, std::size_t from, std::size_t count) {
  Values mean{};
  for (std::size_t n = 0; n < count; ++n)
    for (std::size_t c = 0; c < kCounters; ++c)
      mean.at(c) += v[(from + n) % v.size()].at(c) / static_cast<double>(count);
  return mean;
}

double squares_within(const std::vector<Values>& v, std::size_t from, std::size_t count) {
  const Values mean = mean_of_places(v, from, count);
  double sum = 0;
  for (std::size_t n = 0; n < count; ++n)
    for (std::size_t c = 0; c < kCounters; ++c) sum += std::pow(v[(from + n) % v.size()].at(c) - mean.at(c), 2);
  return sum;
}

// Three borders around the beat, each stretch of two places at least.
struct Cut {
  std::array<std::size_t, 3> at{};
  double squares = std::numeric_limits<double>::infinity();
};
Cut best_cut(const std::vector<Values>& v) {
  constexpr std::size_t kLeast = 2;
  Cut best;
  for (std::size_t a = 0; a < v.size(); ++a)
    for (std::size_t b = a + kLeast; b < v.size(); ++b)
      for (std::size_t c = b + kLeast; c < v.size() && c + kLeast <= v.size() + a; ++c) {
        const double now =
            squares_within(v, a, b - a) + squares_within(v, b, c - b) + squares_within(v, c, v.size() + a - c);
        if (now < best.squares) best = {{a, b, c}, now};
      }
  return best;
}

// Of the stretches that are alike enough, if there are any, the one whose pulse is the sharpest; the period is sought
// in each stretch anew, for the clock moves.
std::optional<Window> sharpest(const Series& s, double period) {
  std::optional<Window> best;
  const double span = period * static_cast<double>(kBeatsLaidOver);
  for (std::size_t first = 0; first < s.at.size();) {
    Window w{first, first};
    while (w.end < s.at.size() && s.at[w.end] < s.at[first] + span) ++w.end;
    if (w.end == s.at.size()) break;
    w.period = strongest(s, w, 0.95 * period, 1.05 * period);
    w.parts = std::min(kMostPlaces, static_cast<std::size_t>(w.period / s.length_us));
    folded(s, w);
    const auto rank = [](const Window& of) { return std::pair(of.alike >= kLeastAlike, of.contrast); };
    if (!best || rank(w) > rank(*best)) best = w;
    first = std::max(first + 1, first + (w.end - w.first) / 4);
  }
  return best;
}

BeatBorders borders_from(const Series& s, const Window& w, const std::vector<Values>& means, const Cut& cut,
                         double told) {
  // P is where the exponentials are; O comes behind it, S before it.
  std::size_t p = 0;
  std::array<std::size_t, 3> count{};
  double most = -1;
  for (std::size_t n = 0; n < 3; ++n) {
    count.at(n) = n < 2 ? cut.at.at(n + 1) - cut.at.at(n) : means.size() + cut.at[0] - cut.at[2];
    const double xu = mean_of_places(means, cut.at.at(n), count.at(n))[1];
    if (xu > most) {
      most = xu;
      p = n;
    }
  }
  BeatBorders b;
  b.period_us = w.period;
  b.from_us = s.at[w.first];
  b.to_us = s.at[w.end - 1];
  b.beats = kBeatsLaidOver;
  b.samples_a_beat = w.parts;
  b.alike = w.alike;
  b.told = told;
  const auto whole = static_cast<double>(means.size());
  constexpr std::array kOrder{gpu::CodePhase::s, gpu::CodePhase::p, gpu::CodePhase::o};
  double from = 0;
  for (std::size_t n = 0; n < 3; ++n) {
    const std::size_t at = (p + 2 + n) % 3;
    const Values mean = mean_of_places(means, cut.at.at(at), count.at(at));
    const double to = from + static_cast<double>(count.at(at)) / whole;
    b.parts.at(n) = {kOrder.at(n), from, to, mean[0], mean[1], mean[2]};
    from = to;
  }
  const double begins = static_cast<double>(cut.at.at((p + 2) % 3)) / whole;
  b.first_us = (std::floor(b.from_us / w.period - begins) + 1 + begins) * w.period;
  return b;
}

}  // namespace

Result<BeatBorders> borders_of(const Heartbeat& heartbeat) {
  const auto s = series_of(heartbeat);
  if (!s) return tl::unexpected(s.error());
  const auto pulse = beat_of(heartbeat);
  if (!pulse) return tl::unexpected(lacking(marked("no counter is periodic.")));
  // What is most like itself may be several beats long. At the start of a launch its blocks are in step.
  constexpr std::size_t kStart = 512;
  const Window start{0, std::min(kStart, s->at.size())};
  const double shortest = s->length_us * static_cast<double>(kLeastSamplesABeat);
  if (pulse->period_us < shortest)
    return tl::unexpected(
        lacking(fmt::format("a beat takes {:.3g} µs and a sample {:.3g} µs, {:.3g} samples per beat; "
                            "three stretches need {}.",
                            pulse->period_us, s->length_us, pulse->period_us / s->length_us, kLeastSamplesABeat)));
  const double period = strongest(*s, start, shortest, 1.05 * pulse->period_us);
  auto w = sharpest(*s, period);
  if (!w || w->parts < kLeastSamplesABeat)
    return tl::unexpected(
        lacking(fmt::format("{} beats of {:.3g} µs do not fit into the launch.", kBeatsLaidOver, period)));
  const std::vector<Values> means = folded(*s, *w);
  if (w->alike < kLeastAlike)
    return tl::unexpected(
        lacking(fmt::format("blocks are out of step: the place within a beat of {:.3g} µs explains {:.0f} % of pipe "
                            "activity, less than the required {:.0f} %.",
                            w->period, 100 * w->alike, 100 * kLeastAlike)));
  const std::vector<Values> level = standardised(means);
  const Cut cut = best_cut(level);
  const double told = 1 - cut.squares / squares_within(level, 0, level.size());
  if (told < kLeastTold)
    return tl::unexpected(
        lacking(fmt::format("three stretches explain {:.0f} % of the beat, less than the required {:.0f} %.",
                            100 * told, 100 * kLeastTold)));
  return borders_from(*s, *w, means, cut, told);
}

}  // namespace attn
