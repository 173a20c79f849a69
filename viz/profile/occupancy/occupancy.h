// How full an SM is, what keeps it from being fuller, and how far the next step is: plain values, drawn by
// occupancy_draw.cpp. The arithmetic is kernels/gpu/compile/occupancy.h's.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/gpu/compile/occupancy.h"
#include "profiling/figures/measurement.h"

namespace attn {

// One resource of a block, the others left as they are: how many warps fit as it grows.
struct StairStep {
  std::int64_t from = 0, to = 0;  // of the resource, both included
  std::int32_t warps = 0;         // of an SM; 0: such a block cannot be launched
};
struct Staircase {
  std::string title;  // "Registers per thread"
  std::vector<StairStep> steps;
  std::int64_t here = 0;  // -1: where the kernel stands is not shown
  std::string here_text;  // "254"
  bool limits = false;    // it is what keeps more blocks out, alone or with another
  std::string next;       // what changes it: "6 fewer: 2 blocks, 16 warps."
};

struct OccupancyScene {
  std::string empty;                  // why there is none; then nothing below is set
  std::vector<std::string> launches;  // of a kernel of several, also where it is empty: a line each
  std::string words;       // "1 block of 8 warps: 8 of 64, 12.5 %, held down by registers and shared memory."
  std::string more;        // what one more block needs: "2 blocks need at most 128 registers a thread and 113 KiB."
  std::string registers;   // where threads move registers among themselves: who has how many then; else empty
  std::string waves;       // "2048 blocks on 132 SMs: 15.5 waves; the last fills half."; empty: SMs not known
  double wave_count = 0;   // 15.5; 0: not known
  std::string arch;        // "sm_90a"
  double theoretical = 0;  // percent
  std::optional<double> achieved;   // percent, measured
  std::string achieved_text;        // "12.5 %", or why it was not measured
  std::int32_t top = 0;             // warps: the most that any step of the staircases reaches
  std::array<Staircase, 3> stairs;  // registers, shared memory, threads
};

// What a block may take at most for `blocks` of them to fit on an SM: each resource for itself. None: the threads or
// the SM's number of blocks forbid it.
struct BlockRoom {
  std::int32_t registers = 0;  // a thread
  std::int64_t shared = 0;     // bytes a block
};
std::optional<BlockRoom> room_of(const gpu::ArchLimits& arch, std::int32_t threads, std::int32_t blocks);
std::string kibibytes(std::int64_t bytes);

// `arch`: what the row's kernel was compiled for; `sms`: of its GPU, 0 = not known.
OccupancyScene occupancy_scene(const Measurement& m, const std::string& arch, std::int32_t sms);

}  // namespace attn
