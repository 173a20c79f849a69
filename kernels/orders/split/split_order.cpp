// FlashAttention-2 with its keys split (Flash-Decoding; Dao et al. 2023): each part of the keys has lanes of its own
// with m, l and O, side by side, as if the others were not there; then the parts are merged, two at a time.
#include <iterator>
#include <utility>

#include "kernels/orders/shared/phases.h"
#include "kernels/orders/split/names.h"
#include "kernels/orders/table.h"

namespace attn::orders {

OrderRow split_order(OrderNames& names) {
  const SplitNames n = split_names(names);
  OrderRow row{.name = "split"};
  row.ends_with_lse = true;
  row.abreast = Abreast::parts;
  OrderPhase queries = load_q();
  queries.key_tile = true;  // of each part, by its first key tile
  OrderPhase store = store_o();
  store.newest_after = {{Slot::o_new, Slot::o_old}};
  row.phases = {queries,        load_kv(),         skipped(),          scores(),
                mask(),         on_chip::max(),    on_chip::rescale(), on_chip::weights(),
                on_chip::sum(), on_chip::output(), split::part_done()};
  for (OrderPhase& phase : split::merge_phases(n)) row.phases.push_back(std::move(phase));
  row.phases.push_back(normalise());
  row.phases.push_back(store);
  row.walk = {{.phase = Phase::load_q, .once = Once::part},
              {.phase = Phase::skipped, .tiles = Tiles::hidden},
              {.phase = Phase::load_kv}};
  on_chip::add_tile(row.walk);
  row.walk.push_back({.phase = Phase::store_state, .once = Once::part});
  row.walk.push_back({.phase = n.load_part, .once = Once::part, .before_merge = false});
  split::add_merge(row.walk, n);
  const WalkStep end[] = {{.phase = Phase::normalise, .once = Once::query_tile, .creates = {Slot::o_new, Slot::lse}},
                          {.phase = Phase::store_o, .once = Once::query_tile, .rounds = Slot::o_new}};
  row.walk.insert(row.walk.end(), std::begin(end), std::end(end));
  row.starts = first_state();
  // Of one part, as a block has it.
  row.on_chip = on_chip::bytes;
  return row;
}

}  // namespace attn::orders
