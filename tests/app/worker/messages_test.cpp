// What program and worker tell each other reads back as it was written.
#include "app/worker/messages.h"

#include <gtest/gtest.h>

#include "tests/profiling/measure_changes.h"

namespace attn {
namespace {

using namespace test;

Point sent(const Point& p) {
  const auto j = parse_message(to_json(p).dump());
  EXPECT_TRUE(j) << j.error().message;
  const auto read = j ? point_from(*j) : Result<Point>(tl::unexpected(j.error()));
  EXPECT_TRUE(read) << read.error().message;
  return read ? *read : Point{};
}

TEST(PointMessage, EachWayOfMeasuringArrives) {
  ASSERT_EQ(kMeasureChanges.size(), fields_of_measure_spec());
  for (const MeasureChange& change : kMeasureChanges) {
    Point p;
    change.make(p);
    EXPECT_EQ(sent(p), p) << change.field;
  }
}

TEST(PointMessage, KernelProblemAndOptionsArrive) {
  Point p;
  p.kernel = "flash_simt";
  p.problem.dtype = DType::f16;
  p.problem.B = 3;
  p.problem.Hq = 8;
  p.problem.Hkv = 2;
  p.problem.Lq = 100;
  p.problem.Lk = 200;
  p.problem.D = 64;
  p.problem.Dv = 32;
  p.problem.mask.causal = true;
  p.problem.mask.key_lengths = {200, 100, 1};
  p.problem.bias_shape = {1, 8, 100, 200};
  p.problem.scale = 0.1;
  p.options.br = 32;
  p.options.bc = 16;
  p.options.threads = 128;
  EXPECT_EQ(sent(p), p);
}

TEST(PointMessage, WithoutAFieldIsRefused) {
  const nlohmann::json whole = to_json(Point{});
  for (const auto& [key, value] : whole.items()) {
    if (key == "do") continue;  // says which request it is
    nlohmann::json part = whole;
    part.erase(key);
    EXPECT_FALSE(point_from(part)) << key;
  }
}

}  // namespace
}  // namespace attn
