// A block's pipeline: of each consumer what flash has but for Q, which stays; and what is in flight, which has no
// numbers that anybody could read.
#include <vector>

#include "kernels/base/text.h"
#include "kernels/model/order_row.h"
#include "kernels/orders/hopper/names.h"
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

constexpr SlotLook kSlotLooks[] = {kSlotQ,     kSlotK,    kSlotV,    kSlotS,    kSlotP,    kSlotMOld, kSlotMNew,
                                   kSlotAlpha, kSlotLOld, kSlotLNew, kSlotOOld, kSlotONew, kSlotLse};
constexpr LetterWords kLetters[] = {
    {"S", TensorColour::s, marked("scores, by tensor cores")}, {"m", TensorColour::m, marked("largest score so far")},
    {"α", TensorColour::alpha, marked("rescales the sums")},   {"P", TensorColour::p, marked("weights, before ÷ ℓ")},
    {"ℓ", TensorColour::l, marked("sum of the weights")},      {"O", TensorColour::o, marked("output so far")}};
constexpr StepChart kCharts[] = {StepChart::row};

// What a consumer had stands where its next will be.
constexpr ColumnLook or_old(ColumnLook column, Slot old) {
  column.other = old;
  column.title = TitleKind::letter;
  column.words = {};
  return column;
}
constexpr ColumnLook kColumns[] = {
    kColumnS,       or_old(kColumnMNew, Slot::m_old),    kColumnAlpha,
    kColumnOnlineP, or_old(kColumnOnlineL, Slot::l_old), captioned(kColumnO, kOnlineOutputCaption)};

std::vector<PhaseLook> phase_looks() {
  const orders::HopperNames& n = orders::hopper_names();
  const auto plain = [](Phase phase) { return PhaseLook{.phase = phase}; };
  const auto flies = [](Phase phase, Column column) {
    return PhaseLook{.phase = phase, .lights = column, .in_flight = column};
  };
  PhaseLook ends = ending(kNormalise), stores = ending(kStoreO);
  return {plain(n.ask_q),
          plain(n.wait_slot_k),
          plain(n.ask_k),
          plain(n.wait_slot_v),
          plain(n.ask_v),
          plain(n.take_rows),
          plain(n.wait_q),
          plain(Phase::load_q),
          plain(n.wait_k),
          plain(n.wait_turn),
          flies(n.issue_s, Column::s),
          flies(n.wait_s, Column::s),
          kScores,
          kMask,
          kMax,
          kRescale,
          weights_phase(work_online_weights),
          sum_phase(work_online_sum),
          plain(n.wait_v),
          flies(n.issue_o, Column::o),
          flies(n.wait_o, Column::o),
          output_phase(work_output),
          ends,
          stores};
}

TextRuns traffic_words(const TrafficFacts& f) {
  using enum TensorColour;
  return woven(phrase("Both consumers read {} and {} from the same slot: each tile is loaded once for {} query tiles.",
                      place(0), place(1), f.query_tiles),
               {letter("K", k), letter("V", v)});
}

}  // namespace

const OrderLook& hopper_look() {
  static const std::vector<PhaseLook> kPhases = phase_looks();
  static const OrderLook kLook = [] {
    OrderLook look = online(*order_named("hopper"));
    look.phases = kPhases;
    look.slots = kSlotLooks;
    look.columns = kColumns;
    look.passes = {};
    look.compared = {};
    look.companion = {};
    look.letters = kLetters;
    look.charts = kCharts;
    look.traffic = traffic_words;
    look.rescales_output = true;
    look.in_halves = true;
    return placed(look);
  }();
  return kLook;
}

}  // namespace attn
