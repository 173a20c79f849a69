// Naive beside flash: both runs say the same number, each strip is as far as its run, and switching orders keeps the
// place.
#include "viz/step/charts/passes.h"

#include <cmath>

#include "tests/viz/step/fixture.h"
#include "viz/draw/number_text.h"

namespace attn {
namespace {

// The tensor that a phase brings or makes; two orders correspond where these are the same.
Slot tensor_of_phase(Phase phase) {
  switch (phase) {
    case Phase::load_q:
    case Phase::load_state:
      return Slot::q;
    case Phase::load_kv:
    case Phase::load_k:
    case Phase::load_v:
      return Slot::k;
    case Phase::scores:
    case Phase::mask:
    case Phase::store_s:
    case Phase::skipped:
      return Slot::s;
    case Phase::max:
    case Phase::rescale:
      return Slot::m_new;
    case Phase::weights:
      return Slot::p;
    case Phase::sum:
      return Slot::l_new;
    default:
      return Slot::o_new;
  }
}

TEST(NearestEvent, IsTheSameTileAndTensorInEveryOrder) {
  for (const char* preset : {"blackboard", "causal", "ragged", "masked_row", "heads"}) {
    for (const char* from : kRecordingKernels) {
      const auto a = record_preset(preset, from);
      for (const char* to : kRecordingKernels) {
        SCOPED_TRACE(std::string(preset) + " " + from + " to " + to);
        const auto b = record_preset(preset, to);
        for (EventIndex e = 0; e < a->events.size(); ++e) {
          const EventId& here = a->events[e].id;
          const EventId& there = b->events[nearest_event(*a, e, *b)].id;
          ASSERT_EQ(there.b, here.b);
          ASSERT_EQ(there.h, here.h);
          const bool rows = here.i >= 0 && there.i >= 0, keys = here.j >= 0 && there.j >= 0;
          ASSERT_TRUE(!rows || there.i == here.i) << name_of(here.phase);
          ASSERT_TRUE(!keys || there.j == here.j) << name_of(here.phase);
          // A tile that one order skips and the other computes has no counterpart by tensor.
          if (here.phase == Phase::skipped || there.phase == Phase::skipped) continue;
          ASSERT_EQ(tensor_of_phase(there.phase), tensor_of_phase(here.phase))
              << name_of(here.phase) << " " << name_of(there.phase);
        }
      }
    }
  }
}

TEST(NearestEvent, ThereAndBackIsTheSameTile) {
  const auto flash = record_preset("late_outlier", "cpu_flash"),
             naive = record_preset("late_outlier", "cpu_sequential");
  for (EventIndex e = 0; e < flash->events.size(); ++e) {
    const EventIndex back = nearest_event(*naive, nearest_event(*flash, e, *naive), *flash);
    EXPECT_EQ(flash->events[back].id.i, flash->events[e].id.i);
    EXPECT_EQ(flash->events[back].id.j, flash->events[e].id.j);
  }
}

// The last number in a run of words.
double last_number(const TextRuns& runs) {
  for (auto at = runs.rbegin(); at != runs.rend(); ++at) {
    if (at->face == Face::mono) return value_of(at->text);
  }
  return std::nan("");
}

TEST(Passes, BothOrdersEndAtTheSameWeight) {
  for (const char* kernel : kRecordingKernels) {
    for (const char* preset : {"blackboard", "late_outlier", "ragged", "causal"}) {
      SCOPED_TRACE(std::string(kernel) + " " + preset);
      const auto rec = record_preset(preset, kernel);
      std::string why;
      const auto other = record_companion(*rec, why);
      ASSERT_NE(other, nullptr) << why;
      EXPECT_NE(stores_scores(rec->order), stores_scores(other->order));
      const auto last = static_cast<EventIndex>(rec->events.size() - 1);
      const auto row = static_cast<std::int32_t>(rec->problem.Lq) - 1;
      const StepPlace at = place_of(*rec, last, pinned_row(row));
      for (std::int32_t key = 0; key < rec->problem.Lk; ++key) {
        const PassesScene scene = passes_scene(*rec, at, key, 0, other.get(), why);
        ASSERT_EQ(scene.strips.size(), 4U);
        ASSERT_FALSE(scene.together.empty());
        // "flash: P a x alpha b / l c = d; naive stored P e"
        std::vector<double> numbers;
        for (const attn::TextRun& run : scene.together) {
          if (run.face == Face::mono) numbers.push_back(value_of(run.text));
        }
        ASSERT_EQ(numbers.size(), 5U) << plain_text(scene.together);
        EXPECT_NEAR(numbers[3], numbers[4], 2e-3 * numbers[4]) << plain_text(scene.together);
        EXPECT_NEAR(numbers[0] * numbers[1] / numbers[2], numbers[3], 1e-2 * numbers[3] + 1e-12);
        EXPECT_EQ(last_number(scene.strips[1].value), numbers[4]);
      }
    }
  }
}

TEST(Passes, StripsAreAsFarAsTheirRuns) {
  const auto flash = record_preset("blackboard", "cpu_flash");
  std::string why;
  const auto naive = record_companion(*flash, why);
  ASSERT_NE(naive, nullptr);
  for (EventIndex e = 0; e < flash->events.size(); ++e) {
    const StepPlace at = place_of(*flash, e, pinned_row(1));
    const PassesScene scene = passes_scene(*flash, at, 1, 0, naive.get(), why);
    EXPECT_EQ(scene.other_event, nearest_event(*flash, e, *naive));
    EXPECT_TRUE(scene.flash_shown);
    const auto looks = [&](std::size_t strip, const Recording& rec, EventIndex now, Phase phase, std::int32_t pass) {
      for (const PassTile& tile : scene.strips[strip].tiles) {
        const auto done = rec.find({0, 0, at.row / 2, tile.first_key / 2, phase});
        ASSERT_TRUE(done.has_value());
        const EventId& live = rec.events[now].id;
        const bool here = live.i == at.row / 2 && live.j == tile.first_key / 2 && rec.events[now].pass == pass;
        const PassLook expected = here ? PassLook::live : *done <= now ? PassLook::done : PassLook::to_come;
        EXPECT_EQ(tile.look, expected) << strip << " " << tile.first_key;
      }
    };
    looks(0, *naive, scene.other_event, Phase::store_s, 0);
    looks(1, *naive, scene.other_event, Phase::weights, 1);
    looks(2, *naive, scene.other_event, Phase::output, 2);
    looks(3, *flash, e, Phase::output, 0);
  }
}

TEST(Passes, ValuesAreThoseOfTheRecordings) {
  const auto naive = record_preset("late_outlier", "cpu_tiled");
  std::string why;
  const auto flash = record_companion(*naive, why);
  ASSERT_NE(flash, nullptr);
  const std::int32_t row = 5, key = 9;
  const auto last = static_cast<EventIndex>(naive->events.size() - 1);
  StepPlace at = place_of(*naive, last, pinned_row(row));
  at.row = row;
  const PassesScene scene = passes_scene(*naive, at, key, 2, flash.get(), why);
  EXPECT_FALSE(scene.flash_shown);
  const auto shown = [&](std::size_t n) { return last_number(scene.strips[n].value); };
  const auto recorded = [&](const Recording& rec, Phase phase, Slot slot) {
    const auto e = rec.find({0, 0, row / 4, key / 4, phase});
    return static_cast<double>(*live_value(rec, *e, slot, row, key));
  };
  const double s = recorded(*naive, Phase::scores, Slot::s), p = recorded(*naive, Phase::weights, Slot::p);
  EXPECT_NEAR(shown(0), s, 5e-4 * std::abs(s));
  EXPECT_NEAR(shown(1), p, 5e-4 * p);
  EXPECT_NEAR(shown(3), recorded(*flash, Phase::weights, Slot::p), 5e-4);
}

TEST(Passes, SayWhyThereIsNoOtherRun) {
  const auto rec = record_preset("blackboard", "cpu_flash");
  const PassesScene scene = passes_scene(*rec, place_of(*rec, 0, {}), 0, 0, nullptr, "too large");
  EXPECT_EQ(scene.nothing, "too large");
  EXPECT_TRUE(scene.strips.empty());
}

}  // namespace
}  // namespace attn
