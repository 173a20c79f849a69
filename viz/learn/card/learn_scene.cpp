#include "viz/learn/card/learn_scene.h"

#include "kernels/base/text.h"
#include "viz/draw/hands.h"

namespace attn {

bool lesson_asks(const State& state, const Model& model) {
  return state.view.workspace == Workspace::learn && model.learn != nullptr && model.learn->hidden.on;
}

std::string kind_words(const LessonAsk& ask, bool teach) {
  switch (ask.kind) {
    case AskKind::num:
      if (ask.bar) return teach ? tr("Ask the class: how much?") : tr("Predict: drag it or type a number");
      return teach ? tr("Ask the class: a number") : tr("Predict: a number");
    case AskKind::pick:
      return teach ? tr("Ask the class: which one?")
                   : for_hands(tr("Predict: choose one with a click or a digit"), tr("Predict: choose one"));
    case AskKind::click:
      return teach ? tr("Ask the class: which one?")
                   : for_hands(tr("Predict: click it, or choose here"), tr("Predict: tap it, or choose here"));
    case AskKind::tiles:
      return teach ? tr("Ask the class: which tiles?") : tr("Predict: choose all");
  }
  return {};
}

}  // namespace attn
