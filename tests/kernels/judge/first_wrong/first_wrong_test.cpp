// The first wrong step of kernels that were not written with the finder in mind: a hand's first FlashAttention, with
// mistakes that hands make. Where each is first wrong was worked out on paper.
#include "kernels/judge/first_wrong/first_wrong.h"
#include "kernels/judge/found.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/judge/verdict.h"
#include "kernels/museum/right_run.h"
#include "kernels/museum/run_verdict.h"
#include "kernels/recording/file/recording_file.h"
#include "kernels/recording/replay/replay.h"
#include "tests/environment/paths.h"
#include "tests/kernels/judge/own_flash.h"

namespace attn {
namespace {

using test::OwnFlash;
using test::Slip;

constexpr std::uint64_t kFresh = 9000, kSeeds = 20;

Problem problem(std::int64_t lq, std::int64_t lk, bool causal = false, std::int64_t d = 4) {
  Problem p;
  p.B = p.Hq = p.Hkv = 1;
  p.Lq = lq;
  p.Lk = lk;
  p.D = p.Dv = d;
  p.mask.causal = causal;
  return p;
}

Problem with_heads(Problem p, std::int64_t hq, std::int64_t hkv) {
  p.Hq = hq;
  p.Hkv = hkv;
  return p;
}

Problem with_dv(Problem p, std::int64_t dv) {
  p.Dv = dv;
  return p;
}

struct Case {
  Slip slip;
  Problem problem;
  std::int64_t br = 8, bc = 8;
  WrongStep what = WrongStep::number;
  EventId id;  // of the step; of `skipped`, `extra`: the tile
  Slot slot = Slot::s;
  std::int32_t row = 0, col = 0;
  std::string_view cause;
  Generator generator = Generator::normal;
};

std::vector<Case> cases() {
  const auto at = [](std::int32_t i, std::int32_t j, Phase phase, std::int32_t h = 0) {
    return EventId{0, h, i, j, phase};
  };
  constexpr auto kNumber = WrongStep::number;
  return {
      // Row 0 sees 13 keys, of which 12 are hidden; the right run masks nothing in this tile.
      {Slip::causal_from_the_left, problem(12, 24, true), 8, 8, kNumber, at(0, 0, Phase::mask), Slot::s, 0, 1,
       "hides keys"},
      {Slip::tail_never_visited, problem(16, 29), 8, 8, WrongStep::missing, at(0, -1, Phase::normalise), Slot::s, 0, 0,
       "Key tile 3 is never visited: row 0 sees its key 24."},
      {Slip::bound_of_first_row, problem(16, 16, true), 8, 4, WrongStep::skipped, at(0, 1, Phase::skipped), Slot::s, 0,
       0, "row 4 sees its key 4."},
      {Slip::one_tile_too_many, problem(16, 24, true), 8, 8, WrongStep::extra, at(0, 2, Phase::load_kv), Slot::s, 0, 16,
       "neither skipped nor masked"},
      {Slip::no_mask_but_the_last, problem(16, 16, true), 8, 4, WrongStep::missing, at(0, 0, Phase::max), Slot::s, 0, 1,
       "mask is not applied"},
      {Slip::head_by_modulo, with_heads(problem(16, 24), 4, 2), 8, 8, kNumber, at(0, 0, Phase::load_kv, 1), Slot::k, 0,
       0, "K belongs to KV head 1, but query head 1 reads KV head 0: 2 query heads share each KV head."},
      {Slip::state_kept, problem(16, 24), 8, 8, kNumber, at(1, -1, Phase::load_q), Slot::m_old, 8, 0,
       "m was not reset"},
      {Slip::scale_in_mask, problem(20, 20, true, 8), 8, 8, kNumber, at(0, 0, Phase::mask), Slot::s, 0, 0,
       "scale is applied twice"},
      {Slip::hidden_by_number, problem(20, 14, true), 8, 8, kNumber, at(0, 0, Phase::mask), Slot::s, 0, 0,
       "Masked keys score -1e+09 instead of −∞"},
      {Slip::half_of_the_sum, problem(16, 24), 8, 8, kNumber, at(0, 0, Phase::sum), Slot::l_new, 0, 0,
       "modulo 8 is below 4"},
      {Slip::alpha_of_another_row, problem(16, 24), 8, 8, kNumber, at(0, 1, Phase::output), Slot::o_new, -1, 0,
       "another row's α, namely that of row r XOR 4"},
      {Slip::half_of_the_product, problem(16, 24, false, 8), 8, 8, kNumber, at(0, 0, Phase::scores), Slot::s, 0, 0,
       "the first 4 of the 8 numbers"},
      {Slip::exchanged, problem(16, 24), 8, 8, kNumber, at(0, 0, Phase::scores), Slot::s, 0, 1, "written transposed"},
      {Slip::width_of_keys, with_dv(problem(16, 24), 8), 8, 8, kNumber, at(0, 0, Phase::output), Slot::o_new, 0, 0,
       "as if its rows had 4 numbers, like those of K, but they have 8"},
      {Slip::nan_past_the_end, problem(16, 29), 8, 8, kNumber, at(0, 3, Phase::output), Slot::o_new, 0, 0, "0 · NaN"},
      {Slip::exponent_apart, problem(16, 24), 8, 8, kNumber, at(0, 0, Phase::weights), Slot::p, 0, 0, "exp(S) is ∞",
       Generator::large_logits},
      {Slip::mask_as_product, problem(20, 20, true), 8, 8, kNumber, at(0, 0, Phase::mask), Slot::s, 0, 0, "0 · (−∞)"},
  };
}

Recording own(const Case& c, Slip slip, std::uint64_t seed) {
  InputSpec spec;
  spec.generator = c.generator;
  spec.seed = seed;
  return OwnFlash(slip, c.problem, c.br, c.bc, spec).run();
}

TEST(FirstWrong, SlipsOfAHandAreFoundAtTheirStepAndElementWithTheirCause) {
  for (const Case& c : cases()) {
    for (std::uint64_t seed = kFresh; seed < kFresh + kSeeds; ++seed) {
      SCOPED_TRACE(std::string(c.cause) + ", seed " + std::to_string(seed));
      const Recording rec = own(c, c.slip, seed);
      ASSERT_EQ(outcome_of(*verdict_of(rec, {})), Outcome::wrong);
      const auto found = first_wrong_of(rec, {});
      ASSERT_TRUE(found) << found.error().message;
      ASSERT_TRUE(found->has_value());
      const FirstWrong& first = **found;
      EXPECT_EQ(first.what, c.what) << place_words(first);
      EXPECT_EQ(first.id, c.id) << place_words(first);
      EXPECT_NE(first.cause.find(c.cause), std::string::npos) << place_words(first) << "\n" << first.cause;
      if (first.differing == 0) continue;  // the step itself
      EXPECT_EQ(first.slot, c.slot) << place_words(first);
      EXPECT_TRUE(c.row < 0 || first.row == c.row) << place_words(first);
      EXPECT_EQ(first.col, c.col) << place_words(first);
    }
  }
}

// Its sums run the other way and its exponentials are of base 2: rounding is no finding.
TEST(FirstWrong, ARightKernelOfOtherArithmeticHasNone) {
  for (const Case& c : cases()) {
    for (std::uint64_t seed = kFresh; seed < kFresh + 5; ++seed) {
      const Recording rec = own(c, Slip::none, seed);
      EXPECT_EQ(outcome_of(*verdict_of(rec, {})), Outcome::pass);
      const auto found = first_wrong_of(rec, {});
      ASSERT_TRUE(found) << found.error().message;
      EXPECT_FALSE(*found) << place_words(**found);
    }
  }
}

// A maximum over some of the columns may still be the largest, and then nothing is wrong.
TEST(FirstWrong, AMaximumOfSomeColumnsIsFoundWhereItIsTooSmall) {
  const Case c{Slip::half_of_the_maximum, problem(16, 24), 8, 8, WrongStep::number, {}, Slot::m_new, 0, 0, ""};
  for (std::uint64_t seed = kFresh; seed < kFresh + kSeeds; ++seed) {
    const auto found = first_wrong_of(own(c, c.slip, seed), {});
    ASSERT_TRUE(found && *found) << seed;
    EXPECT_EQ((*found)->id.phase, Phase::max) << seed;
    EXPECT_LT((*found)->recorded, (*found)->right);
    EXPECT_NE((*found)->cause.find("m is the largest of only the columns"), std::string::npos) << (*found)->cause;
  }
}

// A tile beyond the mask may be computed where its mask hides all of it, and a whole tile may be masked: slower, not
// wrong.
TEST(FirstWrong, WhatTheRightRunSavesItselfIsNoMistakeWhereItIsHidden) {
  const Case c{Slip::none, problem(16, 24, true), 8, 8, WrongStep::number, {}, Slot::s, 0, 0, ""};
  for (const Slip slip : {Slip::hidden_tiles_computed, Slip::whole_tiles_masked}) {
    const Recording rec = own(c, slip, kFresh);
    EXPECT_GT(rec.events.size(), own(c, Slip::none, kFresh).events.size());
    EXPECT_EQ(outcome_of(*verdict_of(rec, {})), Outcome::pass);
    const auto found = first_wrong_of(rec, {});
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_FALSE(*found) << place_words(**found);
  }
}

// What a GPU recorded is held against its own operands, within the bounds of its arithmetic.
TEST(FirstWrong, OfAGpusRecordingIsTheFirstThatItsOwnOperandsDoNotGive) {
  for (const char* kernel : {"naive", "tiled", "flash_simt", "flash_tf32x3", "flash_wmma", "flash_mma"}) {
    SCOPED_TRACE(kernel);
    const std::string file = test::source_folder() + "/assets/recordings/late_outlier_64_" + kernel + ".attn";
    auto read = read_recording(file);
    ASSERT_TRUE(read) << read.error().message;
    const auto none = first_wrong_of(*read, {});
    ASSERT_TRUE(none) << none.error().message;
    EXPECT_FALSE(*none) << place_words(**none);
    // One weight of row 16, key 21.
    Recording rec = *std::move(read);
    VersionId weights = kNoVersion;
    for (VersionId n = 0; n < rec.versions.size() && weights == kNoVersion; ++n) {
      const Version& v = rec.version(n);
      if (v.slot == Slot::p && v.first_row == 16 && v.first_col == 16) weights = n;
    }
    ASSERT_NE(weights, kNoVersion);
    rec.arena[rec.version(weights).offset + 5] += 0.5F;
    const auto found = first_wrong_of(rec, {});
    ASSERT_TRUE(found) << found.error().message;
    ASSERT_TRUE(*found);
    EXPECT_EQ((*found)->event, rec.version(weights).made_by) << place_words(**found);
    EXPECT_EQ((*found)->id.phase, Phase::weights);
    EXPECT_EQ((*found)->slot, Slot::p);
    EXPECT_EQ((*found)->row, 16);
    EXPECT_EQ((*found)->col, 21);
    EXPECT_EQ((*found)->differing, 1);
    EXPECT_NEAR((*found)->recorded - (*found)->right, 0.5, 1e-3);
  }
}

}  // namespace
}  // namespace attn
