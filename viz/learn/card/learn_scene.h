// What Learn draws, as plain values: the chapters with what is known of each, and the card of the lesson that is open.
// The controller makes it anew where something changed; panels read it from the model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "viz/draw/text_runs.h"
#include "viz/learn/card/number_bar.h"
#include "viz/learn/exercise/plan_scene.h"
#include "viz/learn/lesson/lesson.h"
#include "viz/state/model.h"
#include "viz/state/state.h"
#include "viz/step/facts/focus.h"
#include "viz/step/facts/hidden_answers.h"
#include "viz/step/facts/scales.h"

namespace attn {

struct ChapterScene {
  std::string id, number, part, title, goal;
  int minutes = 0;
  std::vector<std::string> needs;  // ids of chapters
  int x = 0, y = 0;                // its place on the map, percent; 0: none
  std::size_t beats = 0, seen = 0;
  std::size_t questions = 0, known = 0, first_try = 0;
  std::size_t shown = 0;                          // questions whose answer the learner was shown and never gave
  std::size_t exercises = 0, exercises_done = 0;  // done: answered or shown
  bool own = false;                               // a file of the user's
  bool last = false;                              // where the learner stopped
};

// `left`: asked and not answered.
enum class BeatMark : std::uint8_t { tell, ask, seen, left, known, shown };
struct CardOption {
  TextRuns words;
  std::string value;
  bool chosen = false, right = false, missed = false;  // right and missed are known once it is answered
  int votes = 0;                                       // hands of the class, told once it is revealed
  std::int32_t line = 0;                               // of a kernel's text, from 1; 0: it is none
  std::optional<int> digit;                            // the key that chooses it: of key 3 it is 3
};
struct CardScene {
  std::string lesson, number, title;
  std::size_t beat = 0;  // from 0
  std::vector<BeatMark> marks;
  std::string kind;  // "Predict: a number", or "" of a beat that tells
  TextRuns headline, say, hint, feedback, proof;
  TextRuns origin;                // what is given, whose figures these are; empty of most beats
  TextRuns needs;                 // what the chapter builds on; of its first beat
  std::vector<TextRuns> learned;  // of the beats so far
  std::size_t unread = 0;         // the first of them: of chapters before that the reader has not been through
  std::optional<AskKind> asks;
  bool open = false;  // it waits for an answer
  bool right = false, shown = false, missed = false;
  TextRuns letter;  // before the field
  TextRuns truth;   // the kernel's own number, once it is answered
  std::string unit, within;
  std::optional<NumberBar> bar;     // on which the number is dragged too
  std::optional<CellRef> cell;      // of the tiles, that the number is asked of
  std::vector<CardOption> options;  // of the map: its tiles, row by row
  std::int32_t map_rows = 0, map_cols = 0;
  int minutes = 0;         // the whole chapter
  std::size_t told = 0;    // beats before the exercises
  std::string next_title;  // of the chapter that begins after the last beat; empty: none does
  int next_minutes = 0;
  std::string door, door_words;  // as in door.h, where the chapter or what it tells ends; empty: none
  bool exercise = false;         // its numbers were drawn
  bool to_exercises = false;     // they come next
  TextRuns way;                  // of an exercise: stands beside the card, and on it only where it is alone
  bool can_hint = false, can_repeat = false;
  bool away = false;                    // what is on screen is not what the beat is about
  bool teach = false;                   // it is for a class: the answer stays hidden until it is revealed
  int votes = 0;                        // hands that were counted so far
  TextRuns said;                        // what the class said, and what is said to it
  std::string typed;                    // the number that was checked
  std::uint64_t number_of_showing = 0;  // another whenever the beat is shown anew: a typed draft is of one showing
};

// What stands beside the card of an exercise.
struct ExerciseScene {
  std::size_t number = 1, count = 1;
  std::uint64_t seed = 0;
  PlanScene given;
  TextRuns way;  // to the answer, once it is answered
};

struct FigureScenes;  // viz/learn/figure/figure.h

// What stands beside the card in place of Step.
struct StageFigure {
  FigureKind kind = FigureKind::roofline;
  std::string of;                              // "flash_simt at L = 16384, D = 128"
  std::string empty;                           // why there is none; no words: there is one
  bool waits = false;                          // for an answer: what it says of the kernel is not shown
  std::shared_ptr<const FigureScenes> scenes;  // what is drawn
  // While it waits a part of it is drawn all the same: the question is about the rest.
  bool asks_with_part() const { return kind != FigureKind::heartbeat && kind != FigureKind::phases; }
  bool is_roof() const { return kind == FigureKind::roofline || kind == FigureKind::levels; }
};

struct Misconception {
  std::string words, lesson;
  int count = 0;
};
struct LearnScene {
  std::vector<ChapterScene> chapters;
  std::vector<std::string> languages;  // that there are texts in; English first
  std::string language;
  std::vector<Misconception> misconceptions;  // met twice or more, the most often first
  std::optional<CardScene> card;
  std::optional<StageFigure> figure;
  std::optional<ExerciseScene> exercise;
  bool teach = false;
  HiddenAnswers hidden;
  StepFocus look;
};

// Whether a question of a lesson is open on screen, so that something is hidden.
bool lesson_asks(const State& state, const Model& model);
// Words of what a question wants, of a learner or of a class.
std::string kind_words(const LessonAsk& ask, bool teach);

}  // namespace attn
