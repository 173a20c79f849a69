// What a lesson speaks of has the room: the other tiles are neither placed nor drawn.

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>

#include "kernels/model/options.h"
#include "tests/viz/step/fixture.h"
#include "viz/step/facts/hidden_answers.h"
#include "viz/step/tiles/tiles_scene.h"

namespace attn {
namespace {

StepFocus focus(std::initializer_list<StepPart> parts) {
  StepFocus look;
  for (const StepPart part : parts) look.parts.set(static_cast<std::size_t>(part));
  return look;
}

TilesScene scene_at(EventIndex e) {
  const auto rec = record_preset("blackboard", "cpu_flash");
  return tiles_scene(*rec, e, Selection{}, OutputReading::as_summed, scales_of(*rec));
}

TEST(FoldedTiles, WhatIsNotMeantHasNoColumn) {
  TilesScene scene = scene_at(4);
  const std::size_t all = scene.columns.size();
  fold_tiles(scene, focus({StepPart::s, StepPart::m}));
  EXPECT_TRUE(scene.folded);
  EXPECT_LT(scene.columns.size(), all);
  for (const Column c : scene.columns) {
    const TensorColour hue = scene.tiles[static_cast<std::size_t>(c)].hue;
    EXPECT_TRUE(hue == TensorColour::s || hue == TensorColour::m);
  }
  EXPECT_EQ(scene.columns.size(), 3U) << "S, m old and m new";
  EXPECT_EQ(scene.k.rows + scene.v.rows, 0);
  EXPECT_EQ(scene.k.natural, scene_at(4).k.natural) << "a score is spelled out in the decimals that were typed";
}

// K's width is that of the column under it, which stays and is not drawn.
TEST(FoldedTiles, AColumnStaysUnderWhatIsMeantAboveIt) {
  TilesScene scene = scene_at(4);
  fold_tiles(scene, focus({StepPart::q, StepPart::k}));
  EXPECT_GT(scene.k.rows, 0);
  EXPECT_EQ(scene.v.rows, 0);
  ASSERT_EQ(scene.columns.size(), 2U);
  const TileScene& under = scene.tiles[static_cast<std::size_t>(scene.columns.back())];
  EXPECT_EQ(under.hue, TensorColour::s);
  EXPECT_TRUE(under.folded);
  EXPECT_FALSE(scene.rows_folded);
  TilesScene inputs = scene_at(4);
  fold_tiles(inputs, focus({StepPart::k, StepPart::v}));
  EXPECT_TRUE(inputs.rows_folded) << "no tile of the rows is left";
}

// A learner meets alpha with the second tile of keys.
TEST(FoldedTiles, TheFirstTilesSumHasNoFactorUnlessItIsMeant) {
  const auto rec = record_preset("blackboard", "cpu_flash");
  const auto caption_of_sum = [&](std::int32_t j, std::initializer_list<StepPart> parts) {
    const auto e = rec->find({0, 0, 0, j, Phase::sum});
    EXPECT_TRUE(e);
    TilesScene scene = tiles_scene(*rec, *e, Selection{}, OutputReading::as_summed, scales_of(*rec));
    fold_tiles(scene, focus(parts));
    return plain_text(scene.captions[static_cast<std::size_t>(Column::l_new)].words);
  };
  EXPECT_EQ(caption_of_sum(0, {StepPart::p, StepPart::l}), "ℓ ← ℓ + Σ P");
  EXPECT_EQ(caption_of_sum(0, {StepPart::p, StepPart::l, StepPart::alpha}), "ℓ ← αℓ + Σ P");
  EXPECT_EQ(caption_of_sum(1, {StepPart::p, StepPart::l}), "ℓ ← αℓ + Σ P");
}

// Tiles 0 and 1 are one part's, 2 and 3 the other's; what merges them has a factor from the first on.
TEST(FoldedTiles, EachPartOfTheKeysBeginsWithoutAFactor) {
  Options options;
  choose(options, kSplits, 2);
  const auto rec = record_preset("late_outlier", "cpu_flash", options);
  ASSERT_EQ(rec->key_tiles(), 4);
  for (std::int32_t j = 0; j < 4; ++j) {
    const auto e = rec->find({0, 0, 0, j, Phase::sum});
    ASSERT_TRUE(e);
    EXPECT_EQ(is_of_first_keys(*rec, *e), j % 2 == 0) << j;
    TilesScene scene = tiles_scene(*rec, *e, Selection{}, OutputReading::as_summed, scales_of(*rec));
    fold_tiles(scene, focus({StepPart::p, StepPart::l}));
    EXPECT_EQ(plain_text(scene.captions[static_cast<std::size_t>(Column::l_new)].words),
              j % 2 == 0 ? "ℓ ← ℓ + Σ P" : "ℓ ← αℓ + Σ P");
  }
  for (EventIndex e = 0; e < rec->events.size(); ++e) EXPECT_FALSE(!rec->lane_of(e) && is_of_first_keys(*rec, e)) << e;
}

// Right to left the last tile is the first.
TEST(FoldedTiles, TheFirstKeysAreThoseThatAreMetFirst) {
  Options options;
  options.key_order = KeyOrder::right_to_left;
  const auto rec = record_preset("late_outlier", "cpu_flash", options);
  for (std::int32_t j = 0; j < 4; ++j) EXPECT_EQ(is_of_first_keys(*rec, *rec->find({0, 0, 0, j, Phase::sum})), j == 3);
}

// How a number will be made may be what is asked.
TEST(FoldedTiles, BesideAQuestionOnlyTilesWithNumbersHaveCaptions) {
  const TilesScene told = scene_at(4);
  TilesScene asked = told;
  keep_answers_back(asked);
  EXPECT_FALSE(asked.next_any);
  std::size_t said = 0, kept = 0;
  for (const Column c : told.columns) {
    const auto n = static_cast<std::size_t>(c);
    if (told.captions[n].words.empty()) continue;
    const auto& cells = told.tiles[n].cells;
    const bool number = std::ranges::any_of(cells, [](const Cell& x) { return x.look == CellLook::value; });
    EXPECT_EQ(asked.captions[n].words.empty(), !number);
    ++(number ? said : kept);
  }
  EXPECT_GT(said, 0U);
  EXPECT_GT(kept, 0U);
}

TEST(FoldedTiles, WhereNoneIsMeantAllStand) {
  const TilesScene before = scene_at(4);
  for (const StepFocus& look : {StepFocus{}, focus({StepPart::timeline, StepPart::legend})}) {
    TilesScene scene = scene_at(4);
    fold_tiles(scene, look);
    EXPECT_FALSE(scene.folded);
    EXPECT_EQ(scene.columns, before.columns);
    EXPECT_EQ(scene.k.rows, before.k.rows);
  }
}

TEST(FoldedTiles, TheyStandInForACardThatTheQuestionVeils) {
  const StepFocus traffic = focus({StepPart::traffic, StepPart::timeline});
  HiddenAnswers hidden;
  EXPECT_FALSE(seen_of(traffic, hidden).names_tiles());
  hidden.traffic = true;
  EXPECT_TRUE(seen_of(traffic, hidden).has(StepPart::s));
  EXPECT_TRUE(seen_of(traffic, hidden).has(StepPart::timeline));
  EXPECT_FALSE(seen_of(traffic, hidden).has(StepPart::traffic)) << "an empty card";
  const StepFocus with_m = seen_of(focus({StepPart::traffic, StepPart::m}), hidden);
  EXPECT_FALSE(with_m.has(StepPart::s)) << "m is there";
  EXPECT_FALSE(with_m.has(StepPart::traffic));
  EXPECT_TRUE(seen_of({}, hidden).parts.none()) << "all are meant";
}

}  // namespace
}  // namespace attn
