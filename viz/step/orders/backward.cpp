// The backward with either tile outside: Q, S, LSE, P, dO, dP, δ, dS and dQ from left to right as they are made; under
// P and dS what they are summed to, dV and dK. The key tile outside, these two stay while the query tiles pass by, and
// dQ comes and goes; the query tile outside, it is the other way round.
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "kernels/base/text.h"
#include "kernels/model/ring.h"
#include "kernels/model/traffic.h"
#include "kernels/orders/backward/names.h"
#include "kernels/orders/backward_ring/names.h"
#include "viz/step/orders/backward_work.h"
#include "viz/step/orders/shared.h"
#include "viz/step/orders/table.h"

namespace attn {
namespace {

using namespace looks;
using orders::BackwardNames;

const BackwardNames& names() {
  return orders::backward_names();
}

// Beyond the columns that the forward's orders have.
constexpr auto own_column(std::size_t n) {
  return static_cast<Column>(kNamedColumns + n);
}
constexpr Column kLseColumn = own_column(0), kDOColumn = own_column(1), kDPColumn = own_column(2),
                 kDeltaColumn = own_column(3), kDSColumn = own_column(4), kDQColumn = own_column(5);

// ---- captions

constexpr Phrase kDO = sign("dO", TensorColour::o), kDP = sign("dP", TensorColour::p),
                 kDS = sign("dS", TensorColour::s), kDelta = sign("δ", TensorColour::alpha);
constexpr Phrase kRowsCaption[] = {kQ, say(marked(" is streamed"))};
constexpr Phrase kStaysCaption[] = {kQ, say(marked(" stays"))};
constexpr Phrase kLseCaption[] = {say(marked("stored"))};
constexpr Phrase kWeightsCaption[] = {kP, say(" = "), kE, kRaisedS, kRaisedMinus, raised("LSE", TensorColour::l)};
constexpr Phrase kDOCaption[] = {say(marked("from the loss"))};
constexpr Phrase kDPCaption[] = {kDO, kV, sign("T", TensorColour::v, 1)};
constexpr Phrase kDeltaCaption[] = {say("Σ "), kDO, say(" · "), kO};
constexpr Phrase kDSCaption[] = {kP,
                                 only(PhraseWhen::with_delta, say(" · (")),
                                 only(PhraseWhen::without_delta, say(" · ")),
                                 kDP,
                                 only(PhraseWhen::with_delta, say(" − ")),
                                 only(PhraseWhen::with_delta, kDelta),
                                 only(PhraseWhen::with_delta, say(")"))};
constexpr Phrase kDQCaption[] = {say("+ "), kDS, kK};
constexpr Phrase kDQDoneCaption[] = {sign("dQ", TensorColour::q), kScale};

constexpr std::string_view kInMemory = marked("Computed and waiting in HBM until the next key tile.");
constexpr std::string_view kKeysInMemory = marked("Computed and waiting in HBM until the next query tile.");
constexpr std::string_view kWritten = marked("Done and in HBM.");

constexpr LetterWords kLseLetter{"LSE", TensorColour::l, marked("stored by the forward pass")},
    kFromLoss{"dO", TensorColour::o, marked("comes from the loss")},
    kMean{"δ", TensorColour::alpha, marked("weighted mean of dP")},
    kScoreGradient{"dS", TensorColour::s, marked("gradient of the scores")};
constexpr LetterWords letter_of_sum(std::string_view letter, TensorColour hue, bool stays) {
  return {letter, hue, stays ? marked("stays and accumulates") : marked("loaded and stored")};
}
constexpr LetterWords kLetters[] = {kLseLetter,
                                    kFromLoss,
                                    kMean,
                                    kScoreGradient,
                                    letter_of_sum("dQ", TensorColour::q, false),
                                    letter_of_sum("dK", TensorColour::k, true),
                                    letter_of_sum("dV", TensorColour::v, true)};
constexpr LetterWords kLettersOfRing[] = {kLseLetter,
                                          kFromLoss,
                                          kMean,
                                          kScoreGradient,
                                          {"dQ", TensorColour::q, marked("stays with its rank")},
                                          {"dK", TensorColour::k, marked("travels and accumulates")},
                                          {"dV", TensorColour::v, marked("travels and accumulates")}};
constexpr LetterWords kLettersOfQueries[] = {kLseLetter,
                                             kFromLoss,
                                             kMean,
                                             kScoreGradient,
                                             letter_of_sum("dQ", TensorColour::q, true),
                                             letter_of_sum("dK", TensorColour::k, false),
                                             letter_of_sum("dV", TensorColour::v, false)};

constexpr StepChart kCharts[] = {StepChart::row, StepChart::fragments};
constexpr std::string_view kBeside[] = {"cpu_naive_bwd"}, kLoops[] = {"backward", "backward-queries"};
constexpr std::pair<TrafficPart, std::string_view> kChipParts[] = {
    {TrafficPart::k, "K dK"},  {TrafficPart::v, "V dV"}, {TrafficPart::s, "S P"},
    {TrafficPart::p, "dP dS"}, {TrafficPart::o, "O dO"}, {TrafficPart::stats, "LSE δ"}};
constexpr std::pair<TrafficPart, std::string_view> kChipPartsOfQueries[] = {{TrafficPart::q, "Q dQ"},
                                                                            {TrafficPart::s, "S P"},
                                                                            {TrafficPart::p, "dP dS"},
                                                                            {TrafficPart::o, "dO"},
                                                                            {TrafficPart::stats, "LSE δ"}};

std::uint64_t stored_weights(const Recording& rec) {
  std::uint64_t bytes = 0;
  for (const Event& e : rec.events) {
    if (e.id.phase != names().weights_again) continue;
    const Problem& p = rec.problem;
    const std::int64_t rows = std::min<std::int64_t>(rec.options.br, p.Lq - std::int64_t{e.id.i} * rec.options.br);
    const std::int64_t keys = std::min<std::int64_t>(rec.options.bc, p.Lk - std::int64_t{e.id.j} * rec.options.bc);
    bytes += tile_bytes(p, rows, keys).p;
  }
  return bytes;
}

// What the way to memory and back of the sums that do not stay comes to, and what a stored P would.
// Of a ring what goes over the links besides.
TextRuns ring_traffic_words(const TrafficFacts& f) {
  const RingBytes sent = ring_bytes(f.run.problem, f.run.options);
  return woven(
      phrase("Over the links, each rank sends {} B of {} and {} per turn, and {} B of {} and {} in f32: {} B in "
             "all. The values here count what the ranks read and write in their own memory.",
             place(0), place(1), place(2), place(3), place(4), place(5), place(6)),
      {number(std::to_string(sent.largest_share)), letter("K", TensorColour::k), letter("V", TensorColour::v),
       number(std::to_string(sent.largest_sums)), letter("dK", TensorColour::k), letter("dV", TensorColour::v),
       number(std::to_string(sent.total + sent.total_sums))});
}

TextRuns traffic_words(const TrafficFacts& f) {
  const Recording& rec = f.run;
  const Problem& p = rec.problem;
  const bool keys_stay = order_row(rec.order).keys_outside;
  std::uint64_t way = 0;
  for (const Event& e : rec.events) {
    const Phase phase = e.id.phase;
    const bool goes =
        keys_stay ? phase == names().query_gradient || phase == names().store_dq
                  : phase == names().value_gradient || phase == names().key_gradient || phase == names().store_dkv;
    if (!goes) continue;
    const std::int64_t rows =
        e.id.i < 0 ? 0 : std::min<std::int64_t>(rec.options.br, p.Lq - std::int64_t{e.id.i} * rec.options.br);
    const std::int64_t keys =
        e.id.j < 0 ? 0 : std::min<std::int64_t>(rec.options.bc, p.Lk - std::int64_t{e.id.j} * rec.options.bc);
    way += event_traffic(rec.order, p, phase, e.pass, e.id.i, rows, keys, 0).total();
  }
  const TextRun stored = number(std::to_string(stored_weights(rec))), weights = letter("P", TensorColour::p);
  if (keys_stay) {
    return woven(phrase("{} is loaded and stored with each key tile: {} B. Storing {} would add {} B to read here, and "
                        "as many to write in the forward pass.",
                        place(0), place(1), place(2), place(3)),
                 {letter("dQ", TensorColour::q), number(std::to_string(way)), weights, stored});
  }
  return woven(
      phrase("{} and {} are loaded and stored with each query tile: {} B. Storing {} would add {} B to read here, and "
             "as many to write in the forward pass.",
             place(0), place(1), place(2), place(3), place(4)),
      {letter("dK", TensorColour::k), letter("dV", TensorColour::v), number(std::to_string(way)), weights, stored});
}

// Rows that need the ids of slots and phases, which are known once the table of orders is made.
struct Tables {
  std::vector<PhaseLook> phases;
  std::vector<SlotLook> slots;
  std::vector<ColumnLook> columns;
  std::vector<Slot> computed;
  std::vector<std::array<Slot, 2>> pairs;
  std::vector<ChipLook> chip;
  std::vector<SheetLook> sheet;
};

std::vector<PhaseLook> phase_looks(const BackwardNames& n) {
  return {{.phase = n.load_o, .lights = kDOColumn},
          {.phase = n.row_dots, .lights = kDeltaColumn, .fills = true, .work = work_delta},
          {.phase = Phase::load_kv},
          {.phase = Phase::skipped, .naive = {0, 0, false}},
          {.phase = n.load_rows, .lights = Column::q},
          kScores,
          kMask,
          {.phase = n.weights_again, .lights = Column::p, .fills = true, .work = work_weights},
          {.phase = n.value_gradient, .work = work_value_gradient},
          {.phase = n.weight_gradient, .lights = kDPColumn, .fills = true, .work = work_weight_gradient},
          {.phase = n.score_gradient, .lights = kDSColumn, .fills = true, .work = work_score_gradient},
          {.phase = n.key_gradient, .work = work_key_gradient},
          {.phase = n.query_gradient, .lights = kDQColumn, .fills = true, .work = work_query_gradient},
          {.phase = n.store_dkv},
          {.phase = n.store_dq, .lights = kDQColumn, .caption = kDQDoneCaption}};
}

constexpr LitOperand kOfDP[] = {{kDOColumn, false, OperandPart::row}, {kDPColumn, true, OperandPart::key_column}};
constexpr LitOperand kOfDS[] = {{Column::p, false, OperandPart::key_cell},
                                {kDPColumn, false, OperandPart::key_cell},
                                {kDeltaColumn, false, OperandPart::first_cell}};
constexpr LitOperand kOfDQ[] = {{kDSColumn, false, OperandPart::row}};
constexpr LitOperand kOfPAgain[] = {{Column::s, false, OperandPart::key_cell},
                                    {kLseColumn, false, OperandPart::first_cell}};

std::vector<SlotLook> slot_looks(const BackwardNames& n, bool keys_stay) {
  SlotLook weights = kSlotP;
  weights.explain = Explain::words;
  weights.words = say_weight;
  weights.operands = kOfPAgain;
  const auto before = [&](SlotLook look, std::string_view gone) {
    look.stood = {Stood::before};
    look.gone = gone;
    return look;
  };
  SlotLook q = kSlotQ, k = kSlotK, v = kSlotV;
  q.stood = {Stood::before};
  if (keys_stay) k.stood = v.stood = {Stood::before};
  k.pins = SlotPin{Slot::s, true};
  v.pins.reset();
  const auto tile = [](Slot slot, Explain explain, std::span<const LitOperand> operands) {
    return SlotLook{
        .slot = slot, .never_if_skipped = true, .explain = explain, .operands = operands, .stood = {Stood::as_version}};
  };
  SlotLook dp = tile(n.dp, Explain::product, kOfDP), ds = tile(n.ds, Explain::words, kOfDS),
           dq = tile(n.dq, Explain::product, kOfDQ), dv = tile(n.dv, Explain::product, {}),
           dk = tile(n.dk, Explain::product, {});
  dp.product = {n.d_o, Slot::v, SharedAxis::value_head};
  ds.words = say_score_gradient;
  dq.product = {n.ds, Slot::k, SharedAxis::keys, true};
  dv.product = {Slot::p, n.d_o, SharedAxis::queries, true};
  dk.product = {n.ds, Slot::q, SharedAxis::queries, true};
  dq.stood = {Stood::in_any, {n.query_gradient}};
  dq.gone = keys_stay ? kInMemory : kWritten;
  dv.never_if_skipped = dk.never_if_skipped = dq.never_if_skipped = false;
  dv.stood = dk.stood = {Stood::before};
  dv.gone = dk.gone = kWritten;
  if (!keys_stay) {
    dv.stood = {Stood::of_keys, {n.value_gradient}};
    dk.stood = {Stood::of_keys, {n.key_gradient}};
    dv.gone = dk.gone = kKeysInMemory;
  }
  return {
      q,
      k,
      v,
      kSlotS,
      weights,
      before({.slot = Slot::lse, .explain = Explain::words, .words = say_lse}, kInHbm),
      {.slot = n.o, .explain = Explain::words, .stood = {Stood::never}, .words = say_output},
      before({.slot = n.d_o, .each = marked("gradient of row"), .explain = Explain::input}, kInHbm),
      before({.slot = n.delta, .explain = Explain::product, .product = {n.d_o, n.o, SharedAxis::value_head}}, kInHbm),
      dp,
      ds,
      dq,
      dv,
      dk};
}

std::vector<ColumnLook> column_looks(const BackwardNames& n, bool keys_stay) {
  ColumnLook q = captioned(kColumnQ, keys_stay ? Phrases(kRowsCaption) : Phrases(kStaysCaption)),
             p = captioned(kColumnP, kWeightsCaption);
  p.words = {};
  p.below = n.dv;
  return {q,
          kColumnS,
          {.column = kLseColumn, .id = "##tile_lse", .slot = Slot::lse, .caption = kLseCaption},
          p,
          {.column = kDOColumn, .id = "##tile_do", .slot = n.d_o, .guest = n.o, .caption = kDOCaption},
          {.column = kDPColumn, .id = "##tile_dp", .slot = n.dp, .above = Slot::v, .caption = kDPCaption},
          {.column = kDeltaColumn, .id = "##tile_delta", .slot = n.delta, .caption = kDeltaCaption},
          {.column = kDSColumn, .id = "##tile_ds", .slot = n.ds, .below = n.dk, .caption = kDSCaption},
          {.column = kDQColumn,
           .id = "##tile_dq",
           .slot = n.dq,
           .guest = Slot::k,
           .title = TitleKind::parts,
           .caption = kDQCaption}};
}

// What is on chip at once: K and V, or Q, with the sums that stay.
std::vector<ChipLook> chip_looks(const BackwardNames& n, bool keys_stay, std::vector<std::array<Slot, 2>>& pairs) {
  pairs = {{Slot::q, Slot::q}, {n.dq, n.dq},   {Slot::k, Slot::k},     {n.dk, n.dk},
           {Slot::v, Slot::v}, {n.dv, n.dv},   {Slot::s, Slot::p},     {n.dp, n.ds},
           {n.o, n.o},         {n.d_o, n.d_o}, {Slot::lse, Slot::lse}, {n.delta, n.delta}};
  const auto pair = [&pairs](std::size_t at) { return std::span<const std::array<Slot, 2>>(pairs).subspan(at, 1); };
  // What comes from memory and goes back within a step is not held. It is when it is written at the end.
  const unsigned sums_of_keys = keys_stay ? 0b111 : 0b010;
  std::vector<ChipLook> chip = {{.part = TrafficPart::q, .slots = pair(0), .fp32 = false},
                                {.part = TrafficPart::k, .slots = pair(2), .fp32 = false},
                                {.part = TrafficPart::k, .slots = pair(3), .passes = sums_of_keys},
                                {.part = TrafficPart::v, .slots = pair(4), .fp32 = false},
                                {.part = TrafficPart::v, .slots = pair(5), .passes = sums_of_keys},
                                {.part = TrafficPart::s, .slots = pair(6)},
                                {.part = TrafficPart::p, .slots = pair(7)},
                                {.part = TrafficPart::o, .slots = pair(8), .fp32 = false},
                                {.part = TrafficPart::o, .slots = pair(9), .fp32 = false},
                                {.part = TrafficPart::stats, .slots = pair(10)},
                                {.part = TrafficPart::stats, .slots = pair(11)}};
  if (keys_stay)
    chip.push_back({.part = TrafficPart::q, .slots = pair(1), .fp32 = false, .passes = 0b100});
  else
    chip.push_back({.part = TrafficPart::q, .slots = pair(1)});
  return chip;
}

Tables make_tables(bool keys_stay) {
  const BackwardNames& n = names();
  Tables t;
  t.phases = phase_looks(n);
  t.slots = slot_looks(n, keys_stay);
  t.columns = column_looks(n, keys_stay);
  t.computed = {Slot::lse, n.delta, Slot::s, Slot::p, n.dp, n.ds, n.dq};
  t.chip = chip_looks(n, keys_stay, t.pairs);
  for (const Slot slot :
       {Slot::q, Slot::k, Slot::v, Slot::s, Slot::lse, Slot::p, n.o, n.d_o, n.dp, n.delta, n.ds, n.dq, n.dv, n.dk})
    t.sheet.push_back({slot, slot});
  return t;
}

OrderLook make_look(const Tables& tables, std::string_view order) {
  OrderLook look;
  look.order = *order_named(order);
  look.phases = tables.phases;
  look.slots = tables.slots;
  look.columns = tables.columns;
  look.scores = Column::s, look.output = kDQColumn;
  look.computed = tables.computed;
  look.chip = tables.chip;
  look.sheet = tables.sheet;
  look.beside = kBeside;
  look.walks = kLoops;
  look.stored_weights = stored_weights;
  look.traffic = traffic_words;
  look.stats = "LSE, δ";
  look.charts = kCharts;
  return look;
}

}  // namespace

const OrderLook& backward_look() {
  static const Tables kTables = make_tables(true);
  static const OrderLook kLook = [] {
    OrderLook look = make_look(kTables, "backward");
    look.letters = kLetters;
    look.chip_parts = kChipParts;
    look.bar = marked("key tile outside");
    look.below = {marked("Stays on chip"), marked("until all query tiles"), marked("have passed")};
    return placed(look);
  }();
  return kLook;
}

const OrderLook& backward_queries_look() {
  static const Tables kTables = make_tables(false);
  static const OrderLook kLook = [] {
    OrderLook look = make_look(kTables, "backward-queries");
    look.letters = kLettersOfQueries;
    look.chip_parts = kChipPartsOfQueries;
    look.bar = marked("query tile outside");
    look.below = {marked("Loaded and stored"), marked("with each query tile;"), marked("dQ stays on chip")};
    return placed(look);
  }();
  return kLook;
}

const OrderLook& backward_ring_look() {
  static const Tables kTables = [] {
    Tables t = make_tables(true);
    const orders::BackwardRingNames& r = orders::backward_ring_names();
    for (const Phase phase : {r.send, r.send_sums, r.keep_sums, r.sums_home}) t.phases.push_back({.phase = phase});
    t.phases.push_back({.phase = r.add_sums, .work = work_add_sums});
    for (const auto& [came, sum] : {std::pair{r.dk_came, names().dk}, {r.dv_came, names().dv}}) {
      SlotLook look = *std::ranges::find(t.slots, sum, &SlotLook::slot);
      look.slot = came;
      look.explain = Explain::nothing;
      t.slots.push_back(look);
    }
    return t;
  }();
  static const OrderLook kLook = [] {
    OrderLook look = make_look(kTables, "backward-ring");
    look.letters = kLettersOfRing;
    look.chip_parts = kChipParts;
    look.traffic = ring_traffic_words;
    return placed(look);
  }();
  return kLook;
}

}  // namespace attn
