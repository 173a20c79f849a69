// The backward with the key tile outside: Q, S, LSE, P, dO, dP, δ, dS and dQ from left to right as they are made; under
// P and dS what they are summed to, dV and dK, which stay while the query tiles pass by.
#include <array>
#include <cmath>
#include <vector>

#include "kernels/base/text.h"
#include "kernels/model/traffic.h"
#include "kernels/orders/backward/names.h"
#include "kernels/orders/backward/sums.h"
#include "viz/draw/number_text.h"
#include "viz/step/orders/shared.h"
#include "viz/step/orders/table.h"
#include "viz/step/orders/work.h"

namespace attn {
namespace {

using namespace looks;
using orders::BackwardNames;
using Values = std::span<const double>;

const BackwardNames& names() {
  return orders::backward_names();
}

// Beyond the columns that the forward's orders have.
constexpr auto own_column(std::size_t n) {
  return static_cast<Column>(kNamedColumns + n);
}
constexpr Column kLseColumn = own_column(0), kDOColumn = own_column(1), kDPColumn = own_column(2),
                 kDeltaColumn = own_column(3), kDSColumn = own_column(4), kDQColumn = own_column(5);

// ---- the numbers of a step's formula

double recorded(const Recording& rec, VersionId id, std::int32_t row, std::int32_t col) {
  if (id == kNoVersion) return 0;
  const Version& v = rec.version(id);
  const std::int32_t r = row - v.first_row, c = col - v.first_col;
  if (r < 0 || r >= v.rows || c < 0 || c >= v.cols) return 0;
  return rec.values(id)[static_cast<std::size_t>(r) * static_cast<std::size_t>(v.cols) + static_cast<std::size_t>(c)];
}

void work_delta(const StepWork& c) {
  if (const auto delta = c.live(names().delta))
    c.put_number("delta", *delta, TensorColour::alpha, c.bound(names().delta));
}

void work_weights(const StepWork& c) {
  using enum TensorColour;
  const std::int32_t key = c.out.key;
  const auto score = c.live(Slot::s, key), weight = c.live(Slot::p, key), lse = c.live(Slot::lse);
  if (!score || !weight || !lse) return;
  c.work({{"s", *score, s}, {"lse", *lse, l}}, "p", *weight, p, c.bound(Slot::p, key),
         [](Values x) { return std::exp(x[0] - x[1]); });
}

void work_weight_gradient(const StepWork& c) {
  if (const auto dp = c.live(names().dp, c.out.key))
    c.put_number("dp", *dp, TensorColour::p, c.bound(names().dp, c.out.key));
}

void work_score_gradient(const StepWork& c) {
  using enum TensorColour;
  const std::int32_t key = c.out.key;
  const auto weight = c.live(Slot::p, key), dp = c.live(names().dp, key), delta = c.live(names().delta),
             ds = c.live(names().ds, key);
  // With a softcap its slope multiplies it, too.
  if (!weight || !dp || !delta || !ds || c.rec.problem.softcap) return;
  c.work({{"p", *weight, p}, {"dp", *dp, p}, {"delta", *delta, alpha}}, "ds", *ds, s, c.bound(names().ds, key),
         [](Values x) { return x[0] * (x[1] - x[2]); });
}

// What the sum was, what this tile adds, and what it is.
void work_sum(const StepWork& c, Slot slot, const char* name, VersionId before, double part) {
  const Ink ink = tensor_of(slot);
  StepPlace at = c.at;
  if (slot_row(slot).rows == SlotRows::keys) at.row = c.out.key;
  const StepWork of_slot{c.rec, at, c.exact, c.out};
  const auto now = of_slot.live(slot, c.out.col);
  if (!now) return;
  const double was = recorded(c.rec, before, at.row, c.out.col);
  c.work({{"was", was, ink}, {"part", part, Token::text}}, name, *now, ink, of_slot.bound(slot, c.out.col),
         [](Values x) { return x[0] + x[1]; });
}

double product(std::optional<float> a, std::optional<float> b) {
  return a && b ? static_cast<double>(*a) * static_cast<double>(*b) : 0;
}

// The followed key's part of all rows of the tile: P^T dO, dS^T Q.
double part_of_rows(const StepWork& c, Slot weights, Slot rows) {
  double sum = 0;
  for (std::int32_t n = 0; n < c.at.rows; ++n) {
    const std::int32_t row = c.at.first_row + n;
    sum += product(live_value(c.rec, c.at.event, weights, row, c.out.key),
                   live_value(c.rec, c.at.event, rows, row, c.out.col));
  }
  return sum;
}

void work_value_gradient(const StepWork& c) {
  work_sum(c, names().dv, "dv", orders::backward::key_sum_before(c.rec, c.at.event, names().dv),
           part_of_rows(c, Slot::p, names().d_o));
}

void work_key_gradient(const StepWork& c) {
  work_sum(c, names().dk, "dk", orders::backward::key_sum_before(c.rec, c.at.event, names().dk),
           part_of_rows(c, names().ds, Slot::q));
}

void work_query_gradient(const StepWork& c) {
  double sum = 0;
  for (std::int32_t n = 0; n < c.at.keys; ++n) {
    const std::int32_t key = c.at.first_key + n;
    sum += product(live_value(c.rec, c.at.event, names().ds, c.at.row, key),
                   live_value(c.rec, c.at.event, Slot::k, key, c.out.col));
  }
  work_sum(c, names().dq, "dq", orders::backward::query_sum_before(c.rec, c.at.event, names().dq), sum);
}

// ---- what stands behind a cell

TextRuns say_weight(const StepWork& c, std::int32_t, std::int32_t col) {
  using enum TensorColour;
  const auto score = c.live(Slot::s, col), lse = c.live(Slot::lse);
  if (!score || !lse) return {};
  return {word("exp("), number(significant_text(*score, 6), s), word(" − "), number(significant_text(*lse, 6), l),
          word(")")};
}

TextRuns say_score_gradient(const StepWork& c, std::int32_t, std::int32_t col) {
  using enum TensorColour;
  const auto weight = c.live(Slot::p, col), dp = c.live(names().dp, col), delta = c.live(names().delta);
  if (!weight || !dp || !delta) return {};
  TextRuns words{number(significant_text(*weight, 5), p),    word(" × ("),
                 number(significant_text(*dp, 5), p),        word(" − "),
                 number(significant_text(*delta, 5), alpha), word(")")};
  if (c.rec.problem.softcap) words.push_back(word(tr(", times the slope of the softcap")));
  return words;
}

TextRuns say_lse(const StepWork&, std::int32_t, std::int32_t) {
  return {word(tr("kept of the forward: the row's maximum plus the logarithm of its sum"))};
}

TextRuns say_output(const StepWork&, std::int32_t, std::int32_t) {
  return {word(tr("kept of the forward"))};
}

// ---- captions

constexpr Phrase kDO = sign("dO", TensorColour::o), kDP = sign("dP", TensorColour::p),
                 kDS = sign("dS", TensorColour::s), kDelta = sign("δ", TensorColour::alpha);
constexpr Phrase kRowsCaption[] = {kQ, say(marked(" comes by"))};
constexpr Phrase kLseCaption[] = {say(marked("kept"))};
constexpr Phrase kWeightsCaption[] = {kP, say(" = "), kE, kRaisedS, kRaisedMinus, raised("LSE", TensorColour::l)};
constexpr Phrase kDOCaption[] = {say(marked("from the loss"))};
constexpr Phrase kDPCaption[] = {kDO, kV, sign("T", TensorColour::v, 1)};
constexpr Phrase kDeltaCaption[] = {say("Σ "), kDO, say(" · "), kO};
constexpr Phrase kDSCaption[] = {kP, say(" · ("), kDP, say(" − "), kDelta, say(")")};
constexpr Phrase kDQCaption[] = {say("+ "), kDS, kK};
constexpr Phrase kDQDoneCaption[] = {sign("dQ", TensorColour::q), kScale};

constexpr std::string_view kInMemory = marked("Computed; it waits in HBM until the next key tile.");
constexpr std::string_view kWritten = marked("Done: it is in HBM.");

constexpr LetterWords kLetters[] = {{"LSE", TensorColour::l, marked("kept of the forward")},
                                    {"dO", TensorColour::o, marked("comes from the loss")},
                                    {"δ", TensorColour::alpha, marked("the row's mean of dP")},
                                    {"dS", TensorColour::s, marked("what scores should do")},
                                    {"dQ", TensorColour::q, marked("comes and goes")},
                                    {"dK", TensorColour::k, marked("stays, is summed")},
                                    {"dV", TensorColour::v, marked("stays, is summed")}};

constexpr StepChart kCharts[] = {StepChart::row, StepChart::fragments};
constexpr std::string_view kBeside[] = {"cpu_naive_bwd"};
constexpr std::pair<TrafficPart, std::string_view> kChipParts[] = {
    {TrafficPart::k, "K dK"},  {TrafficPart::v, "V dV"}, {TrafficPart::s, "S P"},
    {TrafficPart::p, "dP dS"}, {TrafficPart::o, "O dO"}, {TrafficPart::stats, "LSE δ"}};

// What dQ's way to memory and back comes to, and what a stored P would.
TextRuns traffic_words(const TrafficFacts& f) {
  const Recording& rec = f.run;
  const Problem& p = rec.problem;
  std::uint64_t dq = 0, stored = 0;
  for (const Event& e : rec.events) {
    if (e.id.i < 0) continue;
    const std::int64_t rows = std::min<std::int64_t>(rec.options.br, p.Lq - std::int64_t{e.id.i} * rec.options.br);
    const std::int64_t keys =
        e.id.j < 0 ? 0 : std::min<std::int64_t>(rec.options.bc, p.Lk - std::int64_t{e.id.j} * rec.options.bc);
    if (e.id.phase == names().query_gradient || e.id.phase == names().store_dq)
      dq += event_traffic(rec.order, p, e.id.phase, e.pass, e.id.i, rows, keys, 0).total();
    if (e.id.phase == names().weights_again) stored += tile_bytes(p, rows, keys).p;
  }
  return woven(phrase("{} comes and goes with each key tile: {} B. A stored {} would be {} B more to read here, and as "
                      "many to write in the forward.",
                      place(0), place(1), place(2), place(3)),
               {letter("dQ", TensorColour::q), number(std::to_string(dq)), letter("P", TensorColour::p),
                number(std::to_string(stored))});
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

std::vector<SlotLook> slot_looks(const BackwardNames& n) {
  SlotLook weights = kSlotP;
  weights.explain = Explain::words;
  weights.words = say_weight;
  weights.operands = kOfPAgain;
  const auto before = [](SlotLook look, std::string_view gone) {
    look.stood = {Stood::before};
    look.gone = gone;
    return look;
  };
  SlotLook q = kSlotQ, k = kSlotK, v = kSlotV;
  q.stood = k.stood = v.stood = {Stood::before};
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
  dq.gone = kInMemory;
  dv.never_if_skipped = dk.never_if_skipped = dq.never_if_skipped = false;
  dv.stood = dk.stood = {Stood::in_key_tile, {n.store_dkv, n.store_dkv}};
  dv.gone = dk.gone = kWritten;
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

std::vector<ColumnLook> column_looks(const BackwardNames& n) {
  ColumnLook q = captioned(kColumnQ, kRowsCaption), p = captioned(kColumnP, kWeightsCaption);
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

Tables make_tables() {
  const BackwardNames& n = names();
  Tables t;
  t.phases = phase_looks(n);
  t.slots = slot_looks(n);
  t.columns = column_looks(n);
  t.computed = {n.delta, Slot::s, Slot::p, n.dp, n.ds, n.dq};
  t.pairs = {{Slot::q, Slot::q}, {Slot::k, Slot::k},     {n.dk, n.dk},      {Slot::v, Slot::v},
             {n.dv, n.dv},       {Slot::s, Slot::p},     {n.dp, n.ds},      {n.o, n.o},
             {n.d_o, n.d_o},     {Slot::lse, Slot::lse}, {n.delta, n.delta}};
  const auto pair = [&t](std::size_t at) { return std::span<const std::array<Slot, 2>>(t.pairs).subspan(at, 1); };
  t.chip = {{.part = TrafficPart::q, .slots = pair(0), .fp32 = false},
            {.part = TrafficPart::k, .slots = pair(1), .fp32 = false},
            {.part = TrafficPart::k, .slots = pair(2)},
            {.part = TrafficPart::v, .slots = pair(3), .fp32 = false},
            {.part = TrafficPart::v, .slots = pair(4)},
            {.part = TrafficPart::s, .slots = pair(5)},
            {.part = TrafficPart::p, .slots = pair(6)},
            {.part = TrafficPart::o, .slots = pair(7), .fp32 = false},
            {.part = TrafficPart::o, .slots = pair(8), .fp32 = false},
            {.part = TrafficPart::stats, .slots = pair(9)},
            {.part = TrafficPart::stats, .slots = pair(10)}};
  for (const Slot slot :
       {Slot::q, Slot::k, Slot::v, Slot::s, Slot::lse, Slot::p, n.o, n.d_o, n.dp, n.delta, n.ds, n.dq, n.dv, n.dk})
    t.sheet.push_back({slot, slot});
  return t;
}

}  // namespace

const OrderLook& backward_look() {
  static const Tables kTables = make_tables();
  static const OrderLook kLook = [] {
    OrderLook look;
    look.order = *order_named("backward");
    look.phases = kTables.phases;
    look.slots = kTables.slots;
    look.columns = kTables.columns;
    look.scores = Column::s, look.output = kDQColumn;
    look.computed = kTables.computed;
    look.chip = kTables.chip;
    look.letters = kLetters;
    look.sheet = kTables.sheet;
    look.beside = kBeside;
    look.traffic = traffic_words;
    look.stats = "LSE, δ";
    look.chip_parts = kChipParts;
    look.charts = kCharts;
    return placed(look);
  }();
  return kLook;
}

}  // namespace attn
