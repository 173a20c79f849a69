// FlashAttention-2 (Dao 2023, algorithm 1): query tile outside, key tile inside; O is divided by l once, at the end.
#include "kernels/orders/shared/phases.h"
#include "kernels/orders/table.h"

namespace attn::orders {

OrderRow flash_order(OrderNames&) {
  OrderRow row{.name = "flash"};
  row.ends_with_lse = true;
  OrderPhase store = store_o();  // its LSE is made already
  store.newest_after = {{Slot::o_new, Slot::o_old}};
  row.phases = {load_q(),           load_kv(),          skipped(),      scores(),          mask(),      on_chip::max(),
                on_chip::rescale(), on_chip::weights(), on_chip::sum(), on_chip::output(), normalise(), store};
  row.walk = {{.phase = Phase::load_q, .once = Once::query_tile},
              {.phase = Phase::skipped, .tiles = Tiles::hidden},
              {.phase = Phase::load_kv}};
  on_chip::add_tile(row.walk);
  row.walk.push_back({.phase = Phase::normalise, .once = Once::query_tile, .creates = {Slot::o_new, Slot::lse}});
  row.walk.push_back({.phase = Phase::store_o, .once = Once::query_tile, .rounds = Slot::o_new});
  row.starts = first_state();
  row.on_chip = on_chip::bytes;
  return row;
}

}  // namespace attn::orders
