// A rank's process: its own rows of Q, its share of K and V, and two neighbours.
#pragma once

#include "app/system/child_process.h"

namespace attn {

// The descriptors under which a rank finds its neighbours, behind its asker.
constexpr int kLeftNeighbour = kChildSocket + 1, kRightNeighbour = kChildSocket + 2;

// Answers until whoever asks is gone; the value is the process's exit code. Alone in its ring a rank asks no neighbour.
// What has not come yet is NaN in its memory.
int work_as_rank(Socket& asker, Socket& left, Socket& right);

}  // namespace attn
