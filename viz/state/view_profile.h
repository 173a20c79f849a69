// What Profile shows of its row, in the state string but not undoable.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kernels/gpu/compile/phases.h"

namespace attn {

enum class ProfilePage : std::uint8_t { figures, source, heartbeat, timeline, lab };
std::string_view name_of(ProfilePage page);  // "figures", "source", "heartbeat", "timeline", "lab"

// What stands beside the source.
enum class CodeKind : std::uint8_t { sass, ptx, diff };
std::string_view name_of(CodeKind code);  // "sass", "ptx", "diff"

struct ProfileView {
  ProfilePage page = ProfilePage::figures;
  CodeKind code = CodeKind::sass;
  std::string file;       // of the source: "flash_tile.cuh"; empty = the kernel's own
  std::int32_t line = 0;  // from 1; 0 = the one with the most instructions
  // The part of the run that the heartbeat shows, microseconds after its first launch began; both 0 = all of it.
  std::int64_t beat_from_us = 0, beat_to_us = 0;
  // The recorded timeline that is shown (id_of() it); empty: the one that fits what Profile speaks of best.
  std::string timeline;
  std::string time_beside;  // the recording that is drawn below it on the same axis; empty: none is
  // Its block that is shown, by its number in the grid; -1, or one that it does not hold in detail: the first that it
  // does.
  std::int64_t time_block = -1;
  // The part of its block, nanoseconds from the block's start; both 0 = all of it.
  std::int64_t time_from_ns = 0, time_to_ns = 0;
  std::int32_t key_tile = -1;  // that is lit; -1: all are
  bool time_path = true;       // the critical path is drawn over it
  bool time_sms = false;       // all SMs of the launch in place of one block's lanes
  bool roof_levels = false;    // the roofline by level: DRAM, L2, shared memory
  // The phase whose line is sought: the source goes there once its machine code is known, and then it is `none` again.
  gpu::CodePhase phase = gpu::CodePhase::none;
  std::string against;  // what changes are over: a kernel of the same run, or RUN/KERNEL; empty = the usual one
};

}  // namespace attn
