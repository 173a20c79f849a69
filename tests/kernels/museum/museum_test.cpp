// Every piece is really wrong, each patch fits its source once, and the first wrong step is found, with its cause, on
// seeds that nobody looked at; the right kernel passes the same check.
#include "kernels/museum/museum.h"
#include "kernels/judge/verdict.h"
#include "kernels/model/inputs/inputs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "kernels/cpu/backward/forward.h"
#include "kernels/gpu/compile/service.h"
#include "kernels/gpu/rungs/inspect.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/gpu/rungs/specialise.h"
#include "kernels/judge/first_wrong/first_wrong.h"
#include "kernels/ladder.h"
#include "kernels/museum/right_run.h"
#include "kernels/museum/run_verdict.h"
#include "kernels/recording/replay/replay.h"
#include "tests/environment/asked.h"
#include "tests/environment/paths.h"
#include "tests/kernels/museum/unknown_bug.h"

namespace attn {
namespace {

constexpr std::uint64_t kSeeds = 20;
constexpr std::uint64_t kFresh = 9000;  // far from every preset's

// Where each piece goes wrong first: what the finder must say, whatever the seed.
struct Expected {
  Phase phase;
  Slot slot;
  std::string_view cause;  // a part of the sentence
};
const std::map<std::string_view, Expected>& expected() {
  static const std::map<std::string_view, Expected> kExpected{
      {"forgotten_alpha", {Phase::rescale, Slot::alpha, "α was forgotten"}},
      {"alpha_on_l_only", {Phase::output, Slot::o_new, "O was not multiplied by α"}},
      {"alpha_on_o_only", {Phase::sum, Slot::l_new, "ℓ was not multiplied by α"}},
      {"mask_off_by_one", {Phase::mask, Slot::s, "off by one: queries also see the key after"}},
      {"max_not_carried", {Phase::max, Slot::m_new, "not carried over"}},
      {"l_in_bf16", {Phase::sum, Slot::l_new, "kept in bf16"}},
      {"infinity_minus_infinity", {Phase::rescale, Slot::alpha, "−∞ − (−∞)"}},
      {"delta_left_out", {*phase_named("score_gradient"), *slot_named("ds"), "δ is missing"}},
      {"scale_twice", {*phase_named("store_dkv"), *slot_named("dk"), "the scale twice"}},
      {"dq_race", {*phase_named("query_gradient"), *slot_named("dq"), "part of dQ is lost"}},
      {"mask_only_forward", {Phase::mask, Slot::s, "lets queries see keys that it should hide"}},
  };
  return kExpected;
}

std::string text_of(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

Recording recorded(const KernelRow& row, const Piece& piece, std::uint64_t seed) {
  InputSpec spec;
  spec.generator = piece.generator;
  spec.seed = seed;
  return *row.record(row, piece.problem, piece.options, *make_all_inputs(piece.problem, spec, in_turn, 0, Stream{}),
                     {});
}

// Random exhibits are of the forward.
bool is_forward(const Piece& p) {
  return p.row != nullptr && takes_pass(*p.row, Pass::forward);
}

bool is_sentence(std::string_view words) {
  return !words.empty() && words.back() == '.';
}

TEST(Museum, HasThePiecesThatItPromisesAndALabelForEachPatch) {
  std::set<std::string_view> ids, titles;
  for (const Piece& p : museum()) {
    SCOPED_TRACE(p.id);
    EXPECT_TRUE(ids.insert(p.id).second);
    EXPECT_TRUE(titles.insert(p.title).second);
    EXPECT_TRUE(is_sentence(p.symptom) && is_sentence(p.bug));
    EXPECT_FALSE(p.hidden.empty());
    EXPECT_TRUE(find_kernel(p.right)) << p.right;
    EXPECT_EQ(*find_piece(p.id), &p);
    EXPECT_EQ(expected().contains(p.id), p.row != nullptr);
  }
  EXPECT_EQ(museum().size(), museum_patches().size()) << "a patch without a label, or a label without a patch";
  EXPECT_GE(museum().size(), 8U);
  EXPECT_FALSE(find_piece("cpu_flash"));
}

TEST(Museum, TheLadderDoesNotKnowItsKernels) {
  for (const Piece& p : museum()) {
    if (p.row == nullptr) continue;
    EXPECT_FALSE(find_kernel(p.row->id)) << p.row->id;
    EXPECT_EQ(*find_kernel_or_piece(p.row->id), p.row);
    EXPECT_EQ(piece_of(p.row->id), &p);
    for (const KernelRow* row : ladder()) EXPECT_NE(row->id, p.row->id);
  }
  EXPECT_EQ(piece_of("cpu_flash"), nullptr);
  EXPECT_TRUE(find_kernel_or_piece("cpu_flash"));
}

TEST(Museum, EveryPatchFitsItsSourceExactlyOnce) {
  for (const Patch& patch : museum_patches()) {
    SCOPED_TRACE(patch.id);
    const std::string source = text_of(test::source_folder() + "/" + std::string(patch.source));
    const auto text = patched(patch, source);
    ASSERT_TRUE(text) << text.error().message;
    EXPECT_NE(*text, source);
    EXPECT_EQ(text->size(), source.size() - patch.find.size() + patch.replace.size());
    EXPECT_FALSE(patched(patch, *text + *text + source + source)) << "twice is not once";
    EXPECT_FALSE(patched(patch, "something else"));
  }
}

TEST(Museum, APatchIsShownAsADiff) {
  const Patch patch{"x", "a.cpp", "  one();\n", "  two();\n  three();\n", nullptr};
  EXPECT_EQ(patch_text(patch), "-   one();\n+   two();\n+   three();\n");
}

TEST(Museum, EveryCpuPieceIsWrongAndItsFirstWrongStepIsFoundOnFreshSeeds) {
  for (const Piece& piece : museum()) {
    if (piece.row == nullptr) continue;
    const Expected& want = expected().at(piece.id);
    for (std::uint64_t seed = kFresh; seed < kFresh + kSeeds; ++seed) {
      SCOPED_TRACE(std::string(piece.id) + ", seed " + std::to_string(seed));
      const Recording rec = recorded(*piece.row, piece, seed);
      EXPECT_EQ(rec.kernel, piece.row->id);
      EXPECT_EQ(outcome_of(*verdict_of(rec, {})), Outcome::wrong);
      const auto found = first_wrong_of(rec, {});
      ASSERT_TRUE(found) << found.error().message;
      ASSERT_TRUE(found->has_value());
      const FirstWrong& first = **found;
      // Where every row's maximum rises in the first tile that could forget it, m is right and α is wrong first.
      const bool m_rises = piece.id == "max_not_carried" && first.slot == Slot::alpha;
      EXPECT_EQ(first.id.phase, m_rises ? Phase::rescale : want.phase) << place_words(first);
      EXPECT_EQ(first.slot, m_rises ? Slot::alpha : want.slot) << place_words(first);
      const std::string_view cause = m_rises ? "nothing was carried over" : want.cause;
      EXPECT_NE(first.cause.find(cause), std::string::npos) << place_words(first) << "\n" << first.cause;
      // The rule that the kernel broke, tried on its own operands: the same step. A mask and a maximum that begin anew
      // break theirs just so.
      const auto replayed = replay(rec);
      ASSERT_TRUE(replayed);
      EXPECT_EQ(replayed->event, first.event) << replayed->words;
      EXPECT_EQ(replayed->slot, first.slot);
    }
  }
}

TEST(Museum, TheRightKernelsPassTheSameCheck) {
  for (const Piece& piece : museum()) {
    if (piece.row == nullptr) continue;
    const KernelRow& right = **find_kernel(piece.right);
    for (std::uint64_t seed = kFresh; seed < kFresh + 3; ++seed) {
      const Recording rec = recorded(right, piece, seed);
      EXPECT_EQ(outcome_of(*verdict_of(rec, {})), Outcome::pass) << piece.id;
      EXPECT_FALSE(*first_wrong_of(rec, {})) << piece.id;
    }
  }
}

// Of every order, and where numbers are not finite.
TEST(FirstWrong, NothingIsFoundInARightRunOfAnyOrder) {
  for (const char* id : {"ragged", "causal", "heads", "non_finite", "masked_row", "padded", "bias"}) {
    const Preset& preset = **find_preset(id);
    InputSpec spec;
    spec.generator = preset.generator;
    Options o;
    o.br = preset.br;
    o.bc = preset.bc;
    for (const KernelRow& row : cpu_kernel_table()) {
      const Recording rec = *row.record(row, preset.problem, o, *make_inputs(preset.problem, spec), {});
      const auto found = first_wrong_of(rec, {});
      ASSERT_TRUE(found) << found.error().message;
      EXPECT_FALSE(*found) << id << " " << row.id << ": " << place_words(**found);
    }
  }
}

TEST(FirstWrong, ABugThatNoFormulaKnowsIsStillFoundByElementStepAndPhase) {
  const KernelRow row = cpu::wrong_halved_last_weight::cpu_flash_row();
  const Piece& like = **find_piece("alpha_on_o_only");
  for (std::uint64_t seed = kFresh; seed < kFresh + kSeeds; ++seed) {
    const Recording rec = recorded(row, like, seed);
    EXPECT_EQ(outcome_of(*verdict_of(rec, {})), Outcome::wrong);
    const auto found = first_wrong_of(rec, {});
    ASSERT_TRUE(found && *found);
    const FirstWrong& first = **found;
    EXPECT_EQ(first.id, (EventId{0, 0, 0, 0, Phase::weights}));
    EXPECT_EQ(first.slot, Slot::p);
    EXPECT_EQ(first.row, 0);
    EXPECT_EQ(first.col, 3) << "the last key of the tile";
    EXPECT_EQ(first.differing, 4) << "one key of each row";
    EXPECT_NEAR(first.recorded, first.right / 2, 1e-6);
    EXPECT_EQ(first.cause, "") << "no cause is made up";
    EXPECT_EQ(place_words(first).substr(0, 48), "step 6 (weights, query tile 0, key tile 0): P of");
  }
}

struct Unknown {
  KernelRow row;
  Phase phase;
  Slot slot;
  std::string_view cause;
};

// Wrong kernels that came after the finder: mistakes that a hand makes, none of the museum's.
TEST(FirstWrong, OtherBugsAreFoundAtTheirStepWithAFittingCause) {
  const Unknown unknown[] = {
      {cpu::wrong_previous_values::cpu_flash_row(), Phase::output, Slot::o_new, "values of key tile 0"},
      {cpu::wrong_sum_before_last::cpu_flash_row(), Phase::normalise, Slot::o_new, "ℓ as of key tile 1"},
      {cpu::wrong_padding_counted::cpu_flash_row(), Phase::sum, Slot::l_new, "past the last key are counted"}};
  Piece like = **find_piece("alpha_on_o_only");
  like.problem.Lq = 8;
  like.problem.Lk = 10;  // the last key tile is half empty
  like.options.br = like.options.bc = 4;
  for (const Unknown& bug : unknown) {
    for (std::uint64_t seed = kFresh; seed < kFresh + kSeeds; ++seed) {
      const Recording rec = recorded(bug.row, like, seed);
      EXPECT_EQ(outcome_of(*verdict_of(rec, {})), Outcome::wrong) << bug.cause << ", " << seed;
      const auto found = first_wrong_of(rec, {});
      ASSERT_TRUE(found && *found) << bug.cause << ", " << seed;
      const FirstWrong& first = **found;
      EXPECT_NE(first.cause.find("past the last key") == std::string::npos, bug.phase == Phase::sum) << first.cause;
      // A score of 0 that counts raises a maximum below it, before it is summed.
      if (bug.phase == Phase::sum && first.id.phase == Phase::max) continue;
      EXPECT_EQ(first.id.phase, bug.phase) << bug.cause << ", " << seed;
      EXPECT_EQ(first.slot, bug.slot) << bug.cause << ", " << seed;
      EXPECT_NE(first.cause.find(bug.cause), std::string::npos) << seed << ": " << first.cause;
    }
  }
}

// A change of one number in a recording, found where it stands.
class Tampered : public testing::Test {
 protected:
  static Recording run(const char* kernel = "cpu_flash") {
    const Piece& like = **find_piece("mask_off_by_one");
    return recorded(**find_kernel(kernel), like, kFresh);
  }
  static VersionId version(const Recording& rec, const EventId& id, Slot slot) {
    return rec.after(*rec.find(id), slot);
  }
  static float* values(Recording& rec, VersionId id) { return rec.arena.data() + rec.version(id).offset; }
  static FirstWrong found(const Recording& rec) {
    const auto first = first_wrong_of(rec, {});
    EXPECT_TRUE(first && *first) << (first ? "nothing was found" : first.error().message);
    return first && *first ? **first : FirstWrong{};
  }
};

TEST_F(Tampered, ANaNIsFoundWhereItBegins) {
  Recording rec = run();
  const EventId at{0, 0, 1, 0, Phase::output};
  values(rec, version(rec, at, Slot::o_new))[9] = std::numeric_limits<float>::quiet_NaN();
  const FirstWrong first = found(rec);
  EXPECT_EQ(first.id, at);
  EXPECT_EQ(first.row, 5);
  EXPECT_EQ(first.col, 1);
  EXPECT_TRUE(std::isnan(first.recorded));
  EXPECT_EQ(first.differing, 1);
}

TEST_F(Tampered, AStaleKTileIsNamedWithTheTileThatItIs) {
  Recording rec = run();
  const EventId at{0, 0, 1, 1, Phase::load_kv};
  const VersionId fresh = version(rec, at, Slot::k), stale = version(rec, {0, 0, 1, 0, Phase::load_kv}, Slot::k);
  std::copy_n(values(rec, stale), 32, values(rec, fresh));
  const FirstWrong first = found(rec);
  EXPECT_EQ(first.id, at);
  EXPECT_EQ(first.slot, Slot::k);
  EXPECT_EQ(first.cause, "K is a stale tile: it contains the keys starting at 0, which belong to another key tile.");
}

TEST_F(Tampered, ScoresOfAnotherTileAreNamed) {
  Recording rec = run();
  const VersionId s0 = version(rec, {0, 0, 2, 0, Phase::scores}, Slot::s),
                  s1 = version(rec, {0, 0, 2, 1, Phase::scores}, Slot::s);
  std::copy_n(values(rec, s0), 16, values(rec, s1));
  const FirstWrong first = found(rec);
  EXPECT_EQ(first.id, (EventId{0, 0, 2, 1, Phase::scores}));
  EXPECT_NE(first.cause.find("scores of key tile 0"), std::string::npos) << first.cause;
}

TEST_F(Tampered, AnAnswerThatIsNotWhatTheLastStepHoldsIsFoundAtTheStore) {
  for (const char* kernel : {"cpu_flash", "cpu_sequential", "cpu_flash1"}) {
    Recording rec = run(kernel);
    rec.outputs.out.set(6 * 8 + 2, 5.0F);
    const FirstWrong first = found(rec);
    EXPECT_TRUE(first.written) << kernel;
    EXPECT_EQ(first.id.phase, Phase::store_o) << kernel;
    EXPECT_EQ(first.row, 6) << kernel;
    EXPECT_EQ(first.col, 2) << kernel;
  }
}

TEST_F(Tampered, WhatRoundingExplainsIsNotWrong) {
  Recording rec = run();
  float* o = values(rec, version(rec, {0, 0, 3, 1, Phase::output}, Slot::o_new));
  o[3] = std::nextafter(o[3], 100.0F);
  EXPECT_FALSE(*first_wrong_of(rec, {}));
}

TEST_F(Tampered, RunsOfDifferentTilesAreNotCompared) {
  const Recording rec = run();
  Options o = rec.options;
  o.br = 2;
  const KernelRow& row = **find_kernel("cpu_flash");
  const Recording other = *row.record(row, rec.problem, o, rec.inputs, {});
  EXPECT_FALSE(find_first_wrong(rec, other, {}));
}

// Switched on by the user, found like any other mistake.
TEST_F(Tampered, AWhatIfIsNamedForWhatItIs) {
  const Piece& like = **find_piece("max_not_carried");
  const KernelRow& row = **find_kernel("cpu_flash");
  InputSpec spec;
  spec.generator = Generator::large_logits;
  const Inputs in = *make_inputs(like.problem, spec);
  Options o = like.options;
  o.subtract_max = false;
  EXPECT_NE(found(*row.record(row, like.problem, o, in, {})).cause.find("m stays 0"), std::string::npos);
  o = like.options;
  o.accumulate = DType::f16;
  spec.generator = Generator::normal;
  const FirstWrong narrow = found(*row.record(row, like.problem, o, *make_inputs(like.problem, spec), {}));
  EXPECT_EQ(narrow.slot, Slot::l_new);
  EXPECT_NE(narrow.cause.find("kept in f16"), std::string::npos) << narrow.cause;
}

TEST(FirstWrongResult, SaysWhereAnAnswerAloneFirstDiffersAndWhatItsRowsHaveInCommon) {
  const Piece& piece = **find_piece("alpha_on_o_only");
  const Recording rec = recorded(*piece.row, piece, kFresh);
  const RowSample sample = choose_rows(rec.problem, true);
  const ReferenceRows ref = *reference_rows(rec.problem, rec.inputs, sample.rows, 1, {});
  const Verdict v = judge(rec.problem, rec.inputs, ref, rec.outputs, sample);
  const auto first = find_first_wrong_result(rec.problem, ref, rec.outputs, v.allowed(), v.lse_allowed());
  ASSERT_TRUE(first);
  EXPECT_GT(first->differing, 0);
  EXPECT_NE(first->cause.find("the same factor"), std::string::npos) << place_words(*first);
  Outputs alone = rec.outputs;
  alone.lse = {};
  const auto by_o = find_first_wrong_result(rec.problem, ref, alone, v.allowed(), v.lse_allowed());
  ASSERT_TRUE(by_o);
  EXPECT_EQ(by_o->of, alone.out.size()) << "an LSE that is not there is counted";
  const KernelRow& right = **find_kernel(piece.right);
  const Recording good = recorded(right, piece, kFresh);
  EXPECT_FALSE(find_first_wrong_result(good.problem, ref, good.outputs, v.allowed(), v.lse_allowed()));
}

// What one place of a rung's text changes compiles where the rung does: the usual run takes the oldest, the newest and
// the one that the rungs were run on, the long lists every architecture.
TEST(Museum, EveryCudaPieceCompilesForEveryArchitectureOfItsRung) {
  auto compiler = gpu::open_nvrtc();
  if (!compiler) GTEST_SKIP() << compiler.error().message;
  gpu::CompileService service(**compiler, {});
  int compiled = 0;
  for (const Piece& piece : museum()) {
    if (piece.row != nullptr) continue;
    const KernelRow& row = **find_kernel(piece.right);
    for (const std::string_view arch : row.architectures) {
      const bool usual =
          arch == gpu::kArchRunOn || arch == row.architectures.front() || arch == row.architectures.back();
      if (!usual && !test::asked("ATTNSCOPE_LONG_TESTS")) continue;
      SCOPED_TRACE(std::string(piece.id) + " for " + std::string(arch));
      const Device device = *gpu::device_for(arch);
      Problem p = piece.problem;
      p.D = p.Dv = 32;  // narrow heads compile sooner
      const auto plan = row.plan(row, p, piece.options, device);
      ASSERT_TRUE(plan) << plan.error().message;
      auto source = gpu::kernel_source(row.id, "");
      ASSERT_TRUE(source);
      const auto text = patched(*piece.patch, source->text);
      ASSERT_TRUE(text) << text.error().message;
      source->text = *text;
      source->hash = gpu::source_hash(row.id, source->text, gpu::embedded_sources());
      source->edited = true;
      const auto done = service.compile({*source, device.arch, gpu::defines_of(*plan, gpu::may_be_aligned(p))});
      EXPECT_TRUE(done) << done.error().message;
      ++compiled;
    }
  }
  EXPECT_GE(compiled, 6);
}

Recording recorded_at_random(const KernelRow& row, const RandomPiece& drawn, std::uint64_t seed) {
  InputSpec spec;
  spec.generator = drawn.generator;
  spec.seed = seed;
  return *row.record(row, drawn.problem, drawn.options, *make_inputs(drawn.problem, spec), {});
}

// By the judge alone: what is drawn as wrong is wrong on the numbers that were drawn, the healthy patient is right, and
// the problem, which is the same for all, does not tell which it is.
TEST(Museum, ARandomExhibitIsWrongExceptTheHealthyPatientOnAProblemThatTellsNothing) {
  std::set<std::string_view> pieces;
  const RandomPiece first = random_piece(1);
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const RandomPiece drawn = random_piece(seed);
    const std::string_view id = drawn.piece == nullptr ? "the healthy patient" : drawn.piece->id;
    pieces.insert(id);
    const RandomPiece again = random_piece(seed);
    EXPECT_TRUE(again.piece == drawn.piece && again.seed == drawn.seed);
    EXPECT_TRUE(drawn.problem == first.problem && drawn.options == first.options && drawn.generator == first.generator);
    const KernelRow& row = drawn.piece != nullptr ? *drawn.piece->row : **find_kernel(kHealthyPatient);
    EXPECT_EQ(verdict_of(recorded_at_random(row, drawn, drawn.seed), {}).value().pass, drawn.piece == nullptr)
        << id << ", " << drawn.seed;
  }
  const auto cpu = std::ranges::count_if(museum(), [](const Piece& p) { return is_forward(p); });
  EXPECT_EQ(pieces.size(), static_cast<std::size_t>(cpu) + 1) << "each of them and the healthy patient comes up";
}

// Not only where the draw pairs them: any piece with any of these numbers.
TEST(Museum, EveryCpuPieceShowsOnTheProblemOfTheRandomExhibits) {
  const RandomPiece drawn = random_piece(1);
  for (const Piece& p : museum()) {
    if (!is_forward(p)) continue;
    for (std::uint64_t seed = 1; seed <= kRandomSeeds; seed += 41)
      EXPECT_FALSE(verdict_of(recorded_at_random(*p.row, drawn, seed), {}).value().pass) << p.id << ", " << seed;
  }
}

}  // namespace
}  // namespace attn
