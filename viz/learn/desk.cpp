#include "viz/learn/desk.h"

namespace attn {

bool lesson_asks(const State& state, const Model& model) {
  return state.view.workspace == Workspace::learn && model.learn != nullptr && model.learn->veil.on;
}

std::string kind_words(AskKind kind, bool teach) {
  switch (kind) {
    case AskKind::num:
      return teach ? "Ask the class: a number" : "Predict: a number";
    case AskKind::pick:
      return teach ? "Ask the class: which one?" : "Predict: choose one, by its key too";
    case AskKind::click:
      return teach ? "Ask the class: which one?" : "Predict: click it there, or here by its key";
    case AskKind::tiles:
      return teach ? "Ask the class: which tiles?" : "Predict: choose all";
  }
  return {};
}

}  // namespace attn
