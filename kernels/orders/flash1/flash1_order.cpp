// FlashAttention-1 (Dao et al. 2022, algorithm 1): key tile outside; O, m and l go to memory and come back at every
// turn, O divided by the l so far.
#include "kernels/orders/shared/phases.h"
#include "kernels/orders/table.h"

namespace attn::orders {

OrderRow flash1_order(OrderNames&) {
  OrderRow row{.name = "flash-1"};
  row.keys_outside = row.state_in_memory = row.divides_each_turn = true;
  row.query_stays = false;
  OrderPhase store = store_o();  // brings the state back from memory with its event, but not Q
  store.brings = {Slot::m_old, Slot::l_old, Slot::o_old};
  store.bytes = [](const EventExtent& x) {
    Traffic t = load_state().bytes(x);
    at(t.read, TrafficPart::q) = 0;
    return t += store_o().bytes(x);
  };
  store.newest_before.clear();
  store.newest_after.insert(store.newest_after.begin(), {Slot::o_old, Slot::o_old});
  row.phases = {load_kv(),      skipped(),         load_state(),       scores(),
                mask(),         on_chip::max(),    on_chip::rescale(), on_chip::weights(),
                on_chip::sum(), on_chip::output(), store_state(),      store};
  row.walk = {{.phase = Phase::load_kv, .once = Once::key_tile},
              {.phase = Phase::skipped, .tiles = Tiles::hidden},
              {.phase = Phase::load_state}};
  on_chip::add_tile(row.walk);
  row.walk.push_back({.phase = Phase::store_state});
  row.walk.push_back(
      {.phase = Phase::store_o, .once = Once::query_tile, .creates = {Slot::lse}, .rounds = Slot::o_new});
  row.starts = first_state();
  row.on_chip = on_chip::bytes;
  return row;
}

}  // namespace attn::orders
