// The table of phases: what each did, those that took the most time first. Plain values; phase_table_draw.cpp draws
// them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "viz/profile/phases/mosaic.h"
#include "viz/profile/source/source.h"

namespace attn {

struct PhaseLine {
  std::size_t row = 0;             // of SourceScene::phases
  std::vector<std::string> cells;  // one a head
};
struct PhaseHead {
  std::string text, brief, tip;  // `brief`: where `text` has no room; `tip`: what stands in the column
};
struct PhaseTable {
  std::vector<PhaseHead> heads;
  std::vector<PhaseLine> lines;
  bool timed = false;  // its first column is the share of the warps' time, and the lines stand in its order
};

// `counts`: what was counted, else how many instructions of each kind stand in the code. `brief`: less room a column.
PhaseTable phase_table(const SourceScene& scene, const MosaicScene& mosaic, bool counts, bool brief);

// The line of that phase; the table's size where it has none.
std::size_t line_of(const PhaseTable& table, const SourceScene& scene, gpu::CodePhase phase);

// How two cards share a height: the first has what it needs, or what the second leaves of it, and half at least.
struct SharedHeight {
  float first = 0, second = 0;
};
SharedHeight share_height(float height, float first_needs, float second_needs);

}  // namespace attn
