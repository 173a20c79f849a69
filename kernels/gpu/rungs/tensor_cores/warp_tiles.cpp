#include "kernels/gpu/rungs/tensor_cores/warp_tiles.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "kernels/base/text.h"

namespace attn::gpu {
namespace {

constexpr std::int32_t kFewRows = 16, kManyRows = 32;  // of a warp
// Before sm_80 copies go through registers and end before the next begins, and shared memory is small.
constexpr std::string_view kWithoutAsyncCopies = "sm_75";
constexpr std::int32_t kStagesWithoutAsyncCopies = 2;

Options options_of(const WarpTile& t) {
  Options o;
  o.br = t.br;
  o.bc = t.bc;
  o.threads = kWarp * t.br / t.warp_rows;
  o.stages = t.stages;
  return o;
}

Result<void> check_warps(const KernelRow& row, const Options& o) {
  const std::int32_t few = kWarp * o.br / kManyRows, many = kWarp * o.br / kFewRows;
  if (o.threads == many || (o.threads == few && o.br % kManyRows == 0)) return ok();
  const std::string either = o.br % kManyRows == 0 ? fmt::format("{} or {}", few, many) : fmt::format("{}", many);
  return bad_input(
      phrase("{} needs {} threads for {} query rows per tile, with {} or {} rows per warp; {} threads do not work.",
             row.id, either, o.br, kFewRows, kManyRows, o.threads));
}

Result<void> check_arch(const KernelRow& row, const Problem& p, const Options& o, const Device& d,
                        const ArchLimits& arch, std::int64_t bytes) {
  if (d.arch == kWithoutAsyncCopies && o.stages > kStagesWithoutAsyncCopies) {
    return bad_input(phrase("{} supports at most {} stages on {}, which has no asynchronous copies; {} do not work.",
                            row.id, kStagesWithoutAsyncCopies, d.arch, o.stages));
  }
  if (bytes <= arch.shared_block) return ok();
  const std::string stages = o.stages == 0 ? "" : phrase(", {} stages", o.stages);
  const char* const advice = o.stages == 0 ? tr("Use a smaller Br or Bc, or omit the tile.")
                                           : tr("Use a smaller Br or Bc or fewer stages, or omit the tile.");
  return bad_input(phrase(
      "{} does not fit at {} x {}{}, D = {} and Dv = {}: a block needs {} bytes of shared memory, but {} has {}. {}",
      row.id, o.br, o.bc, stages, p.D, p.Dv, bytes, d.arch, arch.shared_block, advice));
}

}  // namespace

WarpTile first_that_fits(std::span<const WarpTile> tiles, const Problem& p, const ArchLimits& arch,
                         SharedBytesFn shared_bytes) {
  const auto blocks = [&](const WarpTile& t) {
    const Options o = options_of(t);
    return occupancy(arch, o.threads, kMaxRegisters, shared_bytes(p, o)).blocks;
  };
  const auto wanted = [&](const WarpTile& t) {
    return occupancy(arch, options_of(t).threads, kMaxRegisters, 0).blocks;
  };
  const auto full = std::ranges::find_if(tiles, [&](const WarpTile& t) { return blocks(t) >= wanted(t); });
  if (full != tiles.end()) return *full;
  const auto any = std::ranges::find_if(tiles, [&](const WarpTile& t) { return blocks(t) >= 1; });
  return any != tiles.end() ? *any : tiles.back();
}

Result<Plan> plan_warp_tiles(const KernelRow& row, const Problem& p, const Options& o, const Device& d,
                             std::span<const WarpTile> tiles_of_rung, SharedBytesFn shared_bytes) {
  const Result<ArchLimits> arch = limits_for(row, d);
  if (!arch) return tl::unexpected(arch.error());
  const WarpTile fits = first_that_fits(tiles_of_rung, p, *arch, shared_bytes);
  Options asked = o;
  if (asked.br == 0) asked.br = fits.br;
  if (asked.bc == 0) asked.bc = fits.bc;
  if (asked.stages == 0) asked.stages = fits.stages;
  if (asked.threads == 0) {
    asked.threads = kWarp * asked.br / (asked.br % kManyRows == 0 ? fits.warp_rows : kFewRows);
  }
  const Result<Options> resolved = resolve(row, asked, d);
  if (!resolved) return tl::unexpected(resolved.error());
  if (auto good = check_warps(row, *resolved); !good) return tl::unexpected(good.error());
  const std::int64_t bytes = shared_bytes(p, *resolved);
  if (auto good = check_arch(row, p, *resolved, d, *arch, bytes); !good) return tl::unexpected(good.error());
  return plan_of(row, p, *resolved,
                 {launch_of(row.id, tiles(p.Lq, resolved->br) * p.B * p.Hq, resolved->threads, 1, bytes)});
}

}  // namespace attn::gpu
