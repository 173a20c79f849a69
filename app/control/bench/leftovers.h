// Runs that nobody needs any more. All that was recorded of their rows takes longer to free than a frame may wait.
#pragma once

#include <vector>

#include "app/control/tasks/tasks.h"
#include "profiling/session/sweep_run.h"

namespace attn {

// Where there are no threads a row at a time between frames, else at once.
void free_in_pieces(std::vector<SweepRun> runs, Tasks& tasks);

}  // namespace attn
