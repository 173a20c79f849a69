#include "kernels/gpu/launch/split_parameters.h"

#include <algorithm>
#include <cstddef>

#include "kernels/gpu/launch/strides.h"
#include "kernels/gpu/rungs/specialise.h"
#include "kernels/gpu/rungs/splitkv/splitkv_args.h"
#include "kernels/gpu/rungs/splitkv/splitkv_tile.h"
#include "kernels/model/problem/tensors.h"

namespace attn::gpu {
namespace {

constexpr long long kFar = 1LL << 30;

int near(long long shift) {
  return static_cast<int>(std::clamp<long long>(shift, -kFar, kFar));
}

SplitArgs split_args(const Plan& plan, const Buffers& b) {
  const Problem& p = plan.problem;
  const std::vector<TensorSpec> specs = tensors_at(p, b);
  const auto strides = [&](Tensor t, long long& batch, long long& head, long long& row) {
    const std::vector<std::int64_t>& all = find(specs, t)->strides;
    batch = all[0], head = all[1], row = all[2];
  };
  SplitArgs a{};
  a.problem = args_of(plan, b);
  strides(Tensor::q, a.q_b, a.q_h, a.q_r);
  strides(Tensor::k, a.k_b, a.k_h, a.k_r);
  strides(Tensor::v, a.v_b, a.v_h, a.v_r);
  strides(Tensor::o, a.out_b, a.out_h, a.out_r);
  if (const TensorSpec* table = find(specs, Tensor::page_table); table != nullptr) {
    a.pages = b.read<int>(Tensor::page_table);
    a.table_b = table->strides[0];
  }
  const std::int64_t splits = chosen(plan.options, kSplits).value_or(1);
  if (splits > 1 && !in_cluster(plan.launches.front())) {
    const SplitWorkspace at = split_workspace(p, splits, workspace_of(*plan.kernel, p).total);
    auto* const workspace = static_cast<std::byte*>(b.workspace);
    a.part_o = reinterpret_cast<float*>(workspace + at.o);
    a.part_lse = reinterpret_cast<float*>(workspace + at.lse);
  }
  a.parts = static_cast<int>(splits);
  a.batches = static_cast<int>(p.B);
  a.kv_heads = static_cast<int>(p.Hkv);
  a.group = static_cast<int>(p.Hq / p.Hkv);
  a.Lq = static_cast<int>(p.Lq);
  a.Lk = static_cast<int>(p.Lk);
  a.rows = static_cast<int>(split_rows(p));
  a.row_tiles = static_cast<int>(split_row_tiles(p, plan.options.br));
  a.first_shift = near(a.problem.first_shift);
  a.last_shift = near(a.problem.last_shift);
  return a;
}

}  // namespace

bool has_split_parameters(const KernelRow& row) {
  const OptionSpec* spec = spec_of(row, kSplits);
  return spec != nullptr && spec->option == &kSplits;  // not one of this name of a user's own kernel
}

Result<std::vector<Parameters>> split_parameters(const Plan& plan, const Buffers& buffers, Queue&) {
  Parameters parameters;
  parameters.add(split_args(plan, buffers));
  return std::vector<Parameters>(plan.launches.size(), parameters);
}

}  // namespace attn::gpu
