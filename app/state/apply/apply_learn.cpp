#include <utility>
#include <variant>

#include "app/state/apply/apply_lists.h"

namespace attn {
namespace {

struct ApplyLearn {
  State s;

  Result<State> operator()(const CloseGreeting& c) {
    s.preferences.greet = !c.close;
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

  Result<State> operator()(const SetStage& c) {
    Document document = c.document;
    document.sweep = std::move(s.document.sweep);
    document.runs = std::move(s.document.runs);
    s.document = std::move(document);
    s.view.step = c.step;
    s.view.step.playing = false;
    return std::move(s);
  }
  Result<State> operator()(const ShowBeatStep& c) {
    s.view.step.cursor = c.cursor;
    if (c.selection) s.document.selection = *c.selection;
    return std::move(s);
  }
  Result<State> operator()(const HoldBack& c) {
    if (s.view.step.cursor <= c.last) return std::move(s);
    s.view.step.cursor = c.last;
    s.view.step.playing = false;
    return std::move(s);
  }
  Result<State> operator()(const PlaceLesson& c) {
    s.view.learn = c.place;
    return std::move(s);
  }
  Result<State> operator()(const BeginClass&) {
    s.view.workspace = Workspace::learn;
    s.view.step.playing = false;
    s.view.learn.teach = true;
    s.view.log_panel = s.view.keys_sheet = false;
    return std::move(s);
  }
  Result<State> operator()(const EndClass& c) {
    if (s.view.workspace == Workspace::learn) s.view.workspace = c.workspace;
    s.view.learn = c.place;
    s.view.log_panel = c.log_panel;
    s.view.keys_sheet = c.keys_sheet;
    s.preferences = c.preferences;
    return std::move(s);
  }
};

}  // namespace

Result<State> apply_learn(State state, const LearnCommand& command) {
  return std::visit(ApplyLearn{std::move(state)}, command);
}

}  // namespace attn
