#include "viz/bench/ranks/rank_lanes.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "kernels/model/ring.h"
#include "viz/bench/sweep/sweep_fields.h"
#include "viz/state/run_words.h"

namespace attn {
namespace {

bool has_lanes(const Measurement& m) {
  return m.ranks && m.state == RowState::done &&
         std::ranges::any_of(m.ranks->devices, [](const Rank& r) { return !r.spans.empty(); });
}

std::string dealing_words(Dealing d) {
  switch (d) {
    case Dealing::zigzag:
      return tr("dealt by zigzag");
    case Dealing::heads:
      return tr("dealt by heads");
    case Dealing::in_order:
      break;
  }
  return tr("dealt in order");
}

bool sends_sums(const Ranks& ranks) {
  return std::ranges::find(ranks.travels, Tensor::d_k) != ranks.travels.end();
}

// A backward's dK and dV go with their keys.
std::string travelling_words(const Ranks& ranks) {
  return sends_sums(ranks) ? tr("K, V, dK and dV") : tr("K and V");
}

std::string carrier_words(const Ranks& ranks) {
  if (ranks.travels.empty()) return tr("nothing travels");
  switch (ranks.carrier) {
    case Carrier::nccl:
      return phrase("{} by NCCL", travelling_words(ranks));
    case Carrier::copy_engine:
      return phrase("{} by copy engines", travelling_words(ranks));
    case Carrier::sockets:
      break;
  }
  return phrase("{} over sockets", travelling_words(ranks));
}

// In a unit of its own: a wait may be a thousandth of a turn.
std::string time_words(double us) {
  return value_with_unit(us, time_unit(us, us));
}

// A line of a lane's sums.
std::string sum_words(RankWork work, const std::string& time, const std::string& share) {
  switch (work) {
    case RankWork::send:
      return phrase("sends for {}, {} of the time", time, share);
    case RankWork::receive:
      return phrase("receives for {}, {} of the time", time, share);
    case RankWork::wait:
      return phrase("waits for {}, {} of the time", time, share);
    case RankWork::compute:
      break;
  }
  return phrase("computes for {}, {} of the time", time, share);
}

// How many spans of its work and turn its lane has before it: a backward has several.
std::ptrdiff_t place_of(const RankLane& lane, const RankSpan& span) {
  return std::ranges::count_if(lane.spans, [&](const RankSpan& s) {
    return s.work == span.work && s.turn == span.turn && s.begin_us < span.begin_us;
  });
}

// What a span of a backward does; empty: the same as in a forward. dK and dV follow their share one turn behind: on
// GPUs by themselves after K and V, over sockets together with them.
std::string words_of_sums(const RingLanes& ring, const RankLane& lane, const RankSpan& span) {
  const std::int64_t turn = span.turn;
  const bool home = goes_home(ring, span), last = turn + 1 == std::ssize(ring.lanes), first = place_of(lane, span) == 0;
  if (span.work == RankWork::compute) {
    if (home) return first ? phrase("{} rounds dQ", lane.name) : phrase("{} rounds dK and dV of its keys", lane.name);
    return first ? "" : phrase("{} adds up dK and dV of turn {}", lane.name, turn);
  }
  if (turn == 0) return "";
  if (span.work == RankWork::send) {
    if (home) return phrase("{} sends dK and dV home", lane.name);
    if (last || !(first || ring.on_cpu)) return phrase("{} sends dK and dV of turn {}", lane.name, turn - 1);
    return ring.on_cpu ? phrase("{} sends K and V of turn {}, and dK and dV of turn {}", lane.name, turn, turn - 1)
                       : phrase("{} sends K and V of turn {}", lane.name, turn);
  }
  if (span.work == RankWork::receive) {
    if (home) return phrase("{} receives dK and dV of its keys", lane.name);
    return last ? phrase("{} receives dK and dV for turn {}", lane.name, turn)
                : phrase("{} receives K and V for turn {}, and dK and dV for turn {}", lane.name, turn + 1, turn);
  }
  if (home) return phrase("{} waits for dK and dV of its keys", lane.name);
  return last || (first && !ring.on_cpu) ? phrase("{} waits for dK and dV in turn {}", lane.name, turn) : "";
}

std::string lane_name(std::size_t n) {
  return phrase("rank {}", n);
}

std::string lane_tip(const Rank& r, const std::string& name, double all_us) {
  std::string tip = fmt::format("{}, {}", name, r.device);
  for (const RankWork work : {RankWork::compute, RankWork::wait, RankWork::send, RankWork::receive}) {
    const double us = us_of(r.spans, work);
    if (us > 0 && all_us > 0) tip += "\n" + sum_words(work, time_words(us), percent_text(100 * us / all_us));
  }
  if (r.sent_bytes > 0) tip += "\n" + phrase("sent {}", bytes_text(static_cast<double>(r.sent_bytes)));
  return tip;
}

RingLanes lanes_of(const Measurement& m, const std::string& label) {
  RingLanes ring;
  const std::size_t ranks = m.ranks->devices.size();
  ring.kernel = m.key.kernel;
  ring.sums = sends_sums(*m.ranks);
  ring.on_cpu = m.ranks->carrier == Carrier::sockets;
  ring.title = ranks == 1 ? phrase("{}, one rank", label) : phrase("{}, ring of {}", label, ranks);
  ring.words = ranks == 1 ? describe(m.key.problem)
                          : fmt::format("{}, {}; {}", describe(m.key.problem), dealing_words(m.ranks->dealing),
                                        carrier_words(*m.ranks));
  for (std::size_t n = 0; n < ranks; ++n) {
    RankLane& lane = ring.lanes.emplace_back();
    lane.name = lane_name(n);
    lane.spans = m.ranks->devices[n].spans;
    std::ranges::stable_sort(lane.spans, {}, &RankSpan::begin_us);
    for (const RankSpan& s : lane.spans) ring.us = std::max(ring.us, s.end_us);
  }
  if (ranks > 1) ring.ideal_us = m.ranks->one_rank_us / static_cast<double>(ranks);
  return ring;
}

void finish_words(RingLanes& ring, const Measurement& m, const BenchUnit& unit) {
  const std::size_t ranks = ring.lanes.size();
  for (std::size_t n = 0; n < ranks; ++n)
    ring.lanes[n].tip = lane_tip(m.ranks->devices[n], ring.lanes[n].name, ring.us);
  const std::string time = value_with_unit(m.time.median, unit);
  if (ring.ideal_us <= 0) {
    ring.pace = time;
    return;
  }
  const double scaling = m.ranks->one_rank_us / m.time.median;
  const double ideal = 100 * scaling / static_cast<double>(ranks);
  ring.pace = scaling < 1 ? phrase("{}: takes {} times as long as one rank, {:.0f} % of the ideal speed-up of {}", time,
                                   times_text(1 / scaling), ideal, ranks)
                          : phrase("{}: {} times as fast as one rank, {:.0f} % of the ideal {}", time,
                                   times_text(scaling), ideal, ranks);
}

// The measured number of devices tells how good the model is.
void add_forecasts(RingLanes& ring, const Measurement& m, const BenchUnit& unit) {
  for (const RanksForecast& f : m.ranks->forecasts) {
    ForecastLane& lane = ring.forecasts.emplace_back();
    lane.ranks = f.ranks, lane.us = f.us;
    lane.name = phrase("{} GPUs", f.ranks);
    const std::string time = value_with_unit(f.us, unit);
    if (f.ranks == static_cast<std::int64_t>(ring.lanes.size())) {
      const double off = 100 * (m.time.median / f.us - 1);
      lane.words = off < 0 ? phrase("forecast {}; measured {:.1f} % less", time, -off)
                           : phrase("forecast {}; measured {:.1f} % more", time, off);
    } else if (m.ranks->one_rank_us > 0) {
      lane.words =
          phrase("forecast {}: {} times as fast as one GPU", time, fmt::format("{:.2f}", m.ranks->one_rank_us / f.us));
    } else {
      lane.words = phrase("forecast {}", time);
    }
  }
  std::ranges::sort(ring.forecasts, {}, &ForecastLane::ranks);
}

// The largest ring tells what holds it up.
void tell(RankLanesScene& scene) {
  const RingLanes& most = *std::ranges::max_element(scene.rings, {}, [](const RingLanes& r) { return r.lanes.size(); });
  scene.kernel = most.kernel;
  scene.headline = most.title + ": " + most.pace;
  const auto part = [&](RankWork work) { return percent_text(100 * share_of_work(most, work)); };
  const double waits = share_of_work(most, RankWork::wait);
  scene.reason = phrase("The ranks compute for {} of the time and wait for {}. Sending takes {}",
                        part(RankWork::compute), waits > 0 ? part(RankWork::wait) : "0 %", part(RankWork::send)) +
                 (waits < 0.02 ? tr(", hidden behind computation.")
                  : most.sums  ? tr(". A wait ends when a share of K and V or of dK and dV arrives.")
                               : tr(". A wait ends when the next share of K and V arrives."));
  // Between its spans a rank has nothing to record.
  constexpr double kWorthSaying = 0.05;
  if (const double rest = 1 - share_of_work(most, RankWork::compute) - waits; rest > kWorthSaying)
    scene.reason +=
        " " +
        (most.on_cpu
             ? phrase("For the remaining {}, a rank has not started yet, has already finished, or waits for a core.",
                      percent_text(100 * rest))
             : phrase("For the remaining {}, a rank has not started yet or has already finished.",
                      percent_text(100 * rest)));
  if (most.lanes.size() < 2) scene.reason.clear();
}

// Of the runs that are ticked one whose rings were measured along another axis; empty where none was.
std::string not_on_this_axis(const BenchSlices& slices, const Model& model) {
  for (const BenchSlice& slice : slices) {
    const ListedRun* run = find_run(model, slice.run);
    if (!slice.elsewhere || run == nullptr || std::ranges::none_of(run->run.rows, has_lanes)) continue;
    return phrase("Run {} has rings, measured along {}. The axis here is {}: untick the other runs to see its lanes.",
                  slice.letter, axis_letter(*slice.elsewhere), axis_letter(slices.front().axis));
  }
  return {};
}

}  // namespace

bool has_rank_lanes(const State& state, const Model& model) {
  return std::ranges::any_of(shown_runs(state.document.runs, model),
                             [](const ListedRun* r) { return std::ranges::any_of(r->run.rows, has_lanes); });
}

RankLanesScene rank_lanes(const State& state, const Model& model) {
  RankLanesScene scene;
  const ShownSlices shown = shown_slices(state, model, {}, state.view.bench.filter);
  const Axis axis = shown.slices.front().axis;
  const bool along_ranks = axis.name() == kRanks.name;
  scene.axis_letter = std::string(axis_letter(axis));
  struct Found {
    const Measurement* row;
    std::string label;
  };
  std::vector<Found> found;
  std::set<std::int64_t> values;
  for (const BenchSlice& slice : shown.slices) {
    for (const Measurement* m : slice.rows) {
      if (!has_lanes(*m)) continue;
      found.push_back({m, label_of(slice, m->key.kernel)});
      values.insert(axis_value(axis, *m));
    }
  }
  if (found.empty()) {
    scene.empty =
        tr("There are no ring lanes to show. Run a sweep along the axis ranks here, or open a session written by "
           "attnscope "
           "ring -o.");
    if (const std::string words = not_on_this_axis(shown.slices, model); !words.empty()) scene.empty = words;
    return scene;
  }
  if (!along_ranks) {
    scene.values.assign(values.begin(), values.end());
    const auto& looked = state.view.bench.value;
    scene.value = looked && values.contains(*looked) ? *looked : scene.values.back();
    std::erase_if(found, [&](const Found& f) { return axis_value(axis, *f.row) != scene.value; });
  }
  std::ranges::stable_sort(found, {}, [](const Found& f) { return std::pair(f.label, f.row->ranks->devices.size()); });
  for (const Found& f : found) scene.us = std::max(scene.us, scene.rings.emplace_back(lanes_of(*f.row, f.label)).us);
  for (const RingLanes& ring : scene.rings) scene.us = std::max(scene.us, ring.ideal_us);
  for (const Found& f : found)
    for (const RanksForecast& forecast : f.row->ranks->forecasts) scene.us = std::max(scene.us, forecast.us);
  scene.unit = time_unit(scene.us, scene.us);
  for (std::size_t n = 0; n < found.size(); ++n) {
    finish_words(scene.rings[n], *found[n].row, scene.unit);
    add_forecasts(scene.rings[n], *found[n].row, scene.unit);
  }
  tell(scene);
  return scene;
}

std::string rank_lanes_csv(const RankLanesScene& scene) {
  std::string text = "kernel,ranks,rank,turn,work,begin_us,end_us\n";
  for (const RingLanes& ring : scene.rings)
    for (std::size_t n = 0; n < ring.lanes.size(); ++n)
      for (const RankSpan& s : ring.lanes[n].spans)
        text += fmt::format("{},{},{},{},{},{:.3f},{:.3f}\n", ring.kernel, ring.lanes.size(), n, s.turn,
                            name_of(s.work), s.begin_us, s.end_us);
  return text;
}

std::string forecast_tip(const RingLanes& ring) {
  if (ring.sums)
    return tr(
        "A turn takes as long as the slowest GPU or the slowest transfer, whichever takes longer, plus the time to add "
        "dK and dV.\nAt the end, dK and dV return to their own ranks and are rounded.\nThe rates of GPU, link, "
        "addition and rounding were measured in this run.");
  return tr(
      "A turn takes as long as the slowest GPU or the slowest transfer, whichever takes longer, plus the merge.\nThe "
      "rates of GPU, link and merge were measured in this run.");
}

double share_of_work(const RingLanes& ring, RankWork work) {
  if (ring.us <= 0) return 0;
  double us = 0;
  for (const RankLane& lane : ring.lanes) us += us_of(lane.spans, work);
  return us / ring.us / static_cast<double>(ring.lanes.size());
}

const RankSpan* span_at(const RankLane& lane, RankWork work, double us) {
  const auto at = std::ranges::find_if(
      lane.spans, [&](const RankSpan& s) { return s.work == work && s.begin_us <= us && us < s.end_us; });
  return at == lane.spans.end() ? nullptr : &*at;
}

std::string span_words(const RingLanes& ring, const RankLane& lane, const RankSpan& span, const BenchUnit& unit) {
  const std::string time = time_words(span.length_us()), from = value_with_unit(span.begin_us, unit),
                    to = value_with_unit(span.end_us, unit);
  if (const std::string sums = ring.sums ? words_of_sums(ring, lane, span) : ""; !sums.empty())
    return phrase("{}: {}\nfrom {} to {}", sums, time, from, to);
  switch (span.work) {
    case RankWork::send:
      return phrase("{} sends its share of turn {}: {}\nfrom {} to {}", lane.name, span.turn, time, from, to);
    case RankWork::receive:
      return phrase("{} receives the share for turn {}: {}\nfrom {} to {}", lane.name, span.turn + 1, time, from, to);
    case RankWork::wait:
      return phrase("{} waits after turn {}: {}\nfrom {} to {}", lane.name, span.turn, time, from, to);
    case RankWork::compute:
      break;
  }
  return phrase("{} computes turn {}: {}\nfrom {} to {}", lane.name, span.turn, time, from, to);
}

}  // namespace attn
