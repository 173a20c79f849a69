// The CPU as a device.
#pragma once

#include <vector>

#include "kernels/model/kernel.h"

namespace attn {

// The CPU of this machine.
Device cpu_device();
// The caches of its first core, the smallest level first; none where the system does not say.
std::vector<CacheLevel> cpu_caches();

}  // namespace attn
