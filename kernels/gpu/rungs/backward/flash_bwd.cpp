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
  return flash_bwd_layout(static_cast<int>(p.D), static_cast<int>(p.Dv), o.br, o.bc, o.threads, o.stages,
                          p.changes_scores());
}

// Of flash_bwd_rows: a query tile's O and dO.
std::int64_t rows_bytes(const FlashBwdLayout& at) {
  return 2 * at.d_o_bytes;
}

std::int64_t shared_bytes(const Problem& p, const Options& o) {
  const FlashBwdLayout at = layout_of(p, o);
  return std::max<std::int64_t>(at.total, rows_bytes(at));
}

struct Tile {
  std::int32_t br, bc, threads, stages;
};

// Rows that cannot be copied 16 bytes at a time.
bool is_odd(const Problem& p) {
  return p.D % 8 != 0 || p.Dv % 8 != 0;
}

Options with_tile(Options o, const Tile& t) {
  o.br = t.br;
  o.bc = t.bc;
  o.threads = t.threads;
  o.stages = t.stages;
  return o;
}

// Nobody chose other keys or threads.
bool agrees(const Options& o, const Tile& t) {
  return (o.bc == 0 || o.bc == t.bc) && (o.threads == 0 || o.threads == t.threads);
}

// Where keys are rows: as many queries as leave room for two blocks an SM and for every register in them. ptxas finds
// fewer where there is no stmatrix, and on sm_100. With 32 queries D is padded to 64, so narrow heads have more.
const Tile& key_rows_tile(const Problem& p, const ArchLimits& arch) {
  static constexpr Tile kMost{128, 128, 128, 1}, kMiddle{64, 128, 128, 1}, kFew{32, 128, 128, 1};
  if (arch.arch == "sm_90") return kMost;
  return arch.arch == "sm_100" || p.D <= 32 ? kMiddle : kFew;
}

// Where queries are rows. Shared memory decides on the smaller GPUs, registers on the larger: dK and dV of a key tile,
// S and dP of a tile. A bias takes some for its addresses, and so do rows that cannot be copied 16 bytes at a time.
std::span<const Tile> query_rows_tiles(const Problem& p) {
  static constexpr Tile kNarrow[] = {{128, 128, 256, 2}, {64, 128, 256, 2}, {64, 64, 256, 2},
                                     {64, 64, 256, 1},   {32, 64, 128, 1},  {32, 32, 128, 1}};
  static constexpr Tile kMiddle[] = {
      {64, 128, 256, 2}, {64, 128, 256, 1}, {64, 64, 256, 1}, {32, 64, 128, 1}, {32, 32, 128, 1}};
  static constexpr Tile kShaped[] = {{64, 64, 256, 2}, {64, 64, 256, 1}, {32, 64, 128, 1}, {32, 32, 128, 1}};
  static constexpr Tile kWide[] = {{64, 64, 256, 1}, {32, 32, 128, 1}};
  static constexpr Tile kWideShaped[] = {{64, 32, 256, 2}, {64, 32, 256, 1}, {32, 32, 128, 1}};
  const std::int64_t width = std::max(p.D, p.Dv);
  if (width > 128) return is_odd(p) || p.changes_scores() ? std::span<const Tile>(kWideShaped) : kWide;
  if (p.changes_scores()) return kShaped;
  return width > 64 || is_odd(p) ? std::span<const Tile>(kMiddle) : kNarrow;
}

// Two blocks an SM cover each other's waits: worth half the keys a block, unless they add in turns, which are as many
// as there are key tiles.
constexpr Tile kInPairs{64, 64, 128, 2};
bool fits_in_pairs(const Problem& p, const Options& o, const ArchLimits& arch) {
  const std::int64_t width = std::max(p.D, p.Dv);
  if (width <= 64 || width > 128 || is_odd(p) || p.changes_scores() || is_deterministic(o)) return false;
  if (!agrees(o, kInPairs) || (o.br != 0 && o.br != kInPairs.br)) return false;
  return 2 * (shared_bytes(p, with_tile(o, kInPairs)) + arch.shared_kept) <= arch.shared;
}

Options usual_tile(const Problem& p, const Options& o, const ArchLimits& arch) {
  const Tile& rows = key_rows_tile(p, arch);
  if (agrees(o, rows) && layout_of(p, with_tile(o, rows)).keys_are_rows) return with_tile(o, rows);
  if (fits_in_pairs(p, o, arch)) return with_tile(o, kInPairs);
  Options whole = o;
  for (const Tile& t : query_rows_tiles(p)) {
    whole = with_tile(o, t);
    if (shared_bytes(p, whole) <= arch.shared_block) break;
  }
  return whole;
}

// The tile where nobody chose any of it; else what was chosen, the rest as usual.
Options chosen_tile(const Problem& p, const Options& o, const ArchLimits& arch) {
  Options whole = usual_tile(p, o, arch);
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
  const std::int64_t rows = p.B * p.Hq * padded_rows(p, *resolved), threads = resolved->threads;
  constexpr std::int64_t kOfWarp = 256;  // numbers of dQ
  std::vector<Launch> launches{
      launch_of("flash_bwd_rows", rows / resolved->br, threads, 1, rows_bytes(at)),
      launch_of("flash_bwd_keys", tiles(p.Lk, resolved->bc) * p.B * p.Hkv, threads, 1, at.total),
      launch_of("flash_bwd_dq", tiles(rows * at.d / kOfWarp, threads / kWarp), threads, 1, 0)};
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
  row.teaches = marked(
      "Five products per tile on tensor cores. Up to D = 64, keys are the rows, so P and dS reach dV and dK from "
      "registers. Blocks accumulate dQ in fp32, in arbitrary or fixed order.");
  row.source = marked("Dao 2023, FlashAttention-2, algorithm 2; PTX ISA, mma.m16n8k16");
  row.products = {Pipe::tensor_half, 1};
  row.d_q_sums = d_q_sums;
  row.deterministic = &kDeterministic;
  row.training = {"flash_train", marked("flash training step on mma.sync"), "7t", "flash_mma"};
  row.plan = plan;
  return row;
}

}  // namespace attn::gpu
