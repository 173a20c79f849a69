// A timeline as text, as a table and as a trace for Perfetto.
#pragma once

#include <string>

#include "profiling/timeline/pipeline.h"

namespace attn {

// What was recorded at what price, the launch by both clocks, and of each block that was recorded event by event what
// its lanes did and what decided how long it took.
std::string timeline_text(const Timeline& t);
// A row a state: block, SM, lane, state, tile, slot, from and to in clocks of the SM and in ns from the launch's start.
std::string timeline_csv(const Timeline& t);
// Trace events of Chrome's format, which Perfetto opens: a process a block, a thread a lane; us from the launch's
// start.
std::string timeline_perfetto(const Timeline& t);

// Nanoseconds from the launch's start, by the clock of the block's SM. `moment` in the timeline's unit.
double ns_of(const Timeline& t, const TimelineLane& lane, std::int64_t moment);
// From the first block's start to the last one's end, by the global timer.
std::int64_t span_ns(const Timeline& t);
// The largest distance of a start or end from its SM's line.
double residual_ns(const Timeline& t);
const char* words_of(PathOf of);  // marked: "tensor cores"

}  // namespace attn
