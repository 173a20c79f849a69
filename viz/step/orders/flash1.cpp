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
  c.work({{"alpha", c.live(Slot::alpha).value_or(1), alpha},
          {"l_old", c.l_old, l},
          {"o_old", c.o_old, o},
          {"pv", c.weighted_value(), v},
          {"l_new", c.newest_sum().value_or(1), l}},
         "o_new", *o_new, o, c.bound(Slot::o_new, c.out.col),
         [](std::span<const double> x) { return x[4] == 0 ? 0 : (x[0] * x[1] * x[2] + x[3]) / x[4]; });
}

constexpr PhaseLook kPhaseLooks[] = {{.phase = Phase::load_kv},
                                     {.phase = Phase::load_state},
                                     kScores,
                                     kMask,
                                     kMax,
                                     kRescale,
                                     weights_phase(work_online_weights),
                                     sum_phase(work_online_sum),
                                     output_phase(work_output),
                                     ending(kNormalise),
                                     {.phase = Phase::store_state, .work = work_lse},
                                     ending(kStoreDividedO),
                                     ending(kSkipped)};

constexpr std::string_view kWaits = marked("Computed and waiting in HBM until its query tile returns.");
constexpr SlotLook kSlotLooks[] = {kSlotQ,
                                   kSlotK,
                                   kSlotV,
                                   kSlotS,
                                   kSlotP,
                                   kSlotAlpha,
                                   waiting(kSlotMOld, kWaits),
                                   waiting(kSlotMNew, kWaits),
                                   waiting(kSlotLOld, kWaits),
                                   waiting(kSlotLNew, kWaits),
                                   waiting(kSlotOOld, kWaits),
                                   waiting(kSlotONew, kWaits),
                                   waiting(kSlotLse, kWaits)};
constexpr Phrase kRowsCaption[] = {kQ, say(marked(" again"))};
constexpr Phrase kOutputCaption[] = {kO, kBecomes,    say("("), sign("αℓ", TensorColour::l), kO, say(" + "), kP,
                                     kV, say(") / "), kL};
constexpr std::array kColumns = online_columns(captioned(kColumnQ, kRowsCaption), captioned(kColumnO, kOutputCaption));

constexpr Phrase kDivided[] = {kO, kL};
constexpr Saying kHindsight{
    marked("Only hindsight shows how far {0}, divided by {1} at every iteration, is from the final {0}."), kDivided};

TextRuns traffic_words(const TrafficFacts& f) {
  using enum TensorColour;
  if (f.above_naive) return low_tile_words(f);
  return woven(phrase("FlashAttention-1 stores neither {} nor {}, but reads and writes {}, {} and {} at every "
                      "iteration.",
                      place(0), place(1), place(2), place(3), place(4)),
               {letter("S", s), letter("P", p), letter("O", o), letter("m", m), letter("ℓ", l)});
}

}  // namespace

const OrderLook& flash1_look() {
  static const OrderLook kLook = [] {
    OrderLook look = online(Order::flash1);
    look.phases = kPhaseLooks;
    look.slots = kSlotLooks;
    look.columns = kColumns;
    look.hindsight = kHindsight;
    look.traffic = traffic_words;
    look.stats = tr("m, ℓ and LSE");
    return placed(look);
  }();
  return kLook;
}

}  // namespace attn
