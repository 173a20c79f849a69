// flash_tf32x3 on the host: its tiles, and what flash_tf32x3.cu is launched with.
#include <algorithm>

#include "kernels/base/text.h"
#include "kernels/gpu/rungs/tensor_cores/flash_tf32x3_layout.h"
#include "kernels/gpu/rungs/tensor_cores/warp_tiles.h"
#include "kernels/gpu/rungs/trace/trace.h"

namespace attn::gpu {
namespace {

constexpr DType kFp32[] = {DType::f32};
constexpr std::string_view kWithTf32[] = {"sm_80", "sm_86", "sm_89", "sm_90a", "sm_100", "sm_120"};

std::int64_t shared_bytes(const Problem& p, const Options& o) {
  return flash_tf32x3_layout(static_cast<int>(p.D), static_cast<int>(p.Dv), o.br, o.bc, o.threads, o.stages).total;
}

// 32 rows a warp while O leaves room for them. Wider than 64 columns two warps share 32 rows where D lets them, which
// counts as 16 a warp. A bias takes registers for its addresses, and so do rows that cannot be copied 16 bytes at a
// time.
std::span<const WarpTile> tiles_for(const Problem& p) {
  static constexpr WarpTile kNarrow[] = {{128, 32, 32, 2}, {128, 32, 32, 1}, {64, 32, 32, 1}};
  static constexpr WarpTile kMiddle[] = {{128, 32, 16, 1}, {64, 32, 16, 1}, {64, 16, 16, 1}};
  static constexpr WarpTile kWide[] = {{128, 16, 16, 1}, {64, 16, 16, 1}, {32, 16, 16, 1}, {16, 16, 16, 1}};
  static constexpr WarpTile kPairs[] = {{128, 64, 16, 2}, {128, 32, 16, 2}, {64, 32, 16, 1}, {64, 16, 16, 1}};
  static constexpr WarpTile kWidePairs[] = {{128, 32, 16, 1}, {128, 16, 16, 1}, {64, 16, 16, 1}, {32, 16, 16, 1}};
  const std::int64_t width = std::max(p.D, p.Dv);
  const bool plain = !p.changes_scores();
  const bool pairs = plain && flash_tf32x3_pairs(static_cast<int>(p.D), static_cast<int>(p.Dv));
  if (pairs && width <= 128) return kPairs;
  if (pairs && width == kMaxHeadDim) return kWidePairs;
  if (width > 128 || (!plain && width > 64)) return kWide;
  const bool tall = width <= 64 && plain && p.D % 4 == 0 && p.Dv % 4 == 0;
  return tall ? std::span<const WarpTile>(kNarrow) : kMiddle;
}

Result<Plan> plan(const KernelRow& row, const Problem& p, const Options& o, const Device& d) {
  return plan_warp_tiles(row, p, o, d, tiles_for(p), shared_bytes);
}

TraceFacts trace(const Problem& p, const Options& o) {
  TraceFacts facts = fragment_facts(p);
  facts.tf32x3 = facts.computes_again = true;
  facts.lanes *=
      flash_tf32x3_layout(static_cast<int>(p.D), static_cast<int>(p.Dv), o.br, o.bc, o.threads, o.stages).sharers;
  return facts;
}

}  // namespace

KernelRow flash_tf32x3_row() {
  static constexpr OptionSpec kOptions[] = {{&Option::br, 16, 256, 16, 128},
                                            {&Option::bc, 16, 128, 16, 32},
                                            {&Option::threads, 32, 512, 32, 128},
                                            {&Option::stages, 1, 4, 1, 1}};
  KernelRow row = common_row();
  row.id = "flash_tf32x3";
  row.title = marked("flash on TF32, three products");
  row.rung = "9";
  row.order = Order::flash;
  row.architectures = kWithTf32;
  row.dtypes = kFp32;
  row.options = kOptions;
  row.what = marked("FlashAttention-2 in fp32 on tensor cores: each product as three of TF32.");
  row.teaches = marked("A number in two parts gives tensor cores fp32's accuracy at a third of their rate.");
  row.source =
      marked("Dao 2023, FlashAttention-2, algorithm 1; Ootomo and Yokota 2022, error correction on tensor cores");
  row.products = {Pipe::tensor_tf32, 3};
  row.plan = plan;
  row.trace = trace;
  return row;
}

}  // namespace attn::gpu
