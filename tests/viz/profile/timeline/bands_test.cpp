// All SMs of a launch: their blocks, and what lies before, between and behind them; and the panel beside them.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/viz/profile/timeline/bundled_timelines.h"
#include "viz/profile/timeline/bands_draw.h"
#include "viz/profile/timeline/scene/recorded_panel.h"
#include "viz/profile/timeline/scene/shown_part.h"
#include "viz/profile/timeline/scene/timeline_scene.h"

namespace attn {
namespace {

std::shared_ptr<const Timeline> of_step(const TimelinesView& all, std::int64_t step, bool causal) {
  for (const auto& t : all.all)
    for (const Setting& s : t->options.further)
      if (s.name == "step" && s.value == step && t->problem.mask.causal == causal) return t;
  ADD_FAILURE() << "no step " << step;
  return all.all.front();
}

// Counted in whole nanoseconds of the global timer: the blocks and all that lies between them are the launch.
TEST(TimelineBands, BlocksAndIdleTimeOfAnSmAreAllOfTheLaunch) {
  for (const char* name : {"h100-timeline", "h100-warps-timeline"}) {
    const TimelinesView all = bundled_timelines({name});
    for (const std::size_t n : {std::size_t{0}, all.all.size() - 1}) {
      const PipelineScene s = timeline_scene(all.all[n], all, all.all[n]->kernel);
      std::map<std::int32_t, std::vector<std::pair<std::int64_t, std::int64_t>>> of_sm;
      std::int64_t end = 0;
      for (const TimedBlock& b : all.all[n]->blocks) {
        of_sm[b.sm].emplace_back(b.start_ns, b.end_ns);
        end = std::max(end, b.end_ns);
      }
      double busy = 0;
      for (auto& [sm, blocks] : of_sm) {
        std::ranges::sort(blocks);
        std::int64_t until = 0;
        for (const auto& [from, to] : blocks) {
          busy += static_cast<double>(std::max(until, to) - std::max(until, from));
          until = std::max(until, to);
        }
      }
      const double all_time = static_cast<double>(end) * static_cast<double>(of_sm.size());
      EXPECT_NEAR(busy / all_time + idle_before_end(s) + idle_at_end(s), 1, 1e-9) << name;
    }
  }
}

TEST(TimelineBands, PartsOfABlockAreItsQueryTilesFromEndToEndAndTheLongestIsOne) {
  const TimelinesView all = bundled_timelines({"h100-timeline"});
  const PipelineScene s = timeline_scene(of_step(all, 8, true), all, "flash_hopper");
  float longest = 0;
  for (const BlockBand& b : s.bands) {
    ASSERT_EQ(b.parts.size(), std::max<std::size_t>(1, b.tiles_ns.size()));
    EXPECT_EQ(b.parts.front().from_ns, b.from_ns);
    EXPECT_EQ(b.parts.back().to_ns, b.to_ns);
    for (std::size_t n = 1; n < b.parts.size(); ++n) EXPECT_EQ(b.parts[n].from_ns, b.parts[n - 1].to_ns);
    for (const BlockBand::Part& part : b.parts) longest = std::max(longest, part.length);
  }
  EXPECT_EQ(longest, 1);
}

// The hatching of a line is where its SM has no block left: it begins at that SM's own end, not at the first one's.
TEST(TimelineBands, EachLineIsWithoutWorkFromItsOwnLastBlockOn) {
  const TimelinesView all = bundled_timelines({"h100-timeline"});
  for (const auto& t : all.all) {
    const PipelineScene s = timeline_scene(t, all, "flash_hopper");
    std::map<std::int32_t, std::int64_t> ends;  // by SM, of the recording
    for (const TimedBlock& b : t->blocks) ends[b.sm] = std::max(ends[b.sm], b.end_ns);
    const std::vector<double> rows = row_ends(s);
    ASSERT_EQ(rows.size(), ends.size());
    EXPECT_TRUE(std::ranges::is_sorted(rows));
    for (const BlockBand& b : s.bands)
      EXPECT_EQ(rows[static_cast<std::size_t>(b.row)], static_cast<double>(ends.at(b.sm))) << b.sm;
  }
}

// Longest first: under a causal mask SMs begin with long query tiles and end with short ones; without one all are
// alike.
TEST(TimelineBands, LongestFirstBeginsWithLongTiles) {
  const TimelinesView all = bundled_timelines({"h100-timeline"});
  const auto first_over_last = [&](bool causal) {
    const PipelineScene s = timeline_scene(of_step(all, 8, causal), all, "flash_hopper");
    std::vector<float> ratios;
    for (const BlockBand& b : s.bands) ratios.push_back(b.parts.front().length / b.parts.back().length);
    std::ranges::sort(ratios);
    return ratios[ratios.size() / 2];
  };
  EXPECT_GT(first_over_last(true), 3);
  EXPECT_LT(first_over_last(false), 2);
}

// flash_mma puts two blocks on an SM: they share its line and never lie over one another.
TEST(TimelineBands, BlocksOfAnSmAtOneTimeShareItsLine) {
  const TimelinesView all = bundled_timelines({"h100-warps-timeline"});
  const PipelineScene s = timeline_scene(all.all.front(), all, "flash_mma");
  EXPECT_EQ(s.band_places, 2);
  std::map<std::pair<std::int32_t, std::int32_t>, std::vector<std::pair<double, double>>> of_place;
  for (const BlockBand& b : s.bands) of_place[{b.row, b.place}].emplace_back(b.from_ns, b.to_ns);
  for (auto& [place, blocks] : of_place) {
    std::ranges::sort(blocks);
    for (std::size_t n = 1; n < blocks.size(); ++n) EXPECT_GE(blocks[n].first, blocks[n - 1].second);
  }
}

// No number of another run: all are of the recording, and of two the change is told.
TEST(RecordedPanel, TellsTheLaunchAndAKeyTileOfOneAndWhatDiffersBetweenTwo) {
  const TimelinesView all = bundled_timelines({"h100-turns-timeline"});
  const auto of = [&](std::int64_t step) { return of_step(all, step, false); };
  PipelineScene s = timeline_scene(of(2), all, "flash_mma");
  show_part(s, {});
  const RecordedPanel one = recorded_panel(s);
  EXPECT_EQ(one.kernel, "flash_hopper");
  EXPECT_TRUE(one.below.empty());
  ASSERT_EQ(one.tables.size(), 2U);
  EXPECT_EQ(one.tables[0].rows.at(0).above, fmt::format("{:.1f}", of(2)->plain_us));
  EXPECT_TRUE(one.tables[0].rows.at(0).below.empty());
  put_beside(s, id_of(*of(3)), all);
  ASSERT_NE(s.beside, nullptr);
  const RecordedPanel two = recorded_panel(s);
  EXPECT_NE(two.above, two.below);
  EXPECT_EQ(two.tables[0].rows.at(0).below, fmt::format("{:.1f}", of(3)->plain_us));
  const auto row = [&](const std::string& name) {
    for (const PanelTable& table : two.tables)
      for (const PanelRow& r : table.rows)
        if (r.name == name) return r;
    ADD_FAILURE() << name;
    return PanelRow();
  };
  const PanelRow turns = row("wait turn");
  EXPECT_EQ(turns.above, "0");
  EXPECT_EQ(turns.way, PanelChange::more);
  EXPECT_EQ(turns.change, "+" + turns.below);
  // Less than half a percent apart.
  EXPECT_EQ(two.tables[0].rows.at(0).change, "≈");
  EXPECT_NE(two.tables[0].rows.at(0).tip.find("less than 0.5 %"), std::string::npos) << two.tables[0].rows.at(0).tip;
  EXPECT_EQ(two.tables[0].rows.at(0).way, PanelChange::same);
}

// Lines of whole pixels, all of one height, at any size of the room; where there are more lines than pixels the room
// stays.
TEST(EvenLines, AreAllEquallyHigh) {
  for (const float top : {100.0F, 233.4F, 254.5F})
    for (const float height : {133.0F, 396.0F, 443.3F, 619.9F, 1240.0F}) {
      const Box box = even_lines({{10, top}, {900, top + height}}, 132);
      const float line = box.height() / 132;
      EXPECT_EQ(box.min.y, std::round(top));
      EXPECT_EQ(line, std::floor(line));
      EXPECT_GE(line, 1);
      EXPECT_LE(box.max.y, top + height + 0.01F);
      EXPECT_GT(box.max.y, top + height - 133) << "less than a pixel a line is left over";
    }
  const Box narrow = even_lines({{10, 20.5F}, {60, 38.5F}}, 132);
  EXPECT_EQ(narrow.min.y, 20.5F);
  EXPECT_EQ(narrow.max.y, 38.5F);
}

}  // namespace
}  // namespace attn
