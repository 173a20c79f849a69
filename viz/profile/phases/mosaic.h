// Where the time goes, in the paper's letters: the samples of a kernel as a mosaic. The width of a column is a phase's
// share of the warps' time, the height of its cells what the warps did in it. Plain values; mosaic_draw.cpp draws them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "profiling/figures/measurement.h"
#include "profiling/figures/samples.h"
#include "viz/draw/text_runs.h"
#include "viz/profile/source/source.h"

namespace attn {

// What warps did in one phase. `from` and `to` are shares of the column's height, from below.
struct MosaicCell {
  WarpState state = WarpState::issues;
  std::uint64_t samples = 0;
  double from = 0, to = 0;
  std::string text;   // "38 % issues"
  std::string brief;  // "38": where the text has no room
  std::string tip;    // counts, and CUPTI's names for it
};

// A phase. `from` and `to` are shares of all samples, left to right; of those in which nothing was issued likewise.
struct MosaicColumn {
  gpu::CodePhase phase = gpu::CodePhase::none;
  PhaseSign sign;
  double from = 0, to = 0;
  double empty_from = 0, empty_to = 0;
  std::string share, time;  // "38 %", "0.99 ms"
  std::string empty_share;  // "23 %"
  std::string tip, empty_tip;
  std::vector<MosaicCell> cells;  // issues first
  // Its line with the most samples; line 0 = it has none in these files.
  std::string file;  // as in ProfileView
  std::int32_t line = 0;
};

// A part of the bar of the kernel that is compared with.
struct MosaicPart {
  gpu::CodePhase phase = gpu::CodePhase::none;
  PhaseSign sign;
  double from = 0, to = 0;  // of the first kernel's time
  std::string tip;
};

struct MosaicScene {
  bool there = false;  // false: no kernel was sampled and nobody asked; then `empty` may say why
  std::string empty;
  TextRuns headline;        // the largest loss
  std::string scale;        // "width: share of the warps' time, 2.60 ms · height: what the warps did"
  std::string scale_brief;  // the same where there is less room
  std::vector<MosaicColumn> columns;
  std::vector<MosaicCell> all;  // of all phases together: the legend
  std::string other;            // "naive", whose parts follow; empty: it has no samples
  std::vector<MosaicPart> parts;
  std::string other_words;  // "naive, 59.5 ms." and on which scale it is drawn
  std::string notes;        // how many samples, how they were taken, what was dropped
  std::string rule;         // how to read where a sample stands
};

// Of the states of all phases those that are named where there is room for `rows` names: the largest; "6 % the rest"
// takes the last row where some are not.
struct MosaicLegend {
  std::vector<bool> named;
  std::string rest;
};
MosaicLegend legend_of(const std::vector<MosaicCell>& all, std::size_t rows);

// Of the middles of narrow columns from left to right, pixels: whoever is at most `apart` from the one before shares
// its leader. For each leader the number of columns up to its last.
std::vector<std::size_t> leaders_of(std::span<const float> middles, float apart);

// What of a letter and a share has room in a box, `gap` between them, with `side` clear at either end; pixels.
struct BoxWords {
  bool sign = false, share = false;
};
BoxWords words_in_box(float box, float sign, float share, float gap, float side);

// `against` may be null. A row that was not timed has shares and no times.
MosaicScene mosaic_scene(const Measurement& row, const Measurement* against);

}  // namespace attn
