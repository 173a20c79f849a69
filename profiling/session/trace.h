// A sweep as a timeline for Perfetto or chrome://tracing: which stage of which point took how long.
// docs/formats.md says what the file holds.
#pragma once

#include <cstddef>
#include <string>

#include "profiling/session/session.h"

namespace attn {

// Rows that keep their stages: those of older files do not.
std::size_t rows_with_stages(const Session& s);

// JSON in the trace-event format. A run is a process that begins at 0, a device a thread of it, a point a slice with
// its stages inside. Rows without stages are left out, and otherData says how many. A row's heartbeat is a process of
// its own, with a track a counter.
std::string to_trace(const Session& s);

}  // namespace attn
