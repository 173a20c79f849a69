
#include "kernels/base/text.h"
#include "viz/step/orders/online.h"
#include "viz/step/orders/table.h"

namespace attn {
namespace {

using namespace looks;

void work_output(const StepWork& c) {
  using enum TensorColour;
  const auto o_new = c.live(Slot::o_new, c.out.col);
  if (!o_new) return;
  if (c.narrow()) return c.put_number("pv", c.weighted_value(), v);
  c.work({{"alpha", c.live(Slot::alpha).value_or(1), alpha}, {"o_old", c.o_old, o}, {"pv", c.weighted_value(), v}},
         "o_new", *o_new, o, c.bound(Slot::o_new, c.out.col),
         [](std::span<const double> x) { return x[0] * x[1] + x[2]; });
}

constexpr PhaseLook kPhaseLooks[] = {kLoadQ,
                                     {.phase = Phase::load_kv},
                                     kScores,
                                     kMask,
                                     kMax,
                                     kRescale,
                                     weights_phase(work_online_weights),
                                     sum_phase(work_online_sum),
                                     output_phase(work_output),
                                     ending(kNormalise),
                                     ending(kStoreO),
                                     ending(kSkipped)};
constexpr SlotLook kSlotLooks[] = {kSlotQ,     kSlotK,    kSlotV,    kSlotS,    kSlotP,    kSlotMOld, kSlotMNew,
                                   kSlotAlpha, kSlotLOld, kSlotLNew, kSlotOOld, kSlotONew, kSlotLse};
constexpr Phrase kRowsCaption[] = {kQ, say(marked(" stays on chip"))};
constexpr std::array kColumns =
    online_columns(captioned(kColumnQ, kRowsCaption), captioned(kColumnO, kOnlineOutputCaption));

constexpr Phrase kUndivided[] = {kO, kL};
constexpr Saying kHindsight{marked("Only hindsight shows how far {0} / {1} would be from the final {0} in the worst "
                                   "column if the row ended at this key tile. Log scale."),
                            kUndivided};

TextRuns traffic_words(const TrafficFacts& f) {
  using enum TensorColour;
  if (f.above_naive) return low_tile_words(f);
  const std::string said =
      f.query_tiles > 1 ? phrase(
                              "naive writes and reads {0} and {1}. flash never does: each of its {4} query tiles "
                              "reads the {2} and {3} that it needs once.",
                              place(0), place(1), place(2), place(3), f.query_tiles)
                        : phrase("naive writes and reads {} and {}. flash never does: it reads {} and {} once.",
                                 place(0), place(1), place(2), place(3));
  return woven(said, {letter("S", s), letter("P", p), letter("K", k), letter("V", v)});
}

}  // namespace

const OrderLook& flash_look() {
  static const OrderLook kLook = [] {
    OrderLook look = online(Order::flash);
    look.phases = kPhaseLooks;
    look.slots = kSlotLooks;
    look.columns = kColumns;
    look.hindsight = kHindsight;
    look.traffic = traffic_words;
    look.outlook = true;
    look.undivided = true;
    look.rescales_output = true;
    look.beats = true;
    return placed(look);
  }();
  return kLook;
}

}  // namespace attn
