// The rungs of one problem one over the other: how long each takes, how far it is from the best peer, and what changed
// from rung to rung. Every number in a sentence is a field of the two measurements. Plain values; ladder_draw.cpp draws
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "profiling/figures/measurement.h"
#include "viz/state/model.h"
#include "viz/state/state.h"

namespace attn {

struct BenchSlice;  // viz/bench/scene/bench_scene.h

// A figure of a rung, with the same of the rung before.
struct LadderFigure {
  std::string text = "–";  // the dash: not available
  std::string change;      // "0.0074×", "same"; empty where one of the two is missing
  bool up = false, better = false, worse = false;
  std::string tip;
};
struct LadderColumn {
  std::string id, title, tip;
};

// What changed in one respect, and why: "DRAM", "105 GB became 779 MB: S and P, 34.4 GB, are no longer stored."
struct LadderSentence {
  std::string lead, words;
  bool missing = false;  // a figure is not available, and `words` say so
};

struct LadderRung {
  std::string kernel, rung;  // "flash_simt", "5"; a peer has no rung
  std::string name;          // what it is called: a peer's title, "FlashAttention-2"
  std::string idea;          // what is new against the rung before, from the kernel's row
  std::string before;        // the rung that changes are over; empty = the first
  std::string time;          // "59.5 ms"; empty where there is none, and `reason` says why
  std::string reason;
  double share = 0;  // of the reference: 1 = as fast; 0 = no time
  std::string share_text;
  std::vector<LadderFigure> figures;  // parallel to LadderScene::columns
  std::vector<LadderSentence> sentences;
  bool peer = false, cpu = false, hollow = false;
  bool chosen = false, reference = false, wrong = false;
};

struct LadderScene {
  std::string empty;        // why there is nothing; then nothing below is set
  std::string headline;     // "At L = 16384, flash_simt takes 59.5 ms and is 43 times as fast as naive."
  std::string subject;      // the kernel that it speaks of; empty: none has a time
  std::string recorded;     // recorded_words()
  std::string note;         // problem, what shares are of, what no rung has
  std::string share_title;  // "share of torch-flash"
  std::vector<LadderColumn> columns;
  std::vector<LadderRung> rungs;  // the GPU's, then the CPU's, in the order of the ladder; peers after their device's
  double most = 1;                // the largest share: what the longest bar stands for
  std::int64_t value = 0;         // of the axis
};

// A row of attention that is not ours: nothing of the ladder.
bool is_not_ours(const Measurement& m);
// What shares are of: the fastest right peer of these rows, else the fastest right rung; null = no row was timed.
const Measurement* ladder_reference(std::span<const Measurement* const> rows);
// What changed from `a` to `b`, a sentence a respect; those whose figures are missing say so. `most_bytes`: the largest
// of the DRAM bytes that stand beside these; its unit is theirs.
std::vector<LadderSentence> ladder_sentences(const Measurement& a, const Measurement& b, double most_bytes = 0);

// What was published of the table that the sweep repeats, beside ours; empty where nothing was.
std::string recorded_words(const State& state, const BenchSlice& slice, std::int64_t value);

LadderScene ladder_scene(const State& state, const Model& model, std::span<const Measurement> planned = {});

}  // namespace attn
