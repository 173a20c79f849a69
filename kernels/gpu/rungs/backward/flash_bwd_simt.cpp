// flash_bwd_simt on the host: its default tile, and what flash_bwd_simt.cu is launched with.
#include <array>

#include "kernels/base/text.h"
#include "kernels/gpu/rungs/backward/backward_plan.h"
#include "kernels/gpu/rungs/backward/flash_bwd_simt_layout.h"
#include "kernels/gpu/rungs/common.h"

namespace attn::gpu {
namespace {

constexpr DType kFp32[] = {DType::f32};
// From here on a block may have the shared memory that wide heads take.
constexpr std::string_view kArchs[] = {"sm_80", "sm_86", "sm_89", "sm_90a", "sm_100", "sm_120"};

std::int64_t shared_bytes(const Problem& p, const Options& o) {
  return std::int64_t{4} * flash_bwd_simt_layout(static_cast<int>(p.D), static_cast<int>(p.Dv), o.br, o.bc).total;
}

// The first of these that fits: large tiles read shared memory least for each multiply-add. dK and dV of wide heads
// leave registers for few keys.
Options default_tile(const Problem& p, const ArchLimits& arch) {
  struct Tile {
    std::int32_t br, bc;
  };
  static constexpr std::array<Tile, 5> kTiles{{{64, 64}, {32, 64}, {32, 32}, {16, 32}, {16, 16}}};
  Options o;
  for (const Tile& t : kTiles) {
    if (std::max(p.D, p.Dv) > 128 && t.bc > 32) continue;
    o.br = t.br;
    o.bc = t.bc;
    if (shared_bytes(p, o) <= arch.shared_block) break;
  }
  return o;
}

Result<Plan> plan(const KernelRow& row, const Problem& p, const Options& o, const Device& d) {
  const Result<ArchLimits> arch = limits_for(row, d);
  if (!arch) return tl::unexpected(arch.error());
  Options wanted = o;
  const Options defaults = default_tile(p, *arch);
  if (wanted.br == 0) wanted.br = defaults.br;
  if (wanted.bc == 0) wanted.bc = defaults.bc;
  const Result<Options> resolved = resolve(row, wanted, d);
  if (!resolved) return tl::unexpected(resolved.error());
  const std::int64_t bytes = shared_bytes(p, *resolved);
  if (bytes > arch->shared_block) {
    return bad_input(
        phrase("{} does not fit at {} x {} with D = {}: a block needs {} bytes of shared memory, but {} has {}. Use a "
               "smaller Br or Bc, or omit the tile.",
               row.id, resolved->br, resolved->bc, p.D, bytes, d.arch, arch->shared_block));
  }
  std::vector<Launch> launches{
      rows_launch("flash_bwd_simt_rows", p, *resolved),
      launch_of("flash_bwd_simt_keys", tiles(p.Lk, resolved->bc) * p.B * p.Hkv, resolved->threads, 1, bytes)};
  if (is_deterministic(*resolved))
    launches.push_back(
        launch_of("flash_bwd_simt_queries", tiles(p.Lq, resolved->br) * p.B * p.Hq, resolved->threads, 1, bytes));
  return plan_of_backward(row, p, *resolved, std::move(launches));
}

}  // namespace

KernelRow flash_bwd_simt_row() {
  static constexpr OptionSpec kOptions[] = {
      {&Option::br, 16, 64, 16, 64},
      {&Option::bc, 16, 64, 16, 64},
      {&Option::threads, kFlashBwdSimtThreads, kFlashBwdSimtThreads, 1, kFlashBwdSimtThreads},
      {&kDeterministic, 0, 1, 1, 0}};
  KernelRow row = backward_row();
  row.id = "flash_bwd_simt";
  row.title = marked("flash backward on CUDA cores");
  row.rung = "5b";
  row.order = *order_named("backward");
  row.architectures = kArchs;
  row.dtypes = kFp32;
  row.options = kOptions;
  row.what = marked("FlashAttention-2's backward pass in fp32 on CUDA cores, with an outer loop over key tiles.");
  row.teaches = marked("S and P are recomputed from LSE, one tile at a time. S, P and dS never reach device memory.");
  row.source = marked("Dao 2023, FlashAttention-2, algorithm 2");
  row.deterministic = &kDeterministic;
  row.training = {"flash_simt_train", marked("flash training step on CUDA cores"), "5t", "flash_simt"};
  row.plan = plan;
  return row;
}

}  // namespace attn::gpu
