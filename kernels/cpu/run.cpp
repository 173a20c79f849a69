#include "kernels/cpu/run.h"

#include <utility>

#include "kernels/cpu/aligned.h"
#include "kernels/cpu/device.h"
#include "kernels/cpu/thread_crew.h"
#include "kernels/model/fits.h"
#include "kernels/model/problem/tensor_bytes.h"
#include "kernels/model/problem/validate.h"

namespace attn {

Result<Outputs> run_on_cpu(const KernelRow& row, const Problem& p, const Options& o, const Inputs& in,
                           std::uint64_t memory_limit, Stop stop) {
  const Device device = cpu_device();
  if (auto good = row.supports(row, p, o, device); !good) return tl::unexpected(good.error());
  if (auto good = validate(p, in); !good) return tl::unexpected(good.error());
  Result<Plan> plan = row.plan(row, p, o, device);
  if (!plan) return tl::unexpected(plan.error());
  if (auto good = check_memory(*plan, device, memory_limit); !good) return tl::unexpected(good.error());

  Outputs out = empty_outputs(p);
  cpu::AlignedBytes workspace(static_cast<std::size_t>(plan->workspace_bytes));
  const Buffers b = buffers_of(in, out, workspace.data());
  cpu::ThreadCrew crew(plan->options.threads);
  if (auto good = enqueue(*plan, b, Stream{std::move(stop), nullptr, &crew}); !good)
    return tl::unexpected(good.error());
  return out;
}

}  // namespace attn
