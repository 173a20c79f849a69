// The three questions that a reader of a timeline has, answered by its numbers; and what is said besides.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/base/text.h"
#include "profiling/timeline/timeline_text.h"
#include "viz/profile/timeline/timeline_scene.h"

namespace attn {
namespace {

constexpr double kNamed = 0.02;  // of the path: less is not told
constexpr double kLeastPart = 0.0005;

bool is_copy(PathOf of) {
  return of == PathOf::copy_k || of == PathOf::copy_v || of == PathOf::copy_q;
}

PipelineScene::Answer pace_answer(const PipelineScene& scene, const std::vector<PathPart>& parts) {
  std::vector<std::pair<double, std::string>> told;
  double copies = 0;
  for (const PathPart& part : parts) {
    if (is_copy(part.of))
      copies += part.share;
    else if (part.share >= kNamed)
      told.emplace_back(part.share, tr_of(words_of(part.of)));
  }
  if (copies >= kNamed) told.emplace_back(copies, tr("copies on their way"));
  std::ranges::stable_sort(told, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> words;
  words.reserve(told.size());
  for (const auto& [share, what] : told) words.push_back(fmt::format("{} {}", time_share_text(share), what));
  return {
      tr("Who sets the pace?"), pace_headline(parts),
      phrase("The path that decides the block's {}: {}.", duration_text(scene, scene.length), fmt::join(words, ", "))};
}

// Clocks that the last consumer waits for K and V, as a share.
double waits_for_keys(const Timeline& t, const Pipeline& p) {
  std::int64_t clocks = 0;
  for (const LaneInterval& i : p.intervals.back()) {
    const LaneState& state = lane_state(t.tags[static_cast<std::size_t>(i.tag)]);
    if (state.kind == StateKind::wait && (state.of == StateOf::k || state.of == StateOf::v)) clocks += i.length();
  }
  return static_cast<double>(clocks) / static_cast<double>(p.length());
}

PipelineScene::Answer slot_answer(const Timeline& t, const Pipeline& p, const TimelinesView& all) {
  const std::int32_t slots = t.options.stages + 1;
  PipelineScene::Answer answer;
  answer.question = phrase("What would a ring of {} slots bring?", slots);
  const std::string waits =
      phrase("The last consumer waits {} of the time for K and V.", time_share_text(waits_for_keys(t, p)));
  const SlotGain gain = slot_gain(t, p, all);
  if (gain.derived && gain.measured) {
    answer.answer = gain_words(*gain.measured) == gain_words(*gain.derived)
                        ? phrase("Measured and derived: {}.", gain_words(*gain.measured))
                        : phrase("Measured: {}; derived: {}.", gain_words(*gain.measured), gain_words(*gain.derived));
    answer.why = slot_words(t, p, all) + " " + waits;
  } else if (gain.measured) {
    answer.answer = phrase("Measured: {}.", gain_words(*gain.measured));
    answer.why =
        tr("Nothing is derived: run again by its rules, this recording does not come to that.") + (" " + waits);
  } else {
    answer.answer = tr("Unknown.");
    answer.why = tr("No recording with that many slots is here to check a derived gain.") + (" " + waits);
  }
  return answer;
}

PipelineScene::Answer tail_answer(const PipelineScene& scene) {
  PipelineScene::Answer answer{tr("Where is the tail?"), {}, tail_words(scene)};
  const double idle = idle_at_end(scene);
  if (scene.band_rows < 2) return {answer.question, tr("Nowhere: one SM alone was recorded."), {}};
  answer.answer = idle < kLeastPart ? tr("Nowhere: all SMs end together.")
                                    : phrase("At the end: {} of all SM time is idle.", time_share_text(idle));
  return answer;
}

}  // namespace

std::string time_share_text(double share) {
  return share >= 0.0995 ? fmt::format("{:.0f} %", 100 * share) : fmt::format("{:.1f} %", 100 * share);
}

std::vector<PipelineScene::Answer> answers_of(const PipelineScene& scene, const std::vector<PathPart>& parts,
                                              const Pipeline& p, const TimelinesView& all) {
  return {pace_answer(scene, parts), slot_answer(*scene.timeline, p, all), tail_answer(scene)};
}

std::string words_besides(const Timeline& t, const Pipeline& p, const TimelinesView& all, std::string first) {
  std::vector<std::string> said{std::move(first), stay_words(t, p, all), turn_words(t, p, all), slots_words(t, all)};
  std::erase(said, "");
  return fmt::format("{}", fmt::join(said, " "));
}

}  // namespace attn
