// flash_mma on the host: its tiles, and what flash_mma.cu is launched with.
#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "kernels/gpu/rungs/tensor_cores/flash_mma_layout.h"
#include "kernels/gpu/rungs/tensor_cores/fragments.h"
#include "kernels/gpu/rungs/tensor_cores/mma_layout.h"
#include "kernels/gpu/rungs/tensor_cores/warp_tiles.h"
#include "kernels/gpu/rungs/trace/trace.h"

namespace attn::gpu {
namespace {

constexpr DType kHalves[] = {DType::f16, DType::bf16};

std::int64_t shared_bytes(const Problem& p, const Options& o) {
  return flash_mma_layout(static_cast<int>(p.D), static_cast<int>(p.Dv), o.br, o.bc, o.threads, o.stages).total;
}

// 32 rows a warp while O leaves room for them, and as many keys as the registers hold. A bias takes registers for its
// addresses, and so do rows that cannot be copied 16 bytes at a time; and so do the half-sized products of sm_75.
std::span<const WarpTile> tiles_for(const Problem& p, std::string_view arch) {
  static constexpr WarpTile kNarrow[] = {{128, 128, 32, 2}, {128, 64, 32, 2}, {128, 64, 32, 1}, {64, 32, 32, 1}};
  static constexpr WarpTile kMiddle[] = {{128, 64, 32, 2}, {128, 32, 32, 2}, {128, 32, 32, 1}, {64, 32, 32, 1}};
  static constexpr WarpTile kMiddleBiased[] = {{128, 32, 32, 2}, {128, 32, 32, 1}, {64, 32, 32, 1}};
  static constexpr WarpTile kWide[] = {{128, 64, 16, 2}, {128, 32, 16, 2}, {64, 32, 16, 2}, {64, 32, 16, 1}};
  static constexpr WarpTile kWideBiased[] = {{128, 32, 16, 2}, {64, 32, 16, 2}, {64, 32, 16, 1}};
  static constexpr WarpTile kHalfProducts[] = {{64, 64, 16, 1}, {64, 32, 16, 1}, {32, 32, 16, 1}};
  const std::int64_t width = std::max(p.D, p.Dv);
  if (arch == "sm_75" && (width > 64 || p.changes_scores())) return kHalfProducts;
  if (width > 128) return p.changes_scores() ? std::span<const WarpTile>(kWideBiased) : kWide;
  if (p.changes_scores()) return kMiddleBiased;
  return width > 64 || p.D % 8 != 0 || p.Dv % 8 != 0 ? std::span<const WarpTile>(kMiddle) : kNarrow;
}

Result<Plan> plan(const KernelRow& row, const Problem& p, const Options& o, const Device& d) {
  if (d.arch == "sm_75" && p.dtype == DType::bf16) {
    return fail(ErrorKind::cannot_run,
                phrase("{} supports only f16 on sm_75, whose tensor cores do not support bf16", row.id));
  }
  return plan_warp_tiles(row, p, o, d, tiles_for(p, d.arch), shared_bytes);
}

TraceFacts trace(const Problem& p, const Options&) {
  return fragment_facts(p);
}

// A lane a warp; a query tile is a block.
StampSizes stamps(const Plan& plan) {
  const Launch& launch = plan.launches.front();
  const std::int64_t keys = (plan.problem.Lk + plan.options.bc - 1) / plan.options.bc;
  return {plan.options.threads / 32, 0, true, launch.grid[0] * launch.grid[1] * launch.grid[2], keys, {}, {}};
}

std::span<const Experiment> flash_mma_experiments() {
  static const std::array kTable{
      Experiment{
          .id = "one_stage",
          .title = marked("One stage"),
          .rung = "flash_mma",
          .question = marked("Is the second buffer of K and V worth its shared memory?"),
          .change = marked("With stages = 1, each key tile is copied, waited for and multiplied before the next one."),
          .answer = marked("On an H100 (f16, L = 4096, H = 16, D = 64): 203 µs instead of 194 µs, 1.05 times as long. "
                           "Registers limit the occupancy to 12.5 %, so freeing shared memory gains nothing."),
          .options = {.stages = 1}},
  };
  return kTable;
}

// ---- fragments: mma.m16n8k16 on f16 and bf16

constexpr TileExtent kExtent{16, 16};

ElementPlace place_q(std::int32_t row, std::int32_t column) {
  return by_ldmatrix(ldmatrix_row, ldmatrix_chunk, row, column, 2);
}
ElementPlace place_k(std::int32_t row, std::int32_t column) {
  return by_ldmatrix(ldmatrix_row_of_k, ldmatrix_chunk_of_k, row, column, 2);
}
ElementPlace place_v(std::int32_t row, std::int32_t column) {
  return by_ldmatrix_transposed(ldmatrix_row, ldmatrix_chunk, row, column);
}

// Of four registers that a lane reads the two operands take 0, 1 and 2, 3.
std::string register_of_b(const ElementPlace& place) {
  return fmt::format("b{}{}", place.reg % 2, place.reg / 2 == 0 ? "" : "'");
}

SharedUse read_rows(std::int32_t width, bool swizzle) {
  return read_by_ldmatrix(ldmatrix_row, ldmatrix_chunk, width, swizzle);
}
SharedUse read_k(std::int32_t width, bool swizzle) {
  return read_by_ldmatrix(ldmatrix_row_of_k, ldmatrix_chunk_of_k, width, swizzle);
}

// O on its way out: a register of two neighbours a lane and store, in Q's place.
SharedUse write_o(std::int32_t width, bool swizzle) {
  constexpr std::int32_t kRegisterBytes = 4;
  SharedUse use{16, width, {}};
  for (int h = 0; h < 2; ++h) {
    for (int n = 0; n < 2; ++n) {
      auto& moment = use.moments.emplace_back();
      for (int lane = 0; lane < 32; ++lane) {
        const std::int32_t at = byte_of(lane / 4 + 8 * h, n, width, swizzle) + lane % 4 * kRegisterBytes;
        moment.push_back({lane, at, kRegisterBytes});
      }
    }
  }
  return use;
}

// Padded extents do not hang on the tile; any that the kernel takes will do.
std::int32_t padded_row(const Problem& p, bool of_v) {
  const FlashMmaLayout at = flash_mma_layout(static_cast<int>(p.D), static_cast<int>(p.Dv), 64, 32, 64, 1);
  return of_v ? at.dv : at.d;
}

FragmentLayout make_layout() {
  constexpr std::string_view kA = marked("operand A"), kB = marked("two operands B"), kC = marked("two sums C");
  FragmentLayout layout;
  layout.shape = "mma.m16n8k16";
  layout.element_bytes = 2;
  layout.padded = padded_row;
  layout.swizzled = swizzled;
  layout.tiles = {
      FragmentRow{.extent = kExtent,
                  .place = place_q,
                  .register_name = register_of_a,
                  .halves = true,
                  .operand = kA,
                  .words = marked("One ldmatrix loads it. A register holds two elements adjacent along d."),
                  .shared = read_rows,
                  .shared_words = kOneRead},
      FragmentRow{
          .extent = kExtent,
          .place = place_k,
          .register_name = register_of_b,
          .halves = true,
          .operand = kB,
          .words = marked("One ldmatrix loads both operands: keys 0 to 7 for one product, 8 to 15 for the next."),
          .shared = read_k,
          .shared_words = kOneRead},
      two_sums(kC, marked("Two products side by side. Look at P next: the same lane holds the same element.")),
      weights_in_a(
          kA,
          marked("Each lane holds exactly the same elements as it did for S, two per register: S becomes P in place.")),
      FragmentRow{
          .extent = kExtent,
          .place = place_v,
          .register_name = register_of_b,
          .halves = true,
          .operand = kB,
          .words = marked("One ldmatrix with .trans loads this operand. A register holds two neighbouring keys."),
          .shared = read_rows,
          .shared_words = kOneRead},
      two_sums(kC, marked("The sum over all key tiles stays in these lanes, where α multiplies it.")),
  };
  FragmentRow& o = layout.tiles.back();
  o.shared = write_o;
  o.shared_words = marked("Its four stores on the way out take");
  return layout;
}

const FragmentLayout& fragments() {
  static const FragmentLayout kLayout = make_layout();
  return kLayout;
}

}  // namespace

KernelRow flash_mma_row() {
  static constexpr OptionSpec kOptions[] = {{&Option::br, 16, 256, 16, 128},
                                            {&Option::bc, 16, 128, 16, 64},
                                            {&Option::threads, 32, 512, 32, 128},
                                            {&Option::stages, 1, 4, 1, 2}};
  KernelRow row = common_row();
  row.id = "flash_mma";
  row.title = marked("flash on mma.sync");
  row.rung = "7";
  row.order = Order::flash;
  row.dtypes = kHalves;
  row.options = kOptions;
  row.what = marked("FlashAttention-2 in f16 and bf16 on tensor cores, with explicit instructions.");
  row.teaches = marked(
      "S and P stay in registers. K and V arrive through a swizzled ring while the previous tile is multiplied.");
  row.source = marked("Dao 2023, FlashAttention-2, algorithm 1; PTX ISA, mma.m16n8k16");
  row.products = {Pipe::tensor_half, 1};
  row.fragments = &fragments();
  row.experiments = flash_mma_experiments();
  row.plan = plan;
  row.trace = trace;
  row.stamps = stamps;
  return row;
}

}  // namespace attn::gpu
