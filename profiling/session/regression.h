// Rows held against those of the same points in an earlier session: what became slower, and how sure that is. Pure.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "profiling/figures/measurement.h"
#include "profiling/session/sweep_run.h"

namespace attn {

// `ratio`: the earlier median over the new one, under 1 where it became slower. `low`, `high`: the same of the ends of
// both medians' 95 % intervals.
struct HeldRow {
  const Measurement* row = nullptr;
  const Measurement* earlier = nullptr;  // null: it has no partner
  std::string why_none;                  // why not, in words
  double ratio = 0, low = 0, high = 0;
  std::vector<std::string> unfair;  // what differs besides, in words
  bool measured() const { return ratio > 0; }
};

struct Held {
  std::vector<HeldRow> rows;  // of kernels of ours, in their order
  std::size_t compared() const;
};

// The partner of a row is the last row of the earlier runs with the same kernel, problem, options, L2 state and device
// name; sources may differ, and a kernel of the user's own goes by its file's name. With other options it is the only
// row of its kernel and problem. A row that was measured earlier and is not now has a partner and no ratio.
Held hold_against(std::span<const Measurement> rows, const Provenance& where, std::span<const SweepRun> earlier);

// Slower than `least` of the earlier speed, or measured earlier and not now.
bool fell(const HeldRow& r, double least);
// Where noise alone could have carried the ratio across `least`.
bool unsure(const HeldRow& r, double least);

// "flash_simt, B=1 ...: 0.914 of its earlier speed (0.902 to 0.926): 110.2 µs, earlier 100.7 µs; driver ..."
std::string words_of(const HeldRow& r);

}  // namespace attn
