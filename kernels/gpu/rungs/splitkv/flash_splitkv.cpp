// flash_splitkv on the host: what flash_splitkv.cu is launched with. Its parameters are made in
// kernels/gpu/launch/split_parameters.cpp.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "kernels/gpu/rungs/common.h"
#include "kernels/gpu/rungs/specialise.h"
#include "kernels/gpu/rungs/splitkv/splitkv_parts.h"
#include "kernels/gpu/rungs/splitkv/splitkv_tile.h"
#include "kernels/model/problem/pages.h"

namespace attn::gpu {
namespace {

constexpr std::string_view kWithAsyncCopies[] = {"sm_80", "sm_86", "sm_89", "sm_90a", "sm_100", "sm_120"};
constexpr AxisOrder kEither[] = {AxisOrder::bhld, AxisOrder::blhd};
constexpr Storage kBoth[] = {Storage::dense, Storage::paged};
constexpr std::int64_t kMostKeys = std::int64_t{1} << 29;  // rows and keys are counted in 32 bits
constexpr std::int32_t kUsualSms = 132;                    // of a device that stands for an architecture alone

std::int32_t sms_of(const Device& d) {
  return d.cores > 1 ? d.cores : kUsualSms;
}

// A launch may begin before the one that it depends on has ended.
bool starts_early(std::string_view arch) {
  return arch != "sm_80" && arch != "sm_86" && arch != "sm_89";
}

Result<void> check_problem(const KernelRow& row, const Problem& p) {
  if (std::max(split_rows(p), p.Lk) > kMostKeys || p.B > kMostKeys)
    return fail(ErrorKind::cannot_run,
                phrase("{} needs row, key and batch counts that fit in 32 bits; use at most {}.", row.id, kMostKeys));
  return ok();
}

Result<void> check_tile(const KernelRow& row, const Problem& p, const Options& o, const Device& d,
                        const ArchLimits& arch) {
  if (const std::int64_t takes = split_registers(p, o); takes > kSplitRegisters)
    return bad_input(
        phrase("{} at {} x {} with Dv = {} would hold S and O in {} registers per thread; at most {} fit. Use fewer "
               "rows or keys, or omit the tile.",
               row.id, o.br, o.bc, p.Dv, takes, kSplitRegisters));
  if (const std::int64_t bytes = split_shared_bytes(p, o); bytes > arch.shared_block)
    return bad_input(
        phrase("{} does not fit at {} x {} with {} threads, {} stages, D = {} and Dv = {}: a block needs {} bytes of "
               "shared memory, but {} has {}. Use fewer threads or stages, or omit them.",
               row.id, o.br, o.bc, o.threads, o.stages, p.D, p.Dv, bytes, d.arch, arch.shared_block));
  return ok();
}

// A block a row and 32 columns, with as many warps as read all parts at once.
Launch merge_launch(const Problem& p, std::int64_t splits, std::string_view arch) {
  const std::int64_t warps = std::clamp<std::int64_t>(tiles(tiles(splits, p.B), kPartsAtOnce), 1, kMostMergingWarps);
  Launch l = launch_of("flash_splitkv_merge", p.B * p.Hq * p.Lq, warps * kWarp, 1, 0);
  l.grid[1] = tiles(p.Dv, kWarp);
  l.early_start = starts_early(arch);
  return l;
}

Result<Plan> plan(const KernelRow& row, const Problem& p, const Options& o, const Device& d) {
  const Result<ArchLimits> arch = limits_for(row, d);
  if (!arch) return tl::unexpected(arch.error());
  if (auto good = check_problem(row, p); !good) return tl::unexpected(good.error());
  const Result<Options> resolved = resolve(row, split_options(p, o, *arch, sms_of(d)), d);
  if (!resolved) return tl::unexpected(resolved.error());
  if (auto good = check_tile(row, p, *resolved, d, *arch); !good) return tl::unexpected(good.error());
  const std::int64_t splits = chosen(*resolved, kSplits).value_or(1);
  const std::int64_t row_tiles = split_row_tiles(p, resolved->br);
  std::vector<Launch> launches{
      launch_of(row.id, splits * p.Hkv * row_tiles, resolved->threads, 1, split_shared_bytes(p, *resolved))};
  const bool clustered = merges_in_clusters(p, *resolved, *arch, sms_of(d));
  if (clustered) {
    Launch& all = launches.front();
    all.name = "flash_splitkv_cluster";
    all.grid[0] = all.cluster[0] = splits;
    all.grid[1] = row_tiles;
    all.grid[2] = p.Hkv;
  } else if (splits > 1 && !cuts_no_batch(p, *resolved)) {
    launches.push_back(merge_launch(p, splits, d.arch));
  }
  Plan plan = plan_of(row, p, *resolved, std::move(launches));
  plan.workspace_bytes = split_workspace(p, clustered ? 1 : splits, plan.workspace_bytes).end;
  return plan;
}

std::vector<Options> candidates(const Problem& p, const Options& fixed, const Device& d) {
  const auto arch = limits_of(d.arch);
  return arch ? split_candidates(p, fixed, *arch, sms_of(d)) : std::vector<Options>();
}

std::string reason(const Problem& p, const Options& resolved, const Device& d) {
  const auto arch = limits_of(d.arch);
  return arch ? split_words(p, resolved, *arch, sms_of(d)) : std::string();
}

// A sweep of decoding: keys alone, query heads that share a head of keys, and the size of a page.
constexpr ProblemAxis kAxes[] = {
    {.name = "Lk",
     .title = marked("keys Lk"),
     .unit = "keys",
     .of = [](const Problem& p) { return p.Lk; },
     .put =
         [](Problem& p, std::int64_t value) {
           let_bias_follow(p, 3, p.Lk, value);
           p.Lk = value;
         },
     .drop = [](Problem& p) { p.Lk = 1; },
     .usual =
         [](const Problem&) {
           return std::vector<std::int64_t>{1024, 4096, 16384, 65536};
         }},
    {.name = "G",
     .title = marked("query heads per KV head"),
     .unit = marked("query heads"),
     .of = [](const Problem& p) { return p.Hq / std::max<std::int64_t>(1, p.Hkv); },
     .put =
         [](Problem& p, std::int64_t value) {
           let_bias_follow(p, 1, p.Hq, p.Hkv * value);
           p.Hq = p.Hkv * value;
         },
     .drop = [](Problem& p) { p.Hq = p.Hkv; },
     .usual =
         [](const Problem&) {
           return std::vector<std::int64_t>{1, 2, 4, 8, 16};
         }},
    {.name = "page",
     .title = marked("keys per page"),
     .unit = "keys",
     .of = [](const Problem& p) { return p.storage.page; },
     .put = [](Problem& p, std::int64_t value) { p = with_pages(std::move(p), value); },
     .drop = [](Problem& p) { p = without_pages(std::move(p)); },
     .usual =
         [](const Problem&) {
           return std::vector<std::int64_t>{1, 16, 64, 256};
         }},
};

// The size of a page divides keys: a constant is quicker. A single batch needs no line to be found on.
std::vector<std::string> defines(const Problem& p) {
  return {fmt::format("ATTN_PAGE={}", p.storage.page),
          fmt::format("ATTN_CLUSTERS={}", may_merge_in_clusters(p) ? 1 : 0),
          fmt::format("ATTN_ONE_BATCH={}", p.B == 1 ? 1 : 0)};
}

}  // namespace

KernelRow flash_splitkv_row() {
  static const OptionSpec kOptions[] = {{&Option::br, 16, 64, 16, 16},
                                        {&Option::bc, 16, 32, 16, 16},
                                        {&Option::threads, 32, 256, 32, 128},
                                        {&Option::stages, 2, 8, 1, 3},
                                        {&kSplits, 1, 1024, 1, 1}};
  KernelRow row = common_row();
  row.id = "flash_splitkv";
  row.title = marked("flash with split keys");
  row.rung = "10";
  row.order = Order::flash;
  row.architectures = kWithAsyncCopies;
  row.layouts = kEither;
  row.storages = kBoth;
  row.options = kOptions;
  row.axes = kAxes;
  row.what = marked("Attention for decoding: few queries, with the keys split across many blocks.");
  row.teaches = marked(
      "Keys can be split wherever it suits the machine. The (m, l, O) of any two sets of keys merge into the (m, l, O) "
      "of their union.");
  row.source = marked("Dao et al. 2023, Flash-Decoding; PTX ISA, mma.sync m16n8k16");
  row.elsewhere = marked("its copies use cp.async, which needs sm_80 or newer; flash_mma supports f16 on this GPU");
  row.products = {Pipe::tensor_half, 1};
  row.tiles = candidates;
  row.reason = reason;
  row.defines = defines;
  row.plan = plan;
  return row;
}

}  // namespace attn::gpu
