#include "app/cli/profile/profile_heartbeat.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kernels/base/text.h"
#include "profiling/figures/beat_borders.h"
#include "profiling/session/json/heartbeat_json.h"

namespace attn::cli {
namespace {

using nlohmann::json;

constexpr std::size_t kColumns = 64;  // of a strip

// One character an eighth of the scale; a part without a sample is empty.
std::string strip_text(const Heartbeat& h, const BeatCounter& c, double scale) {
  constexpr std::array<std::string_view, 8> kBars{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::string text;
  for (const double value : strip_of(h, c, kColumns)) {
    const double eighth = std::clamp(std::floor(8 * value / scale), 0.0, 7.0);
    text += std::isnan(value) ? " " : kBars.at(static_cast<std::size_t>(eighth));
  }
  return text;
}

std::string interval_text(const Heartbeat& h) {
  if (h.in_cycles) return phrase("{} cycles of the system clock", h.interval);
  return fmt::format("{:.1f} µs", static_cast<double>(h.interval) * 1e-3);
}

std::string launches_text(const Heartbeat& h) {
  if (h.launches.size() < 2) return {};
  std::string text = tr("Launches, µs:");
  for (const BeatLaunch& l : h.launches) text += fmt::format(" {} {:.1f} to {:.1f};", l.kernel, l.start_us, l.end_us);
  text.back() = '\n';
  return text;
}

std::string counter_text(const Heartbeat& h, const BeatCounter& c) {
  const BeatRow* row = find_beat_row(c.id);
  const std::string label = row == nullptr ? c.id : std::string(tr_of(row->label));
  if (c.values.empty()) return phrase("{:<24} not available: {}\n", label, c.why_not);
  const std::string unit = row == nullptr ? "" : std::string(row->unit);
  const double scale = scale_of(c);
  const auto mean = mean_of(h, c);
  return fmt::format("{:<24}{:>8} {:<3} {} to {:g}\n", label, mean ? fmt::format("{:.4g}", *mean) : "–", unit,
                     strip_text(h, c, scale), scale);
}

std::string beat_words(const Heartbeat& h) {
  std::string text;
  if (const auto beat = beat_of(h)) {
    text += phrase("A beat every {:.1f} µs in {} ({}, autocorrelation {:.2f}): {:.0f} beats in {:.1f} µs.\n",
                   beat->period_us, h.launches[beat->launch].kernel, tr_of(find_beat_row(beat->id)->label),
                   beat->likeness, beat->count, h.launches[beat->launch].length_us());
  } else {
    text += tr("No beat spanning four samples or more was found.\n");
  }
  if (const auto tail = tail_of(h); tail && tail->share > 0)
    text += phrase(
        "Tail: in the last {:.1f} µs of {}, or {:.1f} % of its time, fewer than {:.0f} % of the multiprocessors are "
        "busy. This tail costs {:.1f} % of the GPU's time in this launch.\n",
        h.launches[tail->launch].end_us - tail->from_us, h.launches[tail->launch].kernel, 100 * tail->share, kFullSms,
        100 * tail->empty);
  else if (tail)
    text += phrase("No tail: at least {:.0f} % of the multiprocessors stay busy until the end of {}.\n", kFullSms,
                   h.launches.size() == 1 ? h.launches.front().kernel : tr("each launch"));
  return text;
}

json beat_json(const Heartbeat& h) {
  const auto beat = beat_of(h);
  if (!beat) return {};
  return {{"counter", beat->id},
          {"kernel", h.launches[beat->launch].kernel},
          {"period_us", beat->period_us},
          {"autocorrelation", beat->likeness},
          {"count", beat->count}};
}

// A beat's S, P and O, or why the samples do not carry them.
std::string borders_text(const Heartbeat& h) {
  const auto b = borders_of(h);
  if (!b) return b.error().message + "\n";
  std::string parts;
  for (const BeatPart& part : b->parts)
    parts += phrase("{}{} {:.2f} µs (multiply-adds {:.0f} %, exponentials {:.0f} %, shared memory {:.0f} %)",
                    parts.empty() ? "" : ", ", gpu::name_of(part.phase), (part.to - part.from) * b->period_us, part.fma,
                    part.xu, part.shared);
  return phrase(
      "A beat takes {:.1f} µs: {}. Boundaries are accurate to {:.2f} µs (1/{} of a beat). {} beats are overlaid.\n",
      b->period_us, parts, b->period_us / static_cast<double>(b->samples_a_beat), b->samples_a_beat, b->beats);
}

json borders_json(const Heartbeat& h) {
  const auto b = borders_of(h);
  if (!b) return {{"not_available", b.error().message}};
  json parts = json::array();
  for (const BeatPart& part : b->parts)
    parts.push_back({{"phase", gpu::name_of(part.phase)},
                     {"duration_us", (part.to - part.from) * b->period_us},
                     {"fma", part.fma},
                     {"xu", part.xu},
                     {"shared", part.shared}});
  return {{"not_available", ""}, {"period_us", b->period_us}, {"beats", b->beats}, {"told", b->told}, {"parts", parts}};
}

json tail_json(const Heartbeat& h) {
  const auto tail = tail_of(h);
  if (!tail) return {};
  return {{"kernel", h.launches[tail->launch].kernel}, {"from_us", tail->from_us}, {"share", tail->share}};
}

}  // namespace

std::string heartbeat_text(const Heartbeat* h, const std::string& why, double timed_us, bool tiles) {
  if (h == nullptr) return phrase("Heartbeat: not available: {}.\n", why);
  std::string text =
      phrase("Heartbeat: {} samples of one run of {:.1f} µs, one every {}; attempt {}; {}, {}, {:.2f} s.\n",
             h->samples.size(), h->length_us(), interval_text(*h), h->tries, h->method, h->chip, h->seconds);
  if (timed_us > 0)
    text += phrase("The launches took {:.1f} µs with sampling. Without sampling, the median is {:.1f} µs.\n",
                   busy_us(*h), timed_us);
  text += launches_text(*h);
  text += tr("Mean over the launches, then the run from left to right, on a scale from 0:\n");
  for (const BeatCounter& c : h->counters) text += counter_text(*h, c);
  return text + beat_words(*h) + (tiles ? borders_text(*h) : "");
}

json heartbeat_figures(const Heartbeat* h, const std::string& why, bool tiles) {
  if (h == nullptr) return {{"not_available", why}};
  json j = heartbeat_to_json(*h);
  json means = json::object();
  for (const BeatCounter& c : h->counters)
    if (const auto mean = mean_of(*h, c); mean && !c.values.empty()) means[c.id] = *mean;
  j["not_available"] = "";
  j["length_us"] = h->length_us();
  j["means"] = std::move(means);
  j["beat"] = beat_json(*h);
  j["tail"] = tail_json(*h);
  if (tiles) j["borders"] = borders_json(*h);
  return j;
}

std::string heartbeat_csv(const std::string& kernel, const Heartbeat* h) {
  const InEnglish recorded;
  std::string text = "kernel,launch,start_us,end_us";
  for (const BeatRow& row : beat_table()) text += fmt::format(",{}_{}", row.id, row.unit == "%" ? "pct" : "mhz");
  text += "\n";
  if (h == nullptr) return text;
  for (std::size_t n = 0; n < h->samples.size(); ++n) {
    const double start = static_cast<double>(h->samples[n].start_ns) * 1e-3;
    const double end = static_cast<double>(h->samples[n].end_ns) * 1e-3;
    std::string launch;
    for (const BeatLaunch& l : h->launches)
      if (end > l.start_us && start < l.end_us) launch += (launch.empty() ? "" : "+") + l.kernel;
    text += fmt::format("{},{},{:.3f},{:.3f}", kernel, launch, start, end);
    for (const BeatRow& row : beat_table()) {
      const BeatCounter* c = counter_of(*h, row.id);
      text += c == nullptr ? "," : fmt::format(",{:g}", c->values[n]);
    }
    text += "\n";
  }
  return text;
}

}  // namespace attn::cli
