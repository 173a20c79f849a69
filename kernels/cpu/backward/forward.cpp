#include "kernels/cpu/backward/forward.h"

#include <utility>

#include "kernels/cpu/aligned.h"
#include "kernels/cpu/device.h"
#include "kernels/cpu/rows.h"
#include "kernels/model/fits.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/model/problem/tensor_bytes.h"

namespace attn {

Problem forward_of(const Problem& p) {
  Problem forward = p;
  forward.pass = Pass::forward;
  return forward;
}

Result<void> add_forward(const Problem& p, Inputs& in, std::uint64_t memory_limit, const Stream& stream) {
  if (p.pass == Pass::forward || (in.o && in.lse)) return ok();
  static const KernelRow kRow = cpu::cpu_flash_row();
  const Device device = cpu_device();
  const Problem forward = forward_of(p);
  if (auto takes = kRow.supports(kRow, forward, {}, device); !takes) return takes;
  const auto plan = kRow.plan(kRow, forward, {}, device);
  if (!plan) return tl::unexpected(plan.error());
  if (auto fits = check_memory(*plan, device, memory_limit); !fits) return fits;
  Outputs out = empty_outputs(forward);
  cpu::AlignedBytes workspace(static_cast<std::size_t>(plan->workspace_bytes));
  if (auto ran = enqueue(*plan, buffers_of(in, out, workspace.data()), stream); !ran) return ran;
  if (!in.o) in.o = std::move(out.out);
  if (!in.lse) in.lse = std::move(out.lse);
  return ok();
}

Result<Inputs> make_all_inputs(const Problem& p, const InputSpec& spec, const TakePieces& take,
                               std::uint64_t memory_limit, const Stream& stream) {
  auto in = make_inputs(p, spec, take);
  if (!in) return in;
  if (auto added = add_forward(p, *in, memory_limit, stream); !added) return tl::unexpected(added.error());
  return in;
}

}  // namespace attn
