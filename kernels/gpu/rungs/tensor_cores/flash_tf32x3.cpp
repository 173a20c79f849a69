// flash_tf32x3 on the host: its tiles, and what flash_tf32x3.cu is launched with.
#include <algorithm>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "kernels/gpu/rungs/tensor_cores/flash_tf32x3_layout.h"
#include "kernels/gpu/rungs/tensor_cores/fragments.h"
#include "kernels/gpu/rungs/tensor_cores/mma_layout.h"
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

// ---- fragments: mma.m16n8k8 in TF32, each fp32 number in two parts
//
// The sum over keys does not mind their order, so P stays where S was and V's rows follow: step t of the product is key
// 2 t, step t + 4 key 2 t + 1. V's columns are dealt out to two products alike, and so O's are.

ElementPlace place_rows(std::int32_t row, std::int32_t column) {
  return by_ldmatrix(ldmatrix_row, ldmatrix_chunk, row, column, 4);
}
ElementPlace place_p(std::int32_t row, std::int32_t column) {
  const FragmentPlace c = fragment_c(row, column);
  return {c.lane, c.reg % 2 * 2 + c.reg / 2, 0};  // x.set(e, p[e % 2 * 2 + e / 2]) in flash_tf32x3.cu
}
// Lane (g, t) reads rows 2 t and 2 t + 1 at columns 2 g and 2 g + 1.
ElementPlace place_v(std::int32_t row, std::int32_t column) {
  return {column / 2 * 4 + row / 2, row % 2 * 2 + column % 2, 0};
}
ElementPlace place_o(std::int32_t row, std::int32_t column) {
  const FragmentPlace c = fragment_c(row, column / 2);
  return {c.lane, c.reg + 4 * (column % 2), 0};
}

// Of four registers that a lane reads product n takes n and n + 2.
std::string register_of_b(const ElementPlace& place) {
  return fmt::format("b{}{}", place.reg / 2, place.reg % 2 == 0 ? "" : "'");
}

SharedUse read_rows(std::int32_t width, bool swizzle) {
  return read_by_ldmatrix(ldmatrix_row, ldmatrix_chunk, width, swizzle);
}

// Eight bytes a lane: sixteen lanes a moment.
SharedUse read_v(std::int32_t width, bool swizzle) {
  SharedUse use{8, width, {}};
  for (int odd = 0; odd < 2; ++odd) {
    for (int half = 0; half < 2; ++half) {
      auto& moment = use.moments.emplace_back();
      for (int lane = 16 * half; lane < 16 * half + 16; ++lane) {
        const int g = lane / 4, row = lane % 4 * 2 + odd;
        moment.push_back({lane, byte_of(row, g / 2, width, swizzle) + g % 2 * 8, 8});
      }
    }
  }
  return use;
}

std::int32_t padded_row(const Problem& p, bool of_v) {
  const FlashTf32x3Layout at = flash_tf32x3_layout(static_cast<int>(p.D), static_cast<int>(p.Dv), 64, 32, 64, 1);
  return of_v ? at.dv : at.d;
}

FragmentLayout make_layout() {
  constexpr std::string_view kA = marked("operand A"), kB = marked("two operands B"), kC = marked("two sums C");
  FragmentLayout layout;
  layout.shape = marked("mma.m16n8k8 in TF32");
  layout.element_bytes = 4;
  layout.padded = padded_row;
  layout.swizzled = swizzled;
  layout.tiles = {
      FragmentRow{.extent = {16, 8},
                  .place = place_rows,
                  .register_name = register_of_a,
                  .operand = kA,
                  .words = marked("One ldmatrix loads it. Each lane splits its numbers into two parts."),
                  .shared = read_rows,
                  .shared_words = kOneRead},
      FragmentRow{.extent = {16, 8},  // two tiles of eight keys at once
                  .place = place_rows,
                  .register_name = register_of_b,
                  .operand = kB,
                  .words = marked("One ldmatrix loads both operands: keys 0 to 7 for one product, 8 to 15 for the "
                                  "next. Each lane splits its numbers."),
                  .shared = read_rows,
                  .shared_words = kOneRead},
      two_sums(kC, marked("Two products side by side. P for 8 keys stays in these lanes.")),
      FragmentRow{
          .extent = {16, 8},
          .place = place_p,
          .register_name = register_of_a,
          .operand = kA,
          .words = marked(
              "Each lane holds exactly the same elements as it did for S. The operand needs keys t and t + 4, not 2 t "
              "and 2 t + 1. The order of keys does not change the sum, so V's rows are read in P's order."),
          .shared_words = kNeverShared},
      FragmentRow{.extent = {8, 16},
                  .place = place_v,
                  .register_name = register_of_b,
                  .operand = kB,
                  .words = marked("A lane reads two elements adjacent along d from two neighbouring keys. The rows are "
                                  "in P's order, and the columns are distributed over two products."),
                  .shared = read_v,
                  .shared_words = marked("Its two 8-byte reads per lane take")},
      FragmentRow{.extent = {16, 16},
                  .place = place_o,
                  .register_name = register_of_c,
                  .operand = kC,
                  .words = marked("A lane ends up with four elements adjacent along d, which form one 16-byte write."),
                  .shared_words = marked("O goes straight from registers to device memory, 16 bytes per lane.")},
  };
  return layout;
}

const FragmentLayout& fragments() {
  static const FragmentLayout kLayout = make_layout();
  return kLayout;
}

}  // namespace

KernelRow flash_tf32x3_row() {
  static constexpr OptionSpec kOptions[] = {{&Option::br, 16, 256, 16, 128},
                                            {&Option::bc, 16, 128, 16, 32},
                                            {&Option::threads, 32, 512, 32, 128},
                                            {&Option::stages, 1, 4, 1, 1}};
  KernelRow row = common_row();
  row.id = "flash_tf32x3";
  row.title = marked("flash with three TF32 products");
  row.rung = "9";
  row.order = Order::flash;
  row.architectures = kWithTf32;
  row.dtypes = kFp32;
  row.options = kOptions;
  row.what = marked("FlashAttention-2 in fp32 on tensor cores, with each product computed as three TF32 products.");
  row.teaches = marked("Splitting each number in two gives tensor cores fp32 accuracy at a third of their rate.");
  row.source =
      marked("Dao 2023, FlashAttention-2, algorithm 1; Ootomo and Yokota 2022, error correction on tensor cores");
  row.products = {Pipe::tensor_tf32, 3};
  row.fragments = &fragments();
  row.plan = plan;
  row.trace = trace;
  return row;
}

}  // namespace attn::gpu
