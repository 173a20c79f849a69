#include "viz/profile/heartbeat/heartbeat.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "kernels/ladder.h"
#include "kernels/model/order_row.h"
#include "profiling/figures/metrics.h"
#include "viz/bench/scene/bench_scene.h"
#include "viz/draw/figure_text.h"
#include "viz/step/orders/looks.h"

namespace attn {
namespace {

constexpr std::size_t kTicks = 10;
constexpr double kMsFrom = 1000;  // microseconds from which an axis is labelled in milliseconds

std::string us_text(double us) {
  return value_with_unit(us, time_unit(us, us));
}

std::string value_text(double value, std::string_view unit) {
  return fmt::format("{} {}", figure_text(value), unit);
}

BeatLine line_of(const Heartbeat* h, const BeatRow& row) {
  BeatLine line;
  if (h == nullptr) return line;
  line.counter = counter_of(*h, row.id);
  if (line.counter == nullptr) return line;
  if (const auto mean = mean_of(*h, *line.counter)) line.mean = value_text(*mean, row.unit);
  return line;
}

std::string why_none(const Heartbeat& h, std::string_view id) {
  const auto at = std::ranges::find(h.counters, id, &BeatCounter::id);
  return at == h.counters.end() ? tr("this file does not contain the counter") : at->why_not;
}

BeatStrip strip(const HeartbeatScene& scene, const BeatRow& row) {
  constexpr double kLeastPercent = 20;  // a pipe that hardly works is to look like one
  BeatStrip s;
  if (row.unit == "%") s.scale = kLeastPercent;
  s.id = row.id;
  s.label = tr_of(row.label);
  s.unit = row.unit;
  s.own = line_of(scene.own.get(), row);
  s.other = line_of(scene.beside.get(), row);
  if (s.own.counter == nullptr) s.why_not = why_none(*scene.own, row.id);
  for (const BeatLine* line : {&s.own, &s.other})
    if (line->counter != nullptr) s.scale = std::max(s.scale, scale_of(*line->counter));
  s.scale_text = fmt::format("{:g} {}", s.scale, row.unit);
  s.tip = std::string(tr_of(row.help));
  if (row.unit == "%") s.tip += tr(" 100 % is the chip's peak.");
  if (s.own.counter != nullptr) s.tip += "\n" + s.own.counter->metric;
  return s;
}

std::vector<LaunchMark> marks_of(const Heartbeat& h) {
  std::vector<LaunchMark> marks;
  marks.reserve(h.launches.size());
  for (const BeatLaunch& l : h.launches)
    marks.push_back({l.kernel, l.start_us, l.end_us,
                     phrase("{}: {}, from {} on", l.kernel, us_text(l.length_us()), us_text(l.start_us))});
  return marks;
}

// What a place for a block works through in a launch, where every block of a flash kernel goes over all key tiles: its
// blocks, one after the other, and their tiles. Nothing where that is not known, or is a single tile.
struct PlaceWork {
  std::int64_t blocks = 0, tiles = 0;  // tiles: of each block
  double all() const { return static_cast<double>(blocks * tiles); }
};
std::optional<PlaceWork> place_work(const Measurement& m, const BlockWaves& waves) {
  const Problem& p = m.key.problem;
  if (!has_beat_of_tiles(m) || p.mask.any() || m.key.options.bc < 1 || waves.count <= 0) return std::nullopt;
  const PlaceWork work{static_cast<std::int64_t>(std::ceil(waves.count)),
                       (p.Lk + m.key.options.bc - 1) / m.key.options.bc};
  return work.tiles < 2 ? std::nullopt : std::optional(work);
}

bool is_key_tile(const std::optional<Pulse>& beat, const std::optional<PlaceWork>& work) {
  constexpr double kNear = 0.04;
  return beat && work && std::abs(beat->count - work->all()) <= kNear * work->all();
}

// What a beat is, or that it is no key tile: several of them may come again and again together.
std::string tile_words(const Heartbeat& h, const std::optional<Pulse>& beat, const PlaceWork& work) {
  constexpr double kLeast = 4;  // samples that a beat is told from
  std::string words = work.blocks == 1
                          ? phrase(" A block slot runs {} block of {} key tiles", work.blocks, work.tiles)
                          : phrase(" A block slot runs {} consecutive blocks of {} key tiles", work.blocks, work.tiles);
  if (is_key_tile(beat, work)) return phrase("{}: a beat is a key tile.", words);
  const BeatLaunch& launch = h.launches[beat ? beat->launch : longest_launch(h)];
  const double us = launch.length_us(), tile = us / work.all();
  words += phrase(" in {}, {} per tile on average", us_text(us), us_text(tile));
  const double sample = static_cast<double>(h.samples.back().end_ns - h.samples.front().start_ns) * 1e-3 /
                        static_cast<double>(h.samples.size());
  if (tile < kLeast * sample) words = phrase("{}: too short to resolve with a sample every {}", words, us_text(sample));
  return beat ? phrase("{}. A beat is not a key tile.", words) : words + ".";
}

std::string beat_words(const Heartbeat& h, const std::optional<Pulse>& beat, const std::optional<PlaceWork>& work) {
  std::string words = tr("No beat spanning four samples or more was found.");
  if (beat) {
    const BeatRow* row = find_beat_row(beat->id);
    words = phrase("A beat every {} in {}, {:.0f} beats in all; clearest in {}, with an autocorrelation of {:.2f}.",
                   us_text(beat->period_us), h.launches[beat->launch].kernel, beat->count,
                   row == nullptr ? beat->id : std::string(tr_of(row->label)), beat->likeness);
  }
  return work && !h.launches.empty() && !h.samples.empty() ? words + tile_words(h, beat, *work) : words;
}

// S, P and O of the beats that are shown, as far as they were laid over one another, and how they were found.
void put_borders(HeartbeatScene& scene, bool key_tile, const HeartbeatScene* before) {
  if (before != nullptr && before->own == scene.own && before->borders != nullptr)
    scene.borders = before->borders;
  else
    scene.borders = std::make_shared<const Result<BeatBorders>>(borders_of(*scene.own));
  if (!*scene.borders) {
    if (!scene.notes.empty()) scene.notes += " ";
    scene.notes += scene.borders->error().message;  // what was not found is no headline
    return;
  }
  const BeatBorders& b = **scene.borders;
  std::string parts;
  for (const BeatPart& part : b.parts)
    parts += phrase("{}{} {} (multiply-adds {:.0f} %, exponentials {:.0f} %, shared memory {:.0f} %)",
                    parts.empty() ? "" : ", ", gpu::name_of(part.phase), us_text((part.to - part.from) * b.period_us),
                    part.fma, part.xu, part.shared);
  scene.words += phrase(
      " Over {} overlaid beats from {} to {}, {} takes {}: {}. Boundaries are accurate to {}, or 1/{} of a beat. Three "
      "stretches explain {:.0f} % of the pattern, and P is the stretch with the exponentials.",
      b.beats, us_text(b.from_us), us_text(b.to_us), key_tile ? tr("a key tile") : tr("a beat"), us_text(b.period_us),
      parts, us_text(b.period_us / static_cast<double>(b.samples_a_beat)), b.samples_a_beat, 100 * b.told);
  constexpr double kMostBeats = 12;  // of which letters can still be read
  if (scene.to_us - scene.from_us > kMostBeats * b.period_us) return;
  // Those beats and no more: the first and the last may be cut by their ends.
  for (double begins = b.first_us - b.period_us; begins < b.to_us; begins += b.period_us)
    for (const BeatPart& part : b.parts) {
      const BeatStretch s{part.phase, std::max(b.from_us, begins + part.from * b.period_us),
                          std::min(b.to_us, begins + part.to * b.period_us)};
      if (s.from_us < s.to_us && s.to_us > scene.from_us && s.from_us < scene.to_us) scene.stretches.push_back(s);
    }
  if (scene.stretches.empty()) scene.words += tr(" No letters are shown here: they apply only to the overlaid beats.");
}

std::string tail_words(const Heartbeat& h) {
  const auto tail = tail_of(h);
  if (!tail) return {};
  const BeatLaunch& launch = h.launches[tail->launch];
  if (tail->share <= 0)
    return phrase("At least {:.0f} % of the multiprocessors stay busy until the end of {}.", kFullSms,
                  h.launches.size() == 1 ? launch.kernel : tr("each launch"));
  return phrase(
      "In the last {} of {}, or {:.1f} % of its time, fewer than {:.0f} % of the multiprocessors are busy. Idling "
      "costs {:.1f} % of the GPU's time in this launch.",
      us_text(launch.end_us - tail->from_us), launch.kernel, 100 * tail->share, kFullSms, 100 * tail->empty);
}

// Whether what is seen here is what was timed: the time, and the clock.
std::string beside_timings(const Measurement& m, const Heartbeat& h) {
  std::string words;
  if (m.time.n > 0)
    words += phrase(" The launches took {} while the counters were read, and {} without counters.", us_text(busy_us(h)),
                    us_text(m.time.median));
  const auto mhz = mean_of(h, "clock");
  const auto at = find_metric("sm_clock_mhz");
  const bool known = at && *at < m.figures.size() && m.figures[*at].available();
  if (mhz && known)
    words += phrase(
        " The cycle count puts the SM clock at {:.0f} MHz, or {:.1f} % of the {:.0f} MHz that NVML read between the "
        "timed launches.",
        *mhz, 100 * *mhz / m.figures[*at].value, m.figures[*at].value);
  else if (mhz)
    words += phrase(" SM clock {:.0f} MHz.", *mhz);
  return words;
}

std::string notes_of(const Measurement& m, const Heartbeat& h) {
  const std::string interval = h.in_cycles ? phrase("{} cycles of the system clock", h.interval)
                                           : us_text(static_cast<double>(h.interval) * 1e-3);
  const std::string run = h.tries == 1
                              ? std::string(tr("one warmed-up run"))
                              : phrase("one warmed-up run, attempt {}: earlier attempts lost samples", h.tries);
  return phrase("{} samples of {}, one every {}, {} L2; {}.{}", h.samples.size(), run, interval, name_of(m.key.l2),
                h.method, beside_timings(m, h));
}

void put_axis(HeartbeatScene& scene, const ProfileView& view) {
  const double length = scene.own->length_us();
  scene.to_us = length;
  const auto from = static_cast<double>(view.beat_from_us), to = static_cast<double>(view.beat_to_us);
  if (from < std::min(to, length)) {
    scene.from_us = from;
    scene.to_us = std::min(to, length);
    scene.whole = from <= 0 && to >= length;
  }
  const bool ms = scene.to_us >= kMsFrom;
  scene.axis = phrase("{} after the start of the first launch", ms ? "ms" : "µs");
  for (const double us : round_times(scene.from_us, scene.to_us, kTicks))
    scene.ticks.push_back({us, tick_text(ms ? us * 1e-3 : us)});
}

void put_other(HeartbeatScene& scene, const Measurement* against) {
  if (against == nullptr) return;
  scene.other = against->key.kernel;
  if (against->heartbeat == nullptr) {
    scene.no_other = against->no_heartbeat.empty()
                         ? phrase("{} has no heartbeat here.", scene.other)
                         : phrase("{} has no heartbeat: {}.", scene.other, against->no_heartbeat);
    return;
  }
  scene.beside = against->heartbeat;
  scene.other_marks = marks_of(*scene.beside);
  const double length = scene.beside->length_us();
  if (length > scene.own->length_us())
    scene.notes =
        phrase("{} takes {}. The means cover the whole run, but the curves cover only the part that fits this axis.",
               scene.other, us_text(length));
}

}  // namespace

bool has_beat_of_tiles(const Measurement& row) {
  const auto kernel = find_kernel(row.key.kernel);
  return kernel && order_look((*kernel)->order).beats;
}

BlockWaves block_waves(const OccupancyScene& occupancy) {
  return occupancy.empty.empty() ? BlockWaves{occupancy.waves, occupancy.wave_count} : BlockWaves{};
}

std::vector<double> round_times(double from_us, double to_us, std::size_t most) {
  std::vector<double> times;
  if (!(to_us > from_us)) return times;
  double step = std::pow(10.0, std::floor(std::log10((to_us - from_us) / static_cast<double>(most))));
  for (const double factor : {2.0, 2.5, 2.0, 2.0})
    if ((to_us - from_us) / step > static_cast<double>(most)) step *= factor;
  for (double n = std::ceil(from_us / step); n * step <= to_us; ++n) times.push_back(n * step);
  return times;
}

HeartbeatScene heartbeat_scene(const Measurement& row, const Measurement* against, const ProfileView& view,
                               const BlockWaves& waves, const HeartbeatScene* before) {
  HeartbeatScene scene;
  scene.kernel = row.key.kernel;
  if (row.heartbeat == nullptr) {
    if (row.processor != Processor::gpu)
      scene.empty = tr("CPU kernels have no heartbeat.");
    else if (!row.no_heartbeat.empty())
      scene.empty = phrase("Not available: {}", sentence(row.no_heartbeat));
    else
      scene.empty = tr(
          "This row has no heartbeat yet. A heartbeat shows how busy the GPU's pipes and memory are during one run.");
    return scene;
  }
  scene.there = true;
  scene.own = row.heartbeat;
  put_other(scene, against);
  put_axis(scene, view);
  scene.marks = marks_of(*scene.own);
  for (const BeatRow& of : beat_table()) scene.strips.push_back(strip(scene, of));
  const auto beat = beat_of(*scene.own);
  const auto work = place_work(row, waves);
  scene.words = beat_words(*scene.own, beat, work);
  if (has_beat_of_tiles(row)) put_borders(scene, is_key_tile(beat, work), before);
  for (const std::string& more : {waves.words, tail_words(*scene.own)})
    if (!more.empty()) scene.words += " " + more;
  scene.notes = notes_of(row, *scene.own) + (scene.notes.empty() ? "" : " " + scene.notes);
  return scene;
}

BeatReading reading_at(const HeartbeatScene& scene, double us) {
  BeatReading reading;
  reading.title = us_text(us);
  for (const LaunchMark& mark : scene.marks)
    if (us >= mark.from_us && us < mark.to_us) reading.title += ", " + mark.kernel;
  const auto own = sample_at(*scene.own, us);
  const auto other = scene.beside == nullptr ? std::nullopt : sample_at(*scene.beside, us);
  for (const BeatStrip& strip : scene.strips) {
    const auto value = [&](const BeatLine& line, const std::optional<std::size_t>& n) {
      return line.counter == nullptr || !n ? std::string() : value_text(line.counter->values[*n], strip.unit);
    };
    const std::string mine = value(strip.own, own), theirs = value(strip.other, other);
    if (mine.empty() && theirs.empty()) continue;
    std::string text = fmt::format("{}: {}", strip.label, mine.empty() ? "–" : mine);
    if (!theirs.empty()) text += fmt::format("; {} {}", scene.other, theirs);
    reading.lines.push_back(std::move(text));
  }
  return reading;
}

}  // namespace attn
