// Two recordings on one axis, and what another number of slots would bring.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "profiling/timeline/what_if.h"
#include "viz/profile/timeline/scene/timeline_scene.h"

namespace attn {
namespace {

constexpr double kLeastGain = 0.005;            // below: nothing
constexpr double kOff = 0.02, kOffShare = 0.3;  // a derived gain and a measured one may differ by so much

// The recording of the same problem on the same card whose options `change` makes of this one's, one with quartiles
// first; null: there is none.
template <class Change>
const Timeline* other_of(const Timeline& t, const TimelinesView& all, Change change) {
  const Timeline* found = nullptr;
  for (const auto& other : all.all) {
    const bool fits = !all.refused.contains(other.get()) && other->kernel == t.kernel && other->problem == t.problem &&
                      on_same_card(t, *other) && change(other->options) && other->plain_us > 0 && t.plain_us > 0;
    if (fits && (found == nullptr || (found->plain_quartiles.q1 <= 0 && other->plain_quartiles.q1 > 0)))
      found = other.get();
  }
  return found;
}

std::int64_t step_of(const Options& o) {
  for (const auto& [name, value] : o.further)
    if (name == "step") return value;
  return 0;
}

std::string gain_text(double gain) {
  return fmt::format("{:.1f} %", 100 * std::fabs(gain));
}

std::string points_text(double share) {
  return fmt::format("{:.1f}", 100 * share);
}

}  // namespace

bool on_same_card(const Timeline& a, const Timeline& b) {
  return a.device == b.device && (a.device_uuid == b.device_uuid || a.device_uuid.empty() || b.device_uuid.empty());
}

namespace {

MeasuredGain measured_gain(const Timeline& t, const Timeline& with) {
  MeasuredGain m{1 - with.plain_us / t.plain_us, {}};
  if (t.plain_quartiles.q1 <= 0 || with.plain_quartiles.q1 <= 0) return m;
  const auto relative = [](const Timeline& x) { return (x.plain_quartiles.q3 - x.plain_quartiles.q1) / x.plain_us; };
  m.spread = (1 - m.gain) * std::hypot(relative(t), relative(with));
  return m;
}

}  // namespace

bool agree(double derived, const MeasuredGain& measured) {
  const double gain = measured.gain;
  if (std::fabs(derived - gain) > std::max(kOff, kOffShare * std::fabs(gain))) return false;
  const bool has_sign = measured.spread ? std::fabs(gain) > 2 * *measured.spread
                                        : std::min(std::fabs(gain), std::fabs(derived)) >= kLeastGain;
  return !has_sign || (derived > 0) == (gain > 0);
}

std::string gain_words(double gain) {
  return std::fabs(gain) < kLeastGain ? tr("nothing") : gain > 0 ? gain_text(gain) : phrase("{} lost", gain_text(gain));
}

std::string measured_words(const MeasuredGain& m) {
  if (!m.spread) return gain_words(m.gain);
  const std::string gain = m.gain < 0 ? phrase("{} lost", gain_text(m.gain)) : gain_text(m.gain);
  return phrase("{} (quartile spread {} points)", gain, points_text(*m.spread));
}

std::string gain_sentence(const std::string& change, double derived, const MeasuredGain& measured) {
  if (derived <= -kLeastGain)
    return phrase("Derived from this recording: {} would lose {}. The measured gain is {}.", change, gain_text(derived),
                  measured_words(measured));
  return phrase("Derived from this recording: {} would gain {}. The measured gain is {}.", change, gain_words(derived),
                measured_words(measured));
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
  gain.disagree = then && !agree(1 - then->share, *gain.measured);
  if (then && !gain.disagree) gain.derived = 1 - then->share;
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

namespace {

constexpr std::int64_t kTurnsFrom = 3;  // step of flash_hopper

// Of the same options but for the step.
const Timeline* at_step(const Timeline& t, const TimelinesView& all, std::int64_t step) {
  return other_of(t, all, [&](const Options& theirs) {
    const bool there = step_of(theirs) == step;
    Options o = theirs;
    for (auto& [name, value] : o.further)
      if (name == "step") value = step_of(t.options);
    return there && o == t.options;
  });
}

std::string words_without_turns(const Timeline& t, const Pipeline& p, const TimelinesView& all) {
  if (step_of(t.options) != kTurnsFrom - 1) return {};
  const Timeline* const with = at_step(t, all, kTurnsFrom);
  const auto then = with_turns(t, p);
  if (with == nullptr || !then || !agree(1 - then->share, measured_gain(t, *with))) return {};
  return gain_sentence(tr("taking turns"), 1 - then->share, measured_gain(t, *with));
}

}  // namespace

std::string turn_words(const Timeline& t, const Pipeline& p, const TimelinesView& all) {
  const auto turns = turns_of(t, p);
  if (!turns) return words_without_turns(t, p, all);
  const Timeline* const without = step_of(t.options) == kTurnsFrom ? at_step(t, all, kTurnsFrom - 1) : nullptr;
  std::string words = phrase(
                          "Consumers spend {} of their time waiting for their turn. The gain from turns cannot be "
                          "derived: with turns, two or more consumers compute exponentials at once for {} of the time.",
                          time_share_text(turns->waits), time_share_text(turns->together)) +
                      " ";
  if (without == nullptr) return words + tr("There is no recording without turns to compare with.");
  return words + phrase("Measured: turns gain {}.", measured_words(measured_gain(*without, t)));
}

namespace {

// A link may ask for what cannot be compared.
std::string why_not_beside(const PipelineScene& scene, const std::string& id, const TimelinesView& timelines) {
  const auto at = std::ranges::find_if(timelines.all, [&](const auto& t) { return is_named(id_of(*t), id); });
  if (at == timelines.all.end()) return phrase("Nothing is drawn below: there is no recording {}.", id);
  const Timeline &above = *scene.timeline, &below = **at;
  const std::string what = recording_words(below, true);
  if (*at == scene.timeline) return phrase("Nothing is drawn below: {} is the recording above.", what);
  if (!(below.problem == above.problem))
    return phrase("Nothing is drawn below: {} is of another problem, {}.", what, describe(below.problem));
  if (below.kernel != above.kernel) return phrase("Nothing is drawn below: {} is of another kernel.", what);
  if (below.device != above.device)
    return phrase("Nothing is drawn below: {} is from another GPU, {}.", what, below.device);
  return phrase("Nothing is drawn below: {} cannot be drawn.", what);
}

}  // namespace

void put_beside(PipelineScene& scene, const std::string& id, const TimelinesView& timelines) {
  if (!scene.there || id.empty()) return;
  for (PipelineScene::Choice& c : scene.choices) {
    if (!is_named(c.id, id) || !c.may_be_beside) continue;
    const auto at = std::ranges::find(timelines.all, c.id, [](const auto& t) { return id_of(*t); });
    auto other = std::make_shared<PipelineScene>(timeline_scene(*at, timelines, scene.timeline->kernel, scene.block));
    if (!other->there) return;
    c.beside = true;
    std::tie(scene.above_label, scene.beside_label) = what_differs(*scene.timeline, **at);
    scene.title = phrase("above {}; below {}", scene.title, other->title);
    scene.notes = phrase("Above: {}", scene.notes) + " " + phrase("Below: {}", other->notes);
    scene.beside = std::move(other);
    return;
  }
  scene.words = why_not_beside(scene, id, timelines) + (scene.words.empty() ? "" : " ") + scene.words;
}

}  // namespace attn
