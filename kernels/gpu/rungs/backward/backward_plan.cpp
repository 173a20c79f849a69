#include "kernels/gpu/rungs/backward/backward_plan.h"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

#include "kernels/gpu/rungs/common.h"
#include "kernels/gpu/rungs/specialise.h"

namespace attn::gpu {
namespace {

static_assert(std::is_trivially_copyable_v<BackwardArgs> && sizeof(Args) + sizeof(BackwardArgs) <= 4096,
              "kernel parameters take 4 KiB at most");

constexpr Pass kBackwardAlone[] = {Pass::backward};
constexpr std::uint64_t kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
constexpr std::uint64_t kUnit = 256;

// Blocks that add into sums of dQ wait for others.
bool takes_turns(const KernelRow& row, const Problem& p, const Options& resolved) {
  return (is_deterministic(resolved) || row.zeroes_ahead) && row.d_q_sums != nullptr && row.d_q_sums(p, resolved) > 0;
}

// `floats` more behind `next`, which moves on to a multiple of 256.
std::uint64_t placed(std::uint64_t& next, std::initializer_list<std::int64_t> floats) {
  const std::uint64_t at = next;
  std::uint64_t bytes = sizeof(float);
  for (const std::int64_t n : floats) {
    const auto factor = static_cast<std::uint64_t>(n);
    bytes = factor != 0 && bytes > kMost / factor ? kMost : bytes * factor;
  }
  next = bytes > kMost - next - kUnit ? kMost - kUnit : (next + bytes + kUnit - 1) / kUnit * kUnit;
  return at;
}

}  // namespace

bool is_deterministic(const Options& resolved) {
  return chosen(resolved, kDeterministic).value_or(0) != 0;
}

std::int64_t padded_rows(const Problem& p, const Options& resolved) {
  return resolved.br == 0 ? p.Lq : tiles(p.Lq, resolved.br) * resolved.br;
}

BackwardWorkspace backward_workspace_of(const KernelRow& row, const Problem& p, const Options& resolved) {
  BackwardWorkspace w;
  const std::int64_t rows = padded_rows(p, resolved);
  std::uint64_t next = workspace_of(row, p).total;
  w.shift = placed(next, {p.B, p.Hq, rows});
  w.delta = placed(next, {p.B, p.Hq, rows});
  if (row.d_q_sums != nullptr) w.d_q_sum = placed(next, {p.B, p.Hq, rows, row.d_q_sums(p, resolved)});
  if (takes_turns(row, p, resolved))
    w.turns = placed(next, {1 + p.B * p.Hq * std::max<std::int64_t>(rows / resolved.br, 1)});
  w.total = next;
  return w;
}

BackwardArgs backward_args_of(const Plan& plan, const Buffers& b) {
  const KernelRow& row = *plan.kernel;
  const Workspace at = workspace_of(row, plan.problem);
  const BackwardWorkspace more = backward_workspace_of(row, plan.problem, plan.options);
  auto* const workspace = static_cast<std::byte*>(b.workspace);
  BackwardArgs g{};
  g.o = b.in[Tensor::o];
  g.d_o = b.in[Tensor::d_o];
  g.d_q = b.out[Tensor::d_q];
  g.d_k = b.out[Tensor::d_k];
  g.d_v = b.out[Tensor::d_v];
  g.delta_out = b.write<float>(Tensor::delta);
  g.shift = reinterpret_cast<float*>(workspace + more.shift);
  g.delta = reinterpret_cast<float*>(workspace + more.delta);
  if (row.d_q_sums != nullptr) g.d_q_sum = reinterpret_cast<float*>(workspace + more.d_q_sum);
  if (takes_turns(row, plan.problem, plan.options)) g.turns = reinterpret_cast<int*>(workspace + more.turns);
  if (row.stores_scores) {
    g.p = workspace + at.p;
    g.d_s = workspace + at.s;
  }
  g.rows = padded_rows(plan.problem, plan.options);
  return g;
}

KernelRow backward_row() {
  KernelRow row = common_row();
  row.passes = kBackwardAlone;
  return row;
}

Plan plan_of_backward(const KernelRow& row, const Problem& p, const Options& resolved, std::vector<Launch> launches) {
  Plan plan = plan_of(row, p, resolved, std::move(launches));
  plan.workspace_bytes = backward_workspace_of(row, p, resolved).total;
  return plan;
}

Launch rows_launch(std::string_view entry, const Problem& p, const Options& resolved, std::int64_t of_warp) {
  const std::int64_t of_block = resolved.threads / kWarp * of_warp;
  return launch_of(entry, tiles(p.B * p.Hq * padded_rows(p, resolved), of_block), resolved.threads, 1, 0);
}

}  // namespace attn::gpu
