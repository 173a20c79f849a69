// flash_bwd on the host: its tiles, and what flash_bwd.cu is launched with.
#include <algorithm>
#include <span>

#include "kernels/base/text.h"
#include "kernels/gpu/rungs/backward/backward_plan.h"
#include "kernels/gpu/rungs/backward/flash_bwd_layout.h"
#include "kernels/gpu/rungs/common.h"

namespace attn::gpu {
namespace {

constexpr DType kHalves[] = {DType::f16, DType::bf16};
// mma.m16n8k16 and copies that nobody waits for.
constexpr std::string_view kArchs[] = {"sm_80", "sm_86", "sm_89", "sm_90a", "sm_100", "sm_120"};

FlashBwdLayout layout_of(const Problem& p, const Options& o) {
  return flash_bwd_layout(static_cast<int>(p.D), static_cast<int>(p.Dv), o.br, o.bc, o.threads, o.stages);
}

std::int64_t shared_bytes(const Problem& p, const Options& o) {
  return layout_of(p, o).total;
}

struct Tile {
  std::int32_t br, bc, threads, stages;
};

// Shared memory decides on the smaller GPUs, registers on the larger: dK and dV of a key tile, S and dP of a tile. A
// bias takes some for its addresses, and so do rows that cannot be copied 16 bytes at a time.
std::span<const Tile> tiles_for(const Problem& p) {
  static constexpr Tile kNarrow[] = {{128, 128, 256, 2}, {64, 128, 256, 2}, {64, 64, 256, 2},
                                     {64, 64, 256, 1},   {32, 64, 128, 1},  {32, 32, 128, 1}};
  static constexpr Tile kMiddle[] = {
      {64, 128, 256, 2}, {64, 128, 256, 1}, {64, 64, 256, 1}, {32, 64, 128, 1}, {32, 32, 128, 1}};
  static constexpr Tile kShaped[] = {{64, 64, 256, 2}, {64, 64, 256, 1}, {32, 64, 128, 1}, {32, 32, 128, 1}};
  static constexpr Tile kWide[] = {{64, 64, 256, 1}, {32, 32, 128, 1}};
  static constexpr Tile kWideShaped[] = {{64, 32, 256, 2}, {64, 32, 256, 1}, {32, 32, 128, 1}};
  const std::int64_t width = std::max(p.D, p.Dv);
  const bool odd = p.D % 8 != 0 || p.Dv % 8 != 0;
  if (width > 128) return odd || p.changes_scores() ? std::span<const Tile>(kWideShaped) : kWide;
  if (p.changes_scores()) return kShaped;
  return width > 64 || odd ? std::span<const Tile>(kMiddle) : kNarrow;
}

Options with_tile(Options o, const Tile& t) {
  o.br = t.br;
  o.bc = t.bc;
  o.threads = t.threads;
  o.stages = t.stages;
  return o;
}

// The tile where nobody chose any of it; else what was chosen, the rest as usual.
Options chosen_tile(const Problem& p, const Options& o, const ArchLimits& arch) {
  Options whole = o;
  for (const Tile& t : tiles_for(p)) {
    whole = with_tile(o, t);
    if (shared_bytes(p, whole) <= arch.shared_block) break;
  }
  if (o.br != 0) whole.br = o.br;
  if (o.bc != 0) whole.bc = o.bc;
  if (o.threads != 0) whole.threads = o.threads;
  if (o.stages != 0) whole.stages = o.stages;
  return whole;
}

Result<void> check_tile(const KernelRow& row, const Problem& p, const Options& o, const Device& d,
                        const ArchLimits& arch) {
  if (!layout_of(p, o).fits) {
    return bad_input(
        phrase("{} needs Br and Bc of 16, 32, 64 or 128, divided evenly among its warps; {} threads do not work for {} "
               "x {}. Use 64 x 128 with 256 threads, for example.",
               row.id, o.threads, o.br, o.bc));
  }
  const std::int64_t bytes = shared_bytes(p, o);
  if (bytes <= arch.shared_block) return ok();
  return bad_input(
      phrase("{} does not fit at {} x {} with {} stages, D = {} and Dv = {}: a block needs {} bytes of shared memory, "
             "but {} has {}. Use a smaller Br or Bc or fewer stages, or omit the tile.",
             row.id, o.br, o.bc, o.stages, p.D, p.Dv, bytes, d.arch, arch.shared_block));
}

std::int64_t d_q_sums(const Problem& p, const Options& o) {
  return layout_of(p, o).d;
}

Result<Plan> plan(const KernelRow& row, const Problem& p, const Options& o, const Device& d) {
  const Result<ArchLimits> arch = limits_for(row, d);
  if (!arch) return tl::unexpected(arch.error());
  const Result<Options> resolved = resolve(row, chosen_tile(p, o, *arch), d);
  if (!resolved) return tl::unexpected(resolved.error());
  if (auto good = check_tile(row, p, *resolved, d, *arch); !good) return tl::unexpected(good.error());
  const FlashBwdLayout at = layout_of(p, *resolved);
  const std::int64_t heads = p.B * p.Hq, threads = resolved->threads;
  const std::int64_t fours = heads * padded_rows(p, *resolved) * at.d / 4;
  std::vector<Launch> launches{
      rows_launch("flash_bwd_rows", p, *resolved, 16),
      launch_of("flash_bwd_keys", tiles(p.Lk, resolved->bc) * p.B * p.Hkv, threads, 1, at.total),
      launch_of("flash_bwd_dq", tiles(fours, threads), threads, 1, 0)};
  return plan_of_backward(row, p, *resolved, std::move(launches));
}

}  // namespace

KernelRow flash_bwd_row() {
  static constexpr OptionSpec kOptions[] = {{&Option::br, 16, 128, 16, 64},
                                            {&Option::bc, 16, 128, 16, 128},
                                            {&Option::threads, 64, 256, 32, 256},
                                            {&Option::stages, 1, 2, 1, 2},
                                            {&kDeterministic, 0, 1, 1, 0}};
  KernelRow row = backward_row();
  row.id = "flash_bwd";
  row.title = marked("flash backward on mma.sync");
  row.rung = "7b";
  row.order = *order_named("backward");
  row.architectures = kArchs;
  row.dtypes = kHalves;
  row.options = kOptions;
  row.what =
      marked("FlashAttention-2's backward pass in f16 and bf16 on tensor cores, with an outer loop over key tiles.");
  row.teaches =
      marked("Five products per tile on tensor cores. Blocks accumulate dQ in fp32, in arbitrary or fixed order.");
  row.source = marked("Dao 2023, FlashAttention-2, algorithm 2; PTX ISA, mma.m16n8k16");
  row.products = {Pipe::tensor_half, 1};
  row.d_q_sums = d_q_sums;
  row.deterministic = &kDeterministic;
  row.training = {"flash_train", marked("flash training step on mma.sync"), "7t", "flash_mma"};
  row.plan = plan;
  return row;
}

}  // namespace attn::gpu
