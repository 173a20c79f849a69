// What a sweep computes: its pass, with the kernels that go with it, and the type of O.
#pragma once

#include "kernels/model/problem/problem.h"
#include "profiling/spec/sweep_spec.h"
#include "viz/bench/sweep/sweep_choices.h"

namespace attn {

// The sweep of another pass. In place of each kernel stands the one that it belongs with (a forward, its backward, the
// training step of both); where none has one, those of the pass on the devices that were chosen. Pages and O in fp32 go
// where a backward would read them.
SweepSpec with_pass_and_kernels(const SweepSpec& sweep, Pass pass);
SweepMenu pass_menu(const SweepSpec& sweep);
// What O is stored in.
SweepMenu output_menu(const SweepSpec& sweep);

}  // namespace attn
