// The three questions that a reader of a timeline has, answered by its numbers; and what is said besides.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/base/text.h"
#include "profiling/timeline/timeline_text.h"
#include "viz/profile/timeline/scene/timeline_scene.h"

namespace attn {
namespace {

constexpr double kLeastPart = 0.0005;
constexpr double kTypical = 0.05;  // a block's time is that of the median one

double ns_of_block(const Timeline& t, std::size_t n) {
  const TimedBlock& b = t.blocks[n];
  return b.end_clock > b.start_clock
             ? static_cast<double>(b.end_clock - b.start_clock) * ns_a_unit(t, static_cast<std::int32_t>(n))
             : static_cast<double>(b.end_ns - b.start_ns);
}

// The median of its blocks: ns and its number in the grid.
std::pair<double, std::int64_t> median_block(const Timeline& t) {
  std::vector<std::pair<double, std::int64_t>> by_time;
  by_time.reserve(t.blocks.size());
  for (std::size_t n = 0; n < t.blocks.size(); ++n) by_time.emplace_back(ns_of_block(t, n), t.blocks[n].block);
  std::ranges::sort(by_time);
  return by_time[(by_time.size() - 1) / 2];
}

std::int64_t number_of(const Timeline& t, std::int32_t block) {
  return t.blocks[static_cast<std::size_t>(block)].block;
}

bool is_copy(PathOf of) {
  return of == PathOf::copy_k || of == PathOf::copy_v || of == PathOf::copy_q;
}

PipelineScene::Answer pace_answer(const PipelineScene& scene, const std::vector<PathPart>& parts, const Pipeline& p) {
  std::vector<std::pair<std::int32_t, std::string>> told;
  std::int32_t copies = 0;
  for (const PathPart& part : parts) {
    if (is_copy(part.of))
      copies += part.tenths;
    else
      told.emplace_back(part.tenths, tr_of(words_of(part.of)));
  }
  told.emplace_back(copies, tr("copies in flight"));
  std::erase_if(told, [](const auto& t) { return t.first == 0; });
  std::ranges::stable_sort(told, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> words;
  words.reserve(told.size());
  for (const auto& [tenths, what] : told) words.push_back(fmt::format("{} {}", tenths_text(tenths), what));
  const Timeline& t = *scene.timeline;
  const std::int64_t block = number_of(t, p.block);
  const std::string question = is_typical(t, p.block) ? phrase("Who sets the pace of block {}?", block)
                                                      : phrase("Who sets the pace of block {} (not typical)?", block);
  return {question, pace_headline(parts),
          phrase("The critical path spans the block's {}: {}.", duration_text(scene, scene.length),
                 fmt::join(words, ", "))};
}

// Clocks.
std::int64_t waits_for_keys(const Timeline& t, const Pipeline& p, std::size_t lane) {
  std::int64_t clocks = 0;
  for (const LaneInterval& i : p.intervals[lane]) {
    const LaneState& state = lane_state(t.tags[static_cast<std::size_t>(i.tag)]);
    if (state.kind == StateKind::wait && (state.of == StateOf::k || state.of == StateOf::v)) clocks += i.length();
  }
  return clocks;
}

// That with the most products, since one without rows in a query tile only passes its keys on; of several the one that
// waits longest for K and V.
std::size_t told_consumer(const Timeline& t, const Pipeline& p) {
  std::pair<std::int64_t, std::int64_t> most{-1, 0};  // products, clocks
  std::size_t of = 0;
  for (std::size_t l = 0; l < p.lanes.size(); ++l) {
    if (t.lanes[p.lanes[l]].kind != LaneKind::consumer) continue;
    const std::pair own{std::ranges::count(p.products, p.lanes[l], &Product::lane), waits_for_keys(t, p, l)};
    if (own > most) most = own, of = l;
  }
  return of;
}

std::string words_of_waits(const Timeline& t, const Pipeline& p) {
  const std::size_t lane = told_consumer(t, p);
  return phrase("Consumer {} spends {} of the time waiting for K and V.", t.lanes[p.lanes[lane]].index,
                time_share_text(static_cast<double>(waits_for_keys(t, p, lane)) / static_cast<double>(p.length())));
}

// Whether it leaves slots empty: then one more does nothing for this block.
std::string unused_slots(const Timeline& t, const Pipeline& p) {
  std::set<std::int32_t> used;
  for (const SlotUse& use : p.slots) used.insert(use.slot);
  if (std::ssize(used) >= t.options.stages) return {};
  return phrase("None in this block, which fills only {} of the {} slots.", used.size(), t.options.stages);
}

PipelineScene::Answer slot_answer(const Timeline& t, const Pipeline& p, const TimelinesView& all) {
  const std::int32_t slots = t.options.stages + 1;
  PipelineScene::Answer answer;
  answer.question = phrase("How much time would a ring of {} slots save?", slots);
  const std::string waits = words_of_waits(t, p);
  const SlotGain gain = slot_gain(t, p, all);
  if (gain.derived && gain.measured) {
    answer.answer = phrase("Measured: {}; derived: {}.", gain_words(gain.measured->gain), gain_words(*gain.derived));
    answer.why = slot_words(t, p, all) + " " + waits;
  } else if (gain.measured) {
    answer.answer = phrase("Measured: {}.", measured_words(*gain.measured));
    const std::string why =
        gain.disagree
            ? tr("No gain is derived, because a replay of this recording does not reproduce the measured gain.")
            : tr("No gain is derived, because the replay's rules do not explain this recording.");
    answer.why = why + " " + waits;
  } else {
    const std::string unused = unused_slots(t, p);
    answer.answer = unused.empty() ? phrase("Not measured: no recording here has {} slots.", slots) : unused;
    answer.why = tr("A gain is derived only where a recording can confirm it.") + (" " + waits);
  }
  return answer;
}

}  // namespace

PipelineScene::Answer tail_answer(const PipelineScene& scene) {
  PipelineScene::Answer answer{tr("Where is the tail?"), {}, tail_words(scene)};
  const double idle = idle_at_end(scene);
  if (scene.band_rows < 2) return {answer.question, tr("Nowhere: only one SM was recorded."), {}};
  answer.answer = idle < kLeastPart
                      ? tr("Nowhere: all SMs finish together.")
                      : phrase("At the end: {:.1f} ± {:.1f} µs, {} of all SM time.", tail_ns(scene) * 1e-3,
                               residual_ns(*scene.timeline) * 1e-3, time_share_text(idle));
  answer.with_bands = true;
  return answer;
}

namespace {

// "a, b and c".
std::string listed(const std::vector<std::string>& words) {
  if (words.size() < 2) return words.empty() ? std::string() : words.front();
  return phrase("{} and {}", fmt::join(words.begin(), words.end() - 1, ", "), words.back());
}

}  // namespace

bool is_typical(const Timeline& t, std::int32_t block) {
  const double median = median_block(t).first;
  return std::fabs(ns_of_block(t, static_cast<std::size_t>(block)) - median) <= kTypical * median;
}

std::string recorded_kernels(const TimelinesView& all) {
  std::set<std::string> kernels;
  for (const auto& t : all.all) kernels.insert(t->kernel);
  return listed({kernels.begin(), kernels.end()});
}

void tell_of_no_path(PipelineScene& scene, const Pipeline& p, const TimelinesView& all) {
  const Timeline& t = *scene.timeline;
  std::int64_t works = 0, waits = 0;
  for (const auto& lane : p.intervals) {
    for (const LaneInterval& i : lane) {
      const StateKind kind = lane_state(t.tags[static_cast<std::size_t>(i.tag)]).kind;
      if (kind == StateKind::work) works += i.length();
      if (kind == StateKind::wait) waits += i.length();
    }
  }
  const std::int64_t all_lanes = p.length() * static_cast<std::int64_t>(std::max<std::size_t>(p.lanes.size(), 1));
  const std::vector<std::int32_t> tenths = tenths_of(std::array{works, waits, all_lanes - works - waits});
  scene.headline = waits == 0 ? std::string(tr("Who did what when."))
                              : phrase("The lanes work {} of the time, wait {}, and set up or hand over work for {}.",
                                       tenths_text(tenths[0]), tenths_text(tenths[1]), tenths_text(tenths[2]));
  scene.words = phrase(
      "The block takes {}. The recording does not say what ended each wait, so it has no critical path and cannot show "
      "who sets the pace.",
      duration_text(scene, scene.length));
  // The first recording of each other kernel stands for all of them.
  std::vector<std::string> kernels;
  for (const auto& other : all.all) {
    if (other->kernel == t.kernel || std::ranges::find(kernels, other->kernel) != kernels.end()) continue;
    const std::vector<std::int32_t> detailed = detailed_blocks(*other);
    if (!why_no_picture(*other).empty() || detailed.empty()) continue;
    const auto pipeline = pipeline_of(*other, most_usual_block(*other, detailed));
    if (!pipeline || pipeline->path.empty()) continue;
    kernels.push_back(other->kernel);
    if (!scene.door)
      scene.door = PipelineScene::Door{id_of(*other), phrase("Timeline of {}", other->kernel),
                                       phrase("{}, whose recording says who waits for whom", other->kernel)};
  }
  if (!kernels.empty()) scene.words += " " + phrase("Recordings with a critical path: {}.", listed(kernels));
}

std::vector<std::int32_t> tenths_of(std::span<const std::int64_t> parts) {
  constexpr std::int64_t kAll = 1000;
  const std::int64_t all = std::accumulate(parts.begin(), parts.end(), std::int64_t{0});
  std::vector<std::int32_t> tenths(parts.size());
  if (all <= 0) return tenths;
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::int64_t left = kAll;
  for (std::size_t n = 0; n < parts.size(); ++n) {
    tenths[n] = static_cast<std::int32_t>(parts[n] * kAll / all);
    left -= tenths[n];
  }
  // What rounding down left goes to those that lost most by it.
  std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t n) { return parts[n] * kAll % all; });
  for (std::size_t n = 0; n < static_cast<std::size_t>(left); ++n) ++tenths[order[n]];
  return tenths;
}

std::string tenths_text(std::int32_t tenths) {
  return fmt::format("{}.{} %", tenths / 10, tenths % 10);
}

std::string time_text(double ns) {
  if (ns < 1000) return fmt::format("{:.0f} ns", ns);
  return fmt::format("{:.{}f} µs", ns * 1e-3, ns < 10000 ? 2 : 1);
}

std::int32_t most_usual_block(const Timeline& t, std::span<const std::int32_t> rows) {
  const double median = median_block(t).first;
  return *std::ranges::min_element(
      rows, {}, [&](std::int32_t row) { return std::fabs(ns_of_block(t, static_cast<std::size_t>(row)) - median); });
}

std::string block_words(const Timeline& t, std::int32_t block) {
  if (t.blocks.size() < 2) return {};
  const auto [median, of] = median_block(t);
  const double own = ns_of_block(t, static_cast<std::size_t>(block));
  const std::int64_t name = number_of(t, block);
  if (is_typical(t, block))
    return phrase("Block {} is typical: it takes {}, and the median of {} blocks is {}.", name, time_text(own),
                  t.blocks.size(), time_text(median));
  return phrase("Block {} is not typical: it takes {}, and the median of {} blocks is {} (block {}).", name,
                time_text(own), t.blocks.size(), time_text(median), of);
}

std::string median_words(const Timeline& t, std::int32_t block) {
  if (t.blocks.size() < 2 || is_typical(t, block)) return {};
  return phrase("To record the median block, use attnscope timeline {} --block {}.", t.kernel, median_block(t).second);
}

std::string time_share_text(double share) {
  return share >= 0.0995 ? fmt::format("{:.0f} %", 100 * share) : fmt::format("{:.1f} %", 100 * share);
}

std::vector<PipelineScene::Answer> answers_of(const PipelineScene& scene, const std::vector<PathPart>& parts,
                                              const Pipeline& p, const TimelinesView& all) {
  return {pace_answer(scene, parts, p), slot_answer(*scene.timeline, p, all), tail_answer(scene)};
}

std::string words_besides(const Timeline& t, const Pipeline& p, const TimelinesView& all) {
  std::vector<std::string> said{block_words(t, p.block), stay_words(t, p, all), turn_words(t, p, all),
                                slots_words(t, all)};
  std::erase(said, "");
  return fmt::format("{}", fmt::join(said, " "));
}

}  // namespace attn
