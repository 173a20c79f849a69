// FlashAttention-2 round a ring (kernels/model/ring.h; Liu, Zaharia, Abbeel 2023): query tiles are dealt to ranks that
// run side by side. In every turn a query tile meets the keys that its rank has then, from m = -inf; what comes of them
// is merged with what the turns before left in memory.
#include <iterator>
#include <utility>

#include "kernels/orders/ring/send.h"
#include "kernels/orders/shared/phases.h"
#include "kernels/orders/split/names.h"
#include "kernels/orders/table.h"

namespace attn::orders {
OrderRow ring_order(OrderNames& names) {
  const SplitNames n = split_names(names);
  OrderRow row{.name = "ring"};
  row.ends_with_lse = true;
  row.abreast = Abreast::ranks;
  OrderPhase queries = load_q();
  queries.key_tile = true;  // of each turn, by the first key tile of its keys
  OrderPhase store = store_o();
  store.newest_after = {{Slot::o_new, Slot::o_old}};
  const OrderPhase sent = send(send_name(names));
  row.phases = {sent,
                queries,
                load_kv(),
                skipped(),
                scores(),
                mask(),
                on_chip::max(),
                on_chip::rescale(),
                on_chip::weights(),
                on_chip::sum(),
                on_chip::output()};
  for (OrderPhase& phase : split::merge_phases(n)) row.phases.push_back(std::move(phase));
  row.phases.push_back(split::part_done());
  row.phases.push_back(normalise());
  row.phases.push_back(store);
  // A rank sends once a turn, whichever number of query tiles it has: counted here, as no bytes, with each of them.
  row.walk = {{.phase = sent.phase, .once = Once::merge},
              {.phase = Phase::load_q, .once = Once::part},
              {.phase = Phase::skipped, .tiles = Tiles::hidden},
              {.phase = Phase::load_kv}};
  on_chip::add_tile(row.walk);
  row.walk.push_back({.phase = n.load_part, .once = Once::merge});
  split::add_merge(row.walk, n);
  const WalkStep end[] = {{.phase = Phase::store_state, .once = Once::merge},
                          {.phase = Phase::normalise, .once = Once::query_tile, .creates = {Slot::o_new, Slot::lse}},
                          {.phase = Phase::store_o, .once = Once::query_tile, .rounds = Slot::o_new}};
  row.walk.insert(row.walk.end(), std::begin(end), std::end(end));
  row.starts = first_state();
  row.on_chip = on_chip::bytes;
  return row;
}

}  // namespace attn::orders
