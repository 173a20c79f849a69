#include "kernels/orders/split/names.h"

#include <limits>
#include <utility>
#include <vector>

namespace attn::orders {

SplitNames split_names(OrderNames& names) {
  SplitNames n{};
  // What the second of two parts brings.
  n.m_part = names.slot({.name = "m_part", .letter = "m", .like = Slot::m_old, .made_as = Slot::m_new});
  n.alpha_part = names.slot({.name = "alpha_part", .letter = "α", .like = Slot::alpha});
  n.l_part = names.slot({.name = "l_part", .letter = "ℓ", .like = Slot::l_old, .made_as = Slot::l_new});
  n.o_part = names.slot({.name = "o_part",
                         .letter = "O",
                         .like = Slot::o_old,
                         .columns = SlotColumns::value_head,
                         .made_as = Slot::o_new});
  const auto phase = [&](std::string_view name, std::string_view letter, Slot makes, Phase elsewhere,
                         bool maths = true) {
    return names.phase({.name = name, .letter = letter, .makes = makes, .maths = maths, .elsewhere = {elsewhere}});
  };
  n.load_part = phase("load_part", "in", Slot::o_old, Phase::load_state, false);
  n.merge_max = phase("merge_max", "m", Slot::m_new, Phase::max);
  n.merge_first = phase("merge_first", "α", Slot::alpha, Phase::rescale);
  n.merge_second = phase("merge_second", "α", n.alpha_part, Phase::rescale);
  n.merge_sum = phase("merge_sum", "ℓ", Slot::l_new, Phase::sum);
  n.merge_output = phase("merge_output", "O", Slot::o_new, Phase::output);
  return n;
}

const SplitNames& split_names() {
  static const SplitNames kNames = [] {
    const auto slot = [](const char* name) { return *slot_named(name); };
    const auto phase = [](const char* name) { return *phase_named(name); };
    return SplitNames{.m_part = slot("m_part"),
                      .alpha_part = slot("alpha_part"),
                      .l_part = slot("l_part"),
                      .o_part = slot("o_part"),
                      .load_part = phase("load_part"),
                      .merge_max = phase("merge_max"),
                      .merge_first = phase("merge_first"),
                      .merge_second = phase("merge_second"),
                      .merge_sum = phase("merge_sum"),
                      .merge_output = phase("merge_output")};
  }();
  return kNames;
}

}  // namespace attn::orders
