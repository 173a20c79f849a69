// FlashAttention-2 as a block of a pipelined kernel walks it (FlashAttention-3; Shah et al. 2024): a producer copies K
// and V through a ring of slots, consumers with rows of their own take turns at the tensor cores. The formulas are
// flash's; between them stand the moments at which somebody waits, hands over or lets go.
//
// The sequence of the phases here is that of one consumer. How the lanes go past one another is what a recorded launch
// says (recorded.h).
#include <utility>
#include <vector>

#include "kernels/orders/hopper/names.h"
#include "kernels/orders/shared/phases.h"
#include "kernels/orders/table.h"

namespace attn::orders {
namespace {

// Of the lane that copies: of a key tile alone.
OrderPhase by_producer(Phase phase, std::string_view title, std::string_view sentence,
                       Traffic (*bytes)(const EventExtent&) = nullptr) {
  return {.phase = phase, .query_tile = false, .bytes = bytes, .title = title, .sentence = sentence};
}

OrderPhase by_consumer(Phase phase, std::string_view title, std::string_view sentence) {
  return {.phase = phase, .title = title, .sentence = sentence};
}

Traffic bytes_of_q(const EventExtent& x) {
  Traffic t;
  at(t.read, TrafficPart::q) = x.size.q;
  return t;
}
Traffic bytes_of_k(const EventExtent& x) {
  Traffic t;
  at(t.read, TrafficPart::k) = x.size.k;
  return t;
}
Traffic bytes_of_v(const EventExtent& x) {
  Traffic t;
  at(t.read, TrafficPart::v) = x.size.v;
  return t;
}

OrderPhase ask_q(const HopperNames& n) {
  OrderPhase p = by_producer(n.ask_q, "The producer requests [Q|{i}]",
                             "The copy unit (TMA) brings it. [Q|{i}] cannot be read before it has landed.", bytes_of_q);
  p.query_tile = p.aside = true;
  p.key_tile = false;
  return p;
}

// Q was asked for before; here it is found.
OrderPhase queries_landed() {
  OrderPhase p = load_q();
  p.bytes = nullptr;
  return p;
}

OrderPhase keys_landed(const HopperNames& n) {
  OrderPhase p = by_consumer(n.wait_turn, "[K|{j}] has landed; the consumer waits for its turn",
                             "Both consumers read the same slot. The consumer with the turn hands over its [S|{j}] "
                             "first, so that they stay half a tile apart.");
  p.after = p.loads = p.brings = {Slot::k};
  p.visits_keys = true;
  return p;
}

OrderPhase values_landed(const HopperNames& n) {
  OrderPhase p = by_consumer(n.issue_o, "[V|{j}] has landed; [O|{j}] goes to the tensor cores",
                             "They multiply [P|{j}] by [V|{j}] and add the product to the registers of [O]. Until they "
                             "finish, [O] has no numbers to read.");
  p.after = p.loads = p.brings = {Slot::v};
  return p;
}

// ---- in the sequence of the walk

std::vector<OrderPhase> phases_of_copies(const HopperNames& n) {
  return {
      ask_q(n),
      by_producer(n.wait_slot_k, "The producer waits for a slot for [K|{j}]",
                  "A slot is free once both consumers have released its tile."),
      by_producer(n.ask_k, "The producer requests [K|{j}]",
                  "The copy unit (TMA) writes it into the slot and signals when all bytes have landed.", bytes_of_k),
      by_producer(n.wait_slot_v, "The producer waits for a slot for [V|{j}]",
                  "K and V have separate slots in the ring."),
      by_producer(n.ask_v, "The producer requests [V|{j}]",
                  "It is needed later than [K|{j}], so it is requested later.", bytes_of_v)};
}

std::vector<OrderPhase> phases_of_products(const HopperNames& n) {
  OrderPhase rows = by_consumer(n.take_rows, "A consumer takes its rows",
                                "A warpgroup of 128 threads computes query rows {first_row} to {last_row}.");
  OrderPhase wait_q = by_consumer(n.wait_q, "The consumer waits for [Q|{i}]", "Its copy is in flight.");
  rows.key_tile = wait_q.key_tile = false;
  return {rows,
          wait_q,
          queries_landed(),
          by_consumer(n.wait_k, "The consumer waits for [K|{j}]",
                      "If the tile has already landed, checking takes about 100 clocks."),
          keys_landed(n),
          by_consumer(n.issue_s, "The consumer has the turn and hands over [S|{j}]",
                      "One instruction tells the tensor cores to multiply [Q|{i}] by [K|{j}]. The warpgroup does not "
                      "compute the product."),
          by_consumer(n.wait_s, "[S|{j}] is in flight; the turn is passed on",
                      "The tensor cores write [S|{j}] into registers. Until they finish, [S|{j}] has no numbers to "
                      "read.")};
}

}  // namespace

OrderRow hopper_order(OrderNames& names) {
  const HopperNames n = hopper_names(names);
  OrderRow row{.name = "hopper"};
  row.ends_with_lse = true;
  row.abreast = Abreast::rows;
  OrderPhase store = store_o();
  store.newest_after = {{Slot::o_new, Slot::o_old}};
  row.phases = phases_of_copies(n);
  for (OrderPhase& phase : phases_of_products(n)) row.phases.push_back(std::move(phase));
  const OrderPhase rest[] = {
      scores(),
      mask(),
      on_chip::max(),
      on_chip::rescale(),
      on_chip::weights(),
      on_chip::sum(),
      by_consumer(n.wait_v, "[P|{j}] is done; the consumer waits for [V|{j}]",
                  "[P|{j}] stays in its registers: the tensor cores take it from there."),
      values_landed(n),
      by_consumer(n.wait_o, "[O|{j}] is in flight", "Until the tensor cores finish, [O] has no numbers to read."),
      on_chip::output(),
      normalise(),
      store};
  row.phases.insert(row.phases.end(), std::begin(rest), std::end(rest));
  row.walk = {{.phase = n.ask_q, .once = Once::query_tile},
              {.phase = n.wait_slot_k, .once = Once::key_tile},
              {.phase = n.ask_k, .once = Once::key_tile},
              {.phase = n.wait_slot_v, .once = Once::key_tile},
              {.phase = n.ask_v, .once = Once::key_tile},
              {.phase = n.take_rows, .once = Once::query_tile},
              {.phase = n.wait_q, .once = Once::query_tile},
              {.phase = Phase::load_q, .once = Once::query_tile},
              {.phase = n.wait_k},
              {.phase = n.wait_turn},
              {.phase = n.issue_s},
              {.phase = n.wait_s}};
  on_chip::add_tile(row.walk);
  // Before O comes, the last of them.
  for (const Phase phase : {n.wait_v, n.issue_o, n.wait_o}) row.walk.insert(row.walk.end() - 1, {.phase = phase});
  row.walk.push_back({.phase = Phase::normalise, .once = Once::query_tile, .creates = {Slot::o_new, Slot::lse}});
  row.walk.push_back({.phase = Phase::store_o, .once = Once::query_tile, .rounds = Slot::o_new});
  row.starts = first_state();
  row.on_chip = on_chip::bytes;
  return row;
}

}  // namespace attn::orders
