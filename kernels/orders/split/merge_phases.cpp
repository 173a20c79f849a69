// What stands for a part between its keys and the merge, and the merge itself: phases that splits and rings share.
#include <iterator>
#include <vector>

#include "kernels/orders/shared/phases.h"
#include "kernels/orders/split/names.h"

namespace attn::orders::split {
namespace {

constexpr Newest kO{Slot::o_new, Slot::o_old}, kL{Slot::l_new, Slot::l_old}, kM{Slot::m_new, Slot::m_old};

// O, m and l of a part, as they are summed.
Traffic part_bytes(const EventExtent& x, bool written) {
  Traffic t;
  auto& way = written ? t.written : t.read;
  at(way, TrafficPart::o) = x.size.o_state;
  at(way, TrafficPart::stats) = 2 * x.size.stat;
  return t;
}

OrderPhase load_part(const SplitNames& n) {
  return {.phase = n.load_part,
          .after = {Slot::m_old, Slot::l_old, Slot::o_old},
          .brings = {Slot::m_old, Slot::l_old, Slot::o_old, n.m_part, n.l_part, n.o_part},
          .bytes = [](const EventExtent& x) { return part_bytes(x, false); },
          .title = "Load a part of the keys",
          .sentence = "All that remains of a part: m, ℓ and O, not yet divided."};
}

OrderPhase merge_max(const SplitNames& n) {
  return {.phase = n.merge_max,
          .after = {Slot::m_old, Slot::l_old, Slot::o_old, n.m_part, n.l_part, n.o_part, Slot::m_new},
          .replay = replay_max,
          .exact = exact_max,
          .title = "One maximum for both",
          .formula = "[m] = max([m|1] , [m|2])",
          .sentence = "The larger of the two: no weight of either part will exceed 1."};
}

OrderPhase merge_first(const SplitNames& n) {
  return {.phase = n.merge_first,
          .before = {Slot::m_old, Slot::m_new},
          .after = {Slot::alpha},
          .replay = replay_first,
          .exact = exact_first,
          .title = "The first part's factor",
          .formula = "[α|1] = exp([m|1] − [m])",
          .sentence = "It rescales the first part's sums to the common maximum."};
}

OrderPhase merge_second(const SplitNames& n) {
  return {.phase = n.merge_second,
          .before = {n.m_part, Slot::m_new},
          .after = {n.alpha_part},
          .replay = replay_second,
          .exact = exact_second,
          .title = "The second part's factor",
          .formula = "[α|2] = exp([m|2] − [m])",
          .sentence = "One of the two factors is 1: the maximum comes from one of the parts."};
}

OrderPhase merge_sum(const SplitNames& n) {
  return {.phase = n.merge_sum,
          .before = {Slot::l_old, n.l_part, Slot::alpha, n.alpha_part},
          .after = {Slot::l_new},
          .replay = replay_sum,
          .exact = exact_sum,
          .title = "One sum",
          .formula = "[ℓ] = [α|1] [ℓ|1] + [α|2] [ℓ|2]",
          .sentence = "With a common maximum, the weights of both parts can be added."};
}

OrderPhase merge_output(const SplitNames& n) {
  return {.phase = n.merge_output,
          .before = {Slot::o_old, n.o_part, Slot::alpha, n.alpha_part},
          .after = {Slot::o_new},
          .replay = replay_output,
          .exact = exact_output,
          .title = "One output",
          .formula = "[O] = [α|1] [O|1] + [α|2] [O|2]",
          .sentence = "Nothing else about the keys is needed."};
}

}  // namespace

OrderPhase part_done() {
  OrderPhase p = store_state();
  p.newest_after = {kO, kL, kM};
  p.bytes = [](const EventExtent& x) { return part_bytes(x, true); };
  return p;
}

std::vector<OrderPhase> merge_phases(const SplitNames& n) {
  return {load_part(n), merge_max(n), merge_first(n), merge_second(n), merge_sum(n), merge_output(n)};
}

void add_merge(std::vector<WalkStep>& walk, const SplitNames& n) {
  const WalkStep merge[] = {{.phase = n.merge_max, .once = Once::merge, .creates = {Slot::m_new}},
                            {.phase = n.merge_first, .once = Once::merge, .creates = {Slot::alpha}},
                            {.phase = n.merge_second, .once = Once::merge, .creates = {n.alpha_part}},
                            {.phase = n.merge_sum, .once = Once::merge, .creates = {Slot::l_new}},
                            {.phase = n.merge_output, .once = Once::merge, .creates = {Slot::o_new}}};
  walk.insert(walk.end(), std::begin(merge), std::end(merge));
}

}  // namespace attn::orders::split
