#include "kernels/gpu/compile/occupancy.h"

#include <algorithm>
#include <array>

#include "kernels/base/text.h"

namespace attn::gpu {
namespace {

constexpr std::int64_t kKiB = 1024;

constexpr std::array<ArchLimits, 7> kArchs{{
    {"sm_75", 1024, 16, 64 * kKiB, 64 * kKiB, 0, 256},
    {"sm_80", 2048, 32, 164 * kKiB, 163 * kKiB, kKiB, 128},
    {"sm_86", 1536, 16, 100 * kKiB, 99 * kKiB, kKiB, 128},
    {"sm_89", 1536, 24, 100 * kKiB, 99 * kKiB, kKiB, 128},
    {"sm_90", 2048, 32, 228 * kKiB, 227 * kKiB, kKiB, 128},
    {"sm_100", 2048, 32, 228 * kKiB, 227 * kKiB, kKiB, 128},
    {"sm_120", 1536, 24, 100 * kKiB, 99 * kKiB, kKiB, 128},
}};

// An SM has four parts with a quarter of the registers each; a warp lives in one of them.
constexpr std::int32_t kParts = 4;

std::int64_t rounded_up(std::int64_t n, std::int64_t unit) {
  return (n + unit - 1) / unit * unit;
}

std::int32_t blocks_by_registers(std::int32_t warps, std::int32_t registers) {
  if (registers > kMaxRegisters) return 0;
  const auto of_warp =
      static_cast<std::int32_t>(rounded_up(std::int64_t{std::max(registers, 1)} * kWarp, kRegisterUnit));
  return kRegistersOfSm / kParts / of_warp * kParts / warps;
}

}  // namespace

std::span<const ArchLimits> all_archs() {
  return kArchs;
}

std::optional<ArchLimits> limits_of(std::string_view arch) {
  if (!arch.empty() && arch.back() == 'a') arch.remove_suffix(1);
  for (const ArchLimits& a : kArchs) {
    if (a.arch == arch) return a;
  }
  return std::nullopt;
}

Occupancy occupancy(const ArchLimits& arch, std::int32_t threads, std::int32_t registers, std::int64_t shared) {
  Occupancy o;
  o.max_warps = arch.threads / kWarp;
  if (threads < 1) return o;
  const std::int32_t warps = (threads + kWarp - 1) / kWarp;
  struct Limit {
    const char* name;
    std::int64_t blocks;
  };
  const std::int64_t of_block = rounded_up(shared + arch.shared_kept, arch.shared_unit);
  const std::array<Limit, 4> limits{{
      {marked("registers"), blocks_by_registers(warps, registers)},
      {marked("shared memory"), shared > arch.shared_block ? 0
                                : of_block == 0            ? arch.blocks
                                                           : arch.shared / of_block},
      {marked("threads"), threads > kMaxThreads ? 0 : o.max_warps / warps},
      {marked("blocks"), arch.blocks},
  }};
  const auto min = std::ranges::min_element(limits, {}, &Limit::blocks);
  o.blocks = static_cast<std::int32_t>(min->blocks);
  o.warps = o.blocks * warps;
  for (const Limit& limit : limits) {
    if (limit.blocks != min->blocks) continue;
    o.limiter += (o.limiter.empty() ? "" : " and ") + std::string(limit.name);
  }
  return o;
}

}  // namespace attn::gpu
