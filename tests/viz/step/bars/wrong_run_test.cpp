// What the bar over a wrong run says.
#include "viz/step/bars/wrong_run.h"
#include "kernels/cpu/backward/forward.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/museum/run_verdict.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <tuple>

#include "kernels/museum/museum.h"
#include "kernels/museum/right_run.h"
#include "viz/step/facts/scales.h"
#include "viz/step/tiles/tiles_scene.h"

namespace attn {
namespace {

struct Shown {
  State state;
  Model model;
};

Shown exhibit(std::string_view id, Generator generator) {
  const Piece& piece = **find_piece(id);
  InputSpec spec;
  spec.generator = generator;
  spec.seed = 1;
  Shown s;
  s.state.document.kernel = piece.row->id;
  auto rec = piece.row->record(*piece.row, piece.problem, piece.options,
                               *make_all_inputs(piece.problem, spec, in_turn, 0, Stream{}), {});
  s.model.recording = std::make_shared<const Recording>(std::move(*rec));
  s.model.examination.of = s.model.recording;
  s.model.examination.verdict = *verdict_of(*s.model.recording, {});
  return s;
}

TEST(WrongRun, NothingIsSaidOfARunThatNobodyDoubts) {
  const Shown s = exhibit("alpha_on_l_only", Generator::late_outlier);
  Model right = s.model;
  right.examination = {};
  EXPECT_FALSE(wrong_run_scene(s.state, right).shown);
  EXPECT_FALSE(wrong_run_scene(s.state, Model{}).shown);
}

TEST(WrongRun, AnExhibitSaysPlainlyWhatItIsAndHowToLeave) {
  const Shown s = exhibit("alpha_on_l_only", Generator::late_outlier);
  const WrongRunScene scene = wrong_run_scene(s.state, s.model);
  EXPECT_TRUE(scene.shown);
  EXPECT_EQ(scene.headline, "Deliberately wrong");
  EXPECT_EQ(scene.verdict.substr(0, 15), "Verdict: wrong.");
  EXPECT_EQ(scene.verdict.find(" -"), std::string::npos) << scene.verdict;  // a minus, as everywhere on screen
  EXPECT_EQ(scene.seek, "Find the first wrong step");
  EXPECT_EQ(scene.place, "") << "the answer waits until it is asked for";
  EXPECT_EQ(scene.back, "Back to cpu_flash");
  ASSERT_EQ(scene.leave.size(), 1U);
  EXPECT_EQ(command_as<ChooseKernel>(scene.leave[0])->id, "cpu_flash");
  ASSERT_EQ(scene.patch.size(), 2U);
  EXPECT_EQ(scene.patch[0].front(), '-');
  EXPECT_EQ(scene.patch[1].front(), '+');
}

// A lesson asks what is wrong: the bar says that there is an exhibit, and nothing of the answer.
TEST(WrongRun, WhileALessonAsksNeitherVerdictNorSearchNorPatchIsThere) {
  Shown s = exhibit("alpha_on_l_only", Generator::late_outlier);
  s.state.view.step.seek_first_wrong = true;
  s.model.examination.first = *first_wrong_of(*s.model.recording, {});
  s.model.examination.sought = true;
  const WrongRunScene scene = wrong_run_scene(s.state, s.model, true);
  EXPECT_TRUE(scene.shown);
  EXPECT_EQ(scene.headline, "An exhibit");
  EXPECT_FALSE(scene.wrong) << "no colour of a warning before it is told";
  EXPECT_TRUE(wrong_run_scene(s.state, s.model).wrong);
  EXPECT_NE(scene.verdict.find("Answer to reveal"), std::string::npos) << scene.verdict;
  EXPECT_TRUE(scene.seek.empty() && scene.place.empty() && scene.cause.empty());
  EXPECT_TRUE(scene.patch.empty() && scene.go_there.empty());
  const Piece& piece = *piece_of("museum_alpha_on_l_only");
  ASSERT_NE(wrong_run_scene(s.state, s.model).about.find(piece.symptom), std::string::npos);
  for (const std::string_view telling : {piece.title, piece.symptom, piece.bug}) {
    EXPECT_EQ(scene.about.find(telling), std::string::npos) << scene.about;
    EXPECT_EQ(scene.bug.find(telling), std::string::npos) << scene.bug;
  }
}

TEST(WrongRun, TheAnswerNamesStepElementAndCauseAndLeadsThere) {
  Shown s = exhibit("alpha_on_l_only", Generator::late_outlier);
  s.state.view.step.seek_first_wrong = true;
  EXPECT_NE(wrong_run_scene(s.state, s.model).place.find("Looking for"), std::string::npos);
  s.model.examination.first = *first_wrong_of(*s.model.recording, {});
  s.model.examination.sought = true;
  const FirstWrong& first = *s.model.examination.first;
  const WrongRunScene scene = wrong_run_scene(s.state, s.model);
  std::string place = "First wrong: " + place_words(first) + ".";
  ASSERT_NE(place.find("is -1.18"), std::string::npos) << place;
  for (const std::string_view words : {"is -", "be -"}) place.replace(place.find(words) + 3, 1, "−");
  EXPECT_EQ(scene.place, place) << "a minus, as everywhere on screen";
  EXPECT_EQ(scene.cause.substr(0, 13), "Likely cause:");
  Shown negative = s;
  negative.model.examination.first->cause = "it is -1.5, not -2 of row-sum";
  EXPECT_EQ(wrong_run_scene(negative.state, negative.model).cause, "Likely cause: it is −1.5, not −2 of row-sum");
  EXPECT_EQ(scene.seek, "Hide the answer");
  ASSERT_EQ(scene.go_there.size(), 2U);
  EXPECT_EQ(command_as<GoToEvent>(scene.go_there[0])->event, first.event);
  const Selection& pinned = command_as<Select>(scene.go_there[1])->selection;
  EXPECT_EQ(pinned.row, first.row);
  EXPECT_EQ(pinned.slot, Slot::o_new);
  EXPECT_EQ(pinned.col, first.col);
}

TEST(WrongRun, WhereItDoesNotShowThatIsSaid) {
  const Shown s = exhibit("alpha_on_l_only", Generator::equal_scores);
  const WrongRunScene scene = wrong_run_scene(s.state, s.model);
  EXPECT_EQ(scene.verdict, "Verdict: pass. The bug does not show up with these numbers.");
  EXPECT_EQ(scene.seek, "");
}

TEST(WrongRun, ARunOfOnesOwnHasNoMuseumToLeave) {
  Shown s = exhibit("alpha_on_l_only", Generator::late_outlier);
  auto own = std::make_shared<Recording>(*s.model.recording);
  own->kernel = "cpu_flash";
  s.model.recording = s.model.examination.of = own;
  const WrongRunScene scene = wrong_run_scene(s.state, s.model);
  EXPECT_EQ(scene.headline, "This run is wrong");
  EXPECT_TRUE(scene.back.empty() && scene.patch.empty());
  EXPECT_FALSE(scene.seek.empty());
}

// The tile shows what the kernel computed, not what the mask should have left.
TEST(WrongRun, AKeyThatTheMaskLetThroughShowsItsNumber) {
  const Shown s = exhibit("mask_off_by_one", Generator::normal);
  const Recording& rec = *s.model.recording;
  for (const auto& [phase, slot, column] :
       {std::tuple{Phase::mask, Slot::s, Column::s}, std::tuple{Phase::weights, Slot::p, Column::p}}) {
    const EventIndex e = *rec.find({0, 0, 0, 0, phase});
    const TilesScene scene = tiles_scene(rec, e, {}, OutputReading::as_summed, scales_of(rec));
    const TileScene& tile = scene.tiles[static_cast<std::size_t>(column)];
    EXPECT_EQ(tile.cell(0, 1).look, CellLook::value) << "row 0 was let see key 1";
    EXPECT_EQ(tile.cell(0, 2).look, CellLook::masked);
    EXPECT_EQ(tile.cell(1, 2).look, CellLook::value);
    EXPECT_EQ(tile.slot, slot);
  }
}

std::string all_words(const WrongRunScene& s) {
  std::string words =
      s.headline + s.about + s.verdict + s.seek + s.reveal + s.place + s.spread + s.cause + s.back + s.bug;
  for (const std::string& line : s.patch) words += line;
  return words;
}

// Each piece and the healthy patient, drawn at random or asked for by a lesson: one and the same bar.
TEST(WrongRun, NoExhibitIsToldFromAnotherUntilItIsRevealed) {
  for (const bool lesson : {false, true}) {
    std::set<std::string> said;
    for (const std::string_view id : {"cpu_flash", "museum_alpha_on_l_only", "museum_mask_off_by_one"}) {
      const Piece* piece = piece_of(id);
      Shown s = exhibit(piece != nullptr ? piece->id : "mask_off_by_one", Generator::normal);
      if (piece == nullptr)
        s.model.recording = std::make_shared<const Recording>(right_run(*s.model.recording, {}).value());
      s.model.examination.of = s.model.recording;
      s.model.examination.verdict = *verdict_of(*s.model.recording, {});
      s.state.document.kernel = id;
      s.state.document.exhibit = Exhibit::sealed;
      if (lesson) s.state.view.workspace = Workspace::learn;
      EXPECT_TRUE(keeps_name_back(s.state, lesson));
      const WrongRunScene scene = wrong_run_scene(s.state, s.model, lesson);
      EXPECT_TRUE(scene.shown);
      EXPECT_EQ(scene.reveal.empty(), lesson);
      said.insert(all_words(scene));
    }
    EXPECT_EQ(said.size(), 1U) << *said.begin() << "\n" << *said.rbegin();
  }
}

TEST(WrongRun, ARevealedExhibitSaysWhatItIs) {
  Shown s = exhibit("mask_off_by_one", Generator::normal);
  s.state.document.exhibit = Exhibit::revealed;
  EXPECT_FALSE(keeps_name_back(s.state, false));
  EXPECT_EQ(wrong_run_scene(s.state, s.model).headline, "Deliberately wrong");
  EXPECT_EQ(wrong_run_scene(s.state, s.model).seek, "Find the first wrong step");
  s.model.recording = std::make_shared<const Recording>(right_run(*s.model.recording, {}).value());
  s.model.examination.of = s.model.recording;
  s.model.examination.verdict = *verdict_of(*s.model.recording, {});
  s.state.document.kernel = "cpu_flash";
  const WrongRunScene healthy = wrong_run_scene(s.state, s.model);
  EXPECT_EQ(healthy.headline, "The correct kernel");
  EXPECT_TRUE(healthy.seek.empty() && healthy.patch.empty());
  s.state.document.exhibit = Exhibit::none;
  s.model.examination = {};
  EXPECT_FALSE(wrong_run_scene(s.state, s.model).shown) << "outside of the museum nothing is said of it";
}

}  // namespace
}  // namespace attn
