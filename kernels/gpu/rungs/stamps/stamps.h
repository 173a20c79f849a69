// The flight record of a pipelined kernel: how much memory its lanes' stamps take, and the timeline that they are.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/gpu/compile/sources.h"
#include "kernels/gpu/rungs/stamps/stamps_layout.h"
#include "kernels/model/kernel.h"
#include "kernels/recording/timeline.h"

namespace attn::gpu {

// More is refused.
constexpr std::uint64_t kStampLimit = 1ULL << 30;

// Which blocks are recorded event by event. Of all others it is kept when they took which query tile.
struct StampRequest {
  std::int64_t first = 0, blocks = 1;
};

// Where a launch's stamps go. The pointers of `args` are the caller's to set.
struct StampPlan {
  StampArgs args{};
  std::int64_t grid = 0;
  std::string entry;                // the launch that is recorded
  std::int32_t copies = 0;          // lanes that copy
  bool warps = false;               // the others are warps that do all themselves, not consumers
  std::vector<std::string> states;  // of a kernel of the user's own
  std::uint64_t heads() const;
  std::uint64_t words() const;
  // The block is recorded event by event.
  bool in_detail(std::int64_t block) const;
  // Words that a lane of the block has room for.
  std::uint64_t room_of(std::int64_t block) const;
  std::uint64_t bytes() const { return heads() * sizeof(StampHead) + words() * sizeof(std::uint32_t); }
};

// Refused in words: a kernel without stamps, a copy of its text without them, blocks that the launch has not, a buffer
// above kStampLimit. `source` as kernel_source() gives it.
Result<StampPlan> plan_stamps(const Plan& plan, const KernelSource& source, const StampRequest& request);

// What the compilation of stamps needs beside the plan's own defines.
void add_stamped_defines(const Plan& plan, std::vector<std::string>& defines);

// The stamps of one launch as they lay in memory. `words`: a lane's, in the order of the heads, those that it wrote.
struct Stamped {
  std::vector<StampHead> heads;
  std::vector<std::vector<std::uint32_t>> words;
};

// The lanes and blocks of the timeline, with its clocks; kernel, device and times are the caller's. Refused: a lane
// that had no room for its events, or whose stamps are no run of this kernel.
//
// Clocks. An SM's clock counts its own cycles; %globaltimer counts nanoseconds for all, in steps of 32. A lane of every
// block gives both at its start, at each query tile and at its end; between two of them time is their chord, for on an
// H100 the SMs' rates differ by up to 2 % and change within a launch.
Result<Timeline> timeline_of(const StampPlan& plan, const Stamped& stamped);

// The names of StampTag, by its numbers.
std::span<const char* const> stamp_tags();

}  // namespace attn::gpu
