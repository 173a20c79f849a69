// The lessons: which there are, the one that is open, its questions and what the learner did with them. A lesson has a
// document and a history of its own; the user's wait beside, untouched, and come back when another workspace is shown.
// What is on screen changes by commands (viz/state/commands_learn.h), as it does for any hand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/control/step/recordings.h"
#include "app/control/tasks/job_context.h"
#include "app/state/apply/history.h"
#include "app/state/lessons/beat_runs.h"
#include "app/state/lessons/lesson_files.h"
#include "app/state/lessons/lesson_progress.h"
#include "app/state/lessons/lesson_runs.h"
#include "profiling/session/session_reading.h"
#include "viz/learn/beat.h"
#include "viz/learn/card/learn_scene.h"
#include "viz/learn/lesson/lesson.h"
#include "viz/state/commands.h"
#include "viz/state/state.h"

namespace attn {

// What is known of a beat; nothing where it was not shown.
BeatProgress progress_of(const LessonProgress& progress, const std::string& lesson, const std::string& beat);
// A figure or an exercise is beside the card, and no step.
bool stands_alone(const Beat& beat);

// Reads, in pieces, the bundled sessions that a lesson speaks of and `sessions` lacks, into it; null: there are none.
std::shared_ptr<SessionsReading> sessions_reading(const Lesson& lesson,
                                                  const std::shared_ptr<LessonSessions>& sessions);

struct LessonSources {
  std::filesystem::path folder;    // of the program's lessons; empty = none
  std::filesystem::path progress;  // empty = nothing is kept
};

class Lessons {
 public:
  Lessons(const JobContext& context, LessonSources sources, Recordings& recordings)
      : context_(context), sources_(std::move(sources)), recordings_(recordings) {}

  // After the state changed: the lesson's document on screen in Learn, the user's elsewhere; the cursor no further than
  // an open question; a cell that was pinned is an answer.
  void follow();
  // Play went on.
  void hold_back();

  // Which lessons there are, before Learn is first shown: the palette lists them.
  void look();
  void start(const std::string& lesson, const std::string& beat);
  // A lesson of the user's own. Where there are no threads what is wrong with it is said later, in the log.
  Result<void> open_file(const std::filesystem::path& file);
  void go(int direction);
  std::string next_after(const std::string& id) const;
  void choose(std::size_t index);
  void check(const std::string& typed);
  void show_hint();
  // `typed`: what a class said, where a teacher reveals.
  void show_answer(const std::string& typed = {});
  void again();
  // A chapter as a PDF, its answers beside it, with the numbers that the exercises have; without an id the open one.
  void print(const std::filesystem::path& file, const std::string& id);
  void back();
  void leave();
  void forget();
  // Undo on the map: what forget() deleted comes back, until a lesson is opened. No document is changed there.
  void undo_on_map();
  bool on_map() const { return !open_; }
  // For a class: a lesson of the teacher's beside the learner's, which waits as it is, and nothing of it is kept.
  void teach(bool on);
  void take_back_vote();

 private:
  // What is not on screen: the user's while a lesson is, else the lesson's.
  struct Shelf {
    Document document;
    StepView step;
    History history;
  };
  // One showing of one beat.
  struct Showing {
    std::uint64_t number = 0;
    std::optional<std::uint64_t> seed;
    std::int32_t row = 0;
    std::unique_ptr<LessonRuns> runs;
    ExpressionScope scope;
    std::optional<Question> question;
    State state;  // as it is set
    std::vector<std::size_t> chosen;
    bool hint = false, right = false, shown = false, missed = false;
    int tries = 0;
    std::string feedback;  // key of its words; empty = none
    std::string entered;   // as it was typed
    std::optional<double> typed;
    bool unread = false;             // what was typed is no number
    int near = 0;                    // what was typed is nearly right: Judgement::near
    std::vector<std::size_t> votes;  // of a class: what each hand chose
    std::string told;                // of a class: key of the words to its usual mistake
  };
  // What waits while a teacher teaches.
  struct Learner {
    LessonProgress progress;
    std::optional<std::size_t> open;
    std::size_t beat = 0;
    Showing showing;
    Shelf shelf;  // the lesson's side
    LearnView place;
    Workspace workspace = Workspace::step;
    bool log_panel = false, keys_sheet = false;
    Preferences preferences;
  };

  // The state is read here and changed by commands alone.
  const State& state() const { return context_.state; }
  void give(const StateCommand& command);
  void place(const std::string& lesson, const std::string& beat, bool figure);

  // At once, whatever it takes.
  void load();
  // load(), or where there are no threads a task that does it. Whether it is done: else follow() runs again.
  bool is_loaded();
  void take_lessons();
  // A lesson that was checked, with the sessions that were read for it.
  Result<void> take_own(Lesson lesson, std::shared_ptr<LessonSessions> sessions);
  // Where there are no threads a lesson waits for its sessions, which a task reads; then it starts.
  bool waits_for_sessions(const Lesson& lesson, const std::string& beat);
  void wait_to_start(const std::string& lesson, const std::string& beat);
  // Makes what a beat needs, at once or where there are no threads by a task in pieces; then runs `then` with it,
  // unless something else was asked for meanwhile.
  using Prepared = std::function<void(BeatRuns& runs)>;
  void prepare(std::size_t lesson, std::size_t beat, BeatNumbers numbers, Prepared then);
  void no_longer_prepare();
  // The lesson's own numbers, or a seed's, or fresh ones where the beat begins with such.
  BeatNumbers numbers_of(const Beat& beat, std::optional<std::uint64_t> seed) const;
  void refuse_start(const std::string& why);
  void show_soon(std::size_t beat);
  void open(std::size_t lesson, std::size_t beat, BeatRuns& runs);
  void go_on();
  const Lesson* lesson() const;
  const Beat& beat() const { return lesson()->beats[beat_]; }
  bool asks() const { return showing_.question && !showing_.right && !showing_.shown; }
  // The document that a beat set is still there.
  bool is_at_place() const;
  bool is_own_document() const;
  Selection selection_of_beat() const;
  void swap_stage();
  // Words of what cannot be shown, or nothing.
  Result<void> show(BeatRuns& runs);
  // At once, whatever it takes.
  Result<void> show_now(std::optional<std::uint64_t> seed);
  void set_stage(EventIndex cursor);
  void reveal();
  void reveal_first_wrong();
  std::optional<Selection> asked_selection() const;
  void take_selection();
  BeatProgress& progress();
  void keep();
  void refresh();
  CardScene card();
  std::optional<StageFigure> figure();
  void other_numbers();
  std::optional<ExerciseScene> exercise();
  void add_options(CardScene& card);
  void add_said(CardScene& card);
  void add_learned(CardScene& card, bool done);
  void add_feedback(CardScene& card);
  void begin_teaching();
  void end_teaching();
  // The learner's lesson is read anew meanwhile: nothing of the old one is left to come back to.
  void forget_waiting(std::size_t lesson);
  TextRuns words(const std::string& key, Face face, Ink ink);
  std::string needs_words() const;

  JobContext context_;
  LessonSources sources_;
  Recordings& recordings_;
  bool loaded_ = false, may_save_ = true;
  std::shared_ptr<LessonsReading> reading_;  // while lessons are read
  // What was asked for while something was read that it needs.
  struct Asked {
    std::string lesson, beat;
    Workspace from = Workspace::learn;  // whoever went elsewhere meanwhile stays there
  };
  std::optional<Asked> asked_;
  TaskId reads_sessions_ = 0;
  // What is being prepared: the beat is not the place yet.
  struct Preparing {
    std::uint64_t number = 0;
    std::optional<std::size_t> beat;  // of the lesson that is open; none: another lesson's
    TaskId task = 0;
  };
  std::optional<Preparing> preparing_;
  std::uint64_t preparings_ = 0;
  std::string sessions_of_;  // the lesson
  std::shared_ptr<LessonSessions> sessions_ = std::make_shared<LessonSessions>();
  std::vector<std::filesystem::path> own_files_;  // asked for before the program's lessons were read
  std::deque<Lesson> lessons_;                    // runs of a showing that waits refer to theirs
  std::vector<bool> own_;
  LessonProgress progress_;
  std::optional<LessonProgress> forgotten_;
  std::optional<std::size_t> open_;
  std::size_t beat_ = 0;
  Showing showing_;
  Shelf shelf_;
  bool on_stage_ = false;
  std::optional<Learner> learner_;  // while a teacher teaches
  Selection seen_selection_;
  std::uint64_t showings_ = 0;
  // What Learn's scene was made for, beside what the members say.
  std::string language_;
  bool away_ = false;
};

}  // namespace attn
