#include "viz/draw/inks.h"

#include <array>
#include <cstddef>

#include "kernels/model/order_row.h"

namespace attn {

TensorColour tensor_of(Slot slot) {
  using enum TensorColour;
  // By slot; one of an order's own has that of its nearest relative.
  static constexpr std::array<TensorColour, kSlots> kColours{q, k, v, s, p, m, m, alpha, l, l, o, o, l};
  const auto n = static_cast<std::size_t>(slot);
  return kColours[n < kSlots ? n : static_cast<std::size_t>(slot_row(slot).like)];
}

}  // namespace attn
