// What naive and tiled share: three passes over a stored S; m and l are the whole row's before a weight is made.
#pragma once

#include "viz/step/orders/shared.h"

namespace attn::looks {

// Without what differs: words of its bytes, and whether it goes by rows.
OrderLook storing(Order order);

}  // namespace attn::looks
