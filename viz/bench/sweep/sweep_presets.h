// Sweeps worth running, ready-made: the tables of other projects and the questions that come up first.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiling/spec/sweep_spec.h"

namespace attn {

// What another project published of the table that a preset repeats: shown beside ours as recorded, never as measured.
struct PublishedShare {
  std::string_view whose;    // "a public WMMA kernel"; empty = nothing is known
  std::string_view kernel;   // ours of the same kind
  double low = 0, high = 0;  // of torch's speed
};

struct BenchPreset {
  std::string_view id, title;
  std::string_view what;    // one sentence
  std::string_view metric;  // what the fourth chart shows
  SweepSpec sweep;
  PublishedShare published = {};
};
std::span<const BenchPreset> bench_presets();
// The preset that the sweep is, but for GPU, architecture, time limit and checks; null = none.
const BenchPreset* preset_of(const SweepSpec& s);
// The preset's sweep on the user's device, with their limits.
SweepSpec with_preset(const BenchPreset& preset, const SweepSpec& now);

}  // namespace attn
