#include "app/control/step/playback.h"

#include <algorithm>
#include <limits>

#include "app/state/apply/apply.h"

namespace attn {

bool Playback::advance(double seconds) {
  StepView& view = context_.state.view.step;
  if (!view.playing || context_.model.recording == nullptr) return false;
  const Recording& recording = *context_.model.recording;
  const EventIndex before = view.cursor;
  const double speed = view.play_steps_per_second;
  // A window that was held up does not make play jump: at most a quarter of a second is owed, or one slow step.
  debt_ += std::min(seconds, std::max(0.25, 1 / speed)) * speed;
  // The clock's rounding must not make a step that is due wait for the next look.
  constexpr double kRounding = 1e-6;
  while (debt_ >= 1 - kRounding) {
    debt_ = std::max(0.0, debt_ - 1);
    view.cursor = step_from(recording, view.cursor, StepUnit::phase, 1);
  }
  if (view.cursor + 1 >= recording.events.size()) view.playing = false;
  return view.cursor != before || !view.playing;
}

double Playback::seconds_to_step() const {
  const StepView& view = context_.state.view.step;
  if (!view.playing || context_.model.recording == nullptr) return std::numeric_limits<double>::infinity();
  return std::max(0.0, (1 - debt_) / view.play_steps_per_second);
}

}  // namespace attn
