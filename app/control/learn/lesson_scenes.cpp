// What Learn is to draw of the lessons, as plain values.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/control/learn/lessons.h"
#include "kernels/base/text.h"
#include "viz/draw/hands.h"
#include "viz/learn/figure/figure.h"
#include "viz/learn/lesson/lesson_words.h"

namespace attn {
namespace {

constexpr int kTwice = 2;

ChapterScene chapter_of(const Lesson& lesson, bool own, const LessonProgress& progress, const std::string& language) {
  ChapterScene c;
  c.id = lesson.id;
  c.number = lesson.number;
  c.part = lesson.part.empty() ? std::string() : lesson.words(lesson.part, language);
  c.title = lesson.words("title", language);
  c.goal = lesson.words("goal", language);
  c.minutes = lesson.minutes;
  c.needs = lesson.needs;
  c.x = lesson.map_x, c.y = lesson.map_y;
  c.beats = lesson.told();  // a chapter is gone through without its exercises
  c.own = own;
  c.last = progress.last_lesson == lesson.id;
  for (const Beat& beat : lesson.beats) {
    const BeatProgress p = progress_of(progress, lesson.id, beat.id);
    if (beat.exercise) {
      ++c.exercises;
      c.exercises_done += p.known || p.shown ? 1 : 0;
      continue;
    }
    c.seen += p.seen ? 1 : 0;
    if (!beat.ask) continue;
    ++c.questions;
    c.known += p.known ? 1 : 0;
    c.first_try += p.first_try ? 1 : 0;
    c.shown += p.shown && !p.known ? 1 : 0;
  }
  return c;
}

// One met in several lessons is one: it leads to where it was met most.
std::vector<Misconception> misconceptions_of(const LessonProgress& progress) {
  struct Met {
    int count = 0, most = 0;
    std::string lesson;
  };
  std::map<std::string, Met> met;
  for (const auto& [lesson, mistakes] : progress.mistakes) {
    for (const auto& [about, count] : mistakes) {
      Met& m = met[about];
      m.count += count;
      if (count > m.most) m.most = count, m.lesson = lesson;
    }
  }
  std::vector<Misconception> all;
  for (const auto& [about, m] : met) {
    if (m.count < kTwice) continue;
    std::string words = about;
    std::replace(words.begin(), words.end(), '-', ' ');
    all.push_back({std::move(words), m.lesson, m.count});
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& x, const auto& y) { return x.count > y.count; });
  return all;
}

// Keys, rows and the neighbouring cells of one row are chosen by their own numbers, all else by its place in the list.
int first_digit_of(const LessonAsk& ask, const std::vector<Choice>& choices) {
  if (ask.kind != AskKind::click) return 1;
  if (ask.among == ClickAmong::keys || ask.among == ClickAmong::rows) return ask.last <= 9 ? ask.first : 1;
  if (ask.among != ClickAmong::cells || choices.empty()) return 1;
  const Choice& first = choices.front();
  for (std::size_t n = 0; n < choices.size(); ++n) {
    const Choice& c = choices[n];
    const bool follows = c.slot == first.slot && c.row == first.row && c.col == first.col + static_cast<int>(n);
    if (!follows || c.col < 0 || c.col > 9) return 1;
  }
  return first.col;
}

}  // namespace

// "Builds on “By hand” (2) and “Counting bytes” (7).": what the map says of it, where the learner is.
std::string Lessons::needs_words() const {
  std::vector<std::string> named;
  for (const std::string& id : lesson()->needs) {
    const auto before = std::ranges::find(lessons_, id, &Lesson::id);
    if (before == lessons_.end()) continue;
    const std::string& title = before->words("title", state().preferences.language);
    named.push_back(before->number.empty() ? phrase("“{}”", title) : phrase("“{}” ({})", title, before->number));
  }
  if (named.empty()) return {};
  const std::string last = std::exchange(named.back(), {});
  named.pop_back();
  if (named.empty()) return phrase("Builds on {}.", last);
  return phrase("Builds on {} and {}.", fmt::format("{}", fmt::join(named, ", ")), last);
}

// Words that cannot be filled in are shown as they are: attnscope lesson check has refused such a lesson.
TextRuns Lessons::words(const std::string& key, Face face, Ink ink) {
  const std::string& text = lesson()->words(key, state().preferences.language);
  if (text.empty()) return {};
  ExpressionScope scope = showing_.scope;
  scope.typed = showing_.typed;
  auto runs = filled(text, scope, face, ink);
  return runs ? *std::move(runs) : TextRuns{{text, face, ink, 0, false}};
}

void Lessons::add_options(CardScene& card) {
  const Question& q = *showing_.question;
  card.map_rows = q.map_rows, card.map_cols = q.map_cols;
  const bool done = showing_.right || showing_.shown;
  const int first_digit = first_digit_of(*beat().ask, q.choices);
  for (std::size_t n = 0; n < q.right.size(); ++n) {
    CardOption option;
    if (n < q.choices.size()) {
      const Choice& choice = q.choices[n];
      option.words =
          choice.words.empty() ? choice.label : words(text_key(beat(), choice.words), Face::text, Token::text);
      if (choice.value) option.value = short_number(*choice.value);
      option.line = choice.line;
      if (const int digit = first_digit + static_cast<int>(n); digit <= 9) option.digit = digit;
    }
    option.chosen = std::find(showing_.chosen.begin(), showing_.chosen.end(), n) != showing_.chosen.end();
    option.right = done && q.right[n];
    option.votes = static_cast<int>(std::count(showing_.votes.begin(), showing_.votes.end(), n));
    option.missed = option.chosen && ((showing_.missed && q.map_rows == 0) || (done && !q.right[n]));
    card.options.push_back(std::move(option));
  }
}

// What the class said, once it is revealed.
void Lessons::add_said(CardScene& card) {
  card.teach = learner_.has_value();
  card.votes = static_cast<int>(showing_.votes.size());
  card.typed = showing_.entered;
  if (!card.teach || !showing_.shown || !showing_.typed) return;
  card.said = woven(phrase("The class said {}.", attn::place(0)),
                    {{short_number(*showing_.typed), Face::mono, Token::text, 0, false}}, Token::text);
  if (showing_.told.empty()) return;
  card.said.push_back(word(" ", Token::text));
  const TextRuns told = words(showing_.told, Face::text, Token::text);
  card.said.insert(card.said.end(), told.begin(), told.end());
}

CardScene Lessons::card() {
  CardScene c;
  const Lesson& l = *lesson();
  const Beat& b = beat();
  const std::string& language = state().preferences.language;
  c.lesson = l.id;
  c.number = l.number;
  c.title = l.words("title", language);
  c.beat = beat_;
  c.number_of_showing = showing_.number;
  for (std::size_t n = 0; n < l.beats.size(); ++n) {
    const BeatProgress p = progress_of(progress_, l.id, l.beats[n].id);
    const bool ask = l.beats[n].ask.has_value();
    c.marks.push_back(ask ? (p.known   ? BeatMark::known
                             : p.shown ? BeatMark::shown
                             : p.seen  ? BeatMark::left
                                       : BeatMark::ask)
                          : (p.seen ? BeatMark::seen : BeatMark::tell));
  }
  c.told = l.told();
  c.minutes = l.minutes;
  c.headline = words(text_key(b, "title"), Face::bold, Token::text);
  c.say = words(text_key(b, "say"), Face::text, Token::text);
  c.origin = origins_of(l, b, showing_.scope, language);
  if (beat_ == 0) c.needs = {word(needs_words(), Token::dim)};
  c.away = away_;
  add_said(c);
  c.can_repeat = b.again.has_value() || b.exercise.has_value();
  c.to_exercises = !b.exercise && beat_ + 1 < l.beats.size() && l.beats[beat_ + 1].exercise.has_value();
  if (!learner_ && beat_ + 1 == l.beats.size()) {
    const auto next = std::ranges::find(lessons_, next_after(l.id), &Lesson::id);
    if (next != lessons_.end()) c.next_title = next->words("title", language), c.next_minutes = next->minutes;
  }
  if (!learner_ && !l.door.empty() && (c.to_exercises || beat_ + 1 == l.beats.size()))
    c.door = l.door, c.door_words = l.words("door", language);
  const bool done = !b.ask || showing_.right || showing_.shown;
  if (done) c.proof = words(text_key(b, "proof"), Face::text, Token::text);
  add_learned(c, done);
  if (!b.ask) return c;
  c.asks = b.ask->kind;
  c.exercise = b.exercise.has_value();
  c.kind = c.exercise ? tr("Work it out: a number") : kind_words(*b.ask, c.teach);
  c.open = asks();
  c.right = showing_.right, c.shown = showing_.shown, c.missed = showing_.missed;
  c.within = b.ask->within.words();
  c.unit = b.ask->unit;
  if (c.open && is_at_place()) c.cell = showing_.question->cell;
  if (!b.ask->letter.empty()) {
    ExpressionScope scope = showing_.scope;
    if (auto runs = filled(b.ask->letter, scope, Face::text, Token::text)) c.letter = *std::move(runs);
  }
  if (done && b.ask->kind == AskKind::num) {
    c.truth = c.letter;
    const std::string unit = c.unit.empty() ? c.unit : " " + c.unit;
    c.truth.push_back(
        {(c.letter.empty() ? "" : " ") + short_number(showing_.question->truth), Face::mono, Token::text});
    if (!unit.empty()) c.truth.push_back(word(unit, Token::text));
  }
  if (showing_.question->bar) {
    c.bar = showing_.question->bar;
    c.bar->beside_words = words(text_key(b, "beside"), Face::text, Token::dim);
    if (done) c.bar->truth = showing_.question->truth;
  }
  c.can_hint = asks() && !showing_.hint && l.has_text(text_key(b, "hint"));
  if (showing_.hint) c.hint = words(text_key(b, "hint"), Face::text, Token::text);
  add_feedback(c);
  add_options(c);
  // The way is long: it stands beside the card, which has its last line in place of the bare number.
  if (b.exercise && done) {
    c.way = std::exchange(c.feedback, {});
    c.truth = last_line(c.way);
  }
  return c;
}

// What the lessons that this one needs have taught, and its own beats so far.
void Lessons::add_learned(CardScene& card, bool done) {
  const Lesson& l = *lesson();
  struct Learned {
    TextRuns words;
    std::string of_beat;  // LESSON.BEAT
    bool read;
  };
  std::vector<Learned> all;
  const auto add = [&](const Lesson& of, const Beat& beat, bool read) {
    const std::string& text = of.words(text_key(beat, "learned"), state().preferences.language);
    ExpressionScope scope = showing_.scope;
    if (text.empty()) return;
    auto runs = filled(text, scope, Face::text, Token::dim);
    if (!runs) return;
    // What was said more simply before gives way.
    if (const auto old = std::ranges::find(all, beat.replaces, &Learned::of_beat); old != all.end()) all.erase(old);
    all.push_back({*std::move(runs), of.id + "." + beat.id, read});
  };
  for (const Lesson& before : lessons_) {
    if (std::find(l.needs.begin(), l.needs.end(), before.id) == l.needs.end()) continue;
    for (const Beat& beat : before.beats) add(before, beat, progress_of(progress_, before.id, beat.id).seen);
  }
  for (std::size_t n = 0; n < l.beats.size() && n <= beat_; ++n) {
    if (n == beat_ && (!done || !l.beats[n].ask)) break;  // what is being told is learned with the next beat
    add(l, l.beats[n], true);
  }
  const auto read = std::ranges::stable_partition(all, [](const Learned& x) { return !x.read; });
  card.unread = static_cast<std::size_t>(read.begin() - all.begin());
  for (Learned& one : all) card.learned.push_back(std::move(one.words));
}

// What is said to an answer: in the lesson's words where it has some, else in the program's.
void Lessons::add_feedback(CardScene& card) {
  if (showing_.unread) {
    card.missed = true;
    card.feedback = {
        word(tr("Expected a number, such as 0.25, 1/4 or 2.5e-1, or a formula, such as 3.5/sqrt(2), 2^10 or e^-4.2."),
             Token::text)};
    return;
  }
  if (!showing_.feedback.empty()) card.feedback = words(showing_.feedback, Face::text, Token::text);
  if (!showing_.missed) return;
  const char* help = card.can_hint ? for_hands(tr("Press H for a hint or W for the answer."),
                                               tr("You can ask for a hint or see the answer."))
                                   : for_hands(tr("Press W for the answer."), tr("You can see the answer."));
  if (showing_.near != 0) {
    const char* side = showing_.near > 0 ? tr("large") : tr("small");
    card.feedback = {word(phrase("Close, slightly too {}. Keep more digits. {}", side, help), Token::text)};
  } else if (card.feedback.empty()) {
    const std::string said =
        showing_.typed ? phrase("{} is not right", short_number(*showing_.typed)) : tr("Not right");
    card.feedback = {word(phrase("{}. Try once more. {}", said, help), Token::text)};
  }
}

// The cell that was asked for: the answer's words are about it. None where the beat has its own.
std::optional<Selection> Lessons::asked_selection() const {
  if (!beat().select.empty() || !showing_.question) return std::nullopt;
  const Question& q = *showing_.question;
  Selection selection = state().document.selection;
  if (q.cell) {
    selection.row = q.cell->row, selection.slot = q.cell->slot, selection.col = q.cell->col;
    return selection;
  }
  const auto right = std::ranges::find(q.right, true);
  if (beat().ask->kind != AskKind::click || right == q.right.end()) return std::nullopt;
  const Choice& choice = q.choices[static_cast<std::size_t>(right - q.right.begin())];
  if (!choice.slot || choice.row < 0) return std::nullopt;
  selection.row = choice.row, selection.slot = *choice.slot, selection.col = std::max(choice.col, 0);
  return selection;
}

std::optional<StageFigure> Lessons::figure() {
  if (!beat().figure) return std::nullopt;
  StageFigure figure;
  const LessonFigure& shown = asks() || !beat().reveal_figure ? *beat().figure : *beat().reveal_figure;
  if (const auto session = showing_.runs->session(beat().session))
    figure = figure_of(**session, shown);
  else
    figure = no_figure(shown.kind, session.error().message);
  figure.waits = beat().hide_figure && asks();
  if (figure.waits) figure = without_shares(std::move(figure));
  return figure;
}

void Lessons::refresh() {
  auto learn = std::make_shared<LearnScene>();
  language_ = state().preferences.language;
  std::set<std::string> languages;
  for (std::size_t n = 0; n < lessons_.size(); ++n) {
    learn->chapters.push_back(chapter_of(lessons_[n], own_[n], progress_, language_));
    for (const auto& [language, texts] : lessons_[n].translations) languages.insert(language);
  }
  learn->languages = {"en"};
  learn->languages.insert(learn->languages.end(), languages.begin(), languages.end());
  learn->language = language_;
  learn->misconceptions = misconceptions_of(progress_);
  learn->teach = learner_.has_value();
  away_ = open_ && !is_at_place();
  if (open_) {
    learn->card = card();
    learn->figure = figure();
    learn->exercise = exercise();
    // Somewhere else there is nothing of the question to see.
    const bool here = is_own_document(), answer_hidden = here && asks();
    if (here) learn->look = asks() || beat().reveal_look.parts.none() ? beat().look : beat().reveal_look;
    const Beat& b = beat();
    const bool traffic_later = here && b.keep_traffic, map_later = here && b.keep_map;
    learn->hidden = {answer_hidden,
                     showing_.scope.horizon,
                     (answer_hidden && b.hide_traffic) || traffic_later,
                     (answer_hidden && b.hide_map) || map_later,
                     traffic_later,
                     map_later};
  }
  context_.model.learn = std::move(learn);
}

}  // namespace attn
