#include "kernels/orders/backward/names.h"

namespace attn::orders {
namespace {

Phase phase_of(OrderNames& names, std::string_view name, std::string_view letter, Slot makes,
               std::vector<Phase> elsewhere, bool maths = true) {
  return names.phase(
      {.name = name, .letter = letter, .makes = makes, .maths = maths, .elsewhere = std::move(elsewhere)});
}

}  // namespace

BackwardNames backward_names(OrderNames& names) {
  using enum SlotColumns;
  constexpr SlotRows kKeys = SlotRows::keys;
  BackwardNames n{};
  n.o = names.slot({.name = "o", .letter = "O", .like = Slot::o_new, .columns = value_head, .input = true});
  n.d_o = names.slot(
      {.name = "do", .letter = "dO", .like = Slot::o_new, .columns = value_head, .input = true, .gradient = true});
  n.delta = names.slot({.name = "delta", .letter = "δ", .like = Slot::alpha, .own_scale = true});
  n.dp = names.slot({.name = "dp", .letter = "dP", .like = Slot::p, .columns = keys, .gradient = true});
  n.ds = names.slot({.name = "ds", .letter = "dS", .like = Slot::s, .columns = keys, .gradient = true});
  n.dv = names.slot(
      {.name = "dv", .letter = "dV", .like = Slot::v, .rows = kKeys, .columns = value_head, .gradient = true});
  n.dk = names.slot({.name = "dk", .letter = "dK", .like = Slot::k, .rows = kKeys, .columns = head, .gradient = true});
  n.dq = names.slot({.name = "dq", .letter = "dQ", .like = Slot::q, .columns = head, .gradient = true});
  n.load_o = phase_of(names, "load_o", "dO", n.d_o, {Phase::load_q});
  n.row_dots = phase_of(names, "row_dots", "δ", n.delta, {Phase::load_q});
  n.load_rows = phase_of(names, "load_rows", "in", Slot::q, {Phase::load_state, Phase::load_q}, false);
  n.weights_again = phase_of(names, "weights_again", "P", Slot::p, {Phase::weights});
  n.value_gradient = phase_of(names, "value_gradient", "dV", n.dv, {Phase::output});
  n.weight_gradient = phase_of(names, "weight_gradient", "dP", n.dp, {Phase::output});
  n.score_gradient = phase_of(names, "score_gradient", "dS", n.ds, {Phase::output});
  n.key_gradient = phase_of(names, "key_gradient", "dK", n.dk, {Phase::output});
  n.query_gradient = phase_of(names, "query_gradient", "dQ", n.dq, {Phase::output});
  n.store_dkv = phase_of(names, "store_dkv", "out", n.dk, {Phase::output}, false);
  n.store_dq = phase_of(names, "store_dq", "out", n.dq, {Phase::store_o}, false);
  return n;
}

const BackwardNames& backward_names() {
  static const BackwardNames kNames = [] {
    const auto slot = [](const char* name) { return *slot_named(name); };
    const auto phase = [](const char* name) { return *phase_named(name); };
    return BackwardNames{.o = slot("o"),
                         .d_o = slot("do"),
                         .delta = slot("delta"),
                         .dp = slot("dp"),
                         .ds = slot("ds"),
                         .dv = slot("dv"),
                         .dk = slot("dk"),
                         .dq = slot("dq"),
                         .load_o = phase("load_o"),
                         .row_dots = phase("row_dots"),
                         .load_rows = phase("load_rows"),
                         .weights_again = phase("weights_again"),
                         .value_gradient = phase("value_gradient"),
                         .weight_gradient = phase("weight_gradient"),
                         .score_gradient = phase("score_gradient"),
                         .key_gradient = phase("key_gradient"),
                         .query_gradient = phase("query_gradient"),
                         .store_dkv = phase("store_dkv"),
                         .store_dq = phase("store_dq")};
  }();
  return kNames;
}

}  // namespace attn::orders
