// The charts of the followed row against the recording and against fp64, computed here by other means.
#include <cmath>
#include <limits>

#include "kernels/model/options.h"
#include "tests/viz/step/fixture.h"
#include "viz/step/charts/hindsight.h"
#include "viz/step/charts/row.h"

namespace attn {
namespace {

// Softmax in fp64 of one query row over the keys [0, keys), straight from the inputs.
std::vector<double> softmax_of_first(const Recording& rec, std::int32_t row, std::int64_t keys) {
  const Problem& p = rec.problem;
  std::vector<double> weights(static_cast<std::size_t>(keys));
  double max = -std::numeric_limits<double>::infinity(), sum = 0;
  for (std::int64_t k = 0; k < keys; ++k) {
    double dot = 0;
    for (std::int64_t d = 0; d < p.D; ++d)
      dot += static_cast<double>(rec.inputs.q.get(row * p.D + d)) * rec.inputs.k.get(k * p.D + d);
    double& w = weights[static_cast<std::size_t>(k)];
    w = p.visible(0, row, k) ? dot * p.effective_scale() : -std::numeric_limits<double>::infinity();
    max = std::max(max, w);
  }
  for (double& w : weights) sum += w = std::exp(w - max);
  for (double& w : weights) w /= sum;
  return weights;
}

TEST(RowChart, SharesAreTheSoftmaxOfTheKeysSoFar) {
  for (const char* kernel : {"cpu_flash", "cpu_flash1"}) {
    for (const char* preset : {"blackboard", "late_outlier", "causal", "ragged"}) {
      SCOPED_TRACE(std::string(kernel) + " " + preset);
      const auto rec = record_preset(preset, kernel);
      int looked = 0;
      for (EventIndex e = 0; e < rec->events.size(); ++e) {
        if (rec->events[e].id.phase != Phase::sum) continue;
        const StepPlace at = place_of(*rec, e, pinned_row(1));
        const RowChartScene scene = row_chart_scene(*rec, at);
        const std::int64_t seen = at.first_key + at.keys;
        const std::vector<double> exact = softmax_of_first(*rec, at.row, seen);
        if (std::isnan(exact[0])) continue;  // no key yet
        const double l = *live_value(*rec, e, Slot::l_new, at.row, 0);
        ++looked;
        for (std::int64_t k = 0; k < rec->problem.Lk; ++k) {
          const RowChartKey& key = scene.keys[static_cast<std::size_t>(k)];
          const bool weighed = k < seen && rec->problem.visible(0, at.row, k);
          ASSERT_EQ(key.weighed, weighed) << k;
          if (!weighed) continue;
          EXPECT_NEAR(key.share, exact[static_cast<std::size_t>(k)], 2e-6) << k;
          EXPECT_NEAR(key.weight / l, key.share, 2e-6) << k;
        }
      }
      EXPECT_GT(looked, 1);
    }
  }
}

// Three scores that are all infinite are scores: "not yet" would be false.
TEST(RowChart, SharesAreWrittenAlikeOverAllBars) {
  EXPECT_EQ(share_text(0.0671, ShareText::exact), "6.7 %");
  EXPECT_EQ(share_text(0.0671, ShareText::whole), "7 %");
  EXPECT_EQ(share_text(0.13, ShareText::whole), "13 %");
  EXPECT_EQ(share_text(0.13, ShareText::bare), "13");
  EXPECT_EQ(share_text(0.0049, ShareText::whole), "<1 %");
  EXPECT_EQ(share_text(0.9986, ShareText::whole), ">99 %");
  EXPECT_EQ(share_text(1, ShareText::whole), "100 %");
  EXPECT_EQ(share_text(1, ShareText::bare), "100");
}

TEST(RowChart, ARowOfInfiniteScoresSaysSo) {
  const auto rec = record_preset("non_finite", "cpu_flash");
  const auto e = rec->find({0, 0, 0, 0, Phase::scores});
  ASSERT_TRUE(e.has_value());
  const RowChartScene before = row_chart_scene(*rec, place_of(*rec, 0, pinned_row(2)));
  EXPECT_EQ(before.no_score, "no score yet");
  const RowChartScene scene = row_chart_scene(*rec, place_of(*rec, *e, pinned_row(2)));
  ASSERT_FALSE(scene.any_score);
  EXPECT_EQ(scene.no_score, "no finite score");
}

// The product of alpha and the old sum is half an answer.
TEST(RowChart, WorksNothingOutWhileAQuestionIsOpen) {
  const auto rec = record_preset("late_outlier", "cpu_flash");
  const auto e = rec->find({0, 0, 0, 3, Phase::weights});
  ASSERT_TRUE(e.has_value());
  const StepPlace at = place_of(*rec, *e, {});
  EXPECT_EQ(row_chart_scene(*rec, at).notes.size(), 2U);
  EXPECT_TRUE(row_chart_scene(*rec, at, true).notes.empty());
}

// In naive order m is the whole row's, not what it was after the live tile.
TEST(RowChart, TheMaximumIsTheRowsAtThisMoment) {
  for (const char* kernel : kRecordingKernels) {
    const auto rec = record_preset("random", kernel);
    for (EventIndex e = 0; e < rec->events.size(); ++e) {
      const StepPlace at = place_of(*rec, e, pinned_row(2));
      EXPECT_EQ(row_chart_scene(*rec, at).maximum, live_value(*rec, e, Slot::m_new, at.row, 0)) << kernel << " " << e;
    }
  }
}

TEST(RowChart, MaximumAndSumOfEachTileAreThoseOfTheRunSoFar) {
  for (const char* kernel : kRecordingKernels) {
    SCOPED_TRACE(kernel);
    const auto rec = record_preset("late_outlier", kernel);
    for (EventIndex e = 0; e < rec->events.size(); ++e) {
      const StepPlace at = place_of(*rec, e, pinned_row(2));
      const RowChartScene scene = row_chart_scene(*rec, at);
      const std::int32_t i = at.row / at.br;
      for (std::size_t j = 0; j < scene.tiles.size(); ++j) {
        const auto check = [&](Phase phase, Slot slot, bool has, float value) {
          const auto made = rec->find({0, 0, i, static_cast<std::int32_t>(j), phase});
          ASSERT_TRUE(made.has_value());
          ASSERT_EQ(has, *made <= e) << j;
          if (!has) return;
          EXPECT_EQ(value, *live_value(*rec, *made, slot, at.row, 0));
        };
        check(Phase::max, Slot::m_new, scene.tiles[j].has_m, scene.tiles[j].m);
        check(Phase::sum, Slot::l_new, scene.tiles[j].has_l, scene.tiles[j].l);
      }
    }
  }
}

TEST(RowChart, SaysWhyThereIsNoWeight) {
  const auto naive = record_preset("blackboard", "cpu_sequential");
  const auto scores = naive->find({0, 0, 0, 0, Phase::scores});
  ASSERT_TRUE(scores.has_value());
  EXPECT_NE(row_chart_scene(*naive, place_of(*naive, scores.value_or(0), {})).no_weight.find("pass 2"),
            std::string::npos);
  const auto last = static_cast<EventIndex>(naive->events.size() - 1);
  EXPECT_TRUE(row_chart_scene(*naive, place_of(*naive, last, {})).no_weight.empty());
  const auto masked = record_preset("masked_row", "cpu_flash");
  for (EventIndex e = 0; e < masked->events.size(); ++e) {
    const StepPlace at = place_of(*masked, e, pinned_row(0));
    if (at.row != 0) continue;
    EXPECT_NE(row_chart_scene(*masked, at).no_weight.find("no key"), std::string::npos);
  }
}

TEST(RowChart, OverflowStaysVisible) {
  Options options;
  options.subtract_max = false;
  const auto rec = record_preset("large_logits", "cpu_flash", options);
  int infinite = 0;
  for (EventIndex e = 0; e < rec->events.size(); ++e) {
    for (const RowChartKey& key : row_chart_scene(*rec, place_of(*rec, e, {})).keys) infinite += std::isinf(key.weight);
  }
  EXPECT_GT(infinite, 0);
}

TEST(Hindsight, IsTheDistanceToTheFinalOutput) {
  for (const char* kernel : kRecordingKernels) {
    for (const char* preset : {"blackboard", "late_outlier", "ragged", "causal"}) {
      SCOPED_TRACE(std::string(kernel) + " " + preset);
      const auto rec = record_preset(preset, kernel);
      const std::int32_t row = 3;
      StepPlace at = place_of(*rec, 0, {});
      at.row = row;
      const HindsightScene scene = hindsight_scene(*rec, at);
      EXPECT_TRUE(scene.nothing.empty());
      const HindsightTile* newest = nullptr;
      for (const HindsightTile& tile : scene.tiles) {
        if (tile.look != HindsightLook::value) continue;
        if (newest == nullptr || tile.event > newest->event) newest = &tile;
        // O of that step and the kernel's answer, column by column.
        const bool normalised = rec->version(rec->after(tile.event, Slot::o_new)).holds.normalised;
        double max = 0;
        for (std::int32_t c = 0; c < rec->problem.Dv; ++c) {
          const float o = *live_value(*rec, tile.event, Slot::o_new, row, c);
          const float l = *live_value(*rec, tile.event, Slot::l_new, row, 0);
          const float final_o = rec->outputs.out.get(row * rec->problem.Dv + c);
          max = std::max(max, std::abs(static_cast<double>(normalised ? o : o / l) - final_o));
        }
        EXPECT_EQ(tile.difference, max);
        if (max > 0) {
          EXPECT_LE(std::pow(10.0, scene.min_decade), max);
          EXPECT_GE(std::pow(10.0, scene.max_decade), max);
        }
      }
      ASSERT_NE(newest, nullptr);
      EXPECT_EQ(newest->difference, 0);
    }
  }
}

TEST(Hindsight, IsTheSameAtEveryStepButForWhatIsToCome) {
  const auto rec = record_preset("late_outlier", "cpu_flash");
  const auto last = static_cast<EventIndex>(rec->events.size() - 1);
  const std::int32_t row = static_cast<std::int32_t>(rec->problem.Lq) - 1;
  const HindsightScene end = hindsight_scene(*rec, place_of(*rec, last, pinned_row(row)));
  for (EventIndex e = 0; e <= last; ++e) {
    const StepPlace at = place_of(*rec, e, pinned_row(row));
    if (at.row != row) continue;
    const HindsightScene scene = hindsight_scene(*rec, at);
    ASSERT_EQ(scene.tiles.size(), end.tiles.size());
    for (std::size_t j = 0; j < end.tiles.size(); ++j) {
      EXPECT_EQ(scene.tiles[j].difference, end.tiles[j].difference);
      EXPECT_EQ(scene.tiles[j].to_come, scene.tiles[j].event > e);
    }
  }
}

// Left to right is the order of time: the tile that was visited first stands first.
TEST(Hindsight, FollowsARunFromRightToLeft) {
  Options options;
  options.key_order = KeyOrder::right_to_left;
  const auto rec = record_preset("late_outlier", "cpu_flash", options);
  const HindsightScene scene = hindsight_scene(*rec, place_of(*rec, 20, pinned_row(1)));
  ASSERT_EQ(scene.tiles.size(), 4U);
  for (std::size_t n = 0; n < scene.tiles.size(); ++n) {
    EXPECT_EQ(scene.tiles[n].key_tile, 3 - static_cast<std::int32_t>(n));
    EXPECT_EQ(scene.tiles[n].first_key, 4 * scene.tiles[n].key_tile);
    if (n > 0) {
      EXPECT_GT(scene.tiles[n].event, scene.tiles[n - 1].event);
    }
  }
  EXPECT_EQ(scene.tiles.back().difference, 0);
}

TEST(Hindsight, SaysWhyThereIsNothing) {
  const auto rec = record_preset("masked_row", "cpu_flash");
  const HindsightScene scene = hindsight_scene(*rec, place_of(*rec, 0, pinned_row(0)));
  EXPECT_NE(scene.nothing.find("no key"), std::string::npos);
  EXPECT_FALSE(scene.any_value);
}

TEST(Hindsight, NamesWhatIsNotANumber) {
  Options options;
  options.subtract_max = false;
  const auto rec = record_preset("large_logits", "cpu_flash", options);
  int bad = 0;
  for (std::int32_t row = 0; row < rec->problem.Lq; ++row) {
    for (const HindsightTile& tile : hindsight_scene(*rec, place_of(*rec, 0, pinned_row(row))).tiles)
      bad += tile.look == HindsightLook::not_finite;
  }
  EXPECT_GT(bad, 0);
}

// Each part of split keys is measured against its own m, and the merged row against its one: no weight exceeds 1, and
// those of a part add up to its l.
TEST(RowChart, PartsHaveTheirOwnMaximumAndSumUntilTheyAreMerged) {
  for (const std::int64_t splits : {2, 3}) {
    Options options;
    choose(options, kSplits, splits);
    const auto rec = record_preset("late_outlier", "cpu_flash", options);
    const KeyParts parts{rec->key_tiles(), splits};
    int apart = 0, merged = 0;
    for (EventIndex e = 0; e < rec->events.size(); ++e) {
      const StepPlace at = place_of(*rec, e, pinned_row(1));
      const RowChartScene scene = row_chart_scene(*rec, at);
      ASSERT_EQ(scene.parts, splits);
      EXPECT_EQ(scene.max_weight, 1) << "step " << e + 1;
      const Phase phase = rec->events[e].id.phase;
      const bool done = phase == Phase::normalise || phase == Phase::store_o;
      if (done || rec->lane_of(e)) {
        EXPECT_EQ(scene.merged.has_value(), done) << "step " << e + 1;
      }
      if (scene.merged) {
        ++merged;
        const std::vector<double> exact = softmax_of_first(*rec, at.row, rec->problem.Lk);
        double sum = 0;
        for (std::size_t k = 0; k < scene.keys.size(); ++k) {
          EXPECT_NEAR(scene.keys[k].share, exact[k], 2e-6);
          sum += scene.keys[k].weight;
        }
        EXPECT_NEAR(scene.merged->l, sum, 1e-5 * sum);
        continue;
      }
      // A part that has summed its last tile: softmax over its own keys.
      for (std::int64_t part = 0; part < splits; ++part) {
        const auto end = static_cast<std::int32_t>(parts.end(part) - 1);
        const auto summed = rec->find({at.b, at.h, at.row / at.br, end, Phase::sum});
        ASSERT_TRUE(summed.has_value());
        if (*summed > e) continue;
        ++apart;
        double sum = 0, share = 0;
        const std::int64_t from = parts.first(part) * at.bc, to = std::min(parts.end(part) * at.bc, rec->problem.Lk);
        for (std::int64_t k = from; k < to; ++k) {
          const RowChartKey& key = scene.keys[static_cast<std::size_t>(k)];
          EXPECT_LE(key.weight, 1) << "step " << e + 1 << " key " << k;
          sum += key.weight, share += key.share;
        }
        const double l = *live_value(*rec, *summed, Slot::l_new, at.row, 0);
        EXPECT_NEAR(sum, l, 1e-5 * l) << "step " << e + 1 << " part " << part;
        EXPECT_NEAR(share, 1, 1e-9);
      }
    }
    EXPECT_GT(apart, 10);
    EXPECT_GT(merged, 2);
  }
}

}  // namespace
}  // namespace attn
