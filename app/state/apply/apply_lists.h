// apply() by lists: one function a workspace, each in its file (apply_step.cpp, ...).
#pragma once

#include "kernels/base/result.h"
#include "kernels/recording/recording.h"
#include "viz/state/commands.h"
#include "viz/state/state.h"

namespace attn {

Result<State> apply_step(State state, const StepCommand& command, const Recording* recording);
Result<State> apply_bench(State state, const BenchCommand& command);
Result<State> apply_profile(State state, const ProfileCommand& command);
Result<State> apply_learn(State state, const LearnCommand& command);
Result<State> apply_app(State state, const AppCommand& command);

}  // namespace attn
