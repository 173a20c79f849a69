// A lesson as data: one chapter, its beats, what they ask and every word of it. Files are JSON (docs/lessons.md); the
// text of a file comes in, plain values go out. Whether what a lesson says is true is another matter: it needs the
// recordings (viz/learn/beat.h, app/state/lessons/lesson_check.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/result.h"
#include "viz/learn/lesson/exercise.h"
#include "viz/step/facts/focus.h"

namespace attn {

constexpr int kLessonVersion = 1;
constexpr std::size_t kMaxLessonBytes = 1 << 20;

enum class AskKind : std::uint8_t {
  num,    // a number, within a tolerance: typed, or dragged along a line too
  pick,   // one of several sentences
  click,  // a cell, a key, a row or a line of the kernel: where it stands, or by its number on the card
  tiles,  // every tile of a kind, on a map of the tiles
};
std::string_view name_of(AskKind kind);

// How near a number must come.
struct Tolerance {
  double relative = 0, absolute = 0;
  double decades = 0;  // 0.5: within a factor of the root of ten
  bool holds(double truth, double answer) const;
  std::string words() const;  // "within 10 %"
};

// A usual wrong answer and what it is told. `value`: what gives it (num, click); of tiles, the kind that was taken.
struct WrongAnswer {
  std::string value;
  std::string text;   // key of its words, after the beat's id
  std::string about;  // the misconception, by which the home page counts; may be empty
};
struct PickOption {
  std::string text;   // key of its words, after the beat's id
  std::string truth;  // expression: not 0 where it is right
  std::string wrong;  // key of what is told who takes it; empty for the right one
  std::string about;
};
enum class ClickAmong : std::uint8_t { cells, keys, rows, lines };
enum class TileKind : std::uint8_t { skipped, partial, full };

// Where a number is dragged to, besides being typed: the line and what lies on it.
struct AskBar {
  double from = 0, to = 1;
  bool decades = false;   // by powers of ten
  std::string start;      // expression: where the handle lies at first; empty: nowhere
  std::string beside;     // expression: a number that is known; empty: none
  std::int32_t key = -1;  // whose bar in the row's chart it is, too; -1: it is none
};

struct LessonAsk {
  AskKind kind = AskKind::num;
  // num: the truth; click: the index of the right one. Among lines it is missing: the one with the most samples is.
  std::string value;
  Tolerance within;           // num
  std::string unit;           // num: stands behind the field
  std::string letter;         // num: stands before it, with the texts' marks: "[α] ="
  std::optional<AskBar> bar;  // num: it is dragged ("kind": "drag")
  std::vector<PickOption> options;
  ClickAmong among = ClickAmong::cells;
  std::vector<std::string> cells;    // click among cells: "S[0,2]"; among lines: words that one line of the text has
  std::int32_t first = 0, last = 0;  // click among keys or rows
  TileKind tiles = TileKind::skipped;
  std::vector<WrongAnswer> wrong;
};

// Other numbers for the same question.
struct Again {
  std::string condition;   // expression that a seed must pass; empty = every one
  bool fresh_row = false;  // the row changes with the seed
  bool at_once = false;    // the first time round, too, with numbers that no text has shown
};

// What stands beside the card in place of Step, of the session's rows of one problem.
enum class FigureKind : std::uint8_t {
  roofline,   // of all kernels, the one that is looked at marked
  occupancy,  // of that one: what an SM holds of it, and what keeps more out
  heartbeat,  // of that one: what pipes and memories did over the time of one run
  levels,     // of that one: the way to the roof of each memory
  phases,     // of that one: where its warps' time goes
  lines,      // of that one: its text, with the share of the samples of each line
  wall,       // what memories hold and how far they are, to scale, beside the scores that naive writes down
};
// Of the wall: areas alone, with the roads beside them, or with the scores as what is never written.
enum class WallPart : std::uint8_t { areas, roads, unwritten };
struct LessonFigure {
  FigureKind kind = FigureKind::roofline;
  std::int64_t L = 0, D = 0;
  std::string kernel;  // the one that is looked at
  WallPart wall = WallPart::roads;
};

// Where an answer may lead in place of a place: to the first wrong step of the beat's run, its element pinned.
constexpr std::string_view kFirstWrong = "first_wrong";

struct Beat {
  std::string id;
  std::string run = "main", at;
  std::string reveal;      // where the answer leads: a place or kFirstWrong; empty = nowhere
  std::string reveal_run;  // the run that the answer shows, at `reveal`; empty = `run`
  std::int32_t row = 0;
  std::string select;              // as a state string has it; empty = the row alone
  std::string chart;               // of Step; empty = row
  std::string replaces;            // LESSON.BEAT whose "learned" its own takes the place of; empty = none
  std::vector<std::string> holds;  // expressions that must be true of the recordings
  std::string session;             // whose figures it reads; empty: the lesson's
  std::optional<LessonFigure> figure, reveal_figure;                 // reveal_figure: of its answer; none: as before
  StepFocus look;                                                    // what of Step it speaks of
  StepFocus reveal_look;                                             // of its answer; none: as before
  bool hide_traffic = false, hide_map = false, hide_figure = false;  // while the question is open
  bool keep_traffic = false, keep_map = false;                       // hidden after the answer too: a later beat asks
  std::optional<LessonAsk> ask;
  std::optional<Again> again;
  std::optional<ExercisePlan> exercise;  // its numbers are drawn, and it reads no place of the run
};

struct Lesson {
  std::string file, id, number;  // number: "4"; empty for a checkpoint and for a lesson of the user's own
  std::string part;              // the heading it stands under: key of its words
  int minutes = 0;
  int map_x = 0, map_y = 0;  // its place on the map of chapters, percent; 0: none
  std::vector<std::string> needs, unlocks;
  std::string door;  // what opens where the lesson ends (door.h); its button has the text "door"; empty: none
  std::map<std::string, std::string, std::less<>> runs;  // state strings
  // Rates and sizes that are taken as given, by the name that expressions use; each has a text, "assumed.NAME".
  std::map<std::string, double, std::less<>> assumptions;
  std::string session;             // whose figures metric() reads: one that comes with the program; empty = none
  std::vector<Beat> beats;         // exercises are the last ones
  std::optional<FigurePlan> page;  // the figure of the printed chapter, of the first beat's run
  std::map<std::string, std::string, std::less<>> text;                                              // in English
  std::map<std::string, std::map<std::string, std::string, std::less<>>, std::less<>> translations;  // by language

  const Beat* find(std::string_view beat_id) const;
  // Beats before the first exercise.
  std::size_t told() const;
  bool has_text(const std::string& key) const { return text.contains(key); }
  // In `language`, or in English where that lacks it. Empty where there is none.
  const std::string& words(const std::string& key, std::string_view language) const;
};

// The error names the file and, for what is no JSON, the line; else beat, field and reason.
Result<Lesson> parse_lesson(std::string_view json, const std::string& file);
// Adds a file of exercises that stands beside its lesson: {"version": 1, "id": ..., "exercises": [...], "page": {...},
// "text": {...}}.
Result<void> add_exercises(std::string_view json, const std::string& file, Lesson& lesson);
// Adds a file of texts in another language: {"version": 1, "id": ..., "language": "de", "text": {...}}.
Result<void> add_translation(std::string_view json, const std::string& file, Lesson& lesson);

// Of what run the step is that the answer leads to.
const std::string& run_of_answer(const Beat& beat);
// The keys of a beat's texts: "title" (its question, where it asks), "say", "hint", "right", "wrong" (to a
// mistake that nobody foresaw), "learned", "proof" and those that answers name.
std::string text_key(const Beat& beat, std::string_view part);
// The same of the page's figure.
std::string page_key(std::string_view part);
// The key of the words that say what is assumed, and whose number it is.
std::string assumption_key(std::string_view name);
// Every key that the lesson uses, those that must be there first.
struct TextUse {
  std::string key, beat, field;
  bool must = true;
  bool while_open = false;  // read before the question is answered
};
std::vector<TextUse> text_uses(const Lesson& lesson);

}  // namespace attn
