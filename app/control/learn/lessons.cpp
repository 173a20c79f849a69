#include "app/control/learn/lessons.h"

#include <algorithm>
#include <cstdint>
#include <system_error>
#include <utility>

#include "app/state/apply/apply.h"
#include "app/state/lessons/exercises.h"
#include "app/state/lessons/lesson_files.h"
#include "app/state/string/state_string.h"
#include "kernels/base/text.h"
#include "viz/draw/hands.h"
#include "viz/learn/chapter_map.h"
#include "viz/learn/lesson/typed_number.h"

namespace attn {

void Lessons::give(const StateCommand& command) {
  auto next = apply(state(), command, context_.model.recording.get());
  if (!next) return context_.log.error(next.error().message);
  context_.state = *std::move(next);
}

void Lessons::place(const std::string& lesson, const std::string& beat, bool figure) {
  // Whoever leaves a lesson begins the next one's exercises with the first numbers again.
  const std::uint64_t seed = lesson.empty() ? 0 : state().view.learn.exercise_seed;
  give(PlaceLesson{{lesson, beat, learner_.has_value(), figure, seed}});
}

const Lesson* Lessons::lesson() const {
  return open_ ? &lessons_[*open_] : nullptr;
}

BeatProgress& Lessons::progress() {
  return progress_.beats[lesson()->id][beat().id];
}

void Lessons::keep() {
  if (learner_) return;
  if (!may_save_ || sources_.progress.empty()) return;
  if (auto saved = save_progress(sources_.progress, progress_); !saved) {
    context_.log.warn(phrase("Progress was not saved: {}", saved.error().message));
    may_save_ = false;
  }
}

void Lessons::follow() {
  const bool wanted = state().view.workspace == Workspace::learn;
  if (wanted && !is_loaded()) return;
  if (!wanted && learner_) end_teaching();
  // From a state string: that it is for a class.
  if (wanted && state().view.learn.teach && !learner_) begin_teaching();
  // From a state string: the lesson that it names.
  const LearnView named = state().view.learn;
  if (wanted && !asked_ && !named.lesson.empty() && (!open_ || lesson()->id != named.lesson))
    start(named.lesson, named.beat);
  if (asked_ && !open_) return;
  if (open_ && wanted != on_stage_) swap_stage();
  if (open_ && on_stage_) {
    hold_back();
    take_selection();
  }
  LearnView shown = state().view.learn;
  shown.figure = wanted && open_ && stands_alone(beat());
  if (shown.figure != state().view.learn.figure) give(PlaceLesson{std::move(shown)});
  if (!wanted) return;
  const bool away = open_ && !is_at_place();
  if (context_.model.learn == nullptr || language_ != state().preferences.language || away != away_) refresh();
}

void Lessons::hold_back() {
  if (!open_ || !on_stage_ || !asks() || !is_own_document()) return;
  if (state().view.step.cursor <= showing_.scope.horizon) return;
  give(HoldBack{showing_.scope.horizon});
  context_.log.note(for_hands(tr("The next step contains the answer: predict the answer, or press W to see it."),
                              tr("The next step contains the answer: predict it, or choose Show me.")));
}

bool Lessons::is_own_document() const {
  const Document &now = state().document, &then = showing_.state.document;
  return now.problem == then.problem && now.inputs == then.inputs && now.kernel == then.kernel &&
         now.options == then.options;
}

bool Lessons::is_at_place() const {
  if (!is_own_document()) return false;
  if (stands_alone(beat())) return true;  // no step is on screen
  return state().view.step.cursor == showing_.state.view.step.cursor;
}

// The sweep and the list of runs are Bench's, and the same on both sides.
void Lessons::swap_stage() {
  Shelf shelf{state().document, state().view.step, {}};
  context_.history.swap(shelf.history, DocumentPart::step);
  give(SetStage{std::move(shelf_.document), std::move(shelf_.step)});
  context_.history.swap(shelf_.history, DocumentPart::step);
  shelf_ = std::move(shelf);
  on_stage_ = !on_stage_;
  seen_selection_ = state().document.selection;
  recordings_.travel_to(state().view.step.cursor);
}

void Lessons::look() {
  if (!is_loaded()) return;
  if (context_.model.learn == nullptr) refresh();
}

// What is on screen stays: a lesson that is open, or the chapters.
void Lessons::refuse_start(const std::string& why) {
  if (open_)
    place(lesson()->id, beat().id, stands_alone(beat()));
  else
    place("", "", false);
  context_.log.error(why);
  refresh();
}

void Lessons::start(const std::string& id, const std::string& wanted_beat) {
  if (!is_loaded()) return wait_to_start(id, wanted_beat);
  const auto it = std::find_if(lessons_.begin(), lessons_.end(), [&](const Lesson& l) { return l.id == id; });
  if (it == lessons_.end()) return refuse_start(phrase("Unknown lesson '{}'.", id));
  if (!wanted_beat.empty() && it->find(wanted_beat) == nullptr) return refuse_start(no_such_beat(*it, wanted_beat));
  if (waits_for_sessions(*it, wanted_beat)) return;
  const auto lesson = static_cast<std::size_t>(it - lessons_.begin());
  std::string to = wanted_beat;
  if (to.empty() && progress_.last_lesson == id) to = progress_.last_beat;
  const auto at = std::find_if(it->beats.begin(), it->beats.end(), [&](const Beat& b) { return b.id == to; });
  const std::size_t beat = at == it->beats.end() ? 0 : static_cast<std::size_t>(at - it->beats.begin());
  forgotten_.reset();
  no_longer_prepare();
  wait_to_start(id, wanted_beat);
  prepare(lesson, beat, numbers_of(it->beats[beat], std::nullopt), [this, lesson, beat](BeatRuns& runs) {
    const auto asked = std::exchange(asked_, std::nullopt);
    if (asked && asked->from == state().view.workspace) open(lesson, beat, runs);
  });
}

void Lessons::open(std::size_t lesson, std::size_t beat, BeatRuns& runs) {
  if (on_stage_) swap_stage();
  open_ = lesson;
  beat_ = beat;
  give(ChooseWorkspace{Workspace::learn});
  if (auto shown = show(runs); !shown) {
    const Lesson& l = lessons_[lesson];
    context_.log.error(phrase("{}, beat '{}', {}", l.file, l.beats[beat].id, shown.error().message));
    leave();
  }
}

Selection Lessons::selection_of_beat() const {
  Selection selection;
  if (!beat().select.empty()) {
    if (const auto view = beat_view(*lesson(), beat())) selection = view->document.selection;
  }
  if (beat().select.empty() || beat().again) selection.row = showing_.row;
  return selection;
}

// Makes the showing of the beat: its numbers, its question, its place on the stage.
Result<void> Lessons::show(BeatRuns& runs) {
  if (auto made = runs.made(); !made) return made;
  const std::optional<std::uint64_t> seed = runs.seed();
  Showing next;
  next.number = ++showings_;
  next.seed = seed;
  next.runs = runs.take();
  auto asked = asked_beat(*lesson(), beat(), beat().exercise ? state().view.learn.exercise_seed : seed, *next.runs);
  if (!asked) return tl::unexpected(asked.error());
  next.row = asked->row;
  next.scope = std::move(asked->scope);
  if (beat().ask) {
    auto question = question_of(beat(), next.scope);
    if (!question) return tl::unexpected(question.error());
    next.question = *std::move(question);
  }
  auto state = lesson_state(*lesson(), beat().run, seed);
  if (!state) return tl::unexpected(state.error());
  next.state = *std::move(state);
  showing_ = std::move(next);
  set_stage(showing_.scope.horizon);
  progress().seen = true;
  progress_.last_lesson = lesson()->id;
  progress_.last_beat = beat().id;
  keep();
  refresh();
  return ok();
}

// The beat's document, place and chart, as any hand would set them.
void Lessons::set_stage(EventIndex cursor) {
  if (!on_stage_) {
    shelf_ = {showing_.state.document, StepView(), History()};
    shelf_.step.cursor = cursor;
    swap_stage();
  }
  Document document = showing_.state.document;
  document.selection = selection_of_beat();
  StepView view;
  view.cursor = cursor;
  view.play_steps_per_second = state().view.step.play_steps_per_second;
  if (!beat().chart.empty()) {
    if (const auto chart = beat_view(*lesson(), beat())) view.chart = chart->view.step.chart;
  }
  give(SetStage{std::move(document), std::move(view)});
  place(lesson()->id, beat().id, stands_alone(beat()));
  showing_.state.view.step.cursor = cursor;
  seen_selection_ = state().document.selection;
  History none;
  context_.history.swap(none, DocumentPart::step);
  recordings_.travel_to(cursor);
}

// The next chapter that is not gone through; empty: there is none, or the lesson is one of the user's own.
std::string Lessons::next_after(const std::string& id) const {
  const auto at = std::ranges::find(lessons_, id, &Lesson::id);
  if (at == lessons_.end() || own_[static_cast<std::size_t>(at - lessons_.begin())]) return {};
  for (auto next = at + 1; next != lessons_.end(); ++next) {
    const bool through = std::ranges::all_of(
        next->beats, [&](const Beat& b) { return b.exercise || progress_of(progress_, next->id, b.id).seen; });
    if (!own_[static_cast<std::size_t>(next - lessons_.begin())] && !through) return next->id;
  }
  return {};
}

void Lessons::go(int direction) {
  if (!open_) return;
  const std::size_t last = lesson()->beats.size() - 1;
  const std::size_t from = preparing_ && preparing_->beat ? *preparing_->beat : beat_;
  if (direction == 0 || (direction < 0 && from == 0)) return;
  if (direction > 0 && from == last) {
    if (beat_ != last) return;  // it is on its way
    // Of a class nothing is kept: its chapter is simply done.
    const ChapterScene& ended = context_.model.learn->chapters[*open_];
    context_.log.note(learner_ ? phrase("{}: done.", ended.title) : end_words(ended));
    progress_.last_beat = lesson()->beats.front().id;
    keep();
    const std::string next = learner_ ? std::string() : next_after(lesson()->id);
    leave();
    if (!next.empty()) start(next, "");
    return;
  }
  const std::int64_t to = static_cast<std::int64_t>(from) + direction;
  show_soon(static_cast<std::size_t>(std::clamp<std::int64_t>(to, 0, static_cast<std::int64_t>(last))));
}

void Lessons::choose(std::size_t index) {
  if (!open_ || !asks()) return;
  const Question& q = *showing_.question;
  if (index >= q.right.size()) return;
  if (learner_) {
    // Hands are counted for one of a few; the tiles of a map are talked about.
    if (beat().ask->kind == AskKind::tiles) return;
    showing_.votes.push_back(index);
    return refresh();
  }
  auto& chosen = showing_.chosen;
  const auto it = std::find(chosen.begin(), chosen.end(), index);
  const bool several = beat().ask->kind == AskKind::tiles;
  if (it != chosen.end())
    chosen.erase(it);
  else if (several)
    chosen.push_back(index);
  else
    chosen = {index};
  showing_.missed = false;
  showing_.feedback.clear();
  refresh();
}

// A cell, key or row that was clicked in the tiles.
void Lessons::take_selection() {
  const Selection& now = state().document.selection;
  if (now == seen_selection_) return;
  seen_selection_ = now;
  if (learner_ || !asks() || beat().ask->kind != AskKind::click || !is_own_document()) return;
  const auto matches = [&](const Choice& c) {
    const bool row = c.row < 0 || c.row == now.row;
    const bool tensor = !c.slot || tensor_of(*c.slot) == tensor_of(now.slot);
    const bool col = c.col < 0 || c.col == now.col;
    // A row is chosen by whatever cell of it.
    return c.slot ? row && tensor && col && (now.col >= 0) : row;
  };
  const auto& choices = showing_.question->choices;
  const auto it = std::find_if(choices.begin(), choices.end(), matches);
  if (it == choices.end()) return;
  showing_.chosen = {static_cast<std::size_t>(it - choices.begin())};
  showing_.missed = false;
  showing_.feedback.clear();
  refresh();
}

void Lessons::check(const std::string& typed) {
  if (!open_ || !asks() || !is_own_document()) return;
  if (learner_) return show_answer(typed);
  Answer answer;
  showing_.entered = typed;
  answer.chosen = showing_.chosen;
  showing_.unread = false;
  if (beat().ask->kind == AskKind::num) {
    answer.number = typed_number(typed);
    showing_.unread = !answer.number;
    showing_.typed = answer.number;
    if (showing_.unread) return refresh();
  } else if (answer.chosen.empty()) {
    return;
  }
  const Judgement judged = judge_answer(*beat().ask, *showing_.question, answer);
  ++showing_.tries;
  BeatProgress& p = progress();
  ++p.tries;
  if (judged.right) {
    p.first_try = p.first_try || (p.tries == 1 && !showing_.hint);
    p.known = true;
    showing_.right = true;
    showing_.missed = false;
    showing_.feedback = text_key(beat(), "right");
    reveal();
  } else {
    showing_.missed = true;
    showing_.feedback = judged.text.empty() ? text_key(beat(), "wrong") : text_key(beat(), judged.text);
    showing_.near = judged.near;
    if (!judged.about.empty()) ++progress_.mistakes[lesson()->id][judged.about];
  }
  keep();
  refresh();
}

void Lessons::show_hint() {
  if (!open_ || !asks()) return;
  showing_.hint = true;
  refresh();
}

void Lessons::show_answer(const std::string& typed) {
  if (!open_ || !asks()) return;
  if (learner_ && beat().ask->kind == AskKind::num) {
    showing_.entered = typed;
    showing_.typed = typed_number(typed);
    if (showing_.typed) {
      const Judgement judged = judge_answer(*beat().ask, *showing_.question, {showing_.typed, {}});
      if (!judged.right && !judged.text.empty()) showing_.told = text_key(beat(), judged.text);
    }
  }
  showing_.shown = true;
  showing_.missed = false;
  showing_.feedback = text_key(beat(), "right");
  progress().shown = true;
  reveal();
  keep();
  refresh();
}

// The program takes the step that holds the answer.
void Lessons::reveal() {
  if (!is_own_document()) set_stage(showing_.scope.horizon);
  if (beat().reveal.empty()) return;
  if (beat().reveal == kFirstWrong) return reveal_first_wrong();
  const auto rec = showing_.runs->recording(run_of_answer(beat()));
  const auto place = parse_place(beat().reveal);
  if (!rec || !place) return;
  const auto event = event_at(**rec, *place);
  if (!event) return;
  if (!beat().reveal_run.empty()) {
    auto state = lesson_state(*lesson(), beat().reveal_run, showing_.seed);
    if (!state) return;
    showing_.state = *std::move(state);
    return set_stage(*event);
  }
  give(ShowBeatStep{*event, asked_selection()});
  showing_.state.view.step.cursor = *event;
  seen_selection_ = state().document.selection;
}

void Lessons::reveal_first_wrong() {
  const auto found = showing_.runs->first_wrong(beat().run);
  if (!found || !*found) return;
  const FirstWrong& first = **found;
  ShowBeatStep shown{first.event, std::nullopt};
  if (first.differing > 0) shown.selection = {first.id.b, first.id.h, first.row, first.slot, first.col};
  give(shown);
  showing_.state.view.step.cursor = first.event;
  seen_selection_ = state().document.selection;
}

void Lessons::again() {
  if (!open_) return;
  if (beat().exercise) return other_numbers();
  if (!beat().again) return;
  BeatNumbers numbers = numbers_of(beat(), std::nullopt);
  numbers.fresh_after = std::max(progress_.repeats, showing_.seed.value_or(0));
  prepare(*open_, beat_, std::move(numbers), [this](BeatRuns& runs) {
    progress_.repeats = runs.seed().value_or(progress_.repeats);
    if (auto shown = show(runs); !shown) context_.log.error(shown.error().message);
  });
}

void Lessons::back() {
  if (!open_) return;
  set_stage(showing_.state.view.step.cursor);
  refresh();
}

void Lessons::leave() {
  no_longer_prepare();
  if (on_stage_) swap_stage();
  shelf_ = {};
  open_.reset();
  showing_ = {};
  place("", "", false);
  refresh();
}

void Lessons::forget() {
  forgotten_ = std::exchange(progress_, {});
  if (!learner_) may_save_ = true;
  keep();
  context_.log.note(tr("Your answers are deleted. Undo brings them back."));
  refresh();
}

void Lessons::undo_on_map() {
  if (!forgotten_) return;
  progress_ = *std::exchange(forgotten_, std::nullopt);
  keep();
  context_.log.note(tr("Your answers are back."));
  refresh();
}

}  // namespace attn
