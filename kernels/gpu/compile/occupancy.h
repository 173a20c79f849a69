// How many warps of a kernel fit on one SM at once, and what keeps more from fitting.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace attn::gpu {

// What one SM of an architecture has (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").
struct ArchLimits {
  std::string_view arch;           // "sm_80"
  std::int32_t threads = 0;        // a SM
  std::int32_t blocks = 0;         // a SM
  std::int64_t shared = 0;         // bytes a SM
  std::int64_t shared_block = 0;   // bytes a block may ask for
  std::int64_t shared_kept = 0;    // bytes that the system takes of each block's
  std::int64_t shared_unit = 128;  // allocated in steps of this many bytes
};
constexpr std::int32_t kWarp = 32;
constexpr std::int32_t kRegistersOfSm = 65536;  // of every architecture listed
constexpr std::int32_t kMaxRegisters = 255;     // a thread
constexpr std::int32_t kRegisterUnit = 256;     // registers of a warp come in steps of this many
constexpr std::int32_t kMaxThreads = 1024;      // a block

std::span<const ArchLimits> all_archs();
// "sm_90a" is sm_90 with instructions of its own: the same limits.
std::optional<ArchLimits> limits_of(std::string_view arch);

struct Occupancy {
  std::int32_t blocks = 0;  // a SM; 0: the kernel cannot be launched
  std::int32_t warps = 0;
  std::int32_t max_warps = 0;
  std::string limiter;  // "registers", "shared memory", "threads", "blocks", joined by " and " where they tie
  double percent() const { return max_warps == 0 ? 0 : 100.0 * warps / max_warps; }
};

// `shared` = static + dynamic bytes of a block.
Occupancy occupancy(const ArchLimits& arch, std::int32_t threads, std::int32_t registers, std::int64_t shared);

}  // namespace attn::gpu
