// Where a kernel's bytes stand between the least that its order must move and what it would ask for without a cache,
// and what the pipes say: each figure with one sentence made of figures. Plain values; bytes_and_pipes_draw.cpp draws
// them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/model/kernel.h"
#include "profiling/figures/measurement.h"
#include "viz/profile/figures/bytes_line.h"

namespace attn {

// Figures that are not there for one and the same reason.
struct MissingFigures {
  std::string titles;  // "L2 hits, Bank conflicts"
  std::string reason;
};

struct BytesScene {
  double compulsory = 0, tile_loads = 0;  // bytes; 0 = not known
  std::optional<double> dram;             // counted
  std::string compulsory_text, tile_loads_text, dram_text;
  std::string words;             // "DRAM moved 779 MB: 1.45 times the least, 0.0225 times the tile loads."
  std::vector<BytesLine> lines;  // those that are there
  std::vector<MissingFigures> missing;
};

// `sms`: of the row's device; 0 = not known. `caches`: of the CPU that it was taken on, where that is known.
BytesScene bytes_scene(const Measurement& m, std::int32_t sms = 0, std::span<const CacheLevel> caches = {});
// "115 million": counts of events, which are read and not computed with.
std::string count_words(double count);

}  // namespace attn
