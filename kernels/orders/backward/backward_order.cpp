// The orders of a backward. FlashAttention-2 (Dao 2023, algorithm 2): key tile outside; dK and dV of the tile stay on
// chip while the query tiles pass by, dQ comes from memory and goes back at every turn. S and P are computed again from
// LSE. The naive one stores P and dS and walks over them in passes.
#include "kernels/orders/backward/names.h"
#include "kernels/orders/shared/phases.h"
#include "kernels/orders/table.h"

namespace attn::orders {
namespace {

using Names = BackwardNames;
using namespace backward;

// dQ as it is summed.
std::uint64_t in_fp32(const EventExtent& x, std::uint64_t bytes) {
  return bytes / size_of(x.problem.dtype) * size_of(DType::f32);
}

OrderPhase load_o(const Names& n) {
  return {.phase = n.load_o,
          .key_tile = false,
          .after = {n.o, n.d_o},
          .loads = {n.o, n.d_o},
          .brings = {n.o, n.d_o},
          .bytes =
              [](const EventExtent& x) {
                Traffic t;
                at(t.read, TrafficPart::o) = 2 * x.size.o;
                return t;
              },
          .title = "O and its gradient",
          .sentence = "O comes back, and with it dO, what the loss asks of it."};
}

OrderPhase row_dots(const Names& n) {
  return {.phase = n.row_dots,
          .key_tile = false,
          .before = {n.o, n.d_o},
          .after = {n.delta},
          .bytes =
              [](const EventExtent& x) {
                Traffic t;
                at(t.written, TrafficPart::stats) = x.size.stat;
                return t;
              },
          .replay = replay_row_dots,
          .exact = exact_row_dots,
          .title = "δ of each row",
          .formula = "[δ] = Σ [dO]·[O]",
          .sentence = "One number a row: the mean of its dP, weighted by P. Each dS will lose it."};
}

OrderPhase load_rows(const Names& n) {
  return {.phase = n.load_rows,
          .after = {Slot::q, n.d_o, Slot::lse, n.delta},
          .loads = {Slot::q, n.d_o, Slot::lse},
          .brings = {Slot::q, n.d_o, Slot::lse, n.delta},
          .bytes =
              [](const EventExtent& x) {
                Traffic t;
                at(t.read, TrafficPart::q) = x.size.q;
                at(t.read, TrafficPart::o) = x.size.o;
                at(t.read, TrafficPart::stats) = x.size.stat * 2;  // LSE and delta
                return t;
              },
          .title = "The query tile comes by",
          .sentence = "Q, dO, LSE and δ of these rows: all that is needed to compute P again."};
}

OrderPhase weights_again(const Names& n) {
  return {.phase = n.weights_again,
          .before = {Slot::s, Slot::lse},
          .after = {Slot::p},
          .replay = replay_weights,
          .exact = exact_weights,
          .title = "Weights, again",
          .formula = "[P] = exp([S] − [LSE])",
          .sentence = "LSE holds maximum and sum of the row, so P is final at once."};
}

OrderPhase value_gradient(const Names& n) {
  return {.phase = n.value_gradient,
          .before = {Slot::p, n.d_o},
          .after = {n.dv},
          .replay = replay_value_gradient,
          .exact_keys = exact_value_gradient,
          .title = "Gradient of the values",
          .formula = "[dV] = [dV] + [P]^(T)[dO]",
          .sentence = "Each key's value gets the gradients of the rows that looked at it, by their weights."};
}

OrderPhase weight_gradient(const Names& n) {
  return {.phase = n.weight_gradient,
          .before = {n.d_o, Slot::v},
          .after = {n.dp},
          .replay = replay_weight_gradient,
          .exact = exact_weight_gradient,
          .title = "Gradient of the weights",
          .formula = "[dP] = [dO][V]^(T)",
          .sentence = "What a little more weight on a key would change."};
}

OrderPhase score_gradient(const Names& n) {
  return {.phase = n.score_gradient,
          .before = {Slot::p, n.dp, n.delta},
          .after = {n.ds},
          .replay = replay_score_gradient,
          .exact = exact_score_gradient,
          .cause = cause_of_score_gradient,
          .title = "Gradient of the scores",
          .formula = "[dS] = [P] · ([dP] − [δ])",
          .sentence = "More weight here is less elsewhere, so each key counts against the row's mean δ."};
}

OrderPhase key_gradient(const Names& n) {
  return {.phase = n.key_gradient,
          .before = {n.ds, Slot::q},
          .after = {n.dk},
          .replay = replay_key_gradient,
          .exact_keys = exact_key_gradient,
          .title = "Gradient of the keys",
          .formula = "[dK] = [dK] + [dS]^(T)[Q]",
          .sentence = "The key tile's own sum stays on chip; the scale comes once, at the end."};
}

OrderPhase query_gradient(const Names& n) {
  return {.phase = n.query_gradient,
          .before = {n.ds, Slot::k},
          .after = {n.dq},
          .bytes =
              [](const EventExtent& x) {
                Traffic t;
                at(t.read, TrafficPart::q) = at(t.written, TrafficPart::q) = in_fp32(x, x.size.q);
                return t;
              },
          .replay = replay_query_gradient,
          .exact = exact_query_gradient,
          .cause = cause_of_query_gradient,
          .title = "Gradient of the queries",
          .formula = "[dQ] = [dQ] + [dS][K]",
          .sentence = "Each key tile adds its part: dQ comes from memory and goes back."};
}

OrderPhase store_dkv(const Names& n) {
  return {.phase = n.store_dkv,
          .query_tile = false,
          .after = {n.dk, n.dv},
          .bytes =
              [](const EventExtent& x) {
                Traffic t;
                at(t.written, TrafficPart::k) = x.size.k;
                at(t.written, TrafficPart::v) = x.size.v;
                return t;
              },
          .replay = replay_store_dkv,
          .exact_keys = exact_store_dkv,
          .cause = cause_of_store_dkv,
          .title = "dK and dV are done",
          .sentence = "All query tiles have passed by: dK takes the scale, both are rounded and written."};
}

OrderPhase store_dq(const Names& n) {
  return {.phase = n.store_dq,
          .key_tile = false,
          .after = {n.dq},
          .bytes =
              [](const EventExtent& x) {
                Traffic t;
                at(t.read, TrafficPart::q) = in_fp32(x, x.size.q);
                at(t.written, TrafficPart::q) = x.size.q;
                return t;
              },
          .replay = replay_store_dq,
          .exact = exact_store_dq,
          .title = "dQ is done",
          .sentence = "All key tiles have added their parts: dQ takes the scale, is rounded and written."};
}

}  // namespace

OrderRow backward_order(OrderNames& names) {
  const Names n = backward_names(names);
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

OrderRow naive_backward_order(OrderNames& names) {
  const Names n = backward_names(names);
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
