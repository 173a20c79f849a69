#include "kernels/cpu/run.h"

#include <utility>

#include "kernels/cpu/aligned.h"
#include "kernels/cpu/device.h"
#include "kernels/model/fits.h"

namespace attn {

Result<Outputs> run_on_cpu(const KernelRow& row, const Problem& p, const Options& o, const Inputs& in,
                           std::uint64_t memory_limit, std::stop_token stop) {
  const Device device = cpu_device();
  if (auto good = row.supports(row, p, o, device); !good) return tl::unexpected(good.error());
  if (auto good = validate(p, in); !good) return tl::unexpected(good.error());
  Result<Plan> plan = row.plan(row, p, o, device);
  if (!plan) return tl::unexpected(plan.error());
  if (auto good = check_memory(*plan, device, memory_limit); !good) return tl::unexpected(good.error());

  Outputs out;
  out.out = Array(p.dtype, {p.B, p.Hq, p.Lq, p.Dv});
  out.lse = Array(DType::f32, {p.B, p.Hq, p.Lq});
  cpu::AlignedBytes workspace(static_cast<std::size_t>(plan->workspace_bytes));
  Buffers b;
  b.q = in.q.data();
  b.k = in.k.data();
  b.v = in.v.data();
  b.bias = in.bias ? reinterpret_cast<const float*>(in.bias->data()) : nullptr;
  b.out = out.out.data();
  b.lse = reinterpret_cast<float*>(out.lse.data());
  b.workspace = workspace.data();
  if (auto good = enqueue(*plan, b, Stream{std::move(stop), nullptr}); !good) return tl::unexpected(good.error());
  return out;
}

}  // namespace attn
