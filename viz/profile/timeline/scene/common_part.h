// Of two recordings on one axis the part that is shown until another one is chosen.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "viz/profile/timeline/scene/timeline_scene.h"

namespace attn {

// Where a window as long as the scene's begins, so that both have a block there and key tiles in common: as many as
// three if they can, of one query tile with the most rows, and those that take most nearly what the whole blocks take
// for as much work. In the blocks' middle where they have no key tiles in common.
std::int64_t common_part(const PipelineScene& scene);

// A part of a half's window in which its block has not begun or is over.
struct BlockEdge {
  std::int64_t from = 0, to = 0;  // clocks of the block
  bool before = false;            // the block lies before it
  std::string words;              // "block 0 ended at 9.2 µs"
};
std::vector<BlockEdge> block_edges(const PipelineScene& half);

}  // namespace attn
