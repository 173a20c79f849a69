// The expression language of lessons against numbers that were computed apart from it.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "app/state/inputs/document_inputs.h"
#include "app/state/lessons/lesson_files.h"
#include "app/state/lessons/lesson_runs.h"
#include "app/state/string/state_string.h"
#include "tests/environment/paths.h"
#include "viz/draw/text_runs.h"
#include "viz/learn/beat.h"
#include "viz/learn/lesson/lesson_words.h"

namespace attn {
namespace {

std::vector<std::string> fields(const std::string& line, const std::string& by) {
  std::vector<std::string> out;
  std::size_t at = 0;
  for (std::size_t end; (end = line.find(by, at)) != line.npos; at = end + by.size())
    out.push_back(line.substr(at, end - at));
  out.push_back(line.substr(at));
  return out;
}

// Recordings of state strings, each made once for all lines of the table.
std::map<std::string, Recording>& recorded() {
  static std::map<std::string, Recording> all;
  return all;
}
Result<const Recording*> record(const std::string& text) {
  if (!recorded().contains(text)) {
    auto state = parse_state_string("attn1," + text);
    if (!state) return tl::unexpected(state.error());
    auto made = record_document(state->state.document, {});
    if (!made) return tl::unexpected(made.error());
    recorded().emplace(text, *std::move(made));
  }
  return &recorded().at(text);
}

TEST(LessonExpressions, GiveTheNumbersThatWereComputedApart) {
  std::ifstream table(std::filesystem::path(test::source_folder()) / "tests/app/state/lessons/values.txt");
  int lines = 0;
  for (std::string line; std::getline(table, line);) {
    if (line.empty() || line[0] == '#') continue;
    const auto row = fields(line, " | ");
    ASSERT_EQ(row.size(), 6U) << line;
    std::map<std::string, std::string, std::less<>> runs;
    for (const std::string& run : fields(row[1], ";")) {
      const std::size_t equals = run.find('=');
      runs[run.substr(0, equals)] = run.substr(equals + 1);
    }
    ExpressionScope scope;
    scope.at = *parse_place(row[2]);
    scope.recording_of = [&](std::string_view name) -> Result<const Recording*> {
      const auto it = runs.find(name);
      // What is no reference needs a run all the same: none is named.
      return it == runs.end() ? bad_input("there is no run " + std::string(name)) : record(it->second);
    };
    const auto value = evaluate_number(row[3], scope);
    ASSERT_TRUE(value) << row[0] << ": " << value.error().message;
    const double want = std::stod(row[4]), tolerance = std::stod(row[5]) * std::abs(want);
    EXPECT_LE(std::abs(*value - want), tolerance) << row[0] << ": " << row[3];
    ++lines;
  }
  EXPECT_EQ(lines, 100);
}

TEST(LessonExpressions, RefuseInWordsWhatTheyCannotRead) {
  ExpressionScope scope;
  scope.at = *parse_place("i0j0");
  scope.recording_of = [](std::string_view) { return record("preset=blackboard"); };
  for (const auto& [text, words] : std::map<std::string, std::string>{
           {"S[0,9]", "the requested row or column"},
           {"S[0,2]", "the requested row or column"},  // of another tile
           {"l[0]@i0j9", "not computed"},
           {"T[0,0]", "unknown tensor T"},
           {"sinus(1)", "unknown function sinus"},
           {"1 +", "expected"},
           {"(1", "')' is missing"},
           {"2 3", "left over"},
           {"S[0,0]@somewhere", "invalid place"},
           {"S[0,0..1] + S[*,0..1]", "2 numbers cannot be combined with 4"},
           {"S[0,*]", "gives 2 numbers"},
           {std::string(80, '(') + "1", "nested too deeply"},
           {"step", "needs a place"},
           {"step@i0j9.max", "has no step"},
           {"first_wrong()", "cannot be searched for wrong steps"},
           {"metric(naive, tflops)", "does not name a session"},
       }) {
    const auto value = evaluate_number(text, scope);
    ASSERT_FALSE(value) << text;
    EXPECT_NE(value.error().message.find(words), std::string::npos) << text << ": " << value.error().message;
  }
}

TEST(LessonExpressions, SayWhichStepTheyReadUpTo) {
  ExpressionScope scope;
  scope.at = *parse_place("i0j0");
  scope.recording_of = [](std::string_view) { return record("preset=blackboard"); };
  const Recording& rec = **record("preset=blackboard");
  ASSERT_TRUE(evaluate("S[0,0]", scope));
  EXPECT_EQ(scope.latest, *rec.find({0, 0, 0, 0, Phase::scores}));
  ASSERT_TRUE(evaluate("P[0,*]@i0j1 + S[0,*]", scope));
  EXPECT_EQ(scope.latest, *rec.find({0, 0, 0, 1, Phase::weights}));
}

// A lesson of no beats that are asked: for its runs, its session and what it assumes.
Lesson lesson_with(const std::string& more) {
  auto lesson = parse_lesson(R"json({"version": 1, "id": "wrong", "minutes": 1, "runs": {
 "main": "attn1,preset=late_outlier,kernel=museum_alpha_on_l_only", "right": "attn1,preset=late_outlier"},
 "beats": [{"id": "one", "at": "i0j0.scores"}], )json" +
                                 more + R"json( "text": {"title": "Wrong", "goal": "A step.", "one.title": "One",
 "one.say": "{rate:i}", "assumed.rate": "{rate:i} a second"}})json",
                             "wrong.json");
  EXPECT_TRUE(lesson) << lesson.error().message;
  return *lesson;
}

TEST(LessonExpressions, NameStepsAsTheWindowDoesAndTheFirstWrongOne) {
  const Lesson lesson = lesson_with(R"("assumptions": {"rate": 3},)");
  LessonRuns runs(lesson, std::nullopt);
  auto scope = scope_of(lesson.beats.front(), 0, runs.as_function());
  ASSERT_TRUE(scope) << scope.error().message;
  EXPECT_EQ(*evaluate_number("first_wrong()", *scope), 15);  // as `attnscope museum alpha_on_l_only` says
  EXPECT_EQ(*evaluate_number("step@i0j1.output", *scope), 15);
  EXPECT_EQ(*evaluate_number("step@i0.load_q", *scope), 1);
  EXPECT_EQ(*evaluate_number("right.first_wrong()", *scope), 0);
  // Where the run goes wrong is told by all of it, which steps there are by none.
  scope->latest = kNoEvent;
  ASSERT_TRUE(evaluate("step@i0j1.output", *scope));
  EXPECT_EQ(scope->latest, kNoEvent);
  ASSERT_TRUE(evaluate("first_wrong()", *scope));
  EXPECT_EQ(scope->latest, (*runs.recording("main"))->events.size() - 1);
}

TEST(LessonExpressions, ReadFiguresOfASessionAndSayWhoseTheyAre) {
  const Lesson lesson = lesson_with(R"("assumptions": {"rate": 3}, "session": "h100",)");
  LessonRuns runs(lesson, std::nullopt);
  auto scope = scope_of(lesson.beats.front(), 0, runs.as_function());
  ASSERT_TRUE(scope) << scope.error().message;
  const std::string where = ", L=16384, D=128)";
  const double naive = *evaluate_number("metric(naive, time_us_median" + where, *scope);
  const double flash = *evaluate_number("metric(flash_simt, time_us_median" + where, *scope);
  EXPECT_NEAR(naive / flash, *evaluate_number("metric(flash_simt, speedup_ratio" + where, *scope), 1e-9);
  EXPECT_EQ(*evaluate_number("metric(flash_simt, occupancy_theoretical_pct" + where, *scope), 12.5);
  ASSERT_EQ(scope->figures.size(), 1U);
  EXPECT_EQ(scope->figures.begin()->first, "NVIDIA H100 80GB HBM3, 2026-11-21");
  EXPECT_EQ(scope->figures.begin()->second, (std::set<std::string>{"compiled", "derived", "measured"}));
  for (const auto& [text, words] : std::map<std::string, std::string>{
           {"metric(naive, time_us_median, D=128)", "6 rows"},
           {"metric(nobody, time_us_median" + where, "0 rows"},
           {"metric(naive, beauty" + where, "beauty"},
           {"metric(naive, time_us_ci_low" + where, "not available"},
           {"metric(naive, tflops, X=1)", "use B, H, L or D"},
       }) {
    const auto value = evaluate_number(text, *scope);
    ASSERT_FALSE(value) << text;
    EXPECT_NE(value.error().message.find(words), std::string::npos) << text << ": " << value.error().message;
  }
}

// Against sums over the file's own numbers, taken apart from the program.
TEST(LessonExpressions, ReadWhatWasSampledAndCountedInARow) {
  Lesson lesson = lesson_with(R"("assumptions": {"rate": 3}, "session": "h100",)");
  lesson.beats.front().session = "h100-counts";
  LessonRuns runs(lesson, std::nullopt);
  auto scope = scope_of(lesson.beats.front(), 0, runs.as_function());
  ASSERT_TRUE(scope) << scope.error().message;
  const std::string where = ", L=4096, D=64)";
  EXPECT_NEAR(*evaluate_number("samples(naive, S" + where, *scope), 0.81897977317323, 1e-12);
  EXPECT_NEAR(*evaluate_number("waits(naive, global" + where, *scope), 0.907921042563957, 1e-12);
  EXPECT_EQ(*evaluate_number("counted(naive, global_sectors, S" + where, *scope), 17716740096.0);
  EXPECT_EQ(*evaluate_number("samples(naive, mask" + where, *scope), 0) << "a phase without samples";
  EXPECT_EQ(scope->figures.begin()->first, "NVIDIA H100 80GB HBM3, 2026-11-23");
  for (const auto& [text, words] : std::map<std::string, std::string>{
           {"samples(naive, T" + where, "unknown phase"},
           {"waits(naive, sleep" + where, "unknown warp state 'sleep'; use issues"},
           {"counted(naive, apples, S" + where, "unknown counter 'apples'; use inst_executed"},
           {"counted(naive, global_sectors" + where, "')' is missing"},
           {"samples(tiled, S" + where, "0 rows"},
       }) {
    const auto value = evaluate_number(text, *scope);
    ASSERT_FALSE(value) << text;
    EXPECT_NE(value.error().message.find(words), std::string::npos) << text << ": " << value.error().message;
  }
  lesson.beats.front().session.clear();
  auto without = scope_of(lesson.beats.front(), 0, runs.as_function());
  const auto none = evaluate_number("samples(naive, S, L=512, D=64)", *without);
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("no samples for naive"), std::string::npos) << none.error().message;
}

TEST(LessonOrigins, SayWhatIsAssumedAndWhoseTheFiguresAre) {
  Lesson lesson = lesson_with(R"("assumptions": {"rate": 3}, "session": "h100",)");
  const auto said = [&] {
    LessonRuns runs(lesson, std::nullopt);
    auto scope = scope_of(lesson.beats.front(), 0, runs.as_function());
    return plain_text(origins_of(lesson, lesson.beats.front(), *scope, "en"));
  };
  EXPECT_EQ(said(), "Given: 3 a second.");
  lesson.text["one.say"] = "{metric(naive, tflops, L=512, D=64)}";
  EXPECT_EQ(said(), "Derived: NVIDIA H100 80GB HBM3, 2026-11-21.");
  lesson.text["one.say"] = "Nothing.";
  EXPECT_EQ(said(), "");
}

}  // namespace
}  // namespace attn
