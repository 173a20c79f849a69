// The phases and slots that kernels/model/order.h names, in the sequence of their ids.
#pragma once

#include <vector>

#include "kernels/model/order_row.h"

namespace attn::orders {

std::vector<PhaseName> shared_phases();
std::vector<SlotRow> shared_slots();

}  // namespace attn::orders
