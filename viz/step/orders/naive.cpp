
#include "kernels/base/text.h"
#include "viz/step/orders/storing.h"
#include "viz/step/orders/table.h"

namespace attn {
namespace {

using namespace looks;

TextRuns traffic_words(const TrafficFacts& f) {
  using enum TensorColour;
  return woven(
      phrase("naive writes and reads {} and {}. flash, here with Br = {}, never does.", place(0), place(1), f.tile),
      {letter("S", s), letter("P", p)});
}

// From naive flash is the one to compare with.
constexpr std::string_view kBeside[] = {"cpu_flash", "cpu_sequential", "cpu_flash1", "cpu_tiled"};

}  // namespace

const OrderLook& naive_look() {
  static const OrderLook kLook = [] {
    OrderLook look = storing(Order::naive);
    look.beside = kBeside;
    look.traffic = traffic_words;
    look.yardstick = true;
    look.row_by_row = true;
    return placed(look);
  }();
  return kLook;
}

}  // namespace attn
