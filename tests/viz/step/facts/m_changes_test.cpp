#include "viz/step/facts/landmarks.h"

#include <cmath>
#include <limits>

#include "tests/viz/step/fixture.h"

namespace attn {
namespace {

// The same question asked of the run itself: what m of the row is after each event, from the first event on.
std::vector<EventIndex> walked(const Recording& rec, std::int32_t b, std::int32_t h, std::int32_t row) {
  std::vector<EventIndex> steps;
  float m = -std::numeric_limits<float>::infinity();
  for (EventIndex e = 0; e < rec.events.size(); ++e) {
    const EventId& id = rec.events[e].id;
    if (id.b != b || id.h != h || id.phase != Phase::max) continue;
    const auto now = live_value(rec, e, Slot::m_new, row, 0);
    if (!now) continue;
    if (*now != m && !(std::isnan(*now) && std::isnan(m))) steps.push_back(e);
    m = *now;
  }
  return steps;
}

TEST(StepMChanges, AreWhatWalkingTheRunFinds) {
  for (const char* kernel : kRecordingKernels) {
    for (const char* preset : {"blackboard", "late_outlier", "masked_row", "ragged", "non_finite"}) {
      const auto rec = record_preset(preset, kernel);
      for (std::int32_t row = 0; row < rec->problem.Lq; ++row) {
        const StepPlace at = place_of(*rec, 0, pinned_row(row));
        EXPECT_EQ(steps_where_m_changes(*rec, at, row), walked(*rec, 0, 0, row))
            << kernel << ' ' << preset << ' ' << row;
      }
    }
  }
}

TEST(StepMChanges, OnlyEverRaiseM) {
  const auto rec = record_preset("late_outlier", "cpu_flash");
  const StepPlace at = place_of(*rec, 0, pinned_row(0));
  const auto steps = steps_where_m_changes(*rec, at, 0);
  ASSERT_GE(steps.size(), 2U);  // the first tile, and the outlier
  for (std::size_t n = 1; n < steps.size(); ++n) {
    EXPECT_GT(*live_value(*rec, steps[n], Slot::m_new, 0, 0), *live_value(*rec, steps[n - 1], Slot::m_new, 0, 0));
  }
  EXPECT_TRUE(steps_where_m_changes(*rec, at, -1).empty());
  EXPECT_TRUE(steps_where_m_changes(*rec, at, static_cast<std::int32_t>(rec->problem.Lq)).empty());
}

TEST(StepMChanges, AreNoneWithoutSubtraction) {
  Options options;
  options.subtract_max = false;
  const auto rec = record_preset("blackboard", "cpu_flash", options);
  EXPECT_TRUE(steps_where_m_changes(*rec, place_of(*rec, 0, pinned_row(0)), 0).empty());
}

TEST(StepMChanges, RightToLeftStaysInTheOrderOfTheRun) {
  Options options;
  options.key_order = KeyOrder::right_to_left;
  const auto rec = record_preset("blackboard", "cpu_flash", options);
  for (std::int32_t row = 0; row < rec->problem.Lq; ++row) {
    const auto steps = steps_where_m_changes(*rec, place_of(*rec, 0, pinned_row(row)), row);
    EXPECT_EQ(steps, walked(*rec, 0, 0, row));
  }
}

}  // namespace
}  // namespace attn
