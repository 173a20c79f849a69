// The error map against fp64, and the first cell that differs against a walk over the whole run.
#include "viz/step/charts/error.h"

#include <cmath>

#include "kernels/judge/verdict.h"
#include "kernels/recording/replay/exact.h"
#include "tests/viz/step/fixture.h"
#include "viz/draw/number_text.h"
#include "viz/step/bars/strip.h"

namespace attn {
namespace {

ErrorScan scanned(const std::shared_ptr<const Recording>& rec, std::int32_t b = 0, std::int32_t h = 0) {
  ErrorScan scan(rec, b, h);
  while (!scan.advance(1)) {
  }
  return scan;
}

std::shared_ptr<const Recording> what_if(const char* preset, Options options) {
  return record_preset(preset, "cpu_flash", options);
}

TEST(ErrorMap, IsTheDistanceToTheDefinitionInFp64) {
  for (const char* preset : {"blackboard", "causal", "ragged", "heads", "masked_row"}) {
    for (const char* kernel : kRecordingKernels) {
      SCOPED_TRACE(std::string(preset) + " " + kernel);
      const auto rec = record_preset(preset, kernel);
      const Problem& p = rec->problem;
      const auto b = static_cast<std::int32_t>(p.B) - 1, h = static_cast<std::int32_t>(p.Hq) - 1;
      const ErrorScan scan = scanned(rec, b, h);
      EXPECT_EQ(scan.rows_done, p.Lq);
      double max = 0;
      for (std::int32_t r = 0; r < p.Lq; ++r) {
        const auto ref = reference_rows(p, rec->inputs, {{b, h, r}}, 1, {});
        ASSERT_TRUE(ref.has_value());
        for (std::int32_t c = 0; c < p.Dv; ++c) {
          const double out = rec->outputs.out.get(((b * p.Hq + h) * p.Lq + r) * p.Dv + c);
          const double error = std::abs(out - ref->out[static_cast<std::size_t>(c)]);
          const ErrorCell& cell = scan.cells[static_cast<std::size_t>(r * p.Dv + c)];
          EXPECT_EQ(cell.error, static_cast<float>(error));
          EXPECT_EQ(cell.look, error > 0 ? ErrorLook::error : ErrorLook::exact);
          max = std::max(max, error);
        }
      }
      EXPECT_EQ(scan.max, max);
      EXPECT_LT(max, 1e-5);
      // What rounding in fp32 explains is no difference.
      EXPECT_FALSE(scan.first.has_value());
    }
  }
}

TEST(ErrorMap, ACellSaysHowFarItIsOrThatItWaits) {
  const auto rec = record_preset("blackboard", "cpu_flash");
  EXPECT_EQ(cell_words(ErrorScan(rec, 0, 0), 1, 1), "O 1,1: not compared yet");
  const ErrorScan scan = scanned(rec);
  for (std::int32_t r = 0; r < scan.rows; ++r) {
    for (std::int32_t c = 0; c < scan.cols; ++c) {
      const ErrorCell& cell = scan.cells[static_cast<std::size_t>(r * scan.cols + c)];
      const std::string what =
          cell.look == ErrorLook::exact ? "equal to fp64" : significant_text(static_cast<double>(cell.error), 4);
      EXPECT_EQ(cell_words(scan, r, c), "O " + std::to_string(r) + "," + std::to_string(c) + ": " + what);
    }
  }
}

TEST(ErrorMap, NarrowSumsAreNamedAtTheFirstCellThatLeavesFp32) {
  for (const DType t : {DType::f16, DType::bf16}) {
    Options options;
    options.accumulate = t;
    const auto rec = what_if("late_outlier", options);
    const ErrorScan scan = scanned(rec);
    ASSERT_TRUE(scan.first.has_value());
    const FirstDifference& f = *scan.first;
    // l is the first thing that is kept in the narrow type.
    EXPECT_EQ(rec->events[f.event].id.phase, Phase::sum);
    EXPECT_EQ(f.slot, Slot::l_new);
    EXPECT_EQ(f.recorded, static_cast<double>(*live_value(*rec, f.event, f.slot, f.row, f.col)));
    EXPECT_GT(std::abs(f.recorded - f.exact), f.bound);
    // Nothing before it differs.
    for (EventIndex e = 0; e < f.event; ++e) {
      const EventId& id = rec->events[e].id;
      const ExactTile exact(*rec, 0, 0, id.i, DType::f32);
      for (std::size_t s = 0; s < kSlots; ++s) {
        const VersionId v = rec->after(e, static_cast<Slot>(s));
        if (v == kNoVersion || rec->version(v).made_by != e) continue;
        const auto values = rec->values(v);
        for (std::size_t n = 0; n < values.size(); ++n) {
          if (std::isinf(values[n])) continue;  // m before the first key
          const auto known = exact.at(v, n);
          EXPECT_TRUE(!known || std::abs(static_cast<double>(values[n]) - known->exact) <= known->bound);
        }
      }
    }
    EXPECT_GT(scan.max, 1e-4);
  }
}

// The scores of the tail are masked all the same: the first number that fp64 denies is one of O.
TEST(ErrorMap, ATailThatIsNotZeroedFirstShowsInTheOutput) {
  Options options;
  choose(options, kZeroTail, 0);
  const auto rec = what_if("pages", options);
  const ErrorScan scan = scanned(rec, 1);
  ASSERT_TRUE(scan.first.has_value());
  const EventId& id = rec->events[scan.first->event].id;
  EXPECT_EQ(id.phase, Phase::output);
  EXPECT_EQ(id.j, 1);
  EXPECT_EQ(scan.first->slot, Slot::o_new);
  EXPECT_TRUE(std::isnan(scan.first->recorded));
  const auto sane = what_if("pages", {});
  const EventIndex same = *sane->find(id);
  EXPECT_NEAR(scan.first->exact,
              static_cast<double>(*live_value(*sane, same, Slot::o_new, scan.first->row, scan.first->col)), 1e-5);
  EXPECT_EQ(scan.overflows, std::int64_t{scan.rows} * scan.cols);
  EXPECT_FALSE(scanned(rec, 0).first.has_value());  // its keys end with the tile
  EXPECT_FALSE(scanned(sane, 1).first.has_value());
}

TEST(ErrorMap, OverflowIsCountedAndNamed) {
  Options options;
  options.subtract_max = false;
  const auto rec = what_if("large_logits", options);
  const ErrorScan scan = scanned(rec);
  EXPECT_GT(scan.overflows, 0);
  ASSERT_TRUE(scan.first.has_value());
  const FirstDifference first = scan.first.value_or(FirstDifference{});
  EXPECT_EQ(first.slot, Slot::p);
  EXPECT_TRUE(std::isinf(first.recorded));
  std::string words;
  for (const TextRuns& runs : error_scene(*rec, scan).words) words += plain_text(runs) + "\n";
  EXPECT_NE(words.find("not finite"), std::string::npos) << words;
  EXPECT_NE(words.find("∞"), std::string::npos) << words;
  // With the maximum subtracted nothing is.
  const ErrorScan sane = scanned(what_if("large_logits", {}));
  EXPECT_EQ(sane.overflows, 0);
  EXPECT_FALSE(sane.first.has_value());
}

// A difference of 8e-4 below the bound says nothing without the bound; and a bound is no explanation: f16's sums hide
// below it where scores are large.
TEST(ErrorMap, WhereNothingDiffersItSaysWhatRoundingMayDoAndWhich) {
  Options options;
  options.accumulate = DType::f16;
  const auto rec = what_if("large_logits", options);
  const ErrorScan scan = scanned(rec);
  ASSERT_FALSE(scan.first.has_value());
  EXPECT_GT(scan.allowed, scan.max);
  const auto words_of = [&](const Recording& r) {
    std::string words;
    for (const TextRuns& runs : error_scene(r, scan).words) words += plain_text(runs) + "\n";
    return words;
  };
  const std::string bound = " For O, that is " + significant_text(scan.allowed, 3) + ".";
  EXPECT_NE(
      words_of(*rec).find(
          "Sums are kept in f16, yet fp32 rounding could explain every difference, because the scores are large." +
          bound),
      std::string::npos)
      << words_of(*rec);
  Recording narrow = *rec;
  narrow.options.accumulate = DType::f32;
  EXPECT_NE(words_of(narrow).find("No difference in any step exceeds what rounding in fp32 can cause." + bound),
            std::string::npos)
      << words_of(narrow);
  narrow.problem.dtype = DType::f16;
  EXPECT_NE(words_of(narrow).find("rounding in fp32, with P and O kept in f16, can cause"), std::string::npos)
      << words_of(narrow);
}

TEST(ErrorMap, TheStripNamesTheOverflowAndNoOtherRow) {
  const StepTexts texts = shipped_texts();
  Options options;
  options.subtract_max = false;
  const auto rec = what_if("large_logits", options);
  int named = 0;
  for (EventIndex e = 0; e < rec->events.size(); ++e) {
    const StepPlace at = place_of(*rec, e, {});
    const StripScene scene = strip_scene(*rec, at, step_values(*rec, at, {}, nullptr), texts);
    named += plain_text(scene.headline).find("overflow") != std::string::npos;
  }
  EXPECT_GT(named, 4);
  const auto sane = what_if("large_logits", {});
  for (EventIndex e = 0; e < sane->events.size(); ++e) {
    const StepPlace at = place_of(*sane, e, {});
    const StripScene scene = strip_scene(*sane, at, step_values(*sane, at, {}, nullptr), texts);
    EXPECT_EQ(plain_text(scene.headline).find("overflow"), std::string::npos);
  }
}

TEST(ErrorMap, RightToLeftIsNoDifferenceBeyondRounding) {
  Options options;
  options.key_order = KeyOrder::right_to_left;
  const ErrorScan scan = scanned(what_if("late_outlier", options));
  EXPECT_FALSE(scan.first.has_value());
  EXPECT_LT(scan.max, 1e-5);
}

TEST(ErrorMap, ShadesAreTheLogarithm) {
  EXPECT_EQ(error_shade(0), -1);
  EXPECT_EQ(error_shade(1e-9), -1);
  EXPECT_EQ(error_shade(1e-12), -1);
  EXPECT_EQ(error_shade(1), 1);
  EXPECT_EQ(error_shade(1e3), 1);
  EXPECT_LT(error_shade(1e-7), error_shade(1e-6));
  EXPECT_NEAR(error_shade(std::pow(10.0, -4.5)), 0, 1e-6);
}

TEST(ErrorMap, InputsThatAreNotFiniteAreNotCalledOverflow) {
  const ErrorScan scan = scanned(record_preset("non_finite", "cpu_flash"));
  EXPECT_EQ(scan.overflows, 0);
}

TEST(ErrorMap, ComparesSomeRowsAFrameAndSaysHowMany) {
  const auto rec = record_preset("large", "cpu_flash");
  ErrorScan scan(rec, 0, 0);
  EXPECT_FALSE(scan.advance(1));
  EXPECT_EQ(scan.rows_done, 1);
  EXPECT_EQ(error_scene(*rec, scan).progress, "1 of 64 rows compared");
  while (!scan.advance(1)) {
  }
  EXPECT_TRUE(error_scene(*rec, scan).progress.empty());
}

}  // namespace
}  // namespace attn
