// The keys split: of each part what flash has but for Q, which all parts share; then the merge, in which two parts' m,
// ℓ and O stand side by side with the two factors and what becomes of them. A ring merges what each turn makes alike.
#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "kernels/base/text.h"
#include "kernels/model/ring.h"
#include "kernels/model/traffic.h"
#include "kernels/orders/split/names.h"
#include "viz/step/orders/online.h"
#include "viz/step/orders/table.h"

namespace attn {
namespace {

using namespace looks;
using orders::SplitNames;
using Values = std::span<const double>;

const SplitNames& names() {
  return orders::split_names();
}

constexpr auto own_column(std::size_t n) {
  return static_cast<Column>(kNamedColumns + n);
}
constexpr Column kMPart = own_column(0), kAlphaPart = own_column(1), kLPart = own_column(2), kOFirst = own_column(3),
                 kOPart = own_column(4);

// ---- the numbers of a step's formula

void work_output(const StepWork& c) {
  using enum TensorColour;
  const auto o_new = c.live(Slot::o_new, c.out.col);
  if (!o_new) return;
  if (c.narrow()) return c.put_number("pv", c.weighted_value(), v);
  c.work({{"alpha", c.live(Slot::alpha).value_or(1), alpha}, {"o_old", c.o_old, o}, {"pv", c.weighted_value(), v}},
         "o_new", *o_new, o, c.bound(Slot::o_new, c.out.col), [](Values x) { return x[0] * x[1] + x[2]; });
}

void work_factor(const StepWork& c, Slot own, const char* own_name, Slot factor, const char* name) {
  using enum TensorColour;
  const auto m_own = c.live(own), a = c.live(factor);
  if (!m_own || !a) return;
  c.work(
      {{own_name, *m_own, m}, {"m_new", c.m_new, m}}, name, *a, alpha, c.bound(factor),
      [](Values x) { return x[0] == x[1] ? 1.0 : std::exp(x[0] - x[1]); }, StepWork::kResultDigits);
}
void work_first(const StepWork& c) {
  work_factor(c, Slot::m_old, "m_old", Slot::alpha, "alpha");
}
void work_second(const StepWork& c) {
  work_factor(c, names().m_part, "m_part", names().alpha_part, "alpha_part");
}

// Both parts, each times its factor.
void work_both(const StepWork& c, Slot first, const char* first_name, Slot second, const char* second_name, Slot sum,
               const char* name, std::int32_t col, TensorColour hue) {
  const auto a = c.live(Slot::alpha), b = c.live(names().alpha_part), x = c.live(first, col), y = c.live(second, col),
             both = c.live(sum, col);
  if (!a || !b || !x || !y || !both || c.narrow()) return;
  using enum TensorColour;
  c.work({{"alpha", *a, alpha}, {first_name, *x, hue}, {"alpha_part", *b, alpha}, {second_name, *y, hue}}, name, *both,
         hue, c.bound(sum, col), [](Values n) { return n[0] * n[1] + n[2] * n[3]; });
}
void work_sum(const StepWork& c) {
  work_both(c, Slot::l_old, "l_old", names().l_part, "l_part", Slot::l_new, "l_new", 0, TensorColour::l);
}
void work_merged_output(const StepWork& c) {
  work_both(c, Slot::o_old, "o_old", names().o_part, "o_part", Slot::o_new, "o_new", c.out.col, TensorColour::o);
}

// ---- captions

constexpr Phrase low(std::string_view n, TensorColour hue) {
  return {.text = n, .ink = hue, .raise = -1};
}
constexpr Phrase kMinus = say(" − ");
constexpr Phrase kM1 = low("1", TensorColour::m), kM2 = low("2", TensorColour::m), kA1 = low("1", TensorColour::alpha),
                 kA2 = low("2", TensorColour::alpha), kL1 = low("1", TensorColour::l), kL2 = low("2", TensorColour::l),
                 kO1 = low("1", TensorColour::o), kO2 = low("2", TensorColour::o);
constexpr Phrase kMergedMaxCaption[] = {say(marked("the larger"))};
constexpr Phrase kFirstFactorCaption[] = {say("exp("), kM, kM1, kMinus, kM, say(")")};
constexpr Phrase kSecondFactorCaption[] = {say("exp("), kM, kM2, kMinus, kM, say(")")};
constexpr Phrase kMergedSumCaption[] = {kAlpha, kA1, kL, kL1, say(" + "), kAlpha, kA2, kL, kL2};
constexpr Phrase kMergedOutputCaption[] = {kAlpha, kA1, kO, kO1, say(" + "), kAlpha, kA2, kO, kO2};
constexpr Phrase kFirstCaption[] = {say(marked("first"))}, kSecondCaption[] = {say(marked("second"))};

// The rows that the looks share.
struct Tables {
  std::vector<PhaseLook> of_lane, of_merge;
  std::vector<SlotLook> slots, merged;  // of the two that are merged none takes the other's place
  std::vector<ColumnLook> lane, merge, ended;
  std::vector<Slot> computed;
  std::vector<SheetLook> sheet;
};

std::vector<PhaseLook> phase_looks(const SplitNames& n) {
  return {{.phase = Phase::load_q},
          {.phase = Phase::load_kv},
          kScores,
          kMask,
          kMax,
          kRescale,
          weights_phase(work_online_weights),
          sum_phase(work_online_sum),
          output_phase(work_output),
          {.phase = Phase::store_state, .lights = Column::o},
          ending(kSkipped),
          {.phase = n.load_part, .lights = kOFirst},
          {.phase = n.merge_max, .lights = Column::m_new, .fills = true},
          {.phase = n.merge_first, .lights = Column::alpha, .fills = true, .work = work_first},
          {.phase = n.merge_second, .lights = kAlphaPart, .fills = true, .work = work_second},
          {.phase = n.merge_sum, .lights = Column::l_new, .fills = true, .work = work_sum},
          {.phase = n.merge_output, .lights = Column::o, .fills = true, .work = work_merged_output},
          ending(kNormalise),
          ending(kStoreO)};
}

std::vector<SlotLook> slot_looks(const SplitNames& n) {
  const auto part = [](Slot slot) {
    return SlotLook{.slot = slot, .explain = Explain::earlier, .stood = {Stood::never}};
  };
  SlotLook alpha_part = part(n.alpha_part);
  alpha_part.gauge = true;
  return {kSlotQ,    kSlotK,         kSlotV,     kSlotS,         kSlotP,        kSlotMOld,
          kSlotMNew, kSlotAlpha,     kSlotLOld,  kSlotLNew,      kSlotOOld,     kSlotONew,
          kSlotLse,  part(n.m_part), alpha_part, part(n.l_part), part(n.o_part)};
}

// What a part had stands where its next will be.
ColumnLook or_old(ColumnLook column, Slot old) {
  column.other = old;
  column.title = TitleKind::letter;
  column.words = {};
  return column;
}

std::vector<ColumnLook> lane_columns() {
  return {kColumnS,       or_old(kColumnMNew, Slot::m_old),    kColumnAlpha,
          kColumnOnlineP, or_old(kColumnOnlineL, Slot::l_old), captioned(kColumnO, kOnlineOutputCaption)};
}

std::vector<ColumnLook> merge_columns(const SplitNames& n) {
  ColumnLook m = captioned(or_old(kColumnMNew, Slot::m_new), kMergedMaxCaption),
             l = captioned(or_old(kColumnLNew, Slot::l_new), kMergedSumCaption),
             o = captioned(kColumnO, kMergedOutputCaption);
  m.other = l.other = o.other = std::nullopt;
  o.above = std::nullopt;
  const auto half = [](Column c, std::string_view id, Slot slot, TitleKind title) {
    return ColumnLook{.column = c,
                      .id = id,
                      .slot = slot,
                      .title = title,
                      .caption = title == TitleKind::first ? Phrases(kFirstCaption) : Phrases(kSecondCaption)};
  };
  const auto factor = [](Column c, std::string_view id, Slot slot, TitleKind title) {
    return ColumnLook{
        .column = c,
        .id = id,
        .slot = slot,
        .title = title,
        .caption = title == TitleKind::first ? Phrases(kFirstFactorCaption) : Phrases(kSecondFactorCaption)};
  };
  return {half(Column::m_old, "##tile_m_old", Slot::m_old, TitleKind::first),
          half(kMPart, "##tile_m_part", n.m_part, TitleKind::second),
          m,
          factor(Column::alpha, "##tile_alpha", Slot::alpha, TitleKind::first),
          factor(kAlphaPart, "##tile_alpha_part", n.alpha_part, TitleKind::second),
          half(Column::l_old, "##tile_l_old", Slot::l_old, TitleKind::first),
          half(kLPart, "##tile_l_part", n.l_part, TitleKind::second),
          l,
          half(kOFirst, "##tile_o_old", Slot::o_old, TitleKind::first),
          half(kOPart, "##tile_o_part", n.o_part, TitleKind::second),
          o};
}

// What is left is the state of all keys, where the last merge made it; of the two that it merged nothing is.
std::vector<ColumnLook> ended_columns(const SplitNames& n) {
  std::vector<ColumnLook> columns = merge_columns(n);
  const auto shows = [&](Column c, Slot slot) { std::ranges::find(columns, c, &ColumnLook::column)->slot = slot; };
  shows(Column::m_old, n.m_part);
  shows(Column::l_old, n.l_part);
  shows(kOFirst, n.o_part);
  shows(Column::m_new, Slot::m_old);
  shows(Column::l_new, Slot::l_old);
  return columns;
}

constexpr LetterWords kLetters[] = {{"m", TensorColour::m, marked("largest score of a part")},
                                    {"α", TensorColour::alpha, marked("rescales to one maximum")},
                                    {"ℓ", TensorColour::l, marked("sum of the weights")},
                                    {"O", TensorColour::o, marked("output so far")}};
constexpr StepChart kCharts[] = {StepChart::row, StepChart::pages};

// What the parts' way to memory and back comes to.
TextRuns traffic_words(const TrafficFacts& f) {
  std::uint64_t way = 0;
  const Recording& rec = f.run;
  for (const Event& e : rec.events) {
    if (e.id.phase != Phase::store_state && e.id.phase != names().load_part) continue;
    const std::int64_t rows =
        std::min<std::int64_t>(rec.options.br, rec.problem.Lq - std::int64_t{e.id.i} * rec.options.br);
    way += event_traffic(rec.order, rec.problem, e.id.phase, e.pass, e.id.i, rows, 0, 0).total();
  }
  return woven(phrase("The split adds traffic: each part writes {}, {} and {}, and the merge reads them back, {} B in "
                      "all. Each part also reads {}.",
                      place(0), place(1), place(2), place(3), place(4)),
               {letter("m", TensorColour::m), letter("ℓ", TensorColour::l), letter("O", TensorColour::o),
                number(std::to_string(way)), letter("Q", TensorColour::q)});
}

// What travels beside what each rank asks of its own memory.
TextRuns ring_traffic_words(const TrafficFacts& f) {
  const RingBytes sent = ring_bytes(f.run.problem, f.run.options);
  return woven(phrase("Over the links, each rank sends {} B of {} and {} per turn, for a total of {} B. The values "
                      "here include only reads and writes in the ranks' own memory.",
                      place(0), place(1), place(2), place(3)),
               {number(std::to_string(sent.largest_share)), letter("K", TensorColour::k), letter("V", TensorColour::v),
                number(std::to_string(sent.total))});
}

// A phase lights what stands in the picture.
std::vector<PhaseLook> lit_in(std::span<const ColumnLook> columns, std::vector<PhaseLook> phases) {
  for (PhaseLook& phase : phases) {
    const bool there = phase.lights && std::ranges::find(columns, *phase.lights, &ColumnLook::column) != columns.end();
    if (!there) phase.lights = std::nullopt, phase.fills = false;
  }
  return phases;
}

Tables make_tables() {
  const SplitNames& n = names();
  Tables t;
  t.slots = slot_looks(n);
  t.merged = t.slots;
  for (SlotLook& slot : t.merged) slot.older = std::nullopt;
  // What a part had of them is not what the merge makes.
  const std::pair<Slot, Phase> made_in[] = {
      {Slot::m_old, n.merge_max},   {n.m_part, n.merge_max},        {Slot::m_new, n.merge_max},
      {Slot::alpha, n.merge_first}, {n.alpha_part, n.merge_second}, {Slot::l_old, n.merge_sum},
      {n.l_part, n.merge_sum},      {Slot::l_new, n.merge_sum},     {Slot::o_old, n.merge_output},
      {n.o_part, n.merge_output},   {Slot::o_new, n.merge_output}};
  for (const auto& [slot, phase] : made_in)
    std::ranges::find(t.merged, slot, &SlotLook::slot)->stood = {Stood::in_merge, {phase}};
  t.lane = lane_columns();
  t.merge = merge_columns(n);
  t.ended = ended_columns(n);
  t.of_lane = lit_in(t.lane, phase_looks(n));
  t.of_merge = lit_in(t.merge, phase_looks(n));
  t.computed = {Slot::s, Slot::m_new, Slot::alpha, n.alpha_part, Slot::p, Slot::l_new, Slot::o_new, Slot::lse};
  for (const Slot slot : {Slot::k, Slot::v, Slot::s, Slot::m_new, Slot::alpha, Slot::p, Slot::l_new, Slot::o_new})
    t.sheet.push_back({slot, slot});
  return t;
}

OrderLook make_look(const char* order, const Tables& t, std::span<const ColumnLook> columns,
                    std::span<const PhaseLook> phases) {
  OrderLook look = online(*order_named(order));
  look.phases = phases;
  look.slots = t.slots;
  look.columns = columns;
  look.computed = t.computed;
  look.sheet = t.sheet;
  look.passes = {};
  look.compared = {};
  look.companion = {};
  look.letters = kLetters;
  look.charts = kCharts;
  look.traffic = traffic_words;
  look.rescales_output = true;
  return look;
}

OrderLook merge_look(const char* order, const Tables& t) {
  OrderLook look = make_look(order, t, t.merge, t.of_merge);
  look.scores = std::nullopt;
  look.slots = t.merged;
  return placed(look);
}

OrderLook ended_look(const char* order, const Tables& t) {
  OrderLook look = merge_look(order, t);
  look.columns = t.ended;
  return placed(look);
}

OrderLook lane_look(const char* order, const Tables& t, const OrderLook& merge, const OrderLook& merged) {
  OrderLook look = make_look(order, t, t.lane, t.of_lane);
  look.merge = &merge;
  look.merged = &merged;
  return placed(look);
}

}  // namespace

const OrderLook& split_look() {
  static const Tables kTables = make_tables();
  static const OrderLook kMerge = merge_look("split", kTables), kMerged = ended_look("split", kTables);
  static const OrderLook kLook = lane_look("split", kTables, kMerge, kMerged);
  return kLook;
}

const OrderLook& ring_look() {
  static const Tables kTables = [] {
    Tables t = make_tables();
    for (auto* phases : {&t.of_lane, &t.of_merge}) phases->push_back({.phase = *phase_named("send")});
    return t;
  }();
  static const OrderLook kMerge = merge_look("ring", kTables), kMerged = ended_look("ring", kTables);
  static const OrderLook kLook = [] {
    OrderLook look = lane_look("ring", kTables, kMerge, kMerged);
    look.traffic = ring_traffic_words;
    return look;
  }();
  return kLook;
}

}  // namespace attn
