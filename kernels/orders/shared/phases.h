// The phases that orders share, as rows. The first are the same in every order; of the softmax and the sums there are
// two kinds: of orders that hold everything on chip and rescale, and of those that store S and walk in passes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/model/order_row.h"

namespace attn::orders {

OrderPhase load_q();
OrderPhase load_kv();
OrderPhase load_k();
OrderPhase load_v();
OrderPhase load_state();
OrderPhase scores();
OrderPhase mask();
OrderPhase store_s();
OrderPhase store_state();
OrderPhase normalise();
OrderPhase store_o();
OrderPhase skipped();

namespace on_chip {
OrderPhase max();
OrderPhase rescale();
OrderPhase weights();
OrderPhase sum();
OrderPhase output();
// The events of one tile from its scores to its O.
void add_tile(std::vector<WalkStep>& walk);
std::vector<OnChip> bytes(const TileBytes& size);
}  // namespace on_chip

namespace stored {
OrderPhase max();
OrderPhase weights();
OrderPhase sum();
OrderPhase output();
WalkStep end_of_walk();
// A tile that the mask skips is stored and read all the same.
Traffic skipped_bytes(const EventExtent& x);
std::vector<OnChip> bytes(const TileBytes& size);
}  // namespace stored

// Q_i, and m, l and O before the first key tile.
std::vector<Slot> first_state();

inline std::uint64_t& at(std::array<std::uint64_t, kTrafficParts>& bytes, TrafficPart part) {
  return bytes[static_cast<std::size_t>(part)];
}

}  // namespace attn::orders
