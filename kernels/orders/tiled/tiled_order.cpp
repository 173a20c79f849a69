// The three passes of the naive order through tiles: Q again for each key tile, K and V again for each query tile. A
// tile that the mask skips is stored and read all the same.
#include "kernels/orders/shared/phases.h"
#include "kernels/orders/table.h"

namespace attn::orders {

OrderRow tiled_order(OrderNames&) {
  OrderRow row{.name = "tiled", .stores_scores = true};
  row.query_stays = false;
  row.passes = 3;
  OrderPhase skip = skipped();
  skip.bytes = stored::skipped_bytes;
  row.phases = {skip,          load_q(),      load_k(),          scores(), mask(),           store_s(),
                stored::max(), stored::sum(), stored::weights(), load_v(), stored::output(), store_o()};
  row.walk = {{.phase = Phase::skipped, .tiles = Tiles::hidden, .creates = {Slot::s}},
              {.phase = Phase::load_q},
              {.phase = Phase::load_k},
              {.phase = Phase::scores, .creates = {Slot::s}},
              {.phase = Phase::mask, .tiles = Tiles::masked, .creates = {Slot::s}},
              {.phase = Phase::store_s},
              {.phase = Phase::max, .pass = 1, .tiles = Tiles::all, .creates = {Slot::m_new}},
              {.phase = Phase::sum, .pass = 1, .tiles = Tiles::all, .creates = {Slot::l_new}},
              {.phase = Phase::weights, .pass = 1, .tiles = Tiles::all, .creates = {Slot::p}},
              {.phase = Phase::skipped, .pass = 2, .tiles = Tiles::hidden},
              {.phase = Phase::load_v, .pass = 2},
              {.phase = Phase::output, .pass = 2, .creates = {Slot::o_new}},
              stored::end_of_walk()};
  row.starts = first_state();
  row.on_chip = stored::bytes;
  return row;
}

}  // namespace attn::orders
