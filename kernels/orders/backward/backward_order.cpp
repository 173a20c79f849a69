// The orders of a backward. FlashAttention-2 (Dao 2023, algorithm 2): key tile outside; dK and dV of the tile stay on
// chip while the query tiles pass by, dQ comes from memory and goes back at every turn. S and P are computed again from
// LSE. With the query tile outside it is the other way round: dQ stays, and so do the row's LSE and delta, while dK and
// dV of each key tile come and go. The naive one stores P and dS and walks over them in passes.
#include "kernels/orders/backward/phases.h"
#include "kernels/orders/shared/phases.h"
#include "kernels/orders/table.h"

namespace attn::orders {

using namespace backward;

OrderRow backward_order(OrderNames& names) {
  const BackwardNames n = backward_names(names);
  OrderRow row{.name = "backward", .pass = Pass::backward};
  row.keys_outside = row.heads_share_keys = row.absent_keys_zero = true;
  row.query_stays = false;
  row.passes = 3;
  row.phases = {load_o(n),         row_dots(n),     load_kv(),         skipped(),         load_rows(n),
                scores(),          mask(),          weights_again(n),  value_gradient(n), weight_gradient(n),
                score_gradient(n), key_gradient(n), query_gradient(n), store_dkv(n),      store_dq(n)};
  row.walk = {{.phase = n.load_o, .once = Once::query_tile},
              {.phase = n.row_dots, .once = Once::query_tile, .creates = {n.delta}},
              {.phase = Phase::load_kv, .pass = 1, .once = Once::key_tile},
              {.phase = Phase::skipped, .pass = 1, .tiles = Tiles::hidden},
              {.phase = n.load_rows, .pass = 1},
              {.phase = Phase::scores, .pass = 1, .creates = {Slot::s}},
              {.phase = Phase::mask, .pass = 1, .tiles = Tiles::masked, .creates = {Slot::s}},
              {.phase = n.weights_again, .pass = 1, .creates = {Slot::p}},
              {.phase = n.value_gradient, .pass = 1, .creates = {n.dv}},
              {.phase = n.weight_gradient, .pass = 1, .creates = {n.dp}},
              {.phase = n.score_gradient, .pass = 1, .creates = {n.ds}},
              {.phase = n.key_gradient, .pass = 1, .creates = {n.dk}},
              {.phase = n.query_gradient, .pass = 1, .creates = {n.dq}},
              {.phase = n.store_dkv, .pass = 1, .once = Once::key_tile, .tiles = Tiles::all, .creates = {n.dk, n.dv}},
              {.phase = n.store_dq, .pass = 2, .once = Once::query_tile, .creates = {n.dq}}};
  row.starts = {n.o, n.d_o, Slot::q, Slot::lse};
  // dK and dV as they are summed, S or P and dP or dS.
  row.on_chip = [](const TileBytes& size) -> std::vector<OnChip> {
    return {{0, 0, 0, 0, 0, 0, 2 * size.o, size.stat},
            {size.q, size.k + size.k_sum, size.v + size.v_sum, size.bias, size.s, size.s, size.o, 2 * size.stat},
            {size.q, 0, 0, 0, 0, 0, 0, 0}};
  };
  return row;
}

OrderRow backward_queries_order(OrderNames& names) {
  const BackwardNames n = backward_names(names);
  OrderRow row{.name = "backward-queries", .pass = Pass::backward};
  row.heads_share_keys = row.absent_keys_zero = true;
  row.passes = 2;
  OrderPhase rows = load_rows(n);
  rows.key_tile = false;
  rows.brings = {Slot::q, Slot::lse};
  rows.loads = {Slot::q};
  rows.bytes = [](const EventExtent& x) {
    Traffic t;
    at(t.read, TrafficPart::q) = x.size.q;
    at(t.read, TrafficPart::stats) = x.size.stat;
    return t;
  };
  rows.sentence = "Q and LSE join dO and δ of these rows, and stay until the last key tile.";
  OrderPhase values = value_gradient(n);
  values.bytes = [](const EventExtent& x) {
    Traffic t;
    at(t.read, TrafficPart::v) = at(t.written, TrafficPart::v) = x.size.v_sum;
    return t;
  };
  OrderPhase keys = key_gradient(n);
  keys.bytes = [](const EventExtent& x) {
    Traffic t;
    at(t.read, TrafficPart::k) = at(t.written, TrafficPart::k) = x.size.k_sum;
    return t;
  };
  keys.sentence = "Each query tile adds its part: dK is loaded and stored again.";
  OrderPhase queries = query_gradient(n);
  queries.bytes = nullptr;
  queries.sentence = "The query tile's own sum stays on chip. The scale is applied once, at the end.";
  OrderPhase done = store_dq(n);
  done.bytes = [](const EventExtent& x) {
    Traffic t;
    at(t.written, TrafficPart::q) = x.size.q;
    return t;
  };
  row.phases = {load_o(n),
                row_dots(n),
                rows,
                skipped(),
                load_kv(),
                scores(),
                mask(),
                weights_again(n),
                values,
                weight_gradient(n),
                score_gradient(n),
                keys,
                queries,
                done,
                store_dkv_from_memory(n)};
  row.walk = {{.phase = n.load_o, .once = Once::query_tile},
              {.phase = n.row_dots, .once = Once::query_tile, .creates = {n.delta}},
              {.phase = n.load_rows, .once = Once::query_tile},
              {.phase = Phase::skipped, .tiles = Tiles::hidden},
              {.phase = Phase::load_kv},
              {.phase = Phase::scores, .creates = {Slot::s}},
              {.phase = Phase::mask, .tiles = Tiles::masked, .creates = {Slot::s}},
              {.phase = n.weights_again, .creates = {Slot::p}},
              {.phase = n.value_gradient, .creates = {n.dv}},
              {.phase = n.weight_gradient, .creates = {n.dp}},
              {.phase = n.score_gradient, .creates = {n.ds}},
              {.phase = n.key_gradient, .creates = {n.dk}},
              {.phase = n.query_gradient, .creates = {n.dq}},
              {.phase = n.store_dq, .once = Once::query_tile, .creates = {n.dq}},
              {.phase = n.store_dkv, .pass = 1, .once = Once::key_tile, .tiles = Tiles::all, .creates = {n.dk, n.dv}}};
  row.starts = {n.o, n.d_o, Slot::q, Slot::lse};
  // dQ as it is summed, S or P and dP or dS. O has gone before K comes.
  row.on_chip = [](const TileBytes& size) -> std::vector<OnChip> {
    return {{size.q + size.q_sum, size.k, size.v, size.bias, size.s, size.s, size.o, 2 * size.stat},
            {0, size.k_sum, size.v_sum, 0, 0, 0, 0, 0}};
  };
  return row;
}

OrderRow naive_backward_order(OrderNames& names) {
  const BackwardNames n = backward_names(names);
  OrderRow row{.name = "naive-backward", .pass = Pass::backward};
  row.stores_scores = row.operands_once = true;
  row.skips_hidden = row.query_stays = false;
  row.passes = 3;
  // Each pass reads its operands once; P and dS lie in the input dtype.
  OrderPhase k_once = load_k();
  k_once.bytes = [](const EventExtent& x) { return x.i == 0 ? load_k().bytes(x) : Traffic{}; };
  OrderPhase weights = weights_again(n);
  weights.bytes = [](const EventExtent& x) {
    Traffic t;
    at(t.written, TrafficPart::p) = x.size.p;
    return t;
  };
  OrderPhase v_once = load_v();
  v_once.bytes = [](const EventExtent& x) {
    Traffic t;
    if (x.i == 0) at(t.read, TrafficPart::v) = x.size.v;
    at(t.read, TrafficPart::p) = x.size.p;
    return t;
  };
  OrderPhase scores_of = score_gradient(n);
  scores_of.bytes = [](const EventExtent& x) {
    Traffic t;
    at(t.written, TrafficPart::s) = x.size.p;
    return t;
  };
  OrderPhase queries = query_gradient(n);
  queries.bytes = [](const EventExtent& x) {
    Traffic t;
    if (x.i == 0) at(t.read, TrafficPart::k) = x.size.k;
    return t;
  };
  OrderPhase done = store_dq(n);
  done.bytes = [](const EventExtent& x) {
    Traffic t;
    at(t.written, TrafficPart::q) = x.size.q;
    return t;
  };
  OrderPhase values = value_gradient(n);
  values.bytes = [](const EventExtent& x) {
    Traffic t;
    at(t.read, TrafficPart::p) = x.size.p;
    return t;
  };
  OrderPhase keys = key_gradient(n);
  keys.bytes = [](const EventExtent& x) {
    Traffic t;
    at(t.read, TrafficPart::s) = x.size.p;
    return t;
  };
  OrderPhase rows = load_rows(n);
  rows.key_tile = false;
  row.phases = {load_q(),  k_once,  scores(), mask(), weights, load_o(n), row_dots(n),  v_once,   weight_gradient(n),
                scores_of, queries, done,     rows,   values,  keys,      store_dkv(n), skipped()};
  row.walk = {{.phase = Phase::load_q, .once = Once::query_tile},
              {.phase = Phase::load_k},
              {.phase = Phase::scores, .creates = {Slot::s}},
              {.phase = Phase::mask, .tiles = Tiles::masked, .creates = {Slot::s}},
              {.phase = n.weights_again, .creates = {Slot::p}},
              {.phase = n.load_o, .pass = 1, .once = Once::query_tile},
              {.phase = n.row_dots, .pass = 1, .once = Once::query_tile, .creates = {n.delta}},
              {.phase = Phase::load_v, .pass = 1},
              {.phase = n.weight_gradient, .pass = 1, .creates = {n.dp}},
              {.phase = n.score_gradient, .pass = 1, .creates = {n.ds}},
              {.phase = n.query_gradient, .pass = 1, .creates = {n.dq}},
              {.phase = n.store_dq, .pass = 1, .once = Once::query_tile, .creates = {n.dq}},
              {.phase = n.load_rows, .pass = 2, .once = Once::query_tile},
              {.phase = n.value_gradient, .pass = 2, .creates = {n.dv}},
              {.phase = n.key_gradient, .pass = 2, .creates = {n.dk}},
              {.phase = n.store_dkv, .pass = 2, .once = Once::key_tile, .tiles = Tiles::all, .creates = {n.dk, n.dv}}};
  row.on_chip = [](const TileBytes& size) -> std::vector<OnChip> {
    return {{size.q, size.k, 0, size.bias, size.s, 0, 0, size.stat},
            {size.q, size.k, size.v, 0, size.s, size.p, 2 * size.o, size.stat},
            {size.q, size.k, size.v, 0, size.p, size.p, size.o, 0}};
  };
  return row;
}

}  // namespace attn::orders
