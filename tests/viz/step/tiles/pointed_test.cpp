// Which cell is spelled out, and that it says why it is that one.
#include "viz/step/tiles/pointed.h"

#include <gtest/gtest.h>
#include <cstdio>

#include <cmath>
#include <numbers>
#include <set>
#include <string>
#include <utility>

#include "kernels/recording/file/recording_file.h"
#include "tests/environment/paths.h"
#include "tests/viz/step/fixture.h"
#include "viz/draw/number_text.h"
#include "viz/step/bars/strip.h"
#include "viz/step/beside/legend.h"
#include "viz/step/facts/gpu_run.h"
#include "viz/step/facts/scales.h"

namespace attn {
namespace {

struct Window {
  std::shared_ptr<const Recording> rec = record_preset("blackboard", "cpu_flash");
  TensorScales scales = scales_of(*rec);
  State state;
  TilesUiState ui;

  TilesScene scene(std::int32_t j, Phase phase) const {
    return tiles_scene(*rec, rec->find({0, 0, 0, j, phase}).value(), state.document.selection, OutputReading::as_summed,
                       scales);
  }
  std::string words(const TilesScene& scene, const Pointed& p) const {
    const PointedScene out = pointed_scene(*rec, scene, p, nullptr);
    return out.lead + plain_text(out.title) + " " + plain_text(out.words);
  }
};

TEST(Pointed, SaysWhyItIsThisCell) {
  Window w;
  const TilesScene s = w.scene(1, Phase::scores);
  auto p = pointed_cell(s, w.state, w.ui);
  ASSERT_TRUE(p.has_value());
  EXPECT_EQ(p->cell, (CellRef{Slot::s, 0, 3}));
  EXPECT_TRUE(w.words(s, *p).starts_with("Following the row's largest score in this tile: S0,3")) << w.words(s, *p);
  w.state.document.selection = {0, 0, 0, Slot::s, 2};
  p = pointed_cell(s, w.state, w.ui);
  EXPECT_TRUE(w.words(s, *p).starts_with("Pinned: S0,2")) << w.words(s, *p);
  w.ui.keyboard = CellRef{Slot::q, 0, 1};
  w.ui.focused = true;
  p = pointed_cell(s, w.state, w.ui);
  EXPECT_TRUE(w.words(s, *p).starts_with("Selected by keyboard: Q0,1")) << w.words(s, *p);
  w.ui.hovered = CellRef{Slot::k, 2, 0};
  p = pointed_cell(s, w.state, w.ui);
  EXPECT_TRUE(w.words(s, *p).starts_with("Hovered: K2,0")) << w.words(s, *p);
}

// What is shown and what is left add up to the sum.
TEST(Pointed, TheTermsThatHaveNoRoomKeepTheDecimalsOfTheOthers) {
  const auto rec = record_preset("large_logits", "cpu_flash");
  const TensorScales scales = scales_of(*rec);
  const TilesScene scene =
      tiles_scene(*rec, rec->find({0, 0, 0, 1, Phase::scores}).value(), Selection{}, OutputReading::as_summed, scales);
  const PointedScene out = pointed_scene(*rec, scene, {CellRef{Slot::s, 0, 5}, PointedBy::score}, nullptr);
  ASSERT_EQ(out.terms.size(), 8U);
  double shown = 0;
  for (std::size_t n = 0; n < 3; ++n) shown += value_of(out.terms[n].product);
  const std::string rest = rest_words(out, 3);
  ASSERT_TRUE(rest.starts_with("+ 5 more, ")) << rest;
  const std::string sum = plain_text(out.sum);
  EXPECT_TRUE(sum.starts_with("sum " + number_text(shown + value_of(rest.substr(10)), {2, false})))
      << rest << ", " << sum;
}

TEST(Pointed, APinnedCellThatHoldsNothingYetGivesWayToTheStepsOwn) {
  Window w;
  w.state.document.selection = {0, 0, 0, Slot::p, 3};
  const TilesScene before = w.scene(1, Phase::scores);
  auto p = pointed_cell(before, w.state, w.ui);
  ASSERT_TRUE(p.has_value());
  EXPECT_EQ(p->by, PointedBy::score);
  EXPECT_EQ(p->cell.slot, Slot::s);
  const TilesScene made = w.scene(1, Phase::weights);
  p = pointed_cell(made, w.state, w.ui);
  EXPECT_EQ(p->by, PointedBy::pin);
  EXPECT_EQ(p->cell, (CellRef{Slot::p, 0, 3}));
  const TilesScene after = w.scene(-1, Phase::normalise);
  p = pointed_cell(after, w.state, w.ui);
  EXPECT_EQ(p->by, PointedBy::output);
}

TEST(Pointed, ADroppedCellSaysThatItWasThere) {
  Window w;
  const TilesScene s = w.scene(-1, Phase::normalise);
  const std::string words = w.words(s, {{Slot::s, 0, 2}, PointedBy::pointer});
  EXPECT_NE(words.find("no longer on chip"), std::string::npos) << words;
  const TilesScene first = w.scene(0, Phase::load_kv);
  EXPECT_NE(w.words(first, {{Slot::s, 0, 0}, PointedBy::pointer}).find("Not computed yet"), std::string::npos);
}

// -1.86565 is 0.13435 and a bias of -2: the equation must give what the cell holds.
TEST(Pointed, AScoreWithABiasIsExplainedWithItOnceItWasAdded) {
  const auto rec = record_preset("bias", "cpu_flash");
  const TensorScales scales = scales_of(*rec);
  const auto said = [&](Phase phase) {
    const auto e = rec->find({0, 0, 0, 1, phase});
    EXPECT_TRUE(e.has_value());
    Selection row;
    const TilesScene s = tiles_scene(*rec, e.value_or(0), row, OutputReading::as_summed, scales);
    const PointedScene out = pointed_scene(*rec, s, {{Slot::s, 0, s.at.first_key}, PointedBy::pointer}, nullptr);
    return std::pair{plain_text(out.title), plain_text(out.sum)};
  };
  const auto [before, before_sum] = said(Phase::scores);
  EXPECT_EQ(before.find("bias"), std::string::npos) << before;
  EXPECT_TRUE(before_sum.ends_with("the bias comes next")) << before_sum;
  const auto [after, after_sum] = said(Phase::mask);
  EXPECT_NE(after.find(" + bias = "), std::string::npos) << after;
  const std::string result = after.substr(after.rfind("= ") + 2);
  EXPECT_TRUE(after_sum.ends_with(": " + result)) << after << "; " << after_sum;
}

TEST(Pointed, AScoreOfMinusInfinityIsMaskedOnlyWhereTheMaskHidesIt) {
  const auto rec = record_preset("non_finite", "cpu_flash");
  const TensorScales scales = scales_of(*rec);
  bool any = false;
  for (EventIndex e = 0; e < rec->events.size(); ++e) {
    if (rec->events[e].id.phase != Phase::max) continue;
    for (std::int32_t row = 0; row < rec->problem.Lq; ++row) {
      const TilesScene s = tiles_scene(*rec, e, {0, 0, row, Slot::s, 0}, OutputReading::as_summed, scales);
      for (std::int32_t key = s.at.first_key; key < s.at.first_key + s.at.keys; ++key) {
        const CellRef ref{Slot::s, row, key};
        const Cell* cell = cell_of(s, ref);
        if (cell == nullptr || cell->look != CellLook::value || !std::isinf(cell->value)) continue;
        any = true;
        const std::string sum = plain_text(pointed_scene(*rec, s, {ref, PointedBy::pointer}, nullptr).sum);
        EXPECT_EQ(sum.find("masked"), std::string::npos) << sum;
      }
    }
  }
  EXPECT_TRUE(any);
}

TEST(Pointed, ANanIsNotCalledTheLargestScore) {
  const auto rec = record_preset("non_finite", "cpu_flash");
  const TensorScales scales = scales_of(*rec);
  bool any = false;
  for (EventIndex e = 0; e < rec->events.size(); ++e) {
    if (rec->events[e].id.phase != Phase::max) continue;
    for (std::int32_t row = 0; row < rec->problem.Lq; ++row) {
      State state;
      state.document.selection = pinned_row(row);
      const TilesScene s = tiles_scene(*rec, e, state.document.selection, OutputReading::as_summed, scales);
      const auto p = pointed_cell(s, state, {});
      if (!p || p->by != PointedBy::score || cell_of(s, p->cell) == nullptr) continue;
      if (!std::isnan(cell_of(s, p->cell)->value)) continue;
      any = true;
      EXPECT_EQ(pointed_scene(*rec, s, *p, nullptr).lead, "Following a NaN score: ");
    }
  }
  EXPECT_TRUE(any);
}

TEST(Pointed, AnInputSaysThatItCanBeTyped) {
  Window w;
  const TilesScene s = w.scene(-1, Phase::load_q);
  EXPECT_NE(w.words(s, {{Slot::q, 0, 1}, PointedBy::pointer}).find("double-click to edit"), std::string::npos)
      << w.words(s, {{Slot::q, 0, 1}, PointedBy::pointer});
}

// A GPU's kernel multiplies by log₂e with the scale, so that it may take powers of two: without that factor the
// equation beside the held number is false.
TEST(Pointed, AScoreHeldForPowersOfTwoIsExplainedWithThatFactor) {
  const auto read = read_recording(test::source_folder() + "/assets/" + recorded_asset("flash_simt"));
  ASSERT_TRUE(read) << read.error().message;
  const TensorScales scales = scales_of(*read);
  const auto e = read->find({0, 0, 0, 0, Phase::scores});
  ASSERT_TRUE(e);
  const VersionId id = read->after(*e, Slot::s);
  ASSERT_TRUE(read->version(id).holds.base2);
  const TilesScene s = tiles_scene(*read, *e, {}, OutputReading::as_summed, scales);
  const CellRef ref{Slot::s, 0, s.at.first_key};
  const PointedScene out = pointed_scene(*read, s, {ref, PointedBy::pointer}, nullptr);
  EXPECT_NE(plain_text(out.title).find("log₂e"), std::string::npos) << plain_text(out.title);
  // "sum X, held as Y": Y is X by the scale and by log₂e.
  double sum = 0, held = 0;
  ASSERT_EQ(std::sscanf(plain_text(out.sum).c_str(), "sum %lf, held as %lf", &sum, &held), 2) << plain_text(out.sum);
  EXPECT_NEAR(held, sum * std::numbers::log2e / std::sqrt(static_cast<double>(read->problem.D)),
              1e-4 * std::fabs(held));
}

TEST(Legend, NamesEveryMarkOnce) {
  std::set<LegendMark> marks;
  std::set<std::string> words;
  for (const LegendEntry& e : cell_legend(LegendMarks().set())) {
    EXPECT_TRUE(marks.insert(e.mark).second);
    EXPECT_TRUE(words.insert(e.words).second) << e.words;
    EXPECT_LT(e.narrow.size(), e.words.size());
  }
  EXPECT_EQ(marks.size(), kLegendMarks);
}

TEST(Legend, TheScaleEndsAtTheLeastAndTheLargestValueAndHasItsZero) {
  Window w;
  const LegendScale q = scale_legend(Slot::q, w.scales);
  EXPECT_EQ(q.min, "1.00");
  EXPECT_EQ(q.max, "8.00");
  EXPECT_EQ(q.last, 1);
  const auto random = record_preset("random", "cpu_flash");
  const LegendScale s = scale_legend(Slot::s, scales_of(*random));
  EXPECT_TRUE(s.diverges);
  EXPECT_GT(s.zero, 0);
  EXPECT_LT(s.zero, 1);
  // The shade on the bar at `zero` is the neutral one.
  EXPECT_NEAR(s.first + (s.last - s.first) * s.zero, 0, 1e-6);
  EXPECT_FALSE(scale_legend(Slot::p, w.scales).diverges);
  // "0 to 0" tells nothing.
  TensorScales none = w.scales;
  none[static_cast<std::size_t>(TensorColour::s)] = {};
  none[static_cast<std::size_t>(TensorColour::s)].min = none[static_cast<std::size_t>(TensorColour::s)].max = 0;
  EXPECT_TRUE(scale_legend(Slot::s, none).min.empty());
}

// 684 to 798 against a scale from 0 are one shade.
TEST(Legend, ScoresOfOneSignAndCloseTogetherUseTheWholeOfTheirHalf) {
  TensorScale scale{684, 798, -1, true};
  EXPECT_GT(scale.shade(684), 0.8F);
  scale.narrow = true;
  EXPECT_EQ(scale.shade(684), 0);
  EXPECT_EQ(scale.shade(798), 1);
  scale.min = -798, scale.max = -684;
  EXPECT_EQ(scale.shade(-798), -1);
  EXPECT_EQ(scale.shade(-684), 0);
  const auto random = record_preset("random", "cpu_flash");
  EXPECT_FALSE(scales_of(*random)[static_cast<std::size_t>(TensorColour::s)].narrow);
}

TEST(Strip, WhyThereIsNoRecordingIsASentence) {
  EXPECT_EQ(recording_words(""), "It is being recorded.");
  EXPECT_EQ(recording_words("needs 4.0 GiB; L = 438 fits"), "Needs 4.0 GiB; L = 438 fits.");
  EXPECT_EQ(recording_words("flash_simt runs on a GPU"), "flash_simt runs on a GPU.");
}

TEST(Strip, SaysWhoseRunStandsInForAKernelOfAGpu) {
  State state;
  state.document.kernel = "cpu_flash";
  EXPECT_TRUE(stand_in_words(state).empty());
  state.view.bench.kernel = "flash_simt";
  EXPECT_EQ(stand_in_words(state),
            "flash_simt runs on a GPU and is not recorded: this is cpu_flash on the CPU, which has the same order");
  state.view.bench.kernel = "naive";
  EXPECT_NE(stand_in_words(state).find("another order"), std::string::npos) << stand_in_words(state);
}

}  // namespace
}  // namespace attn
