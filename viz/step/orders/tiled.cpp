#include "kernels/base/text.h"
#include "viz/step/orders/storing.h"
#include "viz/step/orders/table.h"

namespace attn {
namespace {

using namespace looks;

TextRuns traffic_words(const TrafficFacts& /*facts*/) {
  using enum TensorColour;
  return woven(phrase("Both store {} and {}. Tiles change how often {}, {} and {} are read.", place(0), place(1),
                      place(2), place(3), place(4)),
               {letter("S", s), letter("P", p), letter("Q", q), letter("K", k), letter("V", v)});
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
