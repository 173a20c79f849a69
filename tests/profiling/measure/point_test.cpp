#include "profiling/measure/point.h"
#include "profiling/spec/measure_spec.h"

#include <gtest/gtest.h>

namespace attn {
namespace {

TEST(EmptyRow, HasThePointsKeyAndNoFigures) {
  Point p;
  p.kernel = "naive";
  p.problem.Lq = 48;
  p.options.br = 32;
  p.l2 = L2State::cold;
  const Measurement m = empty_row(p, Processor::gpu);
  EXPECT_EQ(m.key.kernel, "naive");
  EXPECT_EQ(m.key.problem, p.problem);
  EXPECT_EQ(m.key.options, p.options);
  EXPECT_EQ(m.key.l2, L2State::cold);
  EXPECT_EQ(m.processor, Processor::gpu);
  EXPECT_TRUE(m.figures.empty());
}

TEST(EmptyRow, OnACpuHasWarmCaches) {
  Point p;
  p.l2 = L2State::cold;
  EXPECT_EQ(empty_row(p, Processor::cpu).key.l2, L2State::warm);
}

}  // namespace
}  // namespace attn
