#include "viz/step/orders/online.h"

#include <cmath>

#include "kernels/base/text.h"

namespace attn::looks {
namespace {

using Values = std::span<const double>;

// P takes the place of S.
constexpr Either kChipS[] = {{Slot::s, Slot::p}};
constexpr ChipLook kChip[] = {
    {.part = TrafficPart::q, .slots = kChipQ, .fp32 = false},
    {.part = TrafficPart::k, .slots = kChipK, .fp32 = false},
    {.part = TrafficPart::v, .slots = kChipV, .fp32 = false},
    {.part = TrafficPart::s, .slots = kChipS},
    {.part = TrafficPart::o, .slots = kChipO},
    {.part = TrafficPart::stats, .slots = kChipStats},
};

constexpr Phrase kAll[] = {kS, kP, kO}, kCorrection[] = {kM, kAlpha};
constexpr Saying kMakes{marked("{0}, {1} and {2} at once"), kAll};
constexpr Saying kNeeds{marked("needs only its own tile; a larger {0} later corrects it by {1}"), kCorrection};
constexpr std::pair<Phase, Slot> kWeightAt[] = {{Phase::weights, Slot::p}};
constexpr StripLook kPasses[] = {
    {marked("one pass"), TensorColour::o, Phase::output, 0, kMakes, kNeeds, kP, kWeightAt}};

constexpr LetterWords kLetters[] = {
    {"S", TensorColour::s, marked("scores, query by key")},  {"m", TensorColour::m, marked("largest score so far")},
    {"α", TensorColour::alpha, marked("rescales the sums")}, {"P", TensorColour::p, marked("weights, before ÷ ℓ")},
    {"ℓ", TensorColour::l, marked("sum of the weights")},    {"O", TensorColour::o, marked("output so far")}};

}  // namespace

void work_rescale(const StepWork& c) {
  using enum TensorColour;
  const auto a = c.live(Slot::alpha);
  if (!a) return;
  c.work(
      {{"m_old", c.m_old, m}, {"m_new", c.m_new, m}}, "alpha", *a, alpha, c.bound(Slot::alpha),
      [](Values x) { return x[0] == x[1] ? 1.0 : std::exp(x[0] - x[1]); }, StepWork::kResultDigits);
}

void work_online_weights(const StepWork& c) {
  using enum TensorColour;
  const std::int32_t key = c.out.key;
  const auto score = c.live(Slot::s, key), weight = c.live(Slot::p, key);
  if (!score || !weight) return;
  c.work({{"s", *score, s}, {"m_new", c.m_new, m}}, "p", *weight, p, c.bound(Slot::p, key),
         [](Values x) { return std::exp(x[0] - x[1]); });
}

void work_online_sum(const StepWork& c) {
  using enum TensorColour;
  const auto l_new = c.newest_sum();
  if (!l_new) return;
  if (c.narrow()) return c.put_number("rowsum", c.row_sum(false), p);
  c.work({{"alpha", c.live(Slot::alpha).value_or(1), alpha}, {"l_old", c.l_old, l}, {"rowsum", c.row_sum(false), p}},
         "l_new", *l_new, l, c.bound(Slot::l_new), [](Values x) { return x[0] * x[1] + x[2]; });
}

TextRuns low_tile_words(const TrafficFacts& f) {
  using enum TensorColour;
  return woven(phrase("With {0} as low as {1}, {2} reads more than naive, which stores {3} and {4}; a larger {0} fixes "
                      "this.",
                      f.extent, f.tile, f.order, place(0), place(1)),
               {letter("S", s), letter("P", p)});
}

OrderLook online(Order order) {
  OrderLook look;
  look.order = order;
  look.scores = Column::s, look.maximum = Column::m_new, look.output = Column::o;
  look.computed = kComputed;
  look.chip = kChip;
  look.passes = kPasses;
  look.compared = kCompared;
  look.letters = kLetters;
  look.sheet = kSheet;
  look.companion = "cpu_sequential";
  look.beside = kBesideOrders;
  return look;
}

}  // namespace attn::looks
