// Recomputes a recording's phases from the operands it holds: the proof that the pictures are the kernel's.
#pragma once

#include <optional>

#include "kernels/base/stop.h"
#include "kernels/recording/recording.h"
#include "kernels/recording/replay/replay_difference.h"

namespace attn {

// Recomputes every phase of every event from its recorded operands with the kernel's own arithmetic, and the
// output and LSE from the recorded O, m, l; holds what is loaded against the inputs. Equal bit for bit (NaN to NaN) on
// the machine that recorded it. A GPU's recording is held against fp64, each phase within the bound that replay_gpu.cpp
// states. Nothing too where `stop` was asked for first.
std::optional<ReplayDifference> replay(const Recording& rec, const Stop& stop = {});
// Of a recording that a GPU made.
std::optional<ReplayDifference> replay_of_gpu(const Recording& rec, const Stop& stop);

}  // namespace attn
