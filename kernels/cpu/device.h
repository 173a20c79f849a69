// The CPU as a device.
#pragma once

#include "kernels/model/kernel.h"

namespace attn {

// The CPU of this machine.
Device cpu_device();

}  // namespace attn
