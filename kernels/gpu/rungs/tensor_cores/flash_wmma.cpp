// flash_wmma on the host: its tiles, and what flash_wmma.cu is launched with.
#include <algorithm>

#include "kernels/base/text.h"
#include "kernels/gpu/rungs/tensor_cores/flash_wmma_layout.h"
#include "kernels/gpu/rungs/tensor_cores/warp_tiles.h"
#include "kernels/gpu/rungs/trace/trace.h"

namespace attn::gpu {
namespace {

constexpr DType kHalves[] = {DType::f16, DType::bf16};

std::int64_t shared_bytes(const Problem& p, const Options& o) {
  return flash_wmma_layout(static_cast<int>(p.D), static_cast<int>(p.Dv), o.br, o.bc, o.threads).total;
}

// 32 rows a warp, one a lane in the softmax, while O's fragments leave room for them. Fewer keys where registers are
// short: a bias has addresses, rows that are no whole multiples of 16 bytes are copied through registers, and a bf16
// fragment is read in more and smaller pieces than one of f16. For sm_100 the compiler finds fewer registers than for
// any other: 128 x 64 at D = 128 would spill 292 bytes there alone.
std::span<const WarpTile> tiles_for(const Problem& p, std::string_view arch) {
  static constexpr WarpTile kNarrow[] = {{128, 64, 32}, {128, 32, 32}, {64, 32, 32}};
  static constexpr WarpTile kNarrowBf16[] = {{64, 64, 32}, {64, 32, 32}};
  static constexpr WarpTile kMiddle[] = {{128, 48, 32}, {64, 48, 32}, {64, 32, 32}};
  static constexpr WarpTile kWide[] = {{64, 32, 16}, {64, 16, 16}, {32, 16, 16}, {16, 16, 16}};
  const std::int64_t width = std::max(p.D, p.Dv);
  const bool plain = !p.changes_scores() && p.D % 8 == 0 && p.Dv % 8 == 0;
  if (width > 128) return std::span<const WarpTile>(kWide).subspan(plain ? 0 : 1);
  if (!plain) return std::span<const WarpTile>(kNarrow).subspan(1);
  if (p.dtype == DType::f16) return width > 64 && arch == "sm_100" ? std::span<const WarpTile>(kMiddle) : kNarrow;
  return width <= 64 ? std::span<const WarpTile>(kNarrowBf16) : kMiddle;
}

Result<Plan> plan(const KernelRow& row, const Problem& p, const Options& o, const Device& d) {
  if (d.arch == "sm_75" && p.dtype == DType::bf16) {
    return fail(ErrorKind::cannot_run,
                phrase("{} supports only f16 on sm_75, whose tensor cores do not support bf16", row.id));
  }
  return plan_warp_tiles(row, p, o, d, tiles_for(p, d.arch), shared_bytes);
}

// A warp has 16 or 32 rows: two lanes a row or one.
TraceFacts trace(const Problem& p, const Options& o) {
  TraceFacts facts = flash_facts(o.br / (o.threads / 32) == 16 ? 2 : 1);
  facts.p_dtype = p.dtype;
  facts.products = true;
  return facts;
}

}  // namespace

KernelRow flash_wmma_row() {
  static constexpr OptionSpec kOptions[] = {
      {&Option::br, 16, 128, 16, 128}, {&Option::bc, 16, 128, 16, 64}, {&Option::threads, 32, 256, 32, 128}};
  KernelRow row = common_row();
  row.id = "flash_wmma";
  row.title = marked("flash on WMMA");
  row.rung = "6";
  row.order = Order::flash;
  row.dtypes = kHalves;
  row.options = kOptions;
  row.what = marked("FlashAttention-2 in f16 and bf16 on tensor cores, using WMMA from CUDA C++.");
  row.teaches =
      marked("Both products run on tensor cores. WMMA fragments are opaque, so S goes through shared memory.");
  row.source = marked("Dao 2023, FlashAttention-2, algorithm 1; CUDA C++ Programming Guide, warp matrix functions");
  row.products = {Pipe::tensor_half, 1};
  row.betters.copies_ahead = "flash_mma";
  row.plan = plan;
  row.trace = trace;
  return row;
}

}  // namespace attn::gpu
