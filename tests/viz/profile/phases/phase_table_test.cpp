// The table of phases: in the order of their time, with a column of it; how two cards share a height.
#include "viz/profile/phases/phase_table.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace attn {
namespace {

using gpu::CodePhase;

SourceScene source() {
  SourceScene scene;
  for (const CodePhase phase : {CodePhase::setup, CodePhase::k, CodePhase::s, CodePhase::o}) {
    PhaseRow row;
    row.phase = phase;
    row.total = 7;
    for (std::size_t n = 0; n < kPhaseCountColumns; ++n) row.counts.text.at(n) = std::to_string(n);
    scene.phases.push_back(row);
  }
  return scene;
}

MosaicScene mosaic() {
  MosaicScene scene;
  scene.there = true;
  double from = 0;
  for (const auto& [phase, share] : {std::pair{CodePhase::k, 0.1}, {CodePhase::s, 0.3}, {CodePhase::o, 0.6}}) {
    MosaicColumn column;
    column.phase = phase;
    column.from = from;
    column.to = from += share;
    scene.columns.push_back(column);
  }
  return scene;
}

std::vector<CodePhase> order_of(const PhaseTable& table, const SourceScene& scene) {
  std::vector<CodePhase> order;
  for (const PhaseLine& line : table.lines) order.push_back(scene.phases[line.row].phase);
  return order;
}

TEST(PhaseTable, ThoseThatTookTheMostTimeComeFirst) {
  const SourceScene scene = source();
  const PhaseTable table = phase_table(scene, mosaic(), true, false);
  EXPECT_EQ(order_of(table, scene), (std::vector{CodePhase::o, CodePhase::s, CodePhase::k, CodePhase::setup}));
  EXPECT_EQ(table.heads.front().text, "time %");
  EXPECT_EQ(table.lines[0].cells.front(), "60");
  EXPECT_EQ(table.lines[3].cells.front(), "");
  EXPECT_EQ(line_of(table, scene, CodePhase::k), 2U);
  EXPECT_EQ(line_of(table, scene, CodePhase::p), table.lines.size());
}

TEST(PhaseTable, WithoutSamplesTheyStandInTheOrderOfTheAlgorithm) {
  const SourceScene scene = source();
  const PhaseTable table = phase_table(scene, {}, true, false);
  EXPECT_EQ(order_of(table, scene), (std::vector{CodePhase::setup, CodePhase::k, CodePhase::s, CodePhase::o}));
  EXPECT_EQ(table.heads.size(), kPhaseCountColumns);
  EXPECT_EQ(phase_table(scene, {}, false, false).lines[0].cells.front(), "7");
}

TEST(PhaseTable, EachLineHasACellAHead) {
  const SourceScene scene = source();
  for (const bool counts : {true, false})
    for (const bool brief : {true, false}) {
      const PhaseTable table = phase_table(scene, mosaic(), counts, brief);
      for (const PhaseLine& line : table.lines) EXPECT_EQ(line.cells.size(), table.heads.size());
    }
  // In less room the share of what was executed goes, and nothing else.
  EXPECT_EQ(phase_table(scene, mosaic(), true, true).lines[0].cells,
            (std::vector<std::string>{"60", "0", "2", "3", "4", "5", "6"}));
}

TEST(PhaseTable, EachHeadSaysWhatStandsUnderIt) {
  const SourceScene scene = source();
  for (const bool counts : {true, false})
    for (const PhaseHead& head : phase_table(scene, mosaic(), counts, false).heads) {
      EXPECT_FALSE(head.text.empty());
      EXPECT_EQ(head.text.find('.'), std::string::npos) << head.text << " is an abbreviation";
      EXPECT_LE(head.brief.size(), head.text.size());
      EXPECT_GT(head.tip.size(), 15U) << head.text;
    }
}

TEST(PhaseTable, TwoCardsShareAHeightByWhatTheyNeed) {
  EXPECT_FLOAT_EQ(share_height(400, 100, 250).first, 100);
  EXPECT_FLOAT_EQ(share_height(400, 100, 250).second, 250);
  EXPECT_FLOAT_EQ(share_height(400, 900, 150).first, 250);
  EXPECT_FLOAT_EQ(share_height(400, 900, 350).first, 200);
  EXPECT_FLOAT_EQ(share_height(400, 900, 350).second, 200);
  EXPECT_FLOAT_EQ(share_height(400, 120, 900).second, 280);
}

}  // namespace
}  // namespace attn
