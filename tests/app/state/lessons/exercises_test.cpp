// The exercises of every chapter: each answer against a computation in fp64 that is written here, over two hundred
// seeds; mistakes that are mistakes; sentences without gaps; numbers that differ from seed to seed.
#include "app/state/lessons/exercises.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/state/lessons/lesson_files.h"
#include "tests/environment/asked.h"
#include "tests/environment/paths.h"
#include "viz/draw/text_runs.h"
#include "viz/learn/exercise/plan_scene.h"
#include "viz/learn/lesson/lesson_words.h"

namespace attn {
namespace {

std::uint64_t seeds() {
  return test::asked("ATTNSCOPE_SANITIZED") ? 20 : 200;
}

// What a seed drew.
class Drawn {
 public:
  explicit Drawn(const DrawnNumbers& numbers) : numbers_(numbers) {}
  double operator()(const char* name) const { return numbers_.at(name).at(0); }
  const std::vector<double>& list(const char* name) const { return numbers_.at(name); }

 private:
  const DrawnNumbers& numbers_;
};
using List = std::vector<double>;

double total(const List& v) {
  double sum = 0;
  for (const double x : v) sum += x;
  return sum;
}
double dot(const List& a, const List& b) {
  double sum = 0;
  for (std::size_t n = 0; n < a.size(); ++n) sum += a[n] * b[n];
  return sum;
}
double most(const List& v) {
  return *std::ranges::max_element(v);
}
// Sum of e^(s - m).
double weights(const List& s, double m) {
  double sum = 0;
  for (const double x : s) sum += std::exp(x - m);
  return sum;
}
double weighted(const List& s, double m, const List& v) {
  double sum = 0;
  for (std::size_t n = 0; n < s.size(); ++n) sum += std::exp(s[n] - m) * v[n];
  return sum;
}
// Eight significant bits, ties to even, by fp64's own scaling.
double in_bf16(double x) {
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);  // 0.5 to 1
  return std::ldexp(std::nearbyint(std::ldexp(fraction, 8)), exponent - 8);
}
// Tiles of a causal square, score by score: 0 none of a tile is seen, 1 some, 2 all.
double tiles_of_kind(int length, int br, int bc, int kind) {
  int count = 0;
  for (int r = 0; r < length; r += br) {
    for (int c = 0; c < length; c += bc) {
      int seen = 0;
      for (int i = r; i < r + br; ++i)
        for (int j = c; j < c + bc; ++j) seen += j <= i ? 1 : 0;
      const int is = seen == 0 ? 0 : seen == br * bc ? 2 : 1;
      count += is == kind ? 1 : 0;
    }
  }
  return count;
}
// A ring is passed on turn by turn.
double holder_after(int ranks, int rank, int turns) {
  std::vector<int> held(static_cast<std::size_t>(ranks));
  for (int r = 0; r < ranks; ++r) held[static_cast<std::size_t>(r)] = r;
  for (int t = 0; t < turns; ++t) std::rotate(held.begin(), held.end() - 1, held.end());
  return held[static_cast<std::size_t>(rank)];
}
double blocks_of_sm(double threads, double registers, double shared_kib) {
  const int warps = static_cast<int>(threads) / 32;
  const int of_warp = (static_cast<int>(registers) * 32 + 255) / 256 * 256;
  double blocks = std::min(32.0, std::floor(2048 / threads));
  blocks = std::min(blocks, static_cast<double>(16384 / of_warp * 4 / warps));
  return std::min(blocks, std::floor(228 / (shared_kib + 1)));
}

using Truth = std::function<double(const Drawn&)>;

double merged_l(const Drawn& d) {
  const double m = std::max(d("ma"), d("mb"));
  return std::exp(d("ma") - m) * d("la") + std::exp(d("mb") - m) * d("lb");
}

std::map<std::string, Truth> first_chapters() {
  return {
      {"wall.ex-size", [](const Drawn& d) { return d("h") * d("L") * d("L") * 2 / 1e9; }},
      {"wall.ex-longest", [](const Drawn& d) { return std::sqrt(d("gb") * 1e9 / 2 / d("h")); }},
      {"wall.ex-grow", [](const Drawn& d) { return d("a") * std::pow(d("k"), 2); }},
      {"weighted-average.ex-mix", [](const Drawn& d) { return dot(d.list("w"), d.list("v")) / total(d.list("w")); }},
      {"weighted-average.ex-weight", [](const Drawn& d) { return std::exp(d.list("s")[0]) / weights(d.list("s"), 0); }},
      {"weighted-average.ex-rise", [](const Drawn& d) { return 1 / (1 + d("b") / d("a") * std::exp(-d("d"))); }},
      {"by-hand.ex-score", [](const Drawn& d) { return dot(d.list("q"), d.list("k")) / std::sqrt(4.0); }},
      {"by-hand.ex-sum", [](const Drawn& d) { return weights(d.list("s"), most(d.list("s"))); }},
      {"by-hand.ex-next",
       [](const Drawn& d) {
         const double m = std::max(d("mo"), most(d.list("t")));
         return d("lo") * std::exp(d("mo") - m) + weights(d.list("t"), m);
       }},
      {"safe-softmax.ex-limit", [](const Drawn& d) { return std::log(2.0) * d("k"); }},
      {"safe-softmax.ex-safe", [](const Drawn& d) { return 1 / weights(d.list("d"), most(d.list("d"))); }},
      {"safe-softmax.ex-lse", [](const Drawn& d) { return std::log(weights(d.list("s"), 0)); }},
      {"one-pass.ex-alpha", [](const Drawn& d) { return std::exp(d("mo") - std::max(d("mo"), most(d.list("t")))); }},
      {"one-pass.ex-output",
       [](const Drawn& d) {
         const double m = std::max(d("mo"), most(d.list("t")));
         return d("oo") * std::exp(d("mo") - m) + weighted(d.list("t"), m, d.list("v"));
       }},
      {"one-pass.ex-left",
       [](const Drawn& d) {
         double m = d.list("t")[0], left = 1;  // tile after tile
         for (const double t : d.list("t")) left *= std::exp(m - std::max(m, t)), m = std::max(m, t);
         return left;
       }},
      {"two-halves.ex-merge", merged_l},
      {"two-halves.ex-output",
       [](const Drawn& d) {
         const double m = std::max(d("ma"), d("mb"));
         return (std::exp(d("ma") - m) * d("oa") + std::exp(d("mb") - m) * d("ob")) / merged_l(d);
       }},
      {"two-halves.ex-total", [](const Drawn& d) { return std::exp(d.list("t")[0] - most(d.list("t"))); }},
      {"masks.ex-skipped",
       [](const Drawn& d) {
         const int b = static_cast<int>(d("b"));
         return tiles_of_kind(static_cast<int>(d("n")) * b, b, b, 0);
       }},
      {"masks.ex-partial",
       [](const Drawn& d) {
         const int b = static_cast<int>(d("b")), br = b * static_cast<int>(d("r"));
         return tiles_of_kind(static_cast<int>(d("n")) * br, br, b, 1);
       }},
      {"masks.ex-thrown",
       [](const Drawn& d) {
         const int b = static_cast<int>(d("b")), length = static_cast<int>(d("n")) * b;
         const double done = tiles_of_kind(length, b, b, 1) + tiles_of_kind(length, b, b, 2);
         return done * b * b - length * (length + 1) / 2.0;
       }},
      {"bytes.ex-flash", [](const Drawn& d) { return 4 * (2 * d("L") * d("d") * (1 + d("L") / d("b")) + d("L")); }},
      {"bytes.ex-naive", [](const Drawn& d) { return 4 * (6 * d("L") * d("L") + 4 * d("L") * d("d") + d("L")); }},
      {"bytes.ex-ratio",
       [](const Drawn& d) { return (6 * d("L") + 4 * d("d") + 1) / (2 * d("d") * (1 + d("L") / d("b")) + 1); }},
  };
}

std::map<std::string, Truth> last_chapters() {
  return {
      {"sram.ex-chip",
       [](const Drawn& d) { return 4 * (2 * d("d") * (d("r") + d("c")) + d("r") * d("c") + 2 * d("r")); }},
      {"sram.ex-blocks",
       [](const Drawn& d) {
         return std::floor(d("kib") * 1024 / (4 * (4 * d("d") * d("b") + d("b") * d("b") + 2 * d("b"))));
       }},
      {"sram.ex-rows",
       [](const Drawn& d) {
         // The largest of all that fit, one after the other.
         int rows = 0;
         while (4 * (2 * d("d") * (rows + 1 + d("c")) + (rows + 1) * (d("c") + 2)) <= d("kib") * 1024) ++rows;
         return static_cast<double>(rows);
       }},
      {"outside.ex-blocks", [](const Drawn& d) { return d("B") * d("h") * (d("n") * d("r") / d("r")); }},
      {"outside.ex-waves",
       [](const Drawn& d) {
         int waves = 0;
         for (double left = d("b"); left > 0; left -= d("sms")) ++waves;
         return static_cast<double>(waves);
       }},
      {"outside.ex-output", [](const Drawn& d) { return 4 * d("n") * d("c") * d("d") * (2 + 2 * d("n")); }},
      {"few-warps.ex-registers", [](const Drawn& d) { return blocks_of_sm(d("t"), d("r"), 0); }},
      {"few-warps.ex-shared", [](const Drawn& d) { return blocks_of_sm(d("t"), 32, d("kib")); }},
      {"few-warps.ex-little", [](const Drawn& d) { return d("lat") * 1e-9 * d("bw") * 1e9 / (132 * 32 * 16.0); }},
      {"few-bits.ex-round", [](const Drawn& d) { return in_bf16(d("n")); }},
      {"few-bits.ex-stall", [](const Drawn& d) { return std::ldexp(1.0, static_cast<int>(d("e") + d("p"))); }},
      {"few-bits.ex-order", [](const Drawn& d) { return in_bf16(in_bf16(d("a") + d("b")) + d("c")); }},
      {"bug-museum.ex-forgot",
       [](const Drawn& d) { return d("lo") + weights(d.list("t"), std::max(d("mo"), most(d.list("t")))); }},
      {"bug-museum.ex-only",
       [](const Drawn& d) {
         const double m = std::max(d("mo"), most(d.list("t")));
         return (d("oo") + weighted(d.list("t"), m, d.list("v"))) /
                (d("lo") * std::exp(d("mo") - m) + weights(d.list("t"), m));
       }},
      {"bug-museum.ex-looks",
       [](const Drawn& d) {
         int looks = 0;
         for (int told = 1; told < static_cast<int>(d("n")); told *= 2) ++looks;
         return static_cast<double>(looks);
       }},
      {"backward.ex-delta", [](const Drawn& d) { return dot(d.list("g"), d.list("o")); }},
      {"backward.ex-again", [](const Drawn& d) { return 1 / std::exp(d("lse") - d("s")); }},
      {"backward.ex-ds",
       [](const Drawn& d) {
         const double p = d.list("w")[0] / total(d.list("w"));
         return p * d.list("dp")[0] - p * dot(d.list("w"), d.list("dp")) / total(d.list("w"));
       }},
      {"overlap.ex-share", [](const Drawn& d) { return 100 / (1 + d("b") / d("a")); }},
      {"overlap.ex-end",
       [](const Drawn& d) {
         double clock = 0;
         for (int tile = 0; tile < 2 * static_cast<int>(d("n")); ++tile) clock += d("t");
         return clock;
       }},
      {"overlap.ex-slot",
       [](const Drawn& d) { return static_cast<double>(static_cast<int>(d("j")) % static_cast<int>(d("s"))); }},
      {"ring.ex-whose",
       [](const Drawn& d) {
         return holder_after(static_cast<int>(d("n")), static_cast<int>(d("r")), static_cast<int>(d("t")));
       }},
      {"ring.ex-sent",
       [](const Drawn& d) {
         double sent = 0;
         for (int turn = 0; turn + 1 < static_cast<int>(d("n")); ++turn)
           for (int rank = 0; rank < static_cast<int>(d("n")); ++rank) sent += d("k") * (d("d") + d("d")) * d("e");
         return sent;
       }},
      {"ring.ex-pairs",
       [](const Drawn& d) {
         double pairs = 0;
         const int c = static_cast<int>(d("c")), first = static_cast<int>(d("r")) * c;
         for (int i = first; i < first + c; ++i)
           for (int j = 0; j <= i; ++j) ++pairs;
         return pairs;
       }},
  };
}

std::map<std::string, Truth> truths() {
  auto all = first_chapters();
  all.merge(last_chapters());
  return all;
}

const FoundLessons& shipped() {
  static const FoundLessons kFound = read_lessons(std::filesystem::path(test::source_folder()) / "assets/lessons");
  return kFound;
}

// Calls `each` for every exercise that is shipped.
void for_exercises(const std::function<void(const Lesson&, const Beat&, const std::string& name)>& each) {
  for (const Lesson& lesson : shipped().lessons)
    for (const Beat& beat : lesson.beats)
      if (beat.exercise) each(lesson, beat, lesson.id + "." + beat.id);
}

TEST(Exercises, EveryChapterHasThreeAndAPageToPrint) {
  for (const std::string& why : shipped().refused) ADD_FAILURE() << why;
  int chapters = 0;
  for (const Lesson& lesson : shipped().lessons) {
    const bool chapter = !lesson.number.empty();
    chapters += chapter ? 1 : 0;
    EXPECT_EQ(lesson.beats.size() - lesson.told(), chapter ? 3U : 0U) << lesson.id;
    EXPECT_EQ(lesson.page.has_value(), chapter) << lesson.id;
  }
  EXPECT_EQ(chapters, 16);
}

TEST(Exercises, AnswersAreThoseOfFp64OverTwoHundredSeeds) {
  const auto all = truths();
  int seen = 0;
  for_exercises([&](const Lesson& lesson, const Beat& beat, const std::string& name) {
    ASSERT_TRUE(all.contains(name)) << name << " has no computation of its own here";
    ++seen;
    for (std::uint64_t seed = 0; seed < seeds(); ++seed) {
      auto scope = exercise_scope(lesson, beat, seed, {});
      ASSERT_TRUE(scope) << name << ", seed " << seed << ": " << scope.error().message;
      const auto q = question_of(beat, *scope);
      ASSERT_TRUE(q) << name << ": " << q.error().message;
      const double truth = all.at(name)(Drawn(*scope->drawn));
      // Merges are fp32's own; everything else is fp64.
      ASSERT_NEAR(q->truth, truth, 1e-6 * std::abs(truth)) << name << ", seed " << seed;
      EXPECT_TRUE(judge_answer(*beat.ask, *q, {truth, {}}).right) << name << ", seed " << seed;
      for (std::size_t n = 0; n < q->wrong.size(); ++n) {
        const Judgement j = judge_answer(*beat.ask, *q, {q->wrong[n], {}});
        EXPECT_FALSE(j.right) << name << ", seed " << seed << ": " << beat.ask->wrong[n].text;
        EXPECT_EQ(j.text, beat.ask->wrong[n].text) << name << ", seed " << seed;
      }
    }
  });
  EXPECT_EQ(seen, 48);
}

bool whole_sentences(const std::string& text) {
  if (text.empty() || text.find_first_of("{}[]") != text.npos) return false;
  return (text.ends_with('.') || text.ends_with('?')) && text.find("nan") == text.npos && text.find("  ") == text.npos;
}

TEST(Exercises, TextsAreWholeSentencesWithEveryNumberFilledIn) {
  for_exercises([&](const Lesson& lesson, const Beat& beat, const std::string& name) {
    for (std::uint64_t seed = 0; seed < seeds(); seed += 10) {
      auto scope = exercise_scope(lesson, beat, seed, {});
      ASSERT_TRUE(scope) << name;
      std::vector<std::string> parts{"say", "hint", "right"};
      for (const WrongAnswer& wrong : beat.ask->wrong) parts.push_back(wrong.text);
      for (const std::string& part : parts) {
        const auto runs = filled(lesson.words(text_key(beat, part), "en"), *scope, Face::text, Token::text);
        ASSERT_TRUE(runs) << name << "." << part << ": " << runs.error().message;
        EXPECT_TRUE(whole_sentences(plain_text(*runs))) << name << "." << part << ": " << plain_text(*runs);
      }
      const auto title = filled(lesson.words(text_key(beat, "title"), "en"), *scope, Face::text, Token::text);
      ASSERT_TRUE(title) << name;
      EXPECT_TRUE(plain_text(*title).ends_with('?')) << plain_text(*title);
    }
  });
}

// Numbers of a text as it is drawn, gaps between thousands closed.
List numbers_of(std::string text) {
  for (const auto& [from, to] :
       {std::pair("−", "-"), std::pair("\u202f", ""), std::pair("\u00a0", ""), std::pair("\u2009", "")})
    for (std::size_t at = 0; (at = text.find(from, at)) != text.npos;) text.replace(at, std::strlen(from), to);
  List found;
  for (std::size_t at = 0; at < text.size();) {
    char* end = nullptr;
    const bool begins = std::isdigit(static_cast<unsigned char>(text[at])) != 0 || text[at] == '-';
    const double x = begins ? std::strtod(&text[at], &end) : 0;
    if (begins && end != &text[at]) {
      found.push_back(x);
      at = static_cast<std::size_t>(end - text.data());
    } else {
      ++at;
    }
  }
  return found;
}

// The card shows the worked solution's last line where an answer is asked for.
TEST(Exercises, TheLastLineOfTheWayHasTheAnswer) {
  for_exercises([&](const Lesson& lesson, const Beat& beat, const std::string& name) {
    for (std::uint64_t seed = 0; seed < seeds(); seed += 10) {
      auto scope = exercise_scope(lesson, beat, seed, {});
      ASSERT_TRUE(scope) << name;
      const auto q = question_of(beat, *scope);
      const auto way = filled(lesson.words(text_key(beat, "right"), "en"), *scope, Face::text, Token::text);
      ASSERT_TRUE(q && way) << name;
      const std::string line = plain_text(last_line(*way));
      const List numbers = numbers_of(line);
      EXPECT_TRUE(
          std::ranges::any_of(numbers, [&](double x) { return std::abs(x - q->truth) <= 2e-3 * std::abs(q->truth); }))
          << name << ", " << q->truth << ": " << line;
      EXPECT_GE(numbers.size(), 2U) << name << " works nothing out: " << line;
    }
  });
}

TEST(Exercises, OneIsNotCountedAsMany) {
  const std::regex many(
      "(^|[A-Za-z:=,.] |\n)1 (blocks|warps|tiles|keys|ranks|waves|rows|scores|tokens|units|turns|pairs|looks"
      "|checks|rounds|places|sends|parts|heads|numbers|bytes)\\b");
  EXPECT_TRUE(std::regex_search("so 1 blocks fit", many) && !std::regex_search("i + 1 pairs, 1.1 blocks", many));
  for_exercises([&](const Lesson& lesson, const Beat& beat, const std::string& name) {
    for (std::uint64_t seed = 0; seed < seeds(); ++seed) {
      auto scope = exercise_scope(lesson, beat, seed, {});
      ASSERT_TRUE(scope) << name;
      const auto q = question_of(beat, *scope);
      ASSERT_TRUE(q) << name;
      EXPECT_TRUE(q->truth != 1 || beat.ask->unit.size() <= 3) << name << ": 1 " << beat.ask->unit;
      for (const char* part : {"say", "hint", "right"}) {
        const auto runs = filled(lesson.words(text_key(beat, part), "en"), *scope, Face::text, Token::text);
        ASSERT_TRUE(runs) << name;
        EXPECT_FALSE(std::regex_search(plain_text(*runs), many)) << name << ": " << plain_text(*runs);
      }
    }
  });
}

// What is drawn and what is asked hides the answer until it is given.
TEST(Exercises, PicturesHaveNoAnswerBeforeItIsGiven) {
  for_exercises([&](const Lesson& lesson, const Beat& beat, const std::string& name) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      auto scope = exercise_scope(lesson, beat, seed, {});
      ASSERT_TRUE(scope) << name;
      const auto q = question_of(beat, *scope);
      const auto open = plan_scene(beat.exercise->figure, beat.id, lesson, "en", *scope, false);
      const auto done = plan_scene(beat.exercise->figure, beat.id, lesson, "en", *scope, true);
      ASSERT_TRUE(q && open && done) << name;
      EXPECT_TRUE(open->tiles.covers.empty()) << name;
      const std::size_t tiles = static_cast<std::size_t>(done->tiles.rows) * static_cast<std::size_t>(done->tiles.cols);
      EXPECT_EQ(done->tiles.covers.size(), tiles) << name;
      for (const auto* rows : {&open->rows, &open->bars})
        for (const SceneRow& row : *rows)
          EXPECT_TRUE(!row.empty || std::ranges::all_of(row.cells, &std::string::empty)) << name;
      for (const auto* rows : {&done->rows, &done->bars})
        for (const SceneRow& row : *rows) EXPECT_TRUE(!row.empty && !row.cells.front().empty()) << name;
    }
  });
}

TEST(Exercises, TenSeedsGiveTenSetsOfNumbersAndOneSeedAlwaysTheSame) {
  for_exercises([&](const Lesson& lesson, const Beat& beat, const std::string& name) {
    for (std::uint64_t ten = 0; ten < seeds() / 4; ten += 10) {
      std::set<std::vector<List>> different;
      for (std::uint64_t seed = ten; seed < ten + 10; ++seed) {
        std::vector<List> numbers, again;
        const auto scope = exercise_scope(lesson, beat, seed, {}), second = exercise_scope(lesson, beat, seed, {});
        ASSERT_TRUE(scope && second) << name;
        EXPECT_EQ(*scope->drawn, *second->drawn) << name;
        for (const DrawnName& drawn : beat.exercise->draw) numbers.push_back(scope->drawn->at(drawn.name));
        different.insert(numbers);
      }
      EXPECT_EQ(different.size(), 10U) << name << ", seeds from " << ten;
    }
  });
}

}  // namespace
}  // namespace attn
