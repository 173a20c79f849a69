#include "kernels/gpu/rungs/rows.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/gpu/compile/occupancy.h"
#include "kernels/gpu/device/queue.h"
#include "kernels/gpu/rungs/flash_simt_layout.h"
#include "kernels/gpu/rungs/specialise.h"

namespace attn::gpu {
namespace {

constexpr std::string_view kArchs[] = {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90a", "sm_100", "sm_120"};
constexpr DType kAllDTypes[] = {DType::f32, DType::f16, DType::bf16};
constexpr DType kFp32[] = {DType::f32};
constexpr std::int64_t kMaxBlocks = 2147483647;  // along x
constexpr std::int32_t kLanesPerRow = 16;        // tiled and flash_simt: 16 lanes share a row
constexpr std::int32_t kMaxRowsOfThread = 8;

std::int64_t tiles(std::int64_t n, std::int64_t tile) {
  return (n + tile - 1) / tile;
}

// ---- which values go together

Result<void> check_rows_of_thread(const KernelRow& row, const Options& o) {
  const std::int32_t rows = kLanesPerRow * o.br / o.threads;
  if (rows * o.threads == kLanesPerRow * o.br && rows >= 1 && rows <= kMaxRowsOfThread) return ok();
  return bad_input(fmt::format(
      "{} takes {} to {} threads for {} query rows of a tile, such that every thread has 1 to {} whole rows "
      "(16 x Br / threads); {} threads do not fit.",
      row.id, std::max(32, kLanesPerRow * o.br / kMaxRowsOfThread), std::min(1024, kLanesPerRow * o.br), o.br,
      kMaxRowsOfThread, o.threads));
}

std::int64_t flash_shared_bytes(const Problem& p, const Options& o) {
  return std::int64_t{4} *
         flash_simt_layout(static_cast<int>(p.D), static_cast<int>(p.Dv), o.br, o.bc, o.threads).total;
}

// The first of these that fits: large tiles read shared memory least for each multiply-add. Wide V leaves fewer
// registers for S, and so does a bias, whose addresses need some.
Options default_flash_tile(const Problem& p, const ArchLimits& arch) {
  struct Tile {
    std::int32_t br, bc;
  };
  static constexpr std::array<Tile, 6> kTiles{{{128, 128}, {64, 128}, {64, 64}, {32, 64}, {16, 64}, {16, 32}}};
  Options o;
  for (const Tile& t : kTiles) {
    o.br = t.br;
    o.bc = t.bc;
    if (p.Dv > 128) o.bc = std::min(o.bc, 64);
    if (p.has_bias()) o.bc = std::min(o.bc, p.Dv > 128 ? 32 : 64);
    o.threads = 2 * o.br;
    if (flash_shared_bytes(p, o) <= arch.shared_block) break;
  }
  return o;
}

// Every 0 replaced, every value in range and in agreement with the others and the architecture.
Result<Options> options_for(const KernelRow& row, const Problem& p, Options o, const Device& d) {
  const auto arch = limits_of(d.arch);
  if (!arch) return fail(ErrorKind::cannot_run, fmt::format("{} is not known on {}", row.id, d.arch));
  if (row.order == Order::flash) {
    const Options defaults = default_flash_tile(p, *arch);
    if (o.br == 0 && o.bc == 0 && o.threads == 0) o = defaults;
    if (o.br == 0) o.br = defaults.br;
    if (o.bc == 0) o.bc = defaults.bc;
  }
  if (o.threads == 0 && row.order != Order::naive && o.br > 0) o.threads = std::clamp(2 * o.br, 32, 1024);
  Result<Options> resolved = resolve(row, o, d);
  if (!resolved || row.order == Order::naive) return resolved;
  if (auto good = check_rows_of_thread(row, *resolved); !good) return tl::unexpected(good.error());
  if (row.order != Order::flash) return resolved;
  if (const std::int64_t bytes = flash_shared_bytes(p, *resolved); bytes > arch->shared_block) {
    return bad_input(
        fmt::format("{} at {} x {}, D = {} needs {} bytes of shared memory a block; {} has {}. Take a "
                    "smaller Br or Bc, or leave the tile out.",
                    row.id, resolved->br, resolved->bc, p.D, bytes, d.arch, arch->shared_block));
  }
  return resolved;
}

// ---- the rows' functions

std::vector<Launch> launches_of(const KernelRow& row, const Problem& p, const Options& o) {
  const auto launch = [](const char* name, std::int64_t grid, std::int64_t x, std::int64_t y, std::int64_t shared) {
    Launch l;
    l.name = name;
    l.grid[0] = grid;
    l.block[0] = x;
    l.block[1] = y;
    l.shared_bytes = shared;
    return l;
  };
  const std::int64_t heads = p.B * p.Hq;
  if (row.order == Order::naive) {
    const std::int64_t rows = o.threads / kWarp;
    return {launch("naive_scores", tiles(p.Lk, kWarp) * tiles(p.Lq, rows) * heads, kWarp, rows, 0),
            launch("naive_softmax", tiles(heads * p.Lq, rows), kWarp, rows, 0),
            launch("naive_output", tiles(p.Dv, kWarp) * tiles(p.Lq, rows) * heads, kWarp, rows, 0)};
  }
  if (row.order == Order::tiled) {
    const std::int64_t bd = p.Dv <= 64 ? 64 : 128;
    return {launch("tiled_scores", tiles(p.Lk, o.bc) * tiles(p.Lq, o.br) * heads, o.threads, 1, 0),
            launch("tiled_softmax", heads * p.Lq, o.threads, 1, 0),
            launch("tiled_output", tiles(p.Dv, bd) * tiles(p.Lq, o.br) * heads, o.threads, 1, 0)};
  }
  return {launch("flash_simt", tiles(p.Lq, o.br) * heads, o.threads, 1, flash_shared_bytes(p, o))};
}

Result<void> supports(const KernelRow& row, const Problem& p, const Options& o, const Device& d) {
  if (d.processor != Processor::gpu) {
    return fail(ErrorKind::cannot_run, fmt::format("{} runs on a GPU; choose --device gpu", row.id));
  }
  if (std::ranges::find(row.architectures, d.arch) == row.architectures.end()) {
    return fail(ErrorKind::cannot_run,
                fmt::format("{} runs on {}, not on {}", row.id, fmt::join(row.architectures, ", "), d.arch));
  }
  if (std::ranges::find(row.dtypes, p.dtype) == row.dtypes.end()) {
    return bad_input(fmt::format("{} takes f32, not {}", row.id, name_of(p.dtype)));
  }
  if (auto good = validate(p); !good) return good;
  Result<Options> resolved = options_for(row, p, o, d);
  if (!resolved) return tl::unexpected(resolved.error());
  for (const Launch& l : launches_of(row, p, *resolved)) {
    if (l.grid[0] <= kMaxBlocks) continue;
    return fail(ErrorKind::cannot_run, fmt::format("{} of {} would need {} blocks; a launch takes {} at most.", l.name,
                                                   describe(p), l.grid[0], kMaxBlocks));
  }
  return ok();
}

Result<Plan> plan(const KernelRow& row, const Problem& p, const Options& o, const Device& d) {
  Result<Options> resolved = options_for(row, p, o, d);
  if (!resolved) return tl::unexpected(resolved.error());
  Plan plan;
  plan.kernel = &row;
  plan.problem = p;
  plan.options = *resolved;
  plan.workspace_bytes = workspace_of(row.order, p).total;
  plan.launches = launches_of(row, p, *resolved);
  return plan;
}

bool on_16_bytes(const void* p) {
  return reinterpret_cast<std::uintptr_t>(p) % 16 == 0;
}

Error with_place(Error e, const Plan& plan, const std::string& entry) {
  e.message = fmt::format("{} ({}) on {}: {}", plan.kernel->id, entry, describe(plan.problem), e.message);
  return e;
}

Result<void> launch_all(const Plan& plan, const Args& args, Queue& queue, Queue::Loaded& loaded) {
  for (const Launch& l : plan.launches) {
    Result<Function> f = queue.entry(loaded, l.name, l.shared_bytes);
    if (!f) return tl::unexpected(with_place(f.error(), plan, l.name));
    LaunchShape shape;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      shape.grid[axis] = static_cast<std::uint32_t>(l.grid[axis]);
      shape.block[axis] = static_cast<std::uint32_t>(l.block[axis]);
    }
    shape.shared_bytes = static_cast<std::uint32_t>(l.shared_bytes);
    auto launched = queue.driver().launch(*f, shape, queue.stream(), &args);
    if (!launched) return tl::unexpected(with_place(launched.error(), plan, l.name));
  }
  return ok();
}

Result<void> enqueue(const Plan& plan, const Buffers& buffers, const Stream& stream) {
  auto* queue = static_cast<Queue*>(stream.native);
  if (queue == nullptr) return fail(ErrorKind::failed, "a GPU kernel was started without a queue");
  const Problem& p = plan.problem;
  const bool aligned = may_be_aligned(p) && on_16_bytes(buffers.q) && on_16_bytes(buffers.k) &&
                       on_16_bytes(buffers.v) && on_16_bytes(buffers.out);
  Result<Queue::Loaded*> loaded = queue->load(plan.kernel->id, defines_of(plan, aligned));
  if (!loaded) return tl::unexpected(with_place(loaded.error(), plan, "compile and load"));
  const Args args = args_of(plan, buffers);
  if (args.key_lengths != nullptr) {
    // From pageable memory: the driver has copied it before the call returns.
    const std::vector<std::int64_t>& lengths = p.mask.key_lengths;
    auto sent = queue->driver().upload(reinterpret_cast<DevicePointer>(args.key_lengths), lengths.data(),
                                       lengths.size() * sizeof(std::int64_t), queue->stream());
    if (!sent) return tl::unexpected(with_place(sent.error(), plan, "key lengths"));
  }
  return launch_all(plan, args, *queue, **loaded);
}

// ---- the table

template <std::size_t INDEX>
Result<void> supports_row(const Problem& p, const Options& o, const Device& d) {
  return supports(gpu_kernel_table()[INDEX], p, o, d);
}

KernelRow common_row() {
  KernelRow row;
  row.processor = Processor::gpu;
  row.architectures = kArchs;
  row.dtypes = kAllDTypes;
  row.plan = plan;
  row.enqueue = enqueue;
  return row;
}

KernelRow naive_row() {
  static constexpr OptionSpec kOptions[] = {{Option::threads, 32, 1024, 32, 256}};
  KernelRow row = common_row();
  row.id = "naive";
  row.title = "naive, three kernels";
  row.rung = "3";
  row.order = Order::naive;
  row.options = kOptions;
  row.what = "The textbook on a GPU: S and P as whole matrices in device memory.";
  row.teaches = "Thousands of threads, and what it costs to store S and P: the baseline of every comparison.";
  row.source = "definition";
  row.score_reads = 3;
  row.supports = supports_row<0>;
  return row;
}

KernelRow tiled_row() {
  static constexpr OptionSpec kOptions[] = {
      {Option::br, 16, 128, 16, 128}, {Option::bc, 16, 128, 16, 128}, {Option::threads, 32, 1024, 32, 256}};
  KernelRow row = common_row();
  row.id = "tiled";
  row.title = "tiled products";
  row.rung = "4";
  row.order = Order::tiled;
  row.options = kOptions;
  row.what = "The same three passes with shared-memory and register tiles: the fair baseline.";
  row.teaches = "Reuse on chip makes the products fast; S and P still live in memory.";
  row.source = "definition";
  row.score_reads = 2;
  row.supports = supports_row<1>;
  return row;
}

KernelRow flash_simt_row() {
  static constexpr OptionSpec kOptions[] = {
      {Option::br, 16, 256, 16, 128}, {Option::bc, 16, 128, 16, 128}, {Option::threads, 32, 1024, 32, 256}};
  KernelRow row = common_row();
  row.id = "flash_simt";
  row.title = "flash on CUDA cores";
  row.rung = "5";
  row.order = Order::flash;
  row.dtypes = kFp32;
  row.options = kOptions;
  row.what = "FlashAttention-2 in fp32 on CUDA cores, one kernel.";
  row.teaches = "The softmax is taken while the keys go by: S and P never reach device memory.";
  row.source = "Dao 2023, FlashAttention-2, algorithm 1";
  row.supports = supports_row<2>;
  return row;
}

}  // namespace

std::span<const KernelRow> gpu_kernel_table() {
  static const std::array<KernelRow, 3> kTable = {naive_row(), tiled_row(), flash_simt_row()};
  return kTable;
}

Result<Device> device_for(std::string_view arch) {
  if (std::ranges::find(kArchs, arch) == std::end(kArchs)) {
    return bad_input(fmt::format("architecture {} is not known; there are {}.", arch, fmt::join(kArchs, ", ")));
  }
  Device d;
  d.processor = Processor::gpu;
  d.name = arch;
  d.arch = arch;
  return d;
}

}  // namespace attn::gpu
