// A run: one sweep and where and when it was taken. What Bench lists, shows beside others, and keeps in a file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profiling/figures/measurement.h"

namespace attn {

struct SweepRun {
  std::string id;    // 16 digits of base 16, random: two windows never make the same
  std::string name;  // the user's; empty = nobody gave it one (run_words() then says device and date)
  std::string date;  // when it began: ISO 8601, UTC
  std::string spec;  // the sweep as a state string; empty = not a sweep of Bench. Equal texts, equal sweeps
  Provenance provenance;
  std::vector<Measurement> rows;
};

constexpr std::size_t kMaxRunName = 256;  // bytes: what the reader of a session takes

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
