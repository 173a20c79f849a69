// The bytes of every order beside one another are those that a run of that order counts.
#include <map>
#include <set>

#include "kernels/model/traffic.h"
#include "tests/viz/step/fixture.h"
#include "viz/step/charts/traffic.h"

namespace attn {
namespace {

TEST(TrafficCard, BarsAreWhatARunOfEachOrderCounts) {
  for (const char* preset : {"blackboard", "late_outlier", "causal", "ragged", "heads", "bias"}) {
    std::map<std::string, std::uint64_t> counted;
    for (const char* kernel : kRecordingKernels) {
      const auto rec = record_preset(preset, kernel);
      std::uint64_t bytes = 0;
      for (const std::uint64_t part : rec->events.back().hbm_bytes) bytes += part;
      counted[std::string(name_of(rec->order))] = bytes;
    }
    for (const char* kernel : kRecordingKernels) {
      SCOPED_TRACE(std::string(preset) + " " + kernel);
      const auto rec = record_preset(preset, kernel);
      const TrafficTotals totals = traffic_totals(*rec);
      const TrafficScene scene = traffic_scene(*rec, static_cast<EventIndex>(rec->events.size() - 1), totals);
      ASSERT_EQ(scene.bars.size(), 4U);
      EXPECT_EQ(scene.bars[0].name, name_of(rec->order));
      EXPECT_EQ(scene.bars[0].so_far, scene.bars[0].total);
      EXPECT_EQ(scene.bars[0].once, compulsory(rec->order, rec->problem).total());
      std::set<std::string> names;
      for (const TrafficBar& bar : scene.bars) {
        EXPECT_EQ(bar.total, counted.at(bar.name)) << bar.name;
        EXPECT_LE(bar.once, bar.total) << bar.name;
        names.insert(bar.name);
      }
      EXPECT_EQ(names.size(), 4U);
    }
  }
}

}  // namespace
}  // namespace attn
