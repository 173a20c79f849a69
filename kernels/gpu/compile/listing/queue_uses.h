// What an instruction waits for in the queue that shared memory, exponentials and conversions have in common (MIO). A
// sample says only that it waits there; the machine code says for which: by the instruction itself where it is to enter
// the queue, and by those that make its operands where it waits for what comes out of it.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/gpu/compile/listing/sass.h"

namespace attn::gpu {

enum class QueueUse : std::uint8_t {
  unknown,  // neither, such as a shuffle or a special register; or nobody knows
  shared,   // shared memory
  special,  // exponentials, reciprocals, conversions
};

struct QueueUses {
  QueueUse own = QueueUse::unknown;       // what the instruction puts into the queue
  QueueUse operands = QueueUse::unknown;  // what its operands come from: of the last instruction before that makes one
};
// Of each instruction of a function. Found in the order of the addresses: a register that the end of a loop wrote for
// its beginning is looked for no further than in the code before it.
std::vector<QueueUses> queue_uses(const SassFunction& function);

}  // namespace attn::gpu
