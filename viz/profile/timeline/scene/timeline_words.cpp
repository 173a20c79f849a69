// What is said of a timeline: who sets the pace, where the tail is, what other numbers of slots took.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/base/text.h"
#include "profiling/timeline/timeline_text.h"
#include "viz/profile/timeline/scene/timeline_scene.h"

namespace attn {
namespace {

constexpr double kAsLarge = 0.9;   // of the largest part: another is about as large
constexpr double kNoTail = 0.005;  // of the launch: the first and the last SM end together
constexpr double kUsOfNs = 1e-3, kNsOfUs = 1e3;

// An SM and when its last block ends, ns; by that.
std::vector<std::pair<double, std::int32_t>> ends_of(const PipelineScene& scene) {
  std::map<std::int32_t, double> ends;
  for (const BlockBand& b : scene.bands) ends[b.sm] = std::max(ends[b.sm], b.to_ns);
  std::vector<std::pair<double, std::int32_t>> order;
  order.reserve(ends.size());
  for (const auto& [sm, end] : ends) order.emplace_back(end, sm);
  std::ranges::sort(order);
  return order;
}

}  // namespace

std::string pace_headline(const std::vector<PathPart>& parts) {
  const auto sum = [&](std::initializer_list<PathOf> kinds) {
    PathPart all;
    for (const PathPart& part : parts)
      if (std::ranges::find(kinds, part.of) != kinds.end()) all.share += part.share, all.tenths += part.tenths;
    return all;
  };
  const PathPart tensor = sum({PathOf::tensor_cores}), work = sum({PathOf::work}),
                 copies = sum({PathOf::copy_k, PathOf::copy_v, PathOf::copy_q}), of_q = sum({PathOf::copy_q}),
                 producer = sum({PathOf::producer_work}), handing = sum({PathOf::hand_over});
  const double largest = std::max({tensor.share, work.share, copies.share, producer.share, handing.share});
  const auto large = [&](const PathPart& part) { return part.share >= kAsLarge * largest; };
  const auto share = [](const PathPart& part) { return tenths_text(part.tenths); };
  if (large(tensor) && large(work) && large(copies))
    return phrase(
        "Tensor cores (at most {}), copies (at most {}) and consumers' own instructions ({}) set the pace together.",
        share(tensor), share(copies), share(work));
  if (large(tensor) && large(work))
    return phrase("Tensor cores (at most {}) and consumers' own instructions ({}) set the pace together.",
                  share(tensor), share(work));
  if (large(tensor) && large(copies))
    return phrase("Tensor cores (at most {}) and copies (at most {}) set the pace together.", share(tensor),
                  share(copies));
  if (large(work) && large(copies))
    return phrase("Copies (at most {}) and consumers' own instructions ({}) set the pace together.", share(copies),
                  share(work));
  if (large(tensor)) return phrase("The tensor cores set the pace, for at most {} of the time.", share(tensor));
  if (large(work)) return phrase("The consumers' own instructions set the pace, for {} of the time.", share(work));
  if (large(copies) && of_q.share > copies.share / 2)
    return phrase("Q sets the pace: it is in flight for at most {} of the time.", share(of_q));
  if (large(copies)) return phrase("Copies set the pace, for at most {} of the time.", share(copies));
  if (large(producer))
    return phrase("The producer's own instructions set the pace, for {} of the time.", share(producer));
  return phrase("Handing over work sets the pace, for {} of the time.", share(handing));
}

std::string launch_words(const Timeline& t) {
  const std::string what =
      phrase("{}, L = {}, D = {}{}", t.kernel, t.problem.Lk, t.problem.D, t.problem.mask.causal ? tr(", causal") : "");
  const std::string recorded = time_text(static_cast<double>(span_ns(t)));
  return t.plain_us > 0 ? phrase("{}: median {} without the recorder, {} in this recording.", what,
                                 time_text(t.plain_us * kNsOfUs), recorded)
                        : phrase("{}: {} as recorded.", what, recorded);
}

std::string tail_words(const PipelineScene& scene) {
  const auto ends = ends_of(scene);
  if (ends.size() < 2 || scene.launch_ns <= 0) return {};
  const auto [first, first_sm] = ends.front();
  const auto [last, last_sm] = ends.back();
  if (last - first < kNoTail * scene.launch_ns) return tr("All SMs finish together: there is no tail.");
  // SMs that end in the last half of the tail keep the launch going alone.
  const double middle = (first + last) / 2;
  const auto late = std::ranges::count_if(ends, [&](const auto& e) { return e.first > middle; });
  return phrase("SM {} finishes first, at {:.1f} µs, and SM {} last, at {:.1f} µs: a tail of {:.1f} µs. ", first_sm,
                first * kUsOfNs, last_sm, last * kUsOfNs, (last - first) * kUsOfNs) +
         plural(static_cast<std::size_t>(late), "{0} of {1} SMs is still working in the second half of the tail.",
                "{0} of {1} SMs are still working in the second half of the tail.", ends.size());
}

std::string price_words(const Timeline& t) {
  if (t.plain_us <= 0) return tr("The cost of recording was not measured.");
  return phrase("Recorded / plain: {:.3f} based on the medians of several launches, {:.3f} for this recording.",
                price_of(t), static_cast<double>(span_ns(t)) / (t.plain_us * kNsOfUs));
}

namespace {

// A query tile of fewer rows than the consumers could take leaves the last ones without any, and they never wait for
// its Q.
std::string idle_words(const Timeline& t, const Pipeline& p) {
  std::map<std::int32_t, std::ptrdiff_t> tiles;  // by consumer
  for (std::size_t l = 0; l < p.lanes.size(); ++l) {
    const TimelineLane& lane = t.lanes[p.lanes[l]];
    if (lane.kind != LaneKind::consumer) continue;
    tiles[lane.index] = std::ranges::count_if(p.intervals[l], [&](const LaneInterval& i) {
      const LaneState& state = lane_state(t.tags[static_cast<std::size_t>(i.tag)]);
      return state.kind == StateKind::wait && state.of == StateOf::q;
    });
  }
  std::ptrdiff_t most = 0;
  for (const auto& [index, count] : tiles) most = std::max(most, count);
  std::vector<std::string> said;
  for (const auto& [index, count] : tiles) {
    if (count == most) continue;
    said.push_back(
        count == 0 ? phrase("Consumer {} has no rows here: it only passes K and V on.", index)
                   : phrase("Consumer {} has no rows in some query tiles, where it only passes K and V on.", index));
  }
  return fmt::format("{}", fmt::join(said, " "));
}

}  // namespace

std::string order_words(const Timeline& t, const Pipeline& p) {
  std::string words;
  const bool backwards = !p.products.empty() && p.products.front().tile > 0;
  if (backwards) words = tr("Key tiles are numbered from the first key, and visited from the last tile to the first.");
  const auto of_v = std::ranges::count(p.slots, true, &SlotUse::of_v);
  if (of_v > 0 && of_v < static_cast<std::ptrdiff_t>(p.slots.size()))
    words += (words.empty() ? "" : " ") + phrase("K and V share the {} slots of the ring.", t.options.stages);
  if (const std::string idle = idle_words(t, p); !idle.empty()) words += (words.empty() ? "" : " ") + idle;
  return words;
}

double tail_ns(const PipelineScene& scene) {
  const auto ends = ends_of(scene);
  return ends.empty() ? 0 : ends.back().first - ends.front().first;
}

double idle_at_end(const PipelineScene& scene) {
  const auto ends = ends_of(scene);
  if (ends.empty() || scene.launch_ns <= 0) return 0;
  double idle = 0;
  for (const auto& [end, sm] : ends) idle += ends.back().first - end;
  return idle / (scene.launch_ns * static_cast<double>(ends.size()));
}

std::string slots_words(const Timeline& t, const TimelinesView& all) {
  std::map<std::int32_t, double> times;  // by slots, µs without the recorder
  if (t.plain_us > 0) times.emplace(t.options.stages, t.plain_us);
  for (const auto& other : all.all) {
    Options o = other->options;
    o.stages = t.options.stages;
    if (!all.refused.contains(other.get()) && other->kernel == t.kernel && other->problem == t.problem &&
        other->device == t.device && o == t.options && other->plain_us > 0)
      times.emplace(other->options.stages, other->plain_us);
  }
  if (times.size() < 2) return {};
  std::vector<std::string> told;
  told.reserve(times.size());
  for (const auto& [slots, us] : times) told.push_back(phrase("{} slots {:.1f} µs", slots, us));
  return phrase("Measured without the recorder: {}.", fmt::join(told, ", "));
}

}  // namespace attn
