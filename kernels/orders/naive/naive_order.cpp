// Three passes over a stored S: S = Q K^T, the softmax, P V. Each pass reads its operands once; a tile is only a place
// to pause, so nothing is skipped, and the bytes do not depend on the mask.
#include "kernels/orders/shared/phases.h"
#include "kernels/orders/table.h"

namespace attn::orders {
namespace {

// K and V stay where they are after the first query rows.
OrderPhase load_k_once() {
  OrderPhase p = load_k();
  p.bytes = [](const EventExtent& x) { return x.i > 0 ? Traffic{} : load_k().bytes(x); };
  return p;
}
OrderPhase load_v_once() {
  OrderPhase p = load_v();
  p.bytes = [](const EventExtent& x) {
    Traffic t;
    if (x.i == 0) at(t.read, TrafficPart::v) = x.size.v;
    at(t.read, TrafficPart::p) = x.size.p;
    return t;
  };
  return p;
}
// As if the tile were not skipped.
OrderPhase skipped_all_the_same() {
  OrderPhase p = skipped();
  p.bytes = [](const EventExtent& x) {
    Traffic t = stored::skipped_bytes(x);
    if (x.pass == 0 && x.i == 0) at(t.read, TrafficPart::k) = x.size.k;
    if (x.pass == 0) at(t.read, TrafficPart::bias) = x.size.bias;
    if (x.pass == 2 && x.i == 0) at(t.read, TrafficPart::v) = x.size.v;
    return t;
  };
  return p;
}

}  // namespace

OrderRow naive_order(OrderNames&) {
  OrderRow row{.name = "naive", .stores_scores = true, .skips_hidden = false, .operands_once = true};
  row.query_stays = false;
  row.passes = 3;
  row.phases = {load_q(),      load_k_once(),     scores(),      mask(),           store_s(), stored::max(),
                stored::sum(), stored::weights(), load_v_once(), stored::output(), store_o(), skipped_all_the_same()};
  row.walk = {{.phase = Phase::load_q, .once = Once::query_tile},
              {.phase = Phase::load_k},
              {.phase = Phase::scores, .creates = {Slot::s}},
              {.phase = Phase::mask, .tiles = Tiles::masked, .creates = {Slot::s}},
              {.phase = Phase::store_s},
              {.phase = Phase::max, .pass = 1, .creates = {Slot::m_new}},
              {.phase = Phase::sum, .pass = 1, .creates = {Slot::l_new}},
              {.phase = Phase::weights, .pass = 1, .creates = {Slot::p}},
              {.phase = Phase::load_v, .pass = 2},
              {.phase = Phase::output, .pass = 2, .creates = {Slot::o_new}},
              stored::end_of_walk()};
  row.starts = first_state();
  row.on_chip = stored::bytes;
  return row;
}

}  // namespace attn::orders
