#include "kernels/model/order.h"

#include <array>

namespace attn {

std::string_view name_of(Order o) {
  switch (o) {
    case Order::naive:
      return "naive";
    case Order::tiled:
      return "tiled";
    case Order::flash:
      return "flash";
    case Order::flash1:
      return "flash-1";
  }
  return "";
}

std::string_view name_of(Phase p) {
  static constexpr std::array<std::string_view, kPhases> kNames = {
      "load_q",  "load_kv", "load_k", "load_v", "load_state", "scores",  "mask",        "store_s", "max",
      "rescale", "weights", "sum",    "output", "normalise",  "store_o", "store_state", "skipped"};
  return kNames[static_cast<std::size_t>(p)];
}

std::string_view name_of(Slot s) {
  static constexpr std::array<std::string_view, kSlots> kNames = {
      "q", "k", "v", "s", "p", "m_old", "m_new", "alpha", "l_old", "l_new", "o_old", "o_new", "lse"};
  return kNames[static_cast<std::size_t>(s)];
}

}  // namespace attn
