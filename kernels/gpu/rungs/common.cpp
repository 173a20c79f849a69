#include "kernels/gpu/rungs/common.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/base/text.h"
#include "kernels/gpu/rungs/specialise.h"
#include "kernels/model/problem/validate.h"

namespace attn::gpu {
namespace {

constexpr std::string_view kArchs[] = {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90a", "sm_100", "sm_120"};
constexpr DType kAllDTypes[] = {DType::f32, DType::f16, DType::bf16};
constexpr std::int64_t kMaxBlocks = 2147483647;  // along x
constexpr std::int64_t kMaxAlibiLength = std::int64_t{1} << 30;
constexpr std::int32_t kLanesPerRow = 16;
constexpr std::int32_t kMaxRowsPerThread = 8;

Result<void> check_device(const KernelRow& row, const Device& d) {
  if (d.processor != Processor::gpu) {
    return fail(ErrorKind::cannot_run, phrase("{} runs on a GPU; choose --device gpu", row.id));
  }
  if (std::ranges::find(row.architectures, d.arch) == row.architectures.end()) {
    return fail(ErrorKind::cannot_run,
                phrase("{} runs on {}, not on {}", row.id, fmt::join(row.architectures, ", "), d.arch) +
                    (row.elsewhere.empty() ? std::string() : fmt::format(": {}", tr_of(row.elsewhere))));
  }
  return ok();
}

}  // namespace

std::span<const std::string_view> architectures() {
  return kArchs;
}

KernelRow common_row() {
  KernelRow row;
  row.processor = Processor::gpu;
  row.architectures = kArchs;
  row.dtypes = kAllDTypes;
  row.supports = supports;
  return row;
}

Result<void> supports(const KernelRow& row, const Problem& p, const Options& o, const Device& d) {
  if (auto good = check_device(row, d); !good) return good;
  if (auto good = check_takes(row, p); !good) return good;
  if (auto good = validate(p); !good) return good;
  if (p.alibi && std::max(p.Lq, p.Lk) > kMaxAlibiLength) {
    return fail(
        ErrorKind::cannot_run,
        phrase("{} needs ALiBi distances that fit in 32 bits; use L up to {} with ALiBi.", row.id, kMaxAlibiLength));
  }
  const Result<Plan> plan = row.plan(row, p, o, d);
  if (!plan) return tl::unexpected(plan.error());
  for (const Launch& l : plan->launches) {
    if (l.grid[0] <= kMaxBlocks) continue;
    return fail(ErrorKind::cannot_run, phrase("{} of {} needs {} blocks; a launch allows at most {}.", l.name,
                                              describe(p), l.grid[0], kMaxBlocks));
  }
  return ok();
}

std::string register_words(const KernelRow& row, const Problem& p, const Options& resolved) {
  std::string words;
  if (row.registers == nullptr) return words;
  for (const RegisterShare& share : row.registers(p, resolved))
    words += words.empty()
                 ? phrase("{} threads {} with {} registers each", share.threads, tr_of(share.role), share.registers)
                 : phrase(", {} {} with {}", share.threads, tr_of(share.role), share.registers);
  return words;
}

Result<ArchLimits> limits_for(const KernelRow& row, const Device& d) {
  const auto arch = limits_of(d.arch);
  if (!arch) return fail(ErrorKind::cannot_run, phrase("{} is unknown on {}", row.id, d.arch));
  return *arch;
}

std::int64_t tiles(std::int64_t n, std::int64_t tile) {
  return (n + tile - 1) / tile;
}

Launch launch_of(std::string_view entry, std::int64_t grid, std::int64_t x, std::int64_t y, std::int64_t shared) {
  Launch l;
  l.name = entry;
  l.grid[0] = grid;
  l.block[0] = x;
  l.block[1] = y;
  l.shared_bytes = shared;
  return l;
}

Plan plan_of(const KernelRow& row, const Problem& p, const Options& resolved, std::vector<Launch> launches) {
  Plan plan;
  plan.kernel = &row;
  plan.problem = p;
  plan.options = resolved;
  plan.workspace_bytes = workspace_of(row, p).total;
  plan.launches = std::move(launches);
  return plan;
}

std::int32_t default_threads(std::int32_t br) {
  return std::clamp(2 * br, 32, 1024);
}

Result<void> check_rows_per_thread(const KernelRow& row, const Options& o) {
  const std::int32_t rows = kLanesPerRow * o.br / o.threads;
  if (rows * o.threads == kLanesPerRow * o.br && rows >= 1 && rows <= kMaxRowsPerThread) return ok();
  return bad_input(
      phrase("{} needs {} to {} threads for {} query rows per tile, so that each thread has 1 to {} whole rows (16 x "
             "Br / threads); {} threads do not work.",
             row.id, std::max(32, kLanesPerRow * o.br / kMaxRowsPerThread), std::min(1024, kLanesPerRow * o.br), o.br,
             kMaxRowsPerThread, o.threads));
}

}  // namespace attn::gpu
