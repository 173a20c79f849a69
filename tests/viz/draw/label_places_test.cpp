#include "viz/draw/label_places.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace attn {
namespace {

constexpr LabelBox kInside{0, 0, 100, 100};

TEST(LabelPlaces, TheFirstPlaceThatMeetsNothingIsTaken) {
  const std::array candidates{LabelBox{10, 10, 30, 20}, LabelBox{40, 10, 60, 20}, LabelBox{70, 10, 90, 20}};
  EXPECT_EQ(place_label(candidates, {}, kInside).left, 10);
  const std::vector<LabelBox> taken{{0, 0, 15, 15}, {50, 0, 55, 30}};
  EXPECT_EQ(place_label(candidates, taken, kInside).left, 70);
}

TEST(LabelPlaces, WhereAllAreTakenTheOneThatMeetsLeastIs) {
  const std::array candidates{LabelBox{10, 10, 30, 20}, LabelBox{40, 10, 60, 20}};
  const std::vector<LabelBox> taken{{10, 10, 30, 20}, {58, 0, 90, 90}};
  EXPECT_EQ(place_label(candidates, taken, kInside).left, 40);
}

TEST(LabelPlaces, NothingStandsOutsideTheChart) {
  const std::array candidates{LabelBox{95, -8, 115, 2}};
  const LabelBox at = place_label(candidates, {}, kInside);
  EXPECT_EQ(at.right, 100);
  EXPECT_EQ(at.top, 0);
  const std::array wide{LabelBox{50, 40, 250, 50}};
  EXPECT_EQ(place_label(wide, {}, kInside).left, 0) << "its header is what is read first";
}

TEST(LabelPlaces, ANameIsNearerToItsOwnMarkThanToAnothers) {
  const std::array own{LabelPoint{50, 20}}, others{LabelPoint{50, 40}};
  const std::array candidates{LabelBox{10, 35, 45, 45}, LabelBox{55, 15, 90, 25}};
  const std::vector<LabelBox> beside = beside_own(candidates, own, others, kInside);
  ASSERT_EQ(beside.size(), 1U) << "the first stands at the height of the other's mark";
  EXPECT_EQ(beside.front().left, 55);
  EXPECT_EQ(beside_own(std::array{candidates[0]}, own, others, kInside).size(), 1U) << "it has no better place";
  EXPECT_EQ(beside_own(candidates, own, {}, kInside).size(), 2U);
}

TEST(LabelPlaces, ANameKeepsOffOtherNamesBeforeItKeepsOffLines) {
  const std::array candidates{LabelBox{10, 10, 30, 20}, LabelBox{40, 10, 60, 20}};
  const std::array words{LabelBox{28, 12, 30, 14}};
  const std::vector<LabelBox> clear = clear_of(candidates, words, kInside);
  ASSERT_EQ(clear.size(), 1U);
  EXPECT_EQ(clear.front().left, 40);
  EXPECT_EQ(clear_of(candidates, std::array{LabelBox{0, 0, 100, 100}}, kInside).size(), 2U) << "it has no better place";
}

TEST(LabelPlaces, BoxesThatOnlyTouchDoNotMeet) {
  EXPECT_EQ(overlap({0, 0, 10, 10}, {10, 0, 20, 10}), 0);
  EXPECT_EQ(overlap({0, 0, 10, 10}, {8, 6, 20, 10}), 8);
}

TEST(LabelPlaces, AFactorStandsAsNearToTheMiddleAsNoLineCrossesIt) {
  EXPECT_EQ(clear_middle({100, 20}, 16, {}), 60);
  // A line at 58 to 62: above it the label ends at 58, below it begins at 62.
  const std::vector<Reach> one{{58, 62}};
  const float at = clear_middle({20, 100}, 16, one);
  EXPECT_TRUE(at == 50 || at == 70) << at;
  const std::vector<Reach> above{{30, 62}};
  EXPECT_EQ(clear_middle({20, 100}, 16, above), 70);
  // Not beyond the ends, where that would be free.
  const std::vector<Reach> all{{25, 95}};
  EXPECT_EQ(clear_middle({20, 100}, 16, all), 60);
}

}  // namespace
}  // namespace attn
