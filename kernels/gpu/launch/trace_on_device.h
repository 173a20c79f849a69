// The part of recording a run that needs a device.
#pragma once

#include "kernels/base/result.h"
#include "kernels/gpu/device/queue.h"

namespace attn::gpu {

// Tells the module where queue.trace() lies.
Result<void> set_trace(Queue& queue, Queue::Loaded& loaded);
// The same of queue.stamps().
Result<void> set_stamps(Queue& queue, Queue::Loaded& loaded);

}  // namespace attn::gpu
