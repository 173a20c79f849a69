#include "app/worker/record.h"

#include <utility>

#include "kernels/gpu/rungs/trace/trace.h"
#include "kernels/ladder.h"

namespace attn {

Result<GpuRecorded> record_on_gpu(GpuClient& client, const GpuRunRequest& r, const Device& device,
                                  const Deadline& deadline, const GpuClient::Progress& progress) {
  const auto row = find_kernel(r.kernel, client.own());
  if (!row) return tl::unexpected(row.error());
  const auto plan = (*row)->plan(**row, r.problem, r.options, device);
  if (!plan) return tl::unexpected(plan.error());
  auto answer = client.record(r, deadline, progress);
  if (!answer) return tl::unexpected(answer.error());
  auto rec = gpu::recording_of_trace(*plan, *r.inputs, std::move(answer->outputs), answer->trace, answer->device,
                                     answer->uuid);
  if (!rec) return tl::unexpected(rec.error());
  return GpuRecorded{std::move(*rec), answer->same_bits, answer->plain_us, answer->traced_us};
}

}  // namespace attn
