#include "kernels/orders/backward/phases.h"

#include "kernels/orders/shared/phases.h"

namespace attn::orders::backward {
OrderPhase load_o(const BackwardNames& n) {
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
          .sentence = "Loads O, and dO, the gradient from the loss."};
}

OrderPhase row_dots(const BackwardNames& n) {
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
          .sentence = "One number per row: the mean of its dP, weighted by P. It is subtracted from each dP.",
          .code = "delta"};
}

OrderPhase load_rows(const BackwardNames& n) {
  return {.phase = n.load_rows,
          .after = {Slot::q, n.d_o, Slot::lse, n.delta},
          .loads = {Slot::q, n.d_o},
          .brings = {Slot::q, n.d_o, Slot::lse, n.delta},
          .bytes =
              [](const EventExtent& x) {
                Traffic t;
                at(t.read, TrafficPart::q) = x.size.q;
                at(t.read, TrafficPart::o) = x.size.o;
                at(t.read, TrafficPart::stats) = x.size.stat * 2;  // LSE and delta
                return t;
              },
          .replay = replay_load_rows,
          .exact = exact_load_rows,
          .cause = cause_of_load_rows,
          .title = "Load the next query tile",
          .sentence = "Q, dO, LSE and δ of these rows: everything needed to recompute P."};
}

OrderPhase weights_again(const BackwardNames& n) {
  return {.phase = n.weights_again,
          .before = {Slot::s, Slot::lse},
          .after = {Slot::p},
          .replay = replay_weights,
          .exact = exact_weights,
          .title = "Weights, recomputed",
          .formula = "[P] = exp([S] − [LSE])",
          .sentence = "LSE contains the row's maximum and sum, so P is final right away.",
          .code = "P"};
}

OrderPhase value_gradient(const BackwardNames& n) {
  return {.phase = n.value_gradient,
          .before = {Slot::p, n.d_o},
          .after = {n.dv},
          .replay = replay_value_gradient,
          .exact_keys = exact_value_gradient,
          .title = "Gradient of the values",
          .formula = "[dV] = [dV] + [P]^(T)[dO]",
          .sentence = "Each key's value receives the gradients of the rows that attended to it, weighted by P.",
          .code = "dV"};
}

OrderPhase weight_gradient(const BackwardNames& n) {
  return {.phase = n.weight_gradient,
          .before = {n.d_o, Slot::v},
          .after = {n.dp},
          .replay = replay_weight_gradient,
          .exact = exact_weight_gradient,
          .title = "Gradient of the weights",
          .formula = "[dP] = [dO][V]^(T)",
          .sentence = "How the loss changes with a little more weight on a key.",
          .code = "dP"};
}

OrderPhase score_gradient(const BackwardNames& n) {
  return {.phase = n.score_gradient,
          .before = {Slot::p, n.dp, n.delta},
          .after = {n.ds},
          .replay = replay_score_gradient,
          .exact = exact_score_gradient,
          .cause = cause_of_score_gradient,
          .title = "Gradient of the scores",
          .formula = "[dS] = [P] · ([dP] − [δ])",
          .sentence = "More weight here means less elsewhere, so each key is measured against the row's mean δ.",
          .code = "dS"};
}

OrderPhase key_gradient(const BackwardNames& n) {
  return {.phase = n.key_gradient,
          .before = {n.ds, Slot::q},
          .after = {n.dk},
          .replay = replay_key_gradient,
          .exact_keys = exact_key_gradient,
          .title = "Gradient of the keys",
          .formula = "[dK] = [dK] + [dS]^(T)[Q]",
          .sentence = "The key tile's own sum stays on chip. The scale is applied once, at the end.",
          .code = "dK"};
}

OrderPhase query_gradient(const BackwardNames& n) {
  return {.phase = n.query_gradient,
          .before = {n.ds, Slot::k},
          .after = {n.dq},
          .bytes =
              [](const EventExtent& x) {
                Traffic t;
                at(t.read, TrafficPart::q) = at(t.written, TrafficPart::q) = x.size.q_sum;
                return t;
              },
          .replay = replay_query_gradient,
          .exact = exact_query_gradient,
          .cause = cause_of_query_gradient,
          .title = "Gradient of the queries",
          .formula = "[dQ] = [dQ] + [dS][K]",
          .sentence = "Each key tile adds its part: dQ is loaded and stored again.",
          .code = "dQ"};
}

OrderPhase store_dkv(const BackwardNames& n) {
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
          .sentence = "All query tiles are done: dK is multiplied by the scale, and both are rounded and written.",
          .code = "store"};
}

OrderPhase store_dkv_from_memory(const BackwardNames& n) {
  OrderPhase phase = store_dkv(n);
  phase.bytes = [](const EventExtent& x) {
    Traffic t;
    at(t.read, TrafficPart::k) = x.size.k_sum;
    at(t.read, TrafficPart::v) = x.size.v_sum;
    at(t.written, TrafficPart::k) = x.size.k;
    at(t.written, TrafficPart::v) = x.size.v;
    return t;
  };
  return phase;
}

OrderPhase store_dq(const BackwardNames& n) {
  return {.phase = n.store_dq,
          .key_tile = false,
          .after = {n.dq},
          .bytes =
              [](const EventExtent& x) {
                Traffic t;
                at(t.read, TrafficPart::q) = x.size.q_sum;
                at(t.written, TrafficPart::q) = x.size.q;
                return t;
              },
          .replay = replay_store_dq,
          .exact = exact_store_dq,
          .title = "dQ is done",
          .sentence = "All key tiles have added their parts: dQ is multiplied by the scale, rounded and written.",
          .code = "store"};
}

}  // namespace attn::orders::backward
