// flash_hopper on the host: its tiles, and what flash_hopper.cu is launched with. Its parameters and tensor maps are
// made where there is a driver: kernels/gpu/launch/hopper_parameters.cpp.
#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "kernels/gpu/rungs/common.h"
#include "kernels/gpu/rungs/hopper/hopper_copy.h"
#include "kernels/gpu/rungs/hopper/hopper_layout.h"
#include "kernels/gpu/rungs/hopper/hopper_tile.h"
#include "kernels/gpu/rungs/specialise.h"
#include "kernels/gpu/rungs/stamps/stamps_layout.h"
#include "kernels/gpu/rungs/tensor_cores/fragments.h"
#include "kernels/gpu/rungs/tensor_cores/mma_layout.h"
#include "kernels/gpu/rungs/trace/trace.h"

namespace attn::gpu {
namespace {

constexpr DType kHalves[] = {DType::f16, DType::bf16};
constexpr std::string_view kHopper[] = {"sm_90a"};
constexpr AxisOrder kEither[] = {AxisOrder::bhld, AxisOrder::blhd};
constexpr std::int64_t kMostRows = std::int64_t{1} << 29;  // rows and keys are counted in 32 bits
constexpr std::int64_t kMostTiles = 2147483647;
constexpr std::int32_t kUsualSms = 132;  // of a device that stands for an architecture alone

Result<void> check_problem(const KernelRow& row, const Problem& p) {
  if (std::max(p.Lq * (p.Hq / p.Hkv), p.Lk) > kMostRows)
    return fail(ErrorKind::cannot_run,
                phrase("{} needs row and key counts that fit in 32 bits; use at most {}.", row.id, kMostRows));
  return ok();
}

// Of a consumer's thread: S, in form 4 P beside it, O, and what any loop takes. The compiler has the last word: what it
// spills or gives up the overlap for, tuning drops.
std::int64_t registers_of(const Problem& p, const HopperTile& t) {
  constexpr std::int64_t kOthers = 32;
  return t.keys / 2 + (t.form == 4 ? t.keys / 4 : 0) + padded_columns(p.Dv) / 2 + kOthers;
}
std::int64_t registers_for(const HopperTile& t) {
  return hopper_layout(8, 8, 16, t.consumers, 1, 1).registers;
}

std::int32_t sms_of(const Device& d) {
  return d.cores > 1 ? d.cores : kUsualSms;
}

Result<void> check_tile(const KernelRow& row, const Problem& p, const HopperTile& t, const Options& o, const Device& d,
                        const ArchLimits& arch) {
  if (o.threads != 128 * (t.consumers + 1))
    return bad_input(
        phrase("{} needs {} threads for {} query rows per tile, not {}: one warpgroup per 64 rows and one warpgroup "
               "that copies.",
               row.id, 128 * (t.consumers + 1), o.br, o.threads));
  if (t.step == 3 && t.consumers != 2)
    return bad_input(phrase("{} with step = 3 has two consumers that take turns, so it needs 128 query rows, not {}.",
                            row.id, o.br));
  if ((t.pack & (t.pack - 1)) != 0 || p.Hq / p.Hkv % t.pack != 0)
    return bad_input(phrase("{} packs 1, 2, 4, 8 or 16 heads that share keys ({} heads do here), not {}.", row.id,
                            p.Hq / p.Hkv, t.pack));
  if (t.copies == Copies::none && needs_copies(p))
    return bad_input(
        phrase("{} reads only tensors with rows aligned to 16 bytes. With D = {} and Dv = {}, some tensors have "
               "unaligned rows; set copies = 1 to copy those tensors.",
               row.id, p.D, p.Dv));
  if (t.form == 4 && (t.consumers < 2 || t.consumers > 3 || t.slots % 2 != 0))
    return bad_input(phrase("{} in form 4 needs 128 or 192 query rows and an even number of stages.", row.id));
  if (t.late && (t.form == 4 || t.queries != 2))
    return bad_input(phrase("{} can release O's rows late only in form 5 with two Q buffers.", row.id));
  if (t.half >= t.keys || t.half % 16 != 0)
    return bad_input(
        phrase("{} needs a half step that is a multiple of 16 below {} keys, not {}.", row.id, t.keys, t.half));
  if (const std::int64_t takes = registers_of(p, t), has = registers_for(t); takes > has)
    return bad_input(
        phrase("{} at {} x {} with form {} and Dv = {} needs {} registers per thread for S, P and O. With {} "
               "consumers, the limit is {}. Use fewer keys or rows.",
               row.id, o.br, t.keys, t.form, p.Dv, takes, t.consumers, has));
  const std::int64_t bytes = shared_bytes(p, t);
  if (bytes > arch.shared_block)
    return bad_input(
        phrase("{} does not fit at {} x {} with {} stages, {} Q buffers, D = {} and Dv = {}: a block needs {} bytes of "
               "shared memory, but {} has {}. Use fewer stages or Q buffers.",
               row.id, o.br, t.keys, t.slots, t.queries, p.D, p.Dv, bytes, d.arch, arch.shared_block));
  return ok();
}

Result<Plan> plan(const KernelRow& row, const Problem& p, const Options& o, const Device& d) {
  const Result<ArchLimits> arch = limits_for(row, d);
  if (!arch) return tl::unexpected(arch.error());
  if (auto good = check_problem(row, p); !good) return tl::unexpected(good.error());
  const Result<Options> resolved = resolve(row, options_of(hopper_tile(p, o), o), d);
  if (!resolved) return tl::unexpected(resolved.error());
  const HopperTile t = tile_of(*resolved);
  if (auto good = check_tile(row, p, t, *resolved, d, *arch); !good) return tl::unexpected(good.error());
  const std::int32_t sms = sms_of(d);
  const std::int64_t all = query_tiles(p, t, sms) * packed_heads(p, t);
  if (all > kMostTiles)
    return fail(ErrorKind::cannot_run, phrase("{} needs a number of query tiles that fits in 32 bits, but {} has {}.",
                                              row.id, describe(p), all));
  const std::int64_t blocks = t.step < kStaysFrom ? all : std::min<std::int64_t>(all, sms);
  const std::uint64_t own = workspace_of(row, p).total;
  const std::vector<TensorCopy> copies = copies_of(p, t.copies, own);
  std::vector<Launch> launches = copy_launches(copies, Role::in);
  launches.push_back(launch_of(row.id, blocks, resolved->threads, 1, shared_bytes(p, t)));
  std::ranges::move(copy_launches(copies, Role::out), std::back_inserter(launches));
  Plan plan = plan_of(row, p, *resolved, std::move(launches));
  plan.workspace_bytes = end_of(copies, own);
  return plan;
}

std::vector<Options> tiles(const Problem& p, const Options& fixed, const Device&) {
  std::vector<Options> all;
  for (const HopperTile& t : hopper_tiles(p, fixed)) all.push_back(options_of(t, fixed));
  return all;
}

// The code of a window that cuts keys before it costs every step: a problem without one has none of it.
std::vector<std::string> defines(const Problem& p) {
  std::vector<std::string> all{fmt::format("ATTN_CUT_BEFORE={}", p.mask.window_left >= 0 ? 1 : 0)};
  if (p.output_dtype() == DType::f32) all.emplace_back("ATTN_SUMS_LEAVE=1");
  return all;
}

// Keys from the last to the first; a scale that is not positive goes to Q whatever changes scores.
TraceFacts trace(const Problem& p, const Options&) {
  TraceFacts facts = fragment_facts(p);
  facts.sign_in_q = p.effective_scale() <= 0;
  facts.right_to_left = true;
  return facts;
}

StampSizes stamps(const Plan& plan) {
  const Problem& p = plan.problem;
  const HopperTile t = tile_of(plan.options);
  const std::int64_t sms = std::ranges::find(plan.launches, plan.kernel->id, &Launch::name)->grid[0];
  const std::int64_t tiles = query_tiles(p, t, static_cast<std::int32_t>(sms)) * packed_heads(p, t);
  return {t.consumers + kStampCopies, kStampCopies, false, std::max(tiles, sms), (p.Lk + t.keys - 1) / t.keys, {}, {}};
}

std::vector<RegisterShare> registers(const Problem&, const Options& resolved) {
  const HopperTile t = tile_of(resolved);
  const HopperLayout layout = hopper_layout(8, 8, 16, t.consumers, 1, 1);
  return {{marked("compute"), 128 * t.consumers, layout.registers}, {marked("copy"), 128, layout.producer_registers}};
}

std::string reason(const Problem& p, const Options& resolved, const Device& d) {
  return words_of(p, tile_of(resolved), sms_of(d));
}

std::span<const Experiment> experiments() {
  static const Options kMaximumFirst = [] {
    Options o;
    choose(o, kHopperStep, kGuessesFrom - 1);
    return o;
  }();
  static const std::array kTable{Experiment{
      .id = "maximum_first",
      .title = marked("The maximum first"),
      .rung = "flash_hopper",
      .question = marked("How much is gained by starting the exponentials before the maximum is known?"),
      .change = marked("With step = 10, each key tile's maximum is found first, and consumers do not take turns."),
      .answer =
          marked("On an H100 (f16, B = 4, L = 4096, H = 16, D = 64): 538 µs instead of 488 µs, 1.10 times as long. "
                 "Taking turns by itself changes nothing, and starting early without turns gains half as much."),
      .options = kMaximumFirst}};
  return kTable;
}

// ---- fragments: wgmma.m64nNk16 (PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk16", "Matrix Descriptor")
//
// A warpgroup's four warps have 16 of the 64 rows each, in the same places: shown is the first, and of the N columns
// the first 16. Of what is read by a descriptor nobody outside sees the order; a core matrix, eight rows of 16 bytes,
// is what the layout is made for, so it is counted as one moment.

// Rows 0 to 15 and chunks 0 and 1 of a panel: four core matrices, which stand to one another as those that ldmatrix
// reads, in the swizzle of eight chunks (hopper_descriptor.cuh). stmatrix stores O's the same way.
SharedUse four_matrices(std::int32_t width, bool swizzle) {
  return read_by_ldmatrix(ldmatrix_row, ldmatrix_chunk, width, swizzle);
}

FragmentRow by_descriptor(std::string_view operand, std::string_view words) {
  FragmentRow row;
  row.extent = {16, 16};
  row.place = [](std::int32_t, std::int32_t) { return ElementPlace{-1, 0, 0}; };
  row.register_name = [](const ElementPlace&) { return std::string(); };
  row.operand = operand;
  row.words = words;
  row.shared = four_matrices;
  row.shared_words = marked("Reading four core matrices of 8 rows by 16 bytes takes");
  return row;
}

std::int32_t padded_row(const Problem& p, bool of_v) {
  const HopperLayout at = hopper_layout(static_cast<int>(p.D), static_cast<int>(p.Dv), 64, 2, 2, 1);
  return (of_v ? at.v_panels : at.d_panels) * 64;
}

FragmentLayout make_layout() {
  FragmentLayout layout;
  layout.shape = "wgmma.m64nNk16";
  layout.element_bytes = 2;
  layout.panel = 64;
  layout.padded = padded_row;
  layout.swizzled = swizzled;
  layout.tiles = {
      by_descriptor(marked("operand A, by a descriptor"),
                    marked("No lane ever holds this operand: TMA writes it, and the tensor cores read it directly. The "
                           "number in a cell is its bank.")),
      by_descriptor(marked("operand B, by a descriptor"),
                    marked("No lane ever holds this operand: TMA writes it, and the tensor cores of all four warps "
                           "read the same tile. The number in a cell is its bank.")),
      two_sums(marked("first warp's rows, 16 of the N sums,"),
               marked("The layout is the same as with mma.sync, warp by warp. Look at P next: the same lane holds the "
                      "same element.")),
      weights_in_a(marked("first warp's rows of operand A, in registers,"),
                   marked("Each lane holds exactly the same elements as it did for S, two per register. This operand "
                          "may come from registers, so P does not pass through memory.")),
      by_descriptor(marked("operand B, by a descriptor, transposed"),
                    marked("No lane ever holds this operand: the descriptor says that the sum runs down the rows, and "
                           "the tensor cores transpose it while reading.")),
      two_sums(marked("first warp's rows, 16 of the N sums,"),
               marked("The sum over all key tiles stays here until it leaves through the rows that held Q.")),
  };
  FragmentRow& o = layout.tiles.back();
  o.shared = four_matrices;
  o.shared_words = marked("One stmatrix of four matrices takes");
  return layout;
}

const FragmentLayout& fragments() {
  static const FragmentLayout kLayout = make_layout();
  return kLayout;
}

}  // namespace

KernelRow flash_hopper_row() {
  static const OptionSpec kOptions[] = {{&Option::br, 64, 256, 64, 192},
                                        {&Option::bc, 32, 256, 16, 128},
                                        {&Option::threads, 256, 640, 128, 512},
                                        {&Option::stages, 2, 8, 1, 5},
                                        {&kHopperForm, 4, 5, 1, 5},
                                        {&kHopperQueries, 1, 2, 1, 1},
                                        {&kHopperPack, 1, 16, 1, 1},
                                        {&kHopperSplit, 0, 7, 1, 4},
                                        {&kHopperHalf, 0, 240, 16, 64},
                                        {&kHopperStep, 1, kLastStep, 1, kLastStep},
                                        {&kHopperLate, 0, 1, 1, 0},
                                        {&kHopperTurns, 0, 1, 1, 0},
                                        {&kHopperCopies, 0, 2, 1, 0}};
  KernelRow row = common_row();
  row.id = "flash_hopper";
  row.title = marked("flash on wgmma");
  row.rung = "8";
  row.order = Order::flash;
  row.architectures = kHopper;
  row.dtypes = kHalves;
  row.layouts = kEither;
  row.outputs = kAnyOutput;
  row.options = kOptions;
  row.what = marked("Attention in f16 and bf16 with Hopper's own features: TMA, wgmma and specialised warpgroups.");
  row.teaches = marked(
      "One warpgroup copies, and the others hide each other's softmax. Persistent blocks take tiles from a counter.");
  row.source = marked("Shah et al. 2024, FlashAttention-3; PTX ISA, wgmma and cp.async.bulk.tensor");
  row.elsewhere = marked(
      "wgmma and the tensor maps that it needs exist only on Hopper; on other GPUs, use flash_mma for f16 and bf16");
  row.products = {Pipe::warpgroup_half, 1};
  row.fragments = &fragments();
  row.experiments = experiments();
  row.counters = 2;
  row.tiles = tiles;
  row.reason = reason;
  row.registers = registers;
  row.defines = defines;
  row.plan = plan;
  row.trace = trace;
  row.stamps = stamps;
  return row;
}

}  // namespace attn::gpu
