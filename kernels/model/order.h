// How a kernel walks: the sequence of its phases, and what each can show. What an order is stands in its row
// (kernels/model/order_row.h), which one folder of kernels/orders holds; here are the ids, and their names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace attn {

// How an algorithm walks: the place of its row in the table. The table may have more rows than are named here.
enum class Order : std::uint8_t {
  naive,   // three passes over a stored S
  tiled,   // the same passes through tiles
  flash,   // FlashAttention-2: query tile outside, key tile inside
  flash1,  // FlashAttention-1: key tile outside; O, m, l go back to HBM at every turn
};
std::string_view name_of(Order o);  // "naive", "tiled", "flash", "flash-1"
std::optional<Order> order_named(std::string_view name);

// What one event does. The phases that the shared parts of the program name; an order's own have the ids after them
// (OrderNames). An order's row says which it has, and in which sequence.
enum class Phase : std::uint8_t {
  load_q,       // Q_i from HBM
  load_kv,      // K_j and V_j from HBM
  load_k,       // K_j alone (orders that store S)
  load_v,       // V_j alone, with P_ij
  load_state,   // flash-1: Q_i, O_i, m_i, l_i from HBM
  scores,       // S = scale Q K^T
  mask,         // softcap, bias, ALiBi, masked scores become -inf; only where a tile has one of these
  store_s,      // S_ij to HBM (orders that store S)
  max,          // m = max(m_old, rowmax S)
  rescale,      // alpha = exp(m_old - m_new)
  weights,      // P = exp(S - m); orders that store S: P = exp(S - m) / l, stored in the input dtype
  sum,          // l = alpha l_old + rowsum P; orders that store S: l = l + rowsum exp(S - m)
  output,       // O = alpha O_old + P V; flash-1: (alpha l_old O_old + P V) / l_new
  normalise,    // O / l
  store_o,      // O and LSE to HBM, rounded to the dtype
  store_state,  // flash-1: O_i, m_i, l_i to HBM
  skipped,      // the mask skips this tile
};
constexpr std::size_t kPhases = 17;  // that are named here
std::size_t phase_count();           // with those that orders have of their own: ids are below it
std::string_view name_of(Phase p);   // "load_q", "scores", ...: session files and the command line
std::optional<Phase> phase_named(std::string_view name);

// What an event can show; an order's own slots have the ids after these. `m_old` and `m_new` are both live from `max`
// on; on the next key tile m_new becomes m_old.
enum class Slot : std::uint8_t { q, k, v, s, p, m_old, m_new, alpha, l_old, l_new, o_old, o_new, lse };
constexpr std::size_t kSlots = 13;  // that are named here
std::size_t slot_count();           // with those that orders have of their own: ids are below it
std::string_view name_of(Slot s);
std::optional<Slot> slot_named(std::string_view name);
// Given, as Q, K and V are: loading them computes nothing.
bool is_input(Slot s);

// How sums and products are taken.
enum class Rules : std::uint8_t {
  scalar,  // index order, multiply then add
  vector,  // 16 interleaved partial sums for rows, one fma chain an element for products
  none,    // a GPU's own: a replay holds each phase against fp64 within a bound
};

}  // namespace attn
