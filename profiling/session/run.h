// A run: one sweep and where and when it was taken. What Bench lists, shows beside others, and keeps in a file.
#pragma once

#include <string>
#include <string_view>

#include "profiling/session/sweep_run.h"

namespace attn {

bool is_run_id(std::string_view text);
std::string new_run_id();
// Now, ISO 8601, UTC.
std::string utc_now();
// A run that begins now and has no rows.
SweepRun new_run(std::string spec);

// Its name, or "NVIDIA H100 80GB HBM3, 2026-11-21 14:05" (minutes: two runs of a day are two).
std::string run_words(const SweepRun& run);

// Id of what has none of its own, a session of version 1: the same bytes, the same id.
std::string run_id_of(std::string_view text);

}  // namespace attn
