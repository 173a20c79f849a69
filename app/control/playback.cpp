#include "app/control/playback.h"

#include <algorithm>

#include "app/state/apply.h"

namespace attn {

void Playback::advance(double seconds) {
  StepView& view = context_.state.view.step;
  if (!view.playing || context_.model.recording == nullptr) return;
  const Recording& recording = *context_.model.recording;
  // A long frame does not make play jump: at most a quarter of a second is owed.
  debt_ += std::min(seconds, 0.25) * view.play_steps_per_second;
  while (debt_ >= 1) {
    debt_ -= 1;
    view.cursor = step_from(recording, view.cursor, StepUnit::phase, 1);
  }
  if (view.cursor + 1 >= recording.events.size()) view.playing = false;
}

}  // namespace attn
