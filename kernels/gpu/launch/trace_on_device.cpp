#include "kernels/gpu/launch/trace_on_device.h"

#include "kernels/gpu/device/driver.h"

namespace attn::gpu {

Result<void> set_trace(Queue& queue, Queue::Loaded& loaded) {
  const auto at = queue.driver().variable(loaded.module, "attn_trace");
  if (!at) return tl::unexpected(at.error());
  const DevicePointer buffer = queue.trace();
  auto sent = queue.driver().upload(*at, &buffer, sizeof buffer, queue.stream());
  if (!sent) return sent;
  return queue.driver().synchronize(queue.stream());  // `buffer` is on this stack
}

}  // namespace attn::gpu
