// What both rings do: the keys at hand leave for the next rank while the rank computes with them, over a link, not
// through its memory.
#pragma once

#include "kernels/model/order_row.h"

namespace attn::orders {

inline Phase send_name(OrderNames& names) {
  return names.phase({.name = "send", .letter = "send", .elsewhere = {Phase::load_kv}});
}

inline OrderPhase send(Phase phase) {
  return {.phase = phase,
          .sends = true,
          .title = "K and V go on to the next rank",
          .sentence = "They travel while the rank computes with them. What belongs to its queries stays."};
}

}  // namespace attn::orders
