// A run as a value: one sweep and where and when it was taken.
#pragma once

#include <cstddef>
#include <string>
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

}  // namespace attn
