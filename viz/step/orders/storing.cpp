#include "viz/step/orders/storing.h"

#include <cmath>

#include "kernels/base/text.h"

namespace attn::looks {
namespace {

using Values = std::span<const double>;

void work_weights(const StepWork& c) {
  using enum TensorColour;
  const std::int32_t key = c.out.key;
  const auto score = c.live(Slot::s, key), weight = c.live(Slot::p, key);
  if (!score || !weight) return;
  c.work({{"s", *score, s}, {"m_new", c.m_new, m}, {"l_new", c.newest_sum().value_or(1), l}}, "p", *weight, p,
         c.bound(Slot::p, key), [](Values x) { return std::exp(x[0] - x[1]) / x[2]; });
}

void work_sum(const StepWork& c) {
  using enum TensorColour;
  const auto l_new = c.newest_sum();
  if (!l_new) return;
  if (c.narrow()) return c.put_number("rowsum", c.row_sum(false), p);
  c.work({{"l_old", c.l_old, l}, {"rowsum", c.row_sum(true), p}}, "l_new", *l_new, l, c.bound(Slot::l_new),
         [](Values x) { return x[0] + x[1]; });
}

void work_output(const StepWork& c) {
  using enum TensorColour;
  const auto o_new = c.live(Slot::o_new, c.out.col);
  if (!o_new) return;
  if (c.narrow()) return c.put_number("pv", c.weighted_value(), v);
  c.work({{"o_old", c.o_old, o}, {"pv", c.weighted_value(), v}}, "o_new", *o_new, o, c.bound(Slot::o_new, c.out.col),
         [](Values x) { return x[0] + x[1]; });
}

constexpr PhaseLook kPhaseLooks[] = {
    kLoadQ,
    {.phase = Phase::load_k},
    kScores,
    kMask,
    {.phase = Phase::store_s, .lights = Column::s, .naive = {0, 4}},
    kMax,
    sum_phase(work_sum),
    weights_phase(work_weights),
    {.phase = Phase::load_v, .naive = {2, 1}},
    output_phase(work_output),
    kNormalise,
    kStoreDividedO,
    kSkipped,
};

constexpr std::string_view kWaits = marked("Computed and waiting in HBM.");
constexpr SlotLook kSlotLooks[] = {kSlotQ,
                                   kSlotK,
                                   kSlotV,
                                   waiting(kSlotS, kWaits),
                                   waiting(kSlotP, kWaits),
                                   kSlotMOld,
                                   kSlotMNew,
                                   kSlotLOld,
                                   kSlotLNew,
                                   kSlotOOld,
                                   kSlotONew,
                                   kSlotLse};

constexpr Phrase kRowsCaption[] = {kQ, say(marked(" rows"))};
constexpr Phrase kWeightsCaption[] = {kP, say(" = "), kE, kRaisedS, kRaisedMinus, kRaisedM, say(" / "), kL};
constexpr Phrase kSumCaption[] = {kL, say(" = Σ "), kE, kRaisedS, kRaisedMinus, kRaisedM};
constexpr Phrase kOutputCaption[] = {kO, kBecomes, kO, say(" + "), kP, kV};
constexpr ColumnLook kColumns[] = {captioned(kColumnQ, kRowsCaption),
                                   kColumnS,
                                   kColumnMOld,
                                   kColumnMNew,
                                   kColumnLOld,
                                   captioned(kColumnLNew, kSumCaption),
                                   captioned(kColumnP, kWeightsCaption),
                                   captioned(kColumnO, kOutputCaption)};

constexpr Either kChipS[] = {{Slot::s, Slot::s}}, kChipP[] = {{Slot::p, Slot::p}};
// A pass holds what it needs; a recording keeps more on show, so that the eye can follow.
constexpr ChipLook kChip[] = {
    {.part = TrafficPart::q, .slots = kChipQ, .fp32 = false, .passes = 0b001},
    {.part = TrafficPart::k, .slots = kChipK, .fp32 = false, .passes = 0b001},
    {.part = TrafficPart::v, .slots = kChipV, .fp32 = false, .passes = 0b100},
    {.part = TrafficPart::s, .slots = kChipS, .passes = 0b011},
    {.part = TrafficPart::p, .slots = kChipP, .fp32 = false, .passes = 0b100},
    {.part = TrafficPart::o, .slots = kChipO, .passes = 0b100},
    {.part = TrafficPart::stats, .slots = kChipStats, .passes = 0b010},
};

constexpr Phrase kOnlyS[] = {kS}, kOnlyP[] = {kP}, kOnlyO[] = {kO}, kStatisticsP[] = {kM, kL, kP},
                 kStatisticsS[] = {kM, kL, kS}, kProduct[] = {sign("q", TensorColour::q), sign("k", TensorColour::k)};
constexpr Saying kMakesS{marked("stores {0}"), kOnlyS}, kWaitsForS{marked("needs only its {0} and {1}"), kProduct};
constexpr Saying kMakesP{marked("{0}, {1}, then stores {2}"), kStatisticsP},
    kWaitsForP{marked("waits for {0} and {1} of all {keys} keys, and reads {2} back"), kStatisticsS};
constexpr Saying kMakesO{marked("adds up {0}"), kOnlyO}, kWaitsForO{marked("waits for {0} from pass 2"), kOnlyP};
constexpr std::pair<Phase, Slot> kScoreAt[] = {{Phase::mask, Slot::s}, {Phase::scores, Slot::s}};
constexpr std::pair<Phase, Slot> kWeightAt[] = {{Phase::weights, Slot::p}};
constexpr StripLook kStrips[] = {
    {marked("pass 1"), TensorColour::s, Phase::store_s, 0, kMakesS, kWaitsForS, kS, kScoreAt},
    {marked("pass 2"), TensorColour::p, Phase::weights, 1, kMakesP, kWaitsForP, kP, kWeightAt},
    {marked("pass 3"), TensorColour::o, Phase::output, 2, kMakesO, kWaitsForO, kO, {}},
};

constexpr LetterWords kLetters[] = {{"S", TensorColour::s, marked("scores, query by key")},
                                    {"m", TensorColour::m, marked("largest score of the row")},
                                    {"P", TensorColour::p, marked("weights, divided by ℓ")},
                                    {"ℓ", TensorColour::l, marked("sum of the exponentials")},
                                    {"O", TensorColour::o, marked("output")}};
constexpr Saying kHindsight{marked("Only hindsight shows how far the partial sum is from the final {0}. Weights are "
                                   "final in this order, so only later keys change the sum."),
                            kOnlyO};

}  // namespace

OrderLook storing(Order order) {
  OrderLook look;
  look.order = order;
  look.phases = kPhaseLooks;
  look.slots = kSlotLooks;
  look.columns = kColumns;
  look.scores = Column::s, look.maximum = Column::m_new, look.output = Column::o;
  look.computed = kComputed;
  look.chip = kChip;
  look.shares_room = Phase::weights;
  look.passes = kStrips;
  look.compared = kCompared;
  look.letters = kLetters;
  look.sheet = kSheet;
  look.companion = "cpu_flash";
  look.beside = kBesideOrders;
  look.hindsight = kHindsight;
  return look;
}

}  // namespace attn::looks
