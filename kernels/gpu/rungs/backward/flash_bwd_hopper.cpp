// flash_bwd_hopper on the host: what it takes, and what flash_bwd_hopper.cu is launched with. Its tensor maps are made
// where there is a driver: kernels/gpu/launch/hopper_backward_parameters.cpp.
#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/base/text.h"
#include "kernels/gpu/rungs/backward/backward_plan.h"
#include "kernels/gpu/rungs/backward/flash_bwd_hopper_layout.h"
#include "kernels/gpu/rungs/common.h"

namespace attn::gpu {
namespace {

constexpr DType kHalves[] = {DType::f16, DType::bf16};
constexpr std::string_view kHopper[] = {"sm_90a"};
constexpr std::int64_t kMostRows = std::int64_t{1} << 29;   // rows and keys are counted in 32 bits
constexpr std::int64_t kThreadsOfDq = 128, kOfThread = 16;  // numbers of dQ

Result<void> check_problem(const KernelRow& row, const Problem& p) {
  if (p.D != p.Dv || (p.D != 64 && p.D != 128))
    return fail(ErrorKind::cannot_run,
                phrase("{} supports D = Dv = 64 or 128, not D = {} and Dv = {}; flash_bwd supports all dimensions.",
                       row.id, p.D, p.Dv));
  if (p.changes_scores())
    return fail(ErrorKind::cannot_run, phrase("{} does not support bias, softcap or ALiBi; flash_bwd does.", row.id));
  if (std::max(p.Lq, p.Lk) > kMostRows)
    return fail(ErrorKind::cannot_run,
                phrase("{} needs row and key counts that fit in 32 bits; use at most {}.", row.id, kMostRows));
  return ok();
}

Result<void> check_tile(const KernelRow& row, const Problem& p, const Options& o) {
  const int queries = flash_bwd_hopper_queries(static_cast<int>(p.D));
  if (o.br == queries) return ok();
  return bad_input(phrase("{} takes {} queries at a time for D = {}, not {}.", row.id, queries, p.D, o.br));
}

std::int64_t d_q_sums(const Problem& p, const Options&) {
  return p.D;
}

Result<Plan> plan(const KernelRow& row, const Problem& p, const Options& o, const Device& d) {
  const Result<ArchLimits> arch = limits_for(row, d);
  if (!arch) return tl::unexpected(arch.error());
  if (auto good = check_problem(row, p); !good) return tl::unexpected(good.error());
  Options whole = o;
  if (whole.br == 0) whole.br = flash_bwd_hopper_queries(static_cast<int>(p.D));
  if (whole.bc == 0) whole.bc = kBwdKeys;
  if (whole.threads == 0) whole.threads = kBwdThreads;
  if (whole.stages == 0) whole.stages = kBwdStages;
  const Result<Options> resolved = resolve(row, whole, d);
  if (!resolved) return tl::unexpected(resolved.error());
  if (auto good = check_tile(row, p, *resolved); !good) return tl::unexpected(good.error());
  const FlashBwdHopperLayout at = flash_bwd_hopper_layout(static_cast<int>(p.D));
  const std::int64_t rows = p.B * p.Hq * padded_rows(p, *resolved), keys = p.B * p.Hkv * tiles(p.Lk, kBwdKeys);
  std::vector<Launch> launches{
      launch_of("flash_bwd_hopper_rows", rows / at.queries, 2 * at.queries, 1, at.k_at + 2 * at.query_bytes),
      launch_of("flash_bwd_hopper_keys", keys, kBwdThreads, 1, at.total),
      launch_of("flash_bwd_hopper_dq", rows * p.D / (kThreadsOfDq * kOfThread), kThreadsOfDq, 1, 0)};
  launches[1].early_start = launches[2].early_start = true;
  return plan_of_backward(row, p, *resolved, std::move(launches));
}

std::vector<RegisterShare> registers(const Problem&, const Options&) {
  return {{marked("compute"), 256, kBwdRegisters}, {marked("copy"), 128, kBwdProducerRegisters}};
}

}  // namespace

KernelRow flash_bwd_hopper_row() {
  static constexpr OptionSpec kOptions[] = {{&Option::br, 64, 128, 64, 64},
                                            {&Option::bc, kBwdKeys, kBwdKeys, 1, kBwdKeys},
                                            {&Option::threads, kBwdThreads, kBwdThreads, 1, kBwdThreads},
                                            {&Option::stages, kBwdStages, kBwdStages, 1, kBwdStages},
                                            {&kDeterministic, 0, 1, 1, 0}};
  KernelRow row = backward_row();
  row.id = "flash_bwd_hopper";
  row.title = marked("flash backward on wgmma");
  row.rung = "8b";
  row.order = *order_named("backward");
  row.architectures = kHopper;
  row.dtypes = kHalves;
  row.options = kOptions;
  row.what = marked("The backward pass in f16 and bf16 with Hopper's own features: TMA, wgmma, and transposed scores.");
  row.teaches = marked(
      "Keys are the rows, so P and dS leave the tensor cores in the form that dV and dK need. dQ leaves through the "
      "copy engine.");
  row.source = marked("Shah et al. 2024, FlashAttention-3; PTX ISA, wgmma and cp.reduce.async.bulk");
  row.elsewhere = marked(
      "wgmma and the tensor maps that it needs exist only on Hopper; on other GPUs, use flash_bwd for f16 and bf16");
  row.products = {Pipe::warpgroup_half, 1};
  row.d_q_sums = d_q_sums;
  row.zeroes_ahead = true;
  row.deterministic = &kDeterministic;
  row.registers = registers;
  row.training = {"flash_hopper_train", marked("flash training step on wgmma"), "8t", "flash_hopper"};
  row.plan = plan;
  return row;
}

}  // namespace attn::gpu
