#include "viz/step/orders/storing.h"
#include "viz/step/orders/table.h"

namespace attn {
namespace {

using namespace looks;

Runs traffic_words(const TrafficFacts& /*facts*/) {
  using enum TensorColour;
  return {word("Both store "), letter("S", s), word(" and "),  letter("P", p), word("; tiles change how often "),
          letter("Q", q),      word(", "),     letter("K", k), word(", "),     letter("V", v),
          word(" are read.")};
}

}  // namespace

const OrderLook& tiled_look() {
  static const OrderLook kLook = [] {
    OrderLook look = storing(Order::tiled);
    look.traffic = traffic_words;
    return placed(look);
  }();
  return kLook;
}

}  // namespace attn
