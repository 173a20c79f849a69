#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "app/state/apply/apply_lists.h"

namespace attn {
namespace {

struct ApplyApp {
  State s;

  Result<State> done() { return std::move(s); }

  Result<State> operator()(const ChooseWorkspace& c) {
    s.view.workspace = c.workspace;
    if (!shows_step(s.view)) s.view.step.playing = false;
    return done();
  }
  Result<State> operator()(const ShowKeys& c) {
    s.view.keys_sheet = c.on;
    return done();
  }
  Result<State> operator()(const ShowLog& c) {
    s.view.log_panel = c.on;
    return done();
  }

  Result<State> operator()(const SetTheme& c) {
    s.preferences.theme = c.theme;
    return done();
  }
  Result<State> operator()(const SetScale& c) {
    // Steps of 5 %: every size of the layout stays near whole pixels.
    if (std::isfinite(c.scale)) s.preferences.scale = std::round(std::clamp(c.scale, 1.0F, 3.0F) * 20) / 20;
    return done();
  }
  Result<State> operator()(const SetReducedMotion& c) {
    s.preferences.reduced_motion = c.on;
    return done();
  }
};

}  // namespace

Result<State> apply_app(State state, const AppCommand& command) {
  return std::visit(ApplyApp{std::move(state)}, command);
}

}  // namespace attn
