// From a sweep to its points: nothing that a sweep can set is lost on the way.
#include <gtest/gtest.h>

#include "profiling/spec/sweep_point.h"
#include "profiling/spec/sweep_spec.h"
#include "tests/profiling/fake_kernels.h"
#include "tests/profiling/measure_changes.h"

namespace attn {
namespace {

using namespace test;

constexpr std::int64_t kLength = 32;

TEST(PointAt, EachWayOfMeasuringReachesThePoint) {
  ASSERT_EQ(kMeasureChanges.size(), fields_of_measure_spec());
  const Point as_set = point_at({}, real_row(), kLength);
  for (const MeasureChange& change : kMeasureChanges) {
    SweepSpec s;
    change.make(s);
    const Point p = point_at(s, real_row(), kLength);
    EXPECT_NE(p, as_set) << change.field;
    EXPECT_EQ(static_cast<const MeasureSpec&>(p), static_cast<const MeasureSpec&>(s)) << change.field;
  }
}

// Which kernels and values there are, and the peak of the CPU, are the sweep's own; the rest of it is in the point.
TEST(PointAt, WhatASweepMeasuresReachesThePoint) {
  struct Change {
    const char* field;
    void (*make)(SweepSpec&);
  };
  constexpr Change kChanges[] = {
      {"axis", [](SweepSpec& s) { s.axis = Axis::B; }},
      {"base", [](SweepSpec& s) { s.base.mask.causal = true; }},
      {"tokens", [](SweepSpec& s) { s.tokens = 64; }},
      {"options", [](SweepSpec& s) { s.options.br = 8; }},
  };
  const Point as_set = point_at({}, real_row(), kLength);
  for (const Change& change : kChanges) {
    SweepSpec s;
    change.make(s);
    EXPECT_NE(point_at(s, real_row(), kLength), as_set) << change.field;
  }
  EXPECT_NE(point_at({}, real_row(), 2 * kLength), as_set);
  EXPECT_NE(point_at({}, right_kernel("another"), kLength), as_set);
}

TEST(PointAt, AnAxisOfAnOptionSetsThatOptionAlone) {
  SweepSpec s;
  s.axis = Axis::br;
  s.options.bc = 16;
  const Point p = point_at(s, real_row(), kLength);
  EXPECT_EQ(p.options.br, kLength);
  EXPECT_EQ(p.options.bc, 16);
  EXPECT_EQ(p.problem, s.base);
}

}  // namespace
}  // namespace attn
