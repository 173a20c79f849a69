// Commands of Learn: preferences of it, what a lesson puts on the stage, and what a learner does with it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <variant>

#include "viz/state/state.h"

namespace attn {

// Preferences.
// The doors for who is new here, or the line that stands for them: away for good, or there again.
struct CloseGreeting {
  bool close = true;
};
struct ChooseLanguage {
  std::string language;
};
// Which side of the window the lesson's card is docked to.
struct DockCard {
  bool right = false;
};

// What a lesson does to what is shown. The lessons give these (app/control/learn/lessons.h), no panel does; no undo.
//
// Puts a document and its view on the stage, a beat's or the user's own. The sweep and the list of runs stay as they
// are: they are Bench's.
struct SetStage {
  Document document;
  StepView step;
};
// The step of a beat, and of it the cell where one is told.
struct ShowBeatStep {
  EventIndex cursor = 0;
  std::optional<Selection> selection;
};
// No further than the step before an answer: play stops there.
struct HoldBack {
  EventIndex last = 0;
};
// Which beat is shown, or none.
struct PlaceLesson {
  LearnView place;
};
// For a class: Learn, at rest, with nothing in the way of it.
struct BeginClass {};
// What was there before the class. Who is elsewhere by now stays there.
struct EndClass {
  LearnView place;
  Workspace workspace = Workspace::step;
  bool log_panel = false, keys_sheet = false;
  Preferences preferences;
};
using LearnCommand = std::variant<CloseGreeting, ChooseLanguage, DockCard, SetStage, ShowBeatStep, HoldBack,
                                  PlaceLesson, BeginClass, EndClass>;

// Opens a lesson at a beat; an empty beat: where the learner stopped, else the first.
struct StartLesson {
  std::string lesson, beat;
};
// Another beat of the lesson; beyond the last one the lesson is over.
struct GoToBeat {
  int direction = 1;
};
// Takes an option, a cell, a row or a tile of the map as the answer, or lets go of it; of a class: one more hand.
struct ChooseAnswer {
  std::size_t index = 0;
};
// Checks what was typed or chosen.
struct CheckAnswer {
  std::string typed;
};
struct ShowHint {};
struct ShowAnswer {
  std::string typed;  // what the class said, where a teacher reveals; empty = nothing
};
// The same question with other numbers.
struct AskAgain {};
// From where the learner wandered to where the beat stands.
struct BackToLesson {};
struct LeaveLesson {};
struct ForgetLessons {};
// A chapter on paper, the open one where none is named, with three exercises; the answers in a file of their own beside
// it.
struct PrintChapter {
  std::string path, lesson;
};
// Learn for a class at a projector; off: everything as it was before.
struct Teach {
  bool on = true;
};
// The last hand that was counted.
struct TakeBackVote {};
using LearnEffect = std::variant<StartLesson, GoToBeat, ChooseAnswer, CheckAnswer, ShowHint, ShowAnswer, AskAgain,
                                 BackToLesson, LeaveLesson, ForgetLessons, PrintChapter, Teach, TakeBackVote>;

}  // namespace attn
