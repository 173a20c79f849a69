// Two recordings on one axis, and what another number of slots would bring.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "profiling/timeline/what_if.h"
#include "viz/profile/timeline/timeline_scene.h"

namespace attn {
namespace {

constexpr double kLeastGain = 0.005;            // below: nothing
constexpr double kOff = 0.02, kOffShare = 0.3;  // a derived gain and a measured one may differ by so much
constexpr double kLeastChange = 0.01;           // of a key tile's time: below, a state is as it was
constexpr std::size_t kMostChanges = 3;

double time_of_tile(const PipelineScene& s) {
  return static_cast<double>(s.tile_clocks) * s.ns_a_clock;
}
double of_state(const PipelineScene& s, const std::string& words) {
  const auto at = std::ranges::find(s.states, words, &PipelineScene::StateTime::words);
  return at == s.states.end() ? 0 : at->ns;
}

// The states whose time differs most, by how much.
std::string changes(const PipelineScene& a, const PipelineScene& b) {
  std::vector<std::string> words;
  for (const auto* s : {&a, &b})
    for (const auto& state : s->states)
      if (std::ranges::find(words, state.words) == words.end()) words.push_back(state.words);
  const auto change = [&](const std::string& state) { return of_state(b, state) - of_state(a, state); };
  std::ranges::stable_sort(words, std::ranges::greater(), [&](const std::string& w) { return std::fabs(change(w)); });
  std::string text;
  std::size_t told = 0;
  for (const std::string& state : words) {
    if (told == kMostChanges || std::fabs(change(state)) < kLeastChange * time_of_tile(a)) break;
    text += fmt::format("{}{} {}, below {}", told++ == 0 ? "" : "; ", state, time_text(of_state(a, state)),
                        time_text(of_state(b, state)));
  }
  return text;
}

// The recording of the same problem whose options `change` makes of this one's; null: there is none.
template <class Change>
const Timeline* other_of(const Timeline& t, const TimelinesView& all, Change change) {
  for (const auto& other : all.all)
    if (other->kernel == t.kernel && other->problem == t.problem && other->device == t.device &&
        change(other->options) && other->plain_us > 0 && t.plain_us > 0)
      return other.get();
  return nullptr;
}

std::int64_t step_of(const Options& o) {
  for (const auto& [name, value] : o.further)
    if (name == "step") return value;
  return 0;
}

std::string gain_text(double gain) {
  return fmt::format("{:.1f} %", 100 * std::fabs(gain));
}

}  // namespace

std::string comparison_words(const PipelineScene& a, const PipelineScene& b) {
  std::string words;
  const double from = a.timeline->plain_us, to = b.timeline->plain_us;
  if (from > 0 && to > 0) {
    const double gain = 1 - to / from;
    words = std::fabs(gain) < kLeastGain ? phrase("Without the recorder, both take {:.1f} µs.", from)
            : gain > 0 ? phrase("Without the recorder, the launch takes {:.1f} µs above and {:.1f} µs below, {} less.",
                                from, to, gain_text(gain))
                       : phrase("Without the recorder, the launch takes {:.1f} µs above and {:.1f} µs below, {} more.",
                                from, to, gain_text(gain));
  }
  words += (words.empty() ? "" : " ") +
           phrase("A key tile takes {} above and {} below.", time_text(time_of_tile(a)), time_text(time_of_tile(b)));
  if (const std::string what = changes(a, b); !what.empty())
    words += " " + phrase("Of that, for a consumer: {}.", what);
  return words;
}

namespace {

double measured_gain(const Timeline& t, const Timeline& with) {
  return 1 - with.plain_us / t.plain_us;
}

// Whether a derived gain may be told beside the measured one.
bool agree(double derived, double measured) {
  if (std::fabs(derived - measured) > std::max(kOff, kOffShare * std::fabs(measured))) return false;
  return std::fabs(measured) < kLeastGain || std::fabs(derived) < kLeastGain || (derived > 0) == (measured > 0);
}

}  // namespace

std::string gain_words(double gain) {
  return std::fabs(gain) < kLeastGain ? tr("nothing") : gain > 0 ? gain_text(gain) : phrase("{} lost", gain_text(gain));
}

std::string gain_sentence(const std::string& change, double derived, double measured) {
  return phrase("As derived from this recording, {} would gain {}; the measured gain is {}.", change,
                gain_words(derived), gain_words(measured));
}

SlotGain slot_gain(const Timeline& t, const Pipeline& p, const TimelinesView& all) {
  const std::int32_t slots = t.options.stages + 1;
  const Timeline* const more = other_of(t, all, [&](Options o) {
    const bool one_more = o.stages == slots;
    o.stages = t.options.stages;
    return one_more && o == t.options;
  });
  SlotGain gain;
  if (more == nullptr) return gain;
  gain.measured = measured_gain(t, *more);
  const auto then = with_slots(t, p, slots);
  if (then && agree(1 - *then, *gain.measured)) gain.derived = 1 - *then;
  return gain;
}

std::string slot_words(const Timeline& t, const Pipeline& p, const TimelinesView& all) {
  const SlotGain gain = slot_gain(t, p, all);
  if (!gain.derived || !gain.measured) return {};
  return gain_sentence(phrase("a ring of {} slots", t.options.stages + 1), *gain.derived, *gain.measured);
}

std::string stay_words(const Timeline& t, const Pipeline& p, const TimelinesView& all) {
  constexpr std::int64_t kStays = 7;
  if (step_of(t.options) != kStays - 1) return {};
  const Timeline* const stay = other_of(t, all, [&](const Options& o) { return step_of(o) == kStays; });
  const auto then = with_blocks_that_stay(t, p);
  if (stay == nullptr || !then || !agree(1 - *then, measured_gain(t, *stay))) return {};
  return gain_sentence(tr("blocks that stay"), 1 - *then, measured_gain(t, *stay));
}

std::string turn_words(const Timeline& t, const Pipeline& p, const TimelinesView& all) {
  const auto turns = turns_of(t, p);
  if (!turns) return {};
  constexpr std::int64_t kTurns = 3;
  const Timeline* const without = step_of(t.options) == kTurns
                                      ? other_of(t, all, [](const Options& o) { return step_of(o) == kTurns - 1; })
                                      : nullptr;
  std::string words = phrase(
                          "Consumers spend {} of their time waiting for a turn. The gain from turns cannot be derived: "
                          "with them, two or more consumers compute exponentials at once {} of the time.",
                          time_share_text(turns->waits), time_share_text(turns->together)) +
                      " ";
  if (without == nullptr) return words + tr("There is no recording without turns to compare with.");
  return words + phrase("Measured: turns gain {}.", gain_words(1 - t.plain_us / without->plain_us));
}

void put_beside(PipelineScene& scene, const std::string& id, const TimelinesView& timelines) {
  if (!scene.there || id.empty()) return;
  for (PipelineScene::Choice& c : scene.choices) {
    if (!is_named(c.id, id) || !c.may_be_beside) continue;
    const auto at = std::ranges::find(timelines.all, c.id, [](const auto& t) { return id_of(*t); });
    auto other = std::make_shared<PipelineScene>(timeline_scene(*at, timelines, scene.timeline->kernel, scene.block));
    if (!other->there) return;
    c.beside = true;
    scene.beside_label = c.words;
    scene.beside_words = comparison_words(scene, *other);
    scene.notes = phrase("Above: {}", scene.notes) + " " + phrase("Below: {}", other->notes);
    scene.beside = std::move(other);
    return;
  }
}

}  // namespace attn
