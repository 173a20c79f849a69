#include "viz/learn/desk.h"

namespace attn {

bool lesson_asks(const State& state, const Model& model) {
  return state.view.workspace == Workspace::learn && model.learn != nullptr && model.learn->veil.on;
}

std::string kind_words(const LessonAsk& ask, bool teach) {
  switch (ask.kind) {
    case AskKind::num:
      if (ask.bar) return teach ? "Ask the class: how much?" : "Predict: drag it there, or type it";
      return teach ? "Ask the class: a number" : "Predict: a number";
    case AskKind::pick:
      return teach ? "Ask the class: which one?" : "Predict: choose one, by click or digit";
    case AskKind::click:
      return teach ? "Ask the class: which one?" : "Predict: click it in the picture, or choose here";
    case AskKind::tiles:
      return teach ? "Ask the class: which tiles?" : "Predict: choose all";
  }
  return {};
}

}  // namespace attn
