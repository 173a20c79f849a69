// The printed equations of every order, of CPU runs and of the recordings that ship: the terms give the result, the
// result is what the tile holds, and a right run has no "≠".
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/model/options.h"
#include "kernels/model/ring.h"
#include "kernels/orders/backward/options.h"
#include "kernels/recording/file/recording_file.h"
#include "kernels/recording/reading.h"
#include "kernels/recording/replay/exact.h"
#include "tests/environment/asked.h"
#include "tests/environment/paths.h"
#include "tests/viz/step/calculator.h"
#include "tests/viz/step/fixture.h"
#include "viz/step/bars/strip.h"
#include "viz/step/facts/scales.h"
#include "viz/step/tiles/tiles_scene.h"

namespace attn {
namespace {

Options with(const Option& option, std::int64_t value) {
  Options o;
  choose(o, option, value);
  return o;
}

// Each order that a CPU walks in: a kernel with the options that choose it.
struct Walk {
  const char* kernel;
  Options options;
  bool backward = false;
};
std::vector<Walk> walks() {
  std::vector<Walk> all;
  for (const char* kernel : kRecordingKernels) all.push_back({kernel, {}});
  for (const Option* option : {&kSplits, &kRanks}) all.push_back({"cpu_flash", with(*option, 2)});
  all.push_back({"cpu_flash", with(kPipeline, 1)});
  all.push_back({"cpu_flash_bwd", {}, true});
  all.push_back({"cpu_flash_bwd", with(orders::backward::kOutside, orders::backward::kQueriesOutside), true});
  all.push_back({"cpu_flash_bwd", with(kRanks, 2), true});
  return all;
}

// The words of one step, with what is known of the errors of its numbers.
StripScene strip_of(const Recording& rec, const StepPlace& at, const StepValues& values) {
  static const StepTexts kTexts = shipped_texts();
  return strip_scene(rec, at, values, kTexts);
}

// The terms with as many digits as stand there give the result with as many as stand there, or it says "≈".
void check_equation(const std::string& formula, int& checked) {
  EXPECT_EQ(formula.find("≠"), std::string::npos);
  EXPECT_EQ(formula.find("+ −"), std::string::npos);
  const auto equation = equation_of(formula);
  if (!equation || equation->about) return;
  const auto left = calculated(equation->terms), right = calculated(equation->result);
  if (!left || !right || !std::isfinite(*left) || !std::isfinite(*right)) return;
  ++checked;
  EXPECT_NEAR(*left, *right, resolution(equation->result) * 1.01 + 1e-37);
  // As many digits as let the reader see it: a result of one digit says nothing of terms of four.
  const bool whole = *right == std::floor(*right);
  const std::string digits = equation->result.substr(0, equation->result.find('e'));
  if (!whole) {
    EXPECT_GE(std::ranges::count_if(digits, [](char c) { return c >= '0' && c <= '9'; }), kLeastDigits - 1);
  }
}

// What a result is called in the texts, and where it is recorded.
struct Made {
  Phase phase;
  Slot slot;
  const char* name;
};
constexpr Made kResults[] = {{Phase::max, Slot::m_new, "m_new"},
                             {Phase::rescale, Slot::alpha, "alpha"},
                             {Phase::sum, Slot::l_new, "l_new"},
                             {Phase::output, Slot::o_new, "o_new"}};

void check_result(const Recording& rec, const StepPlace& at, const StepValues& values) {
  for (const Made& r : kResults) {
    const auto shown = values.numbers.find(r.name);
    if (rec.events[at.event].id.phase != r.phase || shown == values.numbers.end()) continue;
    const auto held = live_value(rec, at.event, r.slot, at.row, r.slot == Slot::o_new ? values.col : 0);
    std::string text = shown->second.text;
    if (text.starts_with("≈ ")) text.erase(0, std::string_view("≈ ").size());
    if (!held || !std::isfinite(*held)) continue;
    EXPECT_NEAR(static_cast<double>(*held), value_of(text), resolution(text) * 1.01) << r.name;
  }
}

void check_run(const Recording& rec, int& checked) {
  std::optional<ExactTile> exact;
  std::tuple<std::int32_t, std::int32_t, std::int32_t> of{-1, -1, -1};
  for (EventIndex e = 0; e < rec.events.size(); ++e) {
    const EventId& id = rec.events[e].id;
    const std::tuple tile{id.b, id.h, std::max(id.i, 0)};
    if (tile != of) exact.emplace(rec, id.b, id.h, std::max(id.i, 0)), of = tile;
    for (const std::int32_t row : {0, 3}) {
      if (row >= std::min<std::int64_t>(rec.options.br, rec.problem.Lq)) continue;
      const StepPlace at = place_of(rec, e, pinned_row(row));
      const StepValues values = step_values(rec, at, pinned_row(row), &*exact);
      const StripScene scene = strip_of(rec, at, values);
      const std::string formula = plain_text(scene.formula);
      SCOPED_TRACE(scene.position + ", row " + std::to_string(at.row) + ": " + plain_text(scene.sentence) + " | " +
                   formula);
      check_equation(formula, checked);
      check_result(rec, at, values);
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(StepEquations, HoldOfEveryOrderAndPreset) {
  int checked = 0;
  std::size_t n = 0;
  for (const Preset& preset : presets()) {
    if (preset.problem.Lk >= 64 || test::left_to_release(n++, 5)) continue;
    for (const Walk& walk : walks()) {
      Problem p = preset.problem;
      if (walk.backward) p.pass = Pass::backward;
      Options options = walk.options;
      const auto kernel = find_kernel(walk.kernel);
      if (!kernel || !check_takes(**kernel, p)) continue;
      options.br = preset.br, options.bc = preset.bc;
      const auto resolved = resolve(**kernel, options, cpu_device());
      if (!resolved || !(*kernel)->plan(**kernel, p, *resolved, cpu_device())) continue;
      // A block of the pipeline has two query tiles and no mask.
      if (follows_pipeline(options) && (p.Lq > 2 * std::int64_t{preset.br} || p.mask.any())) continue;
      SCOPED_TRACE(std::string(preset.id) + " " + walk.kernel);
      const auto rec = record_problem(preset, p, walk.kernel, options);
      SCOPED_TRACE(std::string(name_of(rec->order)));
      check_run(*rec, checked);
      if (testing::Test::HasFailure()) return;
    }
  }
  EXPECT_GT(checked, test::left_to_release(1, 2) ? 500 : 5000);
}

// Of a GPU's kernel too, whose recording may be cut into tiles that its steps do not have: those take all keys at once.
TEST(StepEquations, HoldOfEveryRecordingThatShips) {
  for (const char* kernel : {"flash_mma", "flash_simt", "flash_tf32x3", "flash_wmma", "naive", "tiled"}) {
    SCOPED_TRACE(kernel);
    const auto held = read_recording(test::source_folder() + "/assets/recordings/late_outlier_64_" + kernel + ".attn");
    ASSERT_TRUE(held.has_value()) << held.error().message;
    const Recording rec = differs_from_formulas(*held) ? formula_reading(*held) : *held;
    int checked = 0;
    check_run(rec, checked);
    EXPECT_GT(checked, 50);
    if (testing::Test::HasFailure()) return;
  }
}

// Softcap, bias and ALiBi: the formula under S is that of the scores that stand there, the step is called by what it
// does, and its equation has the numbers of the score that is followed.
TEST(StepEquations, WhatChangesTheScoresIsNamedWhereItIsAndNotBefore) {
  int named = 0, masks = 0;
  for (const char* id : {"bias", "causal", "blackboard"}) {
    for (const char* kernel : kRecordingKernels) {
      for (int with = 0; with < 4; ++with) {
        const auto preset = find_preset(id);
        ASSERT_TRUE(preset.has_value());
        Problem p = (*preset)->problem;
        if ((with & 1) != 0) p.softcap = 5.0;
        if ((with & 2) != 0) p.alibi.emplace();
        const auto rec = record_problem(**preset, p, kernel);
        const TensorScales scales = scales_of(*rec);
        for (EventIndex e = 0; e < rec->events.size(); ++e) {
          const StepPlace at = place_of(*rec, e, {});
          const StepValues values = step_values(*rec, at, {}, nullptr);
          const StripScene strip = strip_of(*rec, at, values);
          SCOPED_TRACE(std::string(id) + " " + kernel + " " + strip.position + ": " + plain_text(strip.sentence));
          const VersionId s = rec->after(e, Slot::s);
          const TilesScene scene = tiles_scene(*rec, e, {}, OutputReading::as_summed, scales);
          const std::string caption = plain_text(scene.captions[static_cast<std::size_t>(Column::s)].words);
          const bool shaped = s == kNoVersion || rec->version(s).holds.masked;
          EXPECT_EQ(caption.find("bias") != std::string::npos, shaped && p.has_bias()) << caption;
          EXPECT_EQ(caption.find("tanh") != std::string::npos, shaped && p.softcap.has_value()) << caption;
          EXPECT_EQ(caption.find("ALiBi") != std::string::npos, shaped && p.alibi.has_value()) << caption;
          if (rec->events[e].id.phase != Phase::mask) continue;
          const bool hides = p.cover(at.b, at.first_row, at.first_row + at.rows, at.first_key,
                                     at.first_key + at.keys) != TileCover::full;
          EXPECT_EQ(strip.position.ends_with("mask"), hides) << strip.position;
          EXPECT_EQ(strip.position.find("bias") != std::string::npos, p.has_bias());
          named += p.changes_scores() ? 1 : 0, masks += hides ? 1 : 0;
          if (!p.changes_scores() || !values.conditions.contains("kept")) continue;
          const auto equation = equation_of(plain_text(strip.formula));
          ASSERT_TRUE(equation.has_value());
          EXPECT_TRUE(calculated(equation->terms).has_value()) << equation->terms;
          if (!p.mask.any()) {
            EXPECT_EQ(plain_text(strip.sentence).find("−∞"), std::string::npos);
            EXPECT_EQ(plain_text(strip.sentence).find(" keys"), std::string::npos);
          }
        }
        if (testing::Test::HasFailure()) return;
      }
    }
  }
  EXPECT_GT(named, 100);
  EXPECT_GT(masks, 10);
}

// What a step says of a maximum is true of the scores that it read: later ones of the row may be larger.
void check_maximum(const Recording& rec, EventIndex e, int& checked) {
  const StepPlace at = place_of(rec, e, {});
  const StepValues values = step_values(rec, at, {}, nullptr);
  const StripScene strip = strip_of(rec, at, values);
  const std::string sentence = plain_text(strip.sentence), formula = plain_text(strip.formula);
  SCOPED_TRACE(strip.position + ": " + sentence + " | " + formula);
  EXPECT_EQ(sentence.find("All scores"), std::string::npos);
  const auto equation = equation_of(formula);
  const VersionId s = rec.after(e, Slot::s);
  if (!equation || values.conditions.contains("nothing") || s == kNoVersion) return;
  ASSERT_TRUE(equation->terms.starts_with("max(") && equation->terms.ends_with(")")) << "no numbers to compare";
  const std::size_t comma = equation->terms.find(", ");
  ASSERT_NE(comma, std::string::npos);
  const std::string said = equation->terms.substr(comma + 2, equation->terms.size() - comma - 3);
  const auto row = row_of(rec, s, at.row);
  const double largest = *std::ranges::max_element(row);
  if (std::isfinite(largest)) {
    EXPECT_NEAR(value_of(said), largest, resolution(said) * 1.01);
  }
  EXPECT_NE(sentence.find(values.conditions.contains("no_max") ? "−∞" : said), std::string::npos);
  ++checked;
}

TEST(StepEquations, AMaximumIsSaidOfTheScoresThatWereRead) {
  int checked = 0;
  for (const Preset& preset : presets()) {
    for (const char* kernel : {"cpu_sequential", "cpu_tiled"}) {
      if (!takes_preset(kernel, preset)) continue;
      SCOPED_TRACE(std::string(preset.id) + " " + kernel);
      const auto rec = record_preset(preset.id, kernel);
      for (EventIndex e = 0; e < rec->events.size(); ++e)
        if (rec->events[e].id.phase == Phase::max) check_maximum(*rec, e, checked);
      if (testing::Test::HasFailure()) return;
    }
  }
  EXPECT_GT(checked, 100);
}

// A step that takes all keys of its rows says so, in its numbers and in its words, and names no key tile.
TEST(StepEquations, AStepOfAllKeysNamesNoKeyTile) {
  for (const char* kernel : {"naive", "tiled"}) {
    const auto rec = read_recording(test::source_folder() + "/assets/recordings/late_outlier_64_" + kernel + ".attn");
    ASSERT_TRUE(rec.has_value()) << rec.error().message;
    int steps = 0;
    for (EventIndex e = 0; e < rec->events.size(); ++e) {
      if (!takes_all_keys(*rec, e)) continue;
      ++steps;
      const StepPlace at = place_of(*rec, e, {});
      const StripScene scene = strip_of(*rec, at, step_values(*rec, at, {}, nullptr));
      EXPECT_EQ(scene.position.find("key tile"), std::string::npos) << scene.position;
      EXPECT_EQ(plain_text(scene.sentence).find("this tile"), std::string::npos) << plain_text(scene.sentence);
      EXPECT_EQ(plain_text(scene.headline).find("this tile"), std::string::npos) << plain_text(scene.headline);
    }
    EXPECT_EQ(steps, 3 * rec->query_tiles()) << kernel;
  }
}

}  // namespace
}  // namespace attn
