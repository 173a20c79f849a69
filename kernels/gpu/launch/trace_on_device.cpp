#include "kernels/gpu/launch/trace_on_device.h"

#include <cstddef>
#include <span>
#include <string>

#include "kernels/gpu/device/driver.h"

namespace attn::gpu {

namespace {

Result<void> set(Queue& queue, Queue::Loaded& loaded, const std::string& name, std::span<const std::byte> value) {
  const auto at = queue.driver().variable(loaded.module, name);
  if (!at) return tl::unexpected(at.error());
  auto sent = queue.driver().upload(*at, value.data(), value.size(), queue.stream());
  if (!sent) return sent;
  return queue.driver().synchronize(queue.stream());  // `value` may be on a stack
}

}  // namespace

Result<void> set_trace(Queue& queue, Queue::Loaded& loaded) {
  const DevicePointer buffer = queue.trace();
  return set(queue, loaded, "attn_trace", std::as_bytes(std::span(&buffer, 1)));
}

Result<void> set_stamps(Queue& queue, Queue::Loaded& loaded) {
  return set(queue, loaded, "attn_stamps", queue.stamps());
}

}  // namespace attn::gpu
