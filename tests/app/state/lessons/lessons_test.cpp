// Lessons: those that are shipped, those that are false in one place each, and what answers are worth.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "app/state/inputs/document_inputs.h"
#include "app/state/lessons/lesson_check.h"
#include "app/state/lessons/lesson_files.h"
#include "app/state/lessons/lesson_progress.h"
#include "app/state/lessons/lesson_runs.h"
#include "app/state/lessons/lesson_sheet.h"
#include "app/state/string/state_string.h"
#include "tests/environment/paths.h"
#include "tests/kernels/temp_folder.h"
#include "viz/draw/text_runs.h"
#include "viz/learn/beat.h"
#include "viz/learn/lesson/lesson_words.h"
#include "viz/learn/lesson/typed_number.h"

namespace attn {
namespace {

TEST(Lessons, ThoseThatAreShippedHold) {
  const FoundLessons found = read_lessons(std::filesystem::path(test::source_folder()) / "assets/lessons");
  for (const std::string& why : found.refused) ADD_FAILURE() << why;
  EXPECT_GE(found.lessons.size(), 6U);
  for (const Lesson& lesson : found.lessons)
    for (const std::string& fault : check_lesson(lesson)) ADD_FAILURE() << fault;
}

TEST(Lessons, ThoseThatAreShippedNeedAndReplaceWhatThereIs) {
  std::set<std::string> ids, taught;
  const FoundLessons found = read_lessons(std::filesystem::path(test::source_folder()) / "assets/lessons");
  for (const Lesson& lesson : found.lessons) {
    ids.insert(lesson.id);
    for (const Beat& beat : lesson.beats)
      if (lesson.has_text(text_key(beat, "learned"))) taught.insert(lesson.id + "." + beat.id);
  }
  for (const Lesson& lesson : found.lessons) {
    for (const std::string& needed : lesson.needs) EXPECT_TRUE(ids.contains(needed)) << lesson.id << ": " << needed;
    for (const Beat& beat : lesson.beats)
      EXPECT_TRUE(beat.replaces.empty() || taught.contains(beat.replaces)) << lesson.id << ": " << beat.replaces;
  }
}

// A small lesson that is true.
const std::string kTrue = R"json({
 "version": 1,
 "id": "small",
 "minutes": 2,
 "runs": {"main": "attn1,preset=blackboard", "fresh": "attn1,preset=none,generator=normal,seed=2,L=4,D=2,br=2,bc=2"},
 "beats": [
  {"id": "sum", "at": "i0j0.weights", "holds": ["l[0] >= 1"],
   "ask": {"kind": "num", "value": "l[0]", "within": "1%", "wrong": [{"value": "sum(S[0,*])", "text": "scores"}]},
   "reveal": "i0j0.sum"},
  {"id": "choose", "at": "i0j0.sum",
   "ask": {"kind": "pick", "options": [{"text": "yes", "true": "l[0] > 1"}, {"text": "no", "true": "l[0] <= 1"}]}},
  {"id": "again", "run": "fresh", "at": "i0j1.weights", "again": {"if": "alpha[0] < 0.9", "at_once": true},
   "ask": {"kind": "num", "value": "l[0]", "within": "1%"}}
 ],
 "text": {"title": "Small", "goal": "One sum.", "sum.title": "What is [ℓ]?",
  "sum.say": "The weights are {P[0,0]} and {P[0,1]}.", "sum.scores": "You added scores.",
  "choose.title": "Is it more than 1?", "choose.say": "It is {l[0]}.", "choose.yes": "Yes", "choose.no": "No",
  "again.title": "What is [ℓ]?", "again.say": "[α] is {alpha[0]}."}
})json";

std::vector<std::string> faults_of(const std::string& text) {
  const auto lesson = parse_lesson(text, "small.json");
  if (!lesson) return {lesson.error().message};
  return check_lesson(*lesson);
}

std::string with(const std::string& what, const std::string& instead) {
  std::string text = kTrue;
  const std::size_t at = text.find(what);
  EXPECT_NE(at, text.npos) << what;
  if (at != text.npos) text.replace(at, what.size(), instead);
  return text;
}

// The first question as a drag, along a line of these fields.
std::string dragged(const std::string& fields) {
  return with(R"x("num", "value": "l[0]", "within": "1%", "wrong": [{"value": "sum(S[0,*])", "text": "scores"}])x",
              "\"drag\", \"value\": \"l[0]\", \"within\": \"1%\", " + fields +
                  ", \"wrong\": [{\"value\": \"0\", \"text\": \"scores\"}]");
}

// The second one among lines of naive.
std::string lines(const std::string& fields) {
  std::string text = with(
      "\"pick\", \"options\": [{\"text\": \"yes\", \"true\": \"l[0] > 1\"}, {\"text\": \"no\", \"true\": \"l[0] <= "
      "1\"}]",
      "\"click\", \"among\": \"lines\", " + fields);
  for (const char* gone : {" \"choose.yes\": \"Yes\",", " \"choose.no\": \"No\","}) {
    const std::size_t at = text.find(gone);
    if (at != text.npos) text.erase(at, std::string(gone).size());
  }
  const std::string at = "\"id\": \"choose\",";
  return text.replace(text.find(at), at.size(), at + R"( "session": "h100-counts", "veil": ["figure"],
   "figure": {"kind": "lines", "L": 4096, "D": 64, "kernel": "naive"},)");
}

TEST(Lessons, ATrueOneHasNoFaults) {
  for (const std::string& text : {kTrue, dragged("\"from\": 0, \"to\": 2, \"start\": \"0\""),
                                  lines(R"x("lines": ["fmaxf(m, s[c])", "widen(k[d]), sum)"])x")})
    for (const std::string& fault : faults_of(text)) ADD_FAILURE() << fault;
}

// Each with the file, the beat, the field and the reason.
TEST(Lessons, AFalseOneSaysWhere) {
  struct False {
    std::string text, beat, field, reason;
  };
  const False all[] = {
      {with("\"id\": \"small\",", "\"id\": \"small\" \"x\","), "", "line 3", "not valid JSON"},
      {with("\"value\": \"l[0]\"", "\"worth\": \"l[0]\""), "sum", "worth", "unknown field"},
      {with("\"at\": \"i0j0.weights\"", "\"at\": \"i7j0.weights\""), "sum", "at", "no step"},
      {with("\"at\": \"i0j0.weights\"", "\"at\": \"i0j0.weights\", \"look\": [\"S\", \"scores\"]"), "sum", "look",
       "unknown part 'scores'; use Q, K, V, S, m, alpha, P, l, O, chart, traffic, timeline"},
      {with("\"reveal\": \"i0j0.sum\"", "\"reveal\": \"i0j0.max\""), "sum", "reveal", "not after"},
      {with("\"reveal\": \"i0j0.sum\"", "\"reveal_run\": \"fresh\""), "sum", "reveal_run",
       "must name a place in this run"},
      {with("\"reveal\": \"i0j0.sum\"", "\"reveal\": \"i0j0.sum\", \"reveal_run\": \"none\""), "sum", "reveal_run",
       "none"},
      {with("\"at\": \"i0j0.weights\"", "\"at\": \"i0j0.weights\", \"hide\": [\"chart\"]"), "sum", "hide",
       "unknown view 'chart'; use traffic or map"},
      {with("\"at\": \"i0j0.weights\"", "\"at\": \"i0j0.weights\", \"replaces\": \"small.sum\""), "sum", "replaces",
       "'small.sum' must be LESSON.BEAT"},
      {with("\"at\": \"i0j0.weights\"", "\"at\": \"i0j0.weights\", \"replaces\": \"by-hand.dot\""), "sum", "replaces",
       "or of a lesson that it needs"},
      {with("l[0] >= 1", "l[0] >= 2"), "sum", "holds", "is not true"},
      {with("sum(S[0,*])", "l[0] * 1.001"), "sum", "wrong", "counts as right"},
      {with("l[0] <= 1\"", "l[0] > 0\""), "choose", "options", "2 options are true"},
      {with("The weights are {P[0,0]}", "The weights are 0.0144"), "sum", "text.sum.say", "typed by hand"},
      {with("{P[0,1]}.", "{P[0,1]}, the sum {l[0]}."), "sum", "text.sum.say", "only after the question's step"},
      {with("\"sum.say\"", "\"sum.says\""), "sum", "say", "unknown text"},
      {with("alpha[0] < 0.9", "alpha[0] < 0"), "again", "again.if", "at least 10 must"},
      {with("preset=blackboard\"", "preset=blackbird\""), "", "runs.main", "blackbird"},
      {with("\"minutes\": 2,", "\"minutes\": 2, \"door\": \"words\","), "", "door", "unknown text 'door'"},
      {with("\"version\": 1", "\"version\": 2"), "", "version", "unsupported lesson version; use 1"},
      {with("It is {l[0]}.", "It is {l[9]}."), "choose", "text.choose.say", "the requested row"},
      {with("\"reveal\": \"i0j0.sum\"", "\"reveal\": \"first_wrong\""), "sum", "reveal", "no step of the run"},
      {with("\"minutes\": 2,", "\"minutes\": 2, \"assumptions\": {\"rate\": 3},"), "", "assumptions.rate",
       "unknown text 'assumed.rate'"},
      {with("\"minutes\": 2,", "\"minutes\": 2, \"assumptions\": {\"row\": 3},"), "", "assumptions.row",
       "expected an unused name"},
      {with("\"title\": \"Small\"", "\"assumed.rate\": \"A rate.\", \"title\": \"Small\"")
           .insert(1, "\"assumptions\": {\"rate\": 3},"),
       "", "assumptions.rate", "nothing depends on it"},
      {with("l[0] >= 1", "metric(naive, tflops) > 0"), "sum", "holds", "does not name a session"},
      {with("\"holds\": [\"l[0] >= 1\"]", R"("figure": {"kind": "pie", "L": 512, "D": 64, "kernel": "naive"})"), "sum",
       "kind", "unknown value 'pie'; use roofline, occupancy, heartbeat, levels, phases, lines"},
      {with("\"holds\": [\"l[0] >= 1\"]", R"("figure": {"kind": "roofline", "L": 512, "D": 64, "kernel": "x"})")
           .insert(1, "\"session\": \"h100\","),
       "sum", "figure", "was not timed"},
      {with("\"holds\": [\"l[0] >= 1\"]", R"("figure": {"kind": "occupancy", "L": 512, "D": 64, "kernel": "x"})")
           .insert(1, "\"session\": \"h100\","),
       "sum", "figure", "no row for x at L = 512, D = 64"},
      {with("l[0] >= 1", "metric(naive, tflops) > 0").insert(1, "\"session\": \"h1000\","), "sum", "holds", "h1000"},
      {with("\"num\", \"value\": \"l[0]\"", "\"num\", \"from\": 0, \"value\": \"l[0]\""), "sum", "from",
       "unknown field"},
      {dragged("\"to\": 2"), "sum", "from", "it is missing"},
      {dragged("\"from\": 2, \"to\": 2"), "sum", "to", "a number above 'from'"},
      {dragged("\"from\": 0, \"to\": 2, \"decades\": true"), "sum", "from", "start above 0"},
      {dragged("\"from\": 2, \"to\": 3"), "sum", "value", "is out of range; use 2 to 3"},
      {dragged("\"from\": 0, \"to\": 2, \"start\": \"3\""), "sum", "start", "is out of range"},
      {dragged("\"from\": 0, \"to\": 2, \"beside\": \"1\""), "sum", "beside", "unknown text 'sum.beside'"},
      {dragged("\"from\": 0, \"to\": 2000"), "sum", "within", "no position on the line is close enough"},
      {dragged("\"from\": 1.0143, \"to\": 1.0145"), "sum", "within", "every position on the line is right"},
      {lines(R"x("lines": ["fmaxf(m, s[c])", "no such words"])x"), "choose", "lines", "appears in 0 lines of naive"},
      {lines(R"x("lines": ["fmaxf(m, s[c])", "for (int"])x"), "choose", "lines", "lines of naive instead of one"},
      {lines(R"x("lines": ["fmaxf(m, s[c])"])x"), "choose", "lines", "two to nine"},
      {lines(R"x("value": "0", "lines": ["fmaxf(m, s[c])", "x"])x"), "choose", "value", "the most samples"},
      {with("\"pick\", \"options\": [{\"text\": \"yes\", \"true\": \"l[0] > 1\"}, {\"text\": \"no\", \"true\": \"l[0] "
            "<= 1\"}]",
            "\"click\", \"among\": \"lines\", \"lines\": [\"a\", \"b\"]"),
       "choose", "ask", "needs a figure of kind 'lines'"},
  };
  for (const False& f : all) {
    const std::vector<std::string> faults = faults_of(f.text);
    ASSERT_FALSE(faults.empty()) << f.reason;
    const std::string& words = faults.front();
    EXPECT_EQ(words.rfind("small.json", 0), 0U) << words;
    const std::string beat = f.beat.empty() ? "" : "beat '" + f.beat + "'";
    EXPECT_NE(words.find(beat), words.npos) << words;
    EXPECT_NE(words.find(f.field), words.npos) << words;
    EXPECT_NE(words.find(f.reason), words.npos) << words;
  }
}

// The figure of an answer follows that of its question, whatever its kind; a part of the wall is one of a wall.
TEST(Lessons, AnAnswersFigureFollowsThatOfItsQuestion) {
  const auto fault = [](const std::string& figures) {
    const auto faults =
        faults_of(with("\"holds\": [\"l[0] >= 1\"]", figures).insert(1, R"("session": "h100-profile",)"));
    return faults.empty() ? std::string() : faults.front();
  };
  const std::string wall = R"("figure": {"kind": "wall", "L": 512, "D": 64, "kernel": "x", "wall": "areas"})";
  EXPECT_EQ(fault(wall + R"(, "reveal_figure": {"kind": "wall", "L": 1024, "D": 64, "kernel": "x"})"), "");
  EXPECT_NE(fault(R"("reveal_figure": {"kind": "wall", "L": 512, "D": 64, "kernel": "x"})")
                .find("'reveal_figure': only a question with a figure can have this field"),
            std::string::npos);
  EXPECT_NE(fault(R"("figure": {"kind": "levels", "L": 512, "D": 64, "kernel": "x", "wall": "areas"})")
                .find("'wall': only a figure of kind 'wall'"),
            std::string::npos);
}

TEST(Lessons, ADoorLeadsToAPresetThatThereIs) {
  const auto door = [](const std::string& preset) {
    return with("\"title\": \"Small\"", "\"door\": \"See it\", \"title\": \"Small\"")
        .insert(1, "\"door\": \"" + preset + "\",");
  };
  EXPECT_TRUE(faults_of(door("words")).empty());
  const std::vector<std::string> faults = faults_of(door("word"));
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_NE(faults.front().find("field 'door'"), std::string::npos) << faults.front();
  EXPECT_NE(faults.front().find("'word'"), std::string::npos) << faults.front();
}

TEST(Lessons, ADoorToATimelineNamesItByTheFirstEightLettersOfItsId) {
  const auto door = [](const std::string& timeline) {
    return with("\"title\": \"Small\"", "\"door\": \"See it\", \"title\": \"Small\"")
        .insert(1, "\"door\": \"timeline:" + timeline + "\",");
  };
  EXPECT_TRUE(faults_of(door("8a8af4d9")).empty());
  for (const std::string wrong : {"", "8a8af4d", "8a8af4d9-7c2e", "words123"}) {
    const std::vector<std::string> faults = faults_of(door(wrong));
    ASSERT_EQ(faults.size(), 1U) << wrong;
    EXPECT_NE(faults.front().find("field 'door': expected the first 8 characters"), std::string::npos)
        << faults.front();
  }
}

TEST(Lessons, ATranslationFallsBackToEnglishAndMayNotInventTexts) {
  auto lesson = parse_lesson(kTrue, "small.json");
  ASSERT_TRUE(lesson);
  const std::string german =
      R"({"version": 1, "id": "small", "language": "de", "text": {"sum.title": "Was ist [ℓ]?"}})";
  ASSERT_TRUE(add_translation(german, "small.de.json", *lesson));
  EXPECT_EQ(lesson->words("sum.title", "de"), "Was ist [ℓ]?");
  EXPECT_EQ(lesson->words("choose.yes", "de"), "Yes");
  const std::string other = R"({"version": 1, "id": "small", "language": "de", "text": {"sum.more": "Mehr"}})";
  const auto refused = add_translation(other, "small.de.json", *lesson);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("text.sum.more"), std::string::npos) << refused.error().message;
}

TEST(LessonAnswers, AreReadAsLearnersWriteThem) {
  EXPECT_EQ(short_number(0.1F), "0.1");
  EXPECT_EQ(short_number(6.7175144F), "6.7175");
  EXPECT_DOUBLE_EQ(*typed_number("0.13"), 0.13);
  EXPECT_DOUBLE_EQ(*typed_number(" 1/4 "), 0.25);
  EXPECT_DOUBLE_EQ(*typed_number("−8.5"), -8.5);
  EXPECT_DOUBLE_EQ(*typed_number("2.1·10^-4"), 2.1e-4);
  EXPECT_DOUBLE_EQ(*typed_number("0,5"), 0.5);
  EXPECT_DOUBLE_EQ(*typed_number("40 %"), 0.4);
  EXPECT_TRUE(std::isinf(*typed_number("∞")));
  EXPECT_DOUBLE_EQ(*typed_number("3.5/sqrt(2)"), 3.5 / std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(*typed_number("3,5 / √2"), 3.5 / std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(*typed_number("e^-4.25"), std::exp(-4.25));
  EXPECT_DOUBLE_EQ(*typed_number("32768^2*4*2/10^9"), 8.589934592);
  EXPECT_DOUBLE_EQ(*typed_number("10^9"), 1e9);
  EXPECT_DOUBLE_EQ(*typed_number("2^3^2"), 512);
  EXPECT_DOUBLE_EQ(*typed_number("-3²"), -9);
  EXPECT_DOUBLE_EQ(*typed_number("(1 + 2)^(4 - 1) / 2^-1"), 54);
  EXPECT_DOUBLE_EQ(*typed_number("sqrt(16)^0.5 + 3·4³"), 194);
  EXPECT_DOUBLE_EQ(*typed_number("65536² · 16 · 2"), 137438953472.0);
  EXPECT_DOUBLE_EQ(*typed_number("2·e^(1 − 3) + 1e-2"), 2 * std::exp(-2.0) + 0.01);
  EXPECT_DOUBLE_EQ(*typed_number("32768^2 * 4 * 2 / 10^9"), 8.589934592);
  EXPECT_DOUBLE_EQ(*typed_number("-3²"), -9);
  EXPECT_DOUBLE_EQ(*typed_number("2 * (1 + 2)^3"), 54);
  EXPECT_DOUBLE_EQ(*typed_number("sqrt(2)^2 / 4^2*10^-3"), 2.0 / 16 * 1e-3);
  EXPECT_DOUBLE_EQ(*typed_number("2^-0.5 + e^2"), std::exp2(-0.5) + std::exp(2.0));
  // What the run holds would be the answer, and what stands for it no number.
  for (const char* none : {"", "-", "abc", "1/0", "1/", "2 apples", "nan", "P[0,0]", "row", "Lk", "you", "e",
                           "sqrt(-1)", "^2", "2^", "(-1)^0.5", "10^400", "2e-5^2", "a^2"})
    EXPECT_FALSE(typed_number(none)) << none;
}

TEST(LessonAnswers, AMistakeIsRecognisedAndTheTruthIsNotTakenForOne) {
  const auto lesson = parse_lesson(kTrue, "small.json");
  ASSERT_TRUE(lesson);
  LessonRuns runs(*lesson, std::nullopt);
  const Beat& beat = lesson->beats.front();
  auto scope = scope_of(beat, 0, runs.as_function());
  ASSERT_TRUE(scope);
  const auto q = question_of(beat, *scope);
  ASSERT_TRUE(q);
  EXPECT_TRUE(judge_answer(*beat.ask, *q, {1.01, {}}).right);
  EXPECT_EQ(judge_answer(*beat.ask, *q, {9.2, {}}).text, "scores");
  EXPECT_EQ(judge_answer(*beat.ask, *q, {5, {}}).text, "");
}

TEST(LessonAnswers, NearlyRightIsWithinTenPercentAndNeverOfACount) {
  const auto lesson = parse_lesson(kTrue, "small.json");
  ASSERT_TRUE(lesson);
  LessonRuns runs(*lesson, std::nullopt);
  const Beat& beat = lesson->beats.front();
  auto scope = scope_of(beat, 0, runs.as_function());
  ASSERT_TRUE(scope);
  const auto q = question_of(beat, *scope);
  ASSERT_TRUE(q);
  EXPECT_EQ(judge_answer(*beat.ask, *q, {1.06, {}}).near, 1);
  EXPECT_EQ(judge_answer(*beat.ask, *q, {0.95, {}}).near, -1);
  EXPECT_EQ(judge_answer(*beat.ask, *q, {1.014, {}}).near, 0);
  EXPECT_EQ(judge_answer(*beat.ask, *q, {1.3, {}}).near, 0);
  LessonAsk counted = *beat.ask;
  counted.within = {};
  EXPECT_EQ(judge_answer(counted, *q, {1.06, {}}).near, 0);
}

TEST(LessonAnswers, SayHowNearInPlainNumbers) {
  EXPECT_EQ((Tolerance{0.02, 0, 0}).words(), "2 % off is close enough");
  EXPECT_EQ((Tolerance{0, 0.00006, 0}).words(), "0.00006 off is close enough");
  EXPECT_EQ((Tolerance{0, 2, 0}).words(), "2 off is close enough");
  EXPECT_EQ(Tolerance{}.words(), "exactly");
}

TEST(LessonSheets, HoldTheSameNumbersAsTheirKeyAndNoAnswer) {
  const auto lesson = parse_lesson(kTrue, "small.json");
  ASSERT_TRUE(lesson);
  const auto sheet = lesson_sheet(*lesson, {7, false, "en"}), key = lesson_sheet(*lesson, {7, true, "en"});
  ASSERT_TRUE(sheet) << sheet.error().message;
  ASSERT_TRUE(key) << key.error().message;
  EXPECT_EQ(sheet->find("class=\"key\""), sheet->npos);
  EXPECT_NE(key->find("<b>1.0144 </b>"), key->npos);
  EXPECT_NE(key->find("You added scores."), key->npos);
  EXPECT_EQ(sheet->find("You added scores."), sheet->npos);
  EXPECT_NE(key->find("--state attn1,"), key->npos);
  // Another learner, other numbers.
  const auto other = lesson_sheet(*lesson, {77, false, "en"});
  ASSERT_TRUE(other);
  EXPECT_NE(*sheet, *other);
  EXPECT_EQ(*sheet, *lesson_sheet(*lesson, {7, false, "en"}));
}

TEST(LessonProgress, IsReadBackAsItWasWritten) {
  LessonProgress p;
  p.last_lesson = "small", p.last_beat = "sum", p.repeats = 7;
  p.beats["small"]["sum"] = {true, true, false, false, 3};
  p.mistakes["small"]["ratio-of-maxima"] = 2;
  TempFolder folder;
  const auto file = folder.path() / "deep" / "lessons.json";
  ASSERT_TRUE(save_progress(file, p));
  const auto read = load_progress(file);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, p);
  EXPECT_FALSE(parse_progress("{\"version\": 9}"));
  EXPECT_FALSE(parse_progress("no"));
  EXPECT_EQ(*load_progress(folder.path() / "none.json"), LessonProgress{});
}

}  // namespace
}  // namespace attn
