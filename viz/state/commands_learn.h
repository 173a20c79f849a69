// Commands of Learn: preferences of it, and what a learner does with a lesson.
#pragma once

#include <cstddef>
#include <string>
#include <variant>

namespace attn {

// Preferences.
struct CloseGreeting {};
struct ChooseLanguage {
  std::string language;
};
// Which side of the window the lesson's card is docked to.
struct DockCard {
  bool right = false;
};
using LearnCommand = std::variant<CloseGreeting, ChooseLanguage, DockCard>;

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
// Learn for a class at a projector; off: everything as it was before.
struct Teach {
  bool on = true;
};
// The last hand that was counted.
struct TakeBackVote {};
using LearnEffect = std::variant<StartLesson, GoToBeat, ChooseAnswer, CheckAnswer, ShowHint, ShowAnswer, AskAgain,
                                 BackToLesson, LeaveLesson, ForgetLessons, Teach, TakeBackVote>;

}  // namespace attn
