// What a command does to the state. Pure: no files, no threads, no recording is made here.
#pragma once

#include "kernels/base/result.h"
#include "kernels/recording/recording.h"
#include "viz/state/commands.h"
#include "viz/state/state.h"

namespace attn {

// The first window: the blackboard example, Bench ready to sweep the CPU kernels.
State initial_state();
// `state` with the document of a preset; the kernel and the sweep stay.
Result<State> with_preset(State state, std::string_view preset_id);
// What the last word attends to, by arcs: it may see all.
void follow_last_word(State& state);
// The preset of words with a sentence of the user's own, and its arcs.
Result<State> with_sentence(State state, const std::string& sentence);

// The state after `command`; the error says why the command is refused, and the state stays. `recording` is what Step
// shows (null where there is none): stepping walks its events.
Result<State> apply(const State& state, const StateCommand& command, const Recording* recording);

// Where a step of `unit` leads from event `e`:
//   phase       the next or previous event
//   key_tile    the same phase at the next j, or the nearest phase it has; beyond the row's end: the next query tile
//   query tile  the same phase and j at the next i, or the nearest; beyond the last: the next head
// At either end it stays.
EventIndex step_from(const Recording& rec, EventIndex e, StepUnit unit, int direction);

// A selection that the problem has: every index is cut to its range.
Selection fitted(const Selection& s, const Problem& p);

}  // namespace attn
