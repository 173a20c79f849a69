#include "app/state/lessons/lesson_check.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "app/state/lessons/exercises.h"
#include "app/state/lessons/lesson_runs.h"
#include "kernels/base/text.h"
#include "kernels/model/inputs/input_spec.h"
#include "viz/learn/beat.h"
#include "viz/learn/exercise/plan_scene.h"
#include "viz/learn/figure/figure.h"
#include "viz/learn/lesson/door.h"
#include "viz/learn/lesson/lesson_words.h"

namespace attn {
namespace {

constexpr int kMaxSentenceWords = 30;
constexpr int kSeedsToPass = 10;
constexpr std::size_t kTimelineName = 8;  // letters that kernel, problem and options decide

bool is_word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || (static_cast<unsigned char>(c) & 0x80U) != 0;
}

// The first number that was typed by hand where a computed one should stand: outside of braces, with a point or of more
// than one digit. Names have their digits behind a letter or a hyphen: fp32, FlashAttention-2.
std::string typed_by_hand(std::string_view words) {
  int braces = 0;
  for (std::size_t n = 0; n < words.size(); ++n) {
    if (words[n] == '{') ++braces;
    if (words[n] == '}') --braces;
    const bool digit = words[n] >= '0' && words[n] <= '9';
    if (!digit || braces > 0) continue;
    const std::size_t from = n;
    while (n + 1 < words.size() &&
           ((words[n + 1] >= '0' && words[n + 1] <= '9') ||
            (words[n + 1] == '.' && n + 2 < words.size() && words[n + 2] >= '0' && words[n + 2] <= '9'))) {
      ++n;
    }
    const bool of_name =
        from > 0 && (std::isalpha(static_cast<unsigned char>(words[from - 1])) != 0 || words[from - 1] == '-');
    if (!of_name && n > from) return std::string(words.substr(from, n - from + 1));
  }
  return {};
}

// Words of the longest sentence; what stands in braces is one.
int longest_sentence(std::string_view words) {
  int longest = 0, now = 0, braces = 0;
  bool inside = false;
  for (std::size_t n = 0; n < words.size(); ++n) {
    const char c = words[n];
    if (c == '{') ++braces;
    const bool of_word = braces > 0 || is_word_character(c);
    if (c == '}') --braces;
    if (of_word && !inside) longest = std::max(longest, ++now);
    inside = of_word || (inside && (c == '.' || c == '\'') && n + 1 < words.size() && words[n + 1] != ' ');
    // A line of its own is read on its own.
    const bool ends = (c == '.' || c == '?' || c == '!' || c == ':' || c == ';') && braces == 0 &&
                      (n + 1 == words.size() || words[n + 1] == ' ');
    if (ends || c == '\n') now = 0;
  }
  return longest;
}

}  // namespace

class LessonCheck::Checker {
 public:
  Checker(const Lesson& lesson, std::shared_ptr<LessonSessions> sessions)
      : lesson_(lesson), sessions_(std::move(sessions)), runs_(lesson, std::nullopt, sessions_) {
    for (const auto& run : lesson_.runs) next_.push_back([this, &name = run.first] { check_run(name); });
    // The rest speaks of runs that are there.
    next_.push_back([this] {
      if (faults_.empty()) begin_rest();
    });
  }

  bool step() {
    if (next_.empty()) return true;
    const auto piece = std::move(next_.front());
    next_.pop_front();
    piece();
    return next_.empty();
  }
  std::vector<std::string> take() { return std::move(faults_); }

 private:
  void begin_rest() {
    next_.push_back([this] {
      for (const auto& [key, words] : lesson_.text) check_words(key, words, "");
    });
    for (const auto& translation : lesson_.translations)
      next_.push_back([this, &translation] {
        for (const auto& [key, words] : translation.second) check_words(key, words, translation.first);
      });
    for (const Beat& beat : lesson_.beats) next_.push_back([this, &beat] { check_when_found(beat); });
    next_.push_back([this] { check_page(); });
    next_.push_back([this] { check_assumptions(); });
    next_.push_back([this] { check_door(); });
  }

  // A first wrong step is sought in pieces before the beat that asks for it.
  void check_when_found(const Beat& beat) {
    if (beat.reveal == kFirstWrong) {
      runs_.allow_one();
      (void)runs_.first_wrong(beat.run);
      const bool again = runs_.held_back();
      runs_.allow_all();
      if (again) return next_.push_front([this, &beat] { check_when_found(beat); });
    }
    check_beat(beat);
  }

  void fault(const std::string& beat, const std::string& field, const std::string& why) {
    std::string words = lesson_.file;
    if (!beat.empty()) words += phrase(", beat '{}'", beat);
    // What was refused below names its own field.
    words += field.empty() ? ", " : phrase(", field '{}': ", field);
    faults_.push_back(words + why);
  }

  void check_run(const std::string& name) {
    const auto made = runs_.recording(name);
    if (!made) fault("", "runs." + name, made.error().message);
  }

  void check_door() {
    if (lesson_.door.empty()) return;
    if (const auto id = timeline_of_door(lesson_.door)) {
      const bool named = id->size() == kTimelineName &&
                         std::ranges::all_of(*id, [](unsigned char c) { return std::isxdigit(c) != 0; });
      if (!named) fault("", "door", phrase("expected the first {} characters of a timeline's id", kTimelineName));
      return;
    }
    if (const auto preset = find_preset(lesson_.door); !preset) fault("", "door", preset.error().message);
  }

  // What is assumed is said in words that can be filled in, and something rests on it.
  void check_assumptions() {
    if (lesson_.assumptions.empty()) return;
    auto scope = scope_of(lesson_.beats.front(), 0, runs_.as_function());
    if (!scope) return;  // the beat's own check said why
    for (const auto& [name, value] : lesson_.assumptions) {
      const std::string key = assumption_key(name);
      if (const auto said = filled(lesson_.text.at(key), *scope, Face::text, Token::text); !said)
        fault("", "text." + key, said.error().message);
      if (!assumed_.contains(name)) fault("", "assumptions." + name, tr("nothing depends on it"));
    }
  }

  void check_words(const std::string& key, const std::string& words, const std::string& language) {
    const std::string field = language.empty() ? "text." + key : fmt::format("text.{} ({})", key, language);
    const std::size_t dot = key.find('.');
    const bool of_beat = dot != key.npos && lesson_.find(key.substr(0, dot)) != nullptr;
    const std::string beat = of_beat ? key.substr(0, dot) : "";
    if (const std::string number = typed_by_hand(words); !number.empty())
      fault(beat, field, phrase("the number {} is typed by hand; compute it with an expression in braces", number));
    if (key.ends_with(".learned") && words.find('{') != words.npos)
      fault(beat, field, tr("this text also appears at other beats, so it cannot contain values"));
    if (const int count = longest_sentence(words); count > kMaxSentenceWords)
      fault(beat, field, phrase("a sentence has {} words; the limit is {}", count, kMaxSentenceWords));
  }

  // The question and its texts on the numbers of the first seeds.
  void check_exercise(const Beat& beat, std::uint64_t seed) {
    auto scope = exercise_scope(lesson_, beat, seed, runs_.as_function());
    if (!scope) return fault(beat.id, "", scope.error().message);
    const std::size_t before = faults_.size();
    check_numbers(beat, *scope);
    check_picture(beat.exercise->figure, beat.id, *scope);
    assumed_.merge(scope->assumed);
    if (faults_.size() != before) return;  // one seed says enough
    if (seed + 1 < kUnlikeSeeds) next_.push_front([this, &beat, seed] { check_exercise(beat, seed + 1); });
  }

  void check_picture(const FigurePlan& plan, const std::string& prefix, ExpressionScope& scope) {
    if (const auto scene = plan_scene(plan, prefix, lesson_, "en", scope, true); !scene)
      fault(lesson_.find(prefix) != nullptr ? prefix : "", "figure", scene.error().message);
  }

  void check_page() {
    if (!lesson_.page) return;
    auto scope = scope_of(lesson_.beats.front(), lesson_.beats.front().row, runs_.as_function());
    if (!scope) return;  // the beat's own check said why
    check_picture(*lesson_.page, "page", *scope);
    assumed_.merge(scope->assumed);
  }

  void check_beat(const Beat& beat) {
    if (beat.exercise) return check_exercise(beat, 0);
    auto scope = scope_of(beat, beat.row, runs_.as_function());
    if (!scope) return fault(beat.id, "at", scope.error().message);
    if (!check_places(beat)) return;
    check_figure(beat);
    for (const std::string& claim : beat.holds) {
      const auto value = evaluate_number(claim, *scope);
      if (!value)
        fault(beat.id, "holds", value.error().message);
      else if (*value == 0)
        fault(beat.id, "holds", phrase("'{}' is not true", claim));
    }
    const bool at_once = beat.again && beat.again->at_once;
    if (!at_once) check_numbers(beat, *scope);
    assumed_.merge(scope->assumed);
    if (beat.again) next_.push_front([this, &beat] { check_again(beat, 1, 0); });
  }

  void check_figure(const Beat& beat) {
    if (!beat.figure) return;
    const auto session = runs_.session(beat.session);
    if (!session) return fault(beat.id, "figure", session.error().message);
    for (const auto& [field, shown] : {std::pair("figure", &beat.figure), {"reveal_figure", &beat.reveal_figure}}) {
      if (!*shown) continue;
      const StageFigure figure = figure_of(**session, **shown);
      if (!figure.empty.empty()) fault(beat.id, field, figure.empty);
    }
  }

  bool check_places(const Beat& beat) {
    const auto state = lesson_state(lesson_, beat.run, std::nullopt);
    std::optional<EventIndex> at;
    for (const auto& [field, text] : {std::pair("at", &beat.at), std::pair("reveal", &beat.reveal)}) {
      if (text->empty()) continue;
      if (text == &beat.reveal && *text == kFirstWrong) {
        const auto found = runs_.first_wrong(beat.run);
        if (!found) return fault(beat.id, field, found.error().message), false;
        if (!*found) return fault(beat.id, field, phrase("no step of the run '{}' is wrong", beat.run)), false;
        continue;
      }
      const auto rec = runs_.recording(text == &beat.at ? beat.run : run_of_answer(beat));
      if (!rec) return fault(beat.id, "reveal_run", rec.error().message), false;
      const auto place = parse_place(*text);
      const auto event = place ? event_at(**rec, *place) : Result<EventIndex>(tl::unexpected(place.error()));
      if (!event) return fault(beat.id, field, event.error().message), false;
      if (at && beat.reveal_run.empty() && *event <= *at)
        return fault(beat.id, field, phrase("{} is not after {}", *text, beat.at)), false;
      at = *event;
    }
    if (beat.row >= state->document.problem.Lq)
      return fault(beat.id, "row", phrase("the run has rows 0 to {}", state->document.problem.Lq - 1)), false;
    if (!beat.select.empty() || !beat.chart.empty()) {
      if (auto view = beat_view(lesson_, beat); !view) return fault(beat.id, "select", view.error().message), false;
    }
    return true;
  }

  // The truth and the mistakes, and every number of every text, those that stand there before the answer among what is
  // computed by then.
  void check_numbers(const Beat& beat, ExpressionScope& scope) {
    std::optional<Question> question;
    if (beat.ask) {
      auto q = question_of(beat, scope);
      if (!q) return fault(beat.id, "", q.error().message);
      question = *std::move(q);
      if (auto distinct = check_distinct_answers(*beat.ask, *question); !distinct)
        fault(beat.id, "", distinct.error().message);
      if (beat.ask->kind == AskKind::num) {
        if (auto told = check_recognised(*beat.ask, *question); !told) fault(beat.id, "", told.error().message);
      }
      if (question->bar) check_bar(beat, *question);
    }
    check_texts(beat, scope);
  }

  // The line has places that are right and places that are not.
  void check_bar(const Beat& beat, const Question& q) {
    constexpr int kPlaces = 200;
    int right = 0;
    for (int n = 0; n <= kPlaces; ++n) {
      const double value = q.bar->scale.value_at(static_cast<double>(n) / kPlaces);
      if (beat.ask->within.holds(q.truth, value)) ++right;
    }
    if (right == 0) fault(beat.id, "within", tr("no position on the line is close enough to be right"));
    if (right > kPlaces) fault(beat.id, "within", tr("every position on the line is right"));
  }

  bool is_shown_while_open(const Beat& beat, const TextUse& use) const {
    if (!beat.ask || !use.while_open) return false;
    for (const char* part : {"title", "say", "hint"})
      if (use.key == text_key(beat, part)) return true;
    return std::any_of(beat.ask->options.begin(), beat.ask->options.end(),
                       [&](const PickOption& o) { return use.key == text_key(beat, o.text); });
  }

  void check_texts(const Beat& beat, ExpressionScope& scope) {
    // An exercise reads no run, so none of it is ahead of it.
    const auto at = beat.exercise ? Result<EventIndex>(scope.horizon)
                                  : event_at(**scope.recording_of(beat.run), *parse_place(beat.at));
    for (const TextUse& use : text_uses(lesson_)) {
      if (use.beat != beat.id || !lesson_.has_text(use.key)) continue;
      std::vector<std::pair<std::string, const std::string*>> all{{"", &lesson_.text.at(use.key)}};
      for (const auto& [language, texts] : lesson_.translations)
        if (const auto it = texts.find(use.key); it != texts.end()) all.emplace_back(language, &it->second);
      for (const auto& [language, words] : all) {
        scope.latest = kNoEvent;
        scope.typed = 1;  // `you` is whatever was typed
        const auto runs = filled(*words, scope, Face::text, Token::text);
        scope.typed.reset();
        const std::string field = "text." + use.key + (language.empty() ? "" : " (" + language + ")");
        if (!runs) {
          fault(beat.id, field, runs.error().message);
        } else if (is_shown_while_open(beat, use) && scope.latest != kNoEvent && scope.latest > *at) {
          fault(beat.id, field, tr("the text reveals something that the run computes only after the question's step"));
        }
      }
    }
  }

  // Seeds from this one on, until enough have passed. Each is a piece, and its numbers are another.
  void check_again(const Beat& beat, std::uint64_t seed, int passed) {
    if (seed > kSeedsTried)
      return fault(beat.id, "again.if",
                   phrase("{} of {} seeds pass; at least {} must", passed, kSeedsTried, kSeedsToPass));
    const auto passes = seed_passes(lesson_, beat, seed, sessions_);
    if (!passes) return fault(beat.id, "", passes.error().message);
    next_.push_front([this, &beat, seed, passed, passes = *passes] {
      if (passes && !check_seed(beat, seed)) return;  // one seed says enough
      const int now = passed + (passes ? 1 : 0);
      if (now < kSeedsToPass) next_.push_front([this, &beat, seed, now] { check_again(beat, seed + 1, now); });
    });
  }

  bool check_seed(const Beat& beat, std::uint64_t seed) {
    LessonRuns runs(lesson_, seed, sessions_);
    const auto row = row_of_beat(lesson_, beat, seed);
    auto scope = scope_of(beat, *row, runs.as_function());
    const std::size_t before = faults_.size();
    check_numbers(beat, *scope);
    return faults_.size() == before;
  }

  const Lesson& lesson_;
  std::shared_ptr<LessonSessions> sessions_;
  LessonRuns runs_;  // of the lesson's own numbers
  std::deque<std::function<void()>> next_;
  std::vector<std::string> faults_;
  std::set<std::string, std::less<>> assumed_;  // that some beat reads
};

LessonCheck::LessonCheck(const Lesson& lesson, std::shared_ptr<LessonSessions> sessions)
    : checker_(std::make_unique<Checker>(lesson, std::move(sessions))) {}

LessonCheck::~LessonCheck() = default;

bool LessonCheck::step() {
  return checker_->step();
}

std::vector<std::string> LessonCheck::take() {
  return checker_->take();
}

std::vector<std::string> check_lesson(const Lesson& lesson) {
  LessonCheck check(lesson);
  while (!check.step()) {
  }
  return check.take();
}

}  // namespace attn
