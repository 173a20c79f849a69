#include <utility>
#include <variant>

#include "app/state/apply_lists.h"

namespace attn {
namespace {

struct ApplyLearn {
  State s;

  Result<State> operator()(const CloseGreeting&) {
    s.preferences.greet = false;
    return std::move(s);
  }
  Result<State> operator()(const ChooseLanguage& c) {
    s.preferences.language = c.language;
    return std::move(s);
  }
  Result<State> operator()(const DockCard& c) {
    s.preferences.card_right = c.right;
    return std::move(s);
  }
};

}  // namespace

Result<State> apply_learn(State state, const LearnCommand& command) {
  return std::visit(ApplyLearn{std::move(state)}, command);
}

}  // namespace attn
