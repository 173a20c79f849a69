// What the rows of several orders share: written once, named here. The pieces are spoken by say() and sign().
#pragma once

#include "kernels/base/text.h"
#include "viz/step/orders/look.h"
#include "viz/step/orders/work.h"

namespace attn::looks {

constexpr Phrase say(std::string_view words) {
  return {.text = words};
}
constexpr Phrase sign(std::string_view letter, TensorColour hue, int raise = 0) {
  return {.text = letter, .face = Face::maths, .ink = hue, .raise = raise};
}
constexpr Phrase raised(std::string_view words, Ink ink = Token::dim) {
  return {.text = words, .ink = ink, .raise = 1};
}
constexpr Phrase only(PhraseWhen when, Phrase piece) {
  piece.when = when;
  return piece;
}
inline constexpr Phrase kScale{.ink = Token::text, .when = PhraseWhen::scaled, .scale = true};

inline constexpr Phrase kQ = sign("Q", TensorColour::q), kK = sign("K", TensorColour::k),
                        kV = sign("V", TensorColour::v), kS = sign("S", TensorColour::s),
                        kP = sign("P", TensorColour::p), kM = sign("m", TensorColour::m),
                        kL = sign("ℓ", TensorColour::l), kO = sign("O", TensorColour::o),
                        kAlpha = sign("α", TensorColour::alpha), kE = sign("e", TensorColour::p);
// e^(S - m)
inline constexpr Phrase kRaisedS = sign("S", TensorColour::s, 1), kRaisedMinus = raised(" − "),
                        kRaisedM = sign("m", TensorColour::m, 1);

// ---- captions

inline constexpr Phrase kScoresCaption[] = {kS,
                                            say(" = "),
                                            only(PhraseWhen::capped, say("c tanh(")),
                                            kQ,
                                            kK,
                                            sign("T", TensorColour::k, 1),
                                            kScale,
                                            only(PhraseWhen::scores_base2, say(" · log₂e")),
                                            only(PhraseWhen::capped, say(" / c)")),
                                            only(PhraseWhen::biased, say(marked(" + bias"))),
                                            only(PhraseWhen::sloped, say(" − ALiBi"))};
inline constexpr Phrase kBecomes{.text = " ← ", .face = Face::maths};
inline constexpr Phrase kMaxCaption[] = {only(PhraseWhen::with_max, kM),
                                         only(PhraseWhen::with_max, kBecomes),
                                         only(PhraseWhen::with_max, say("max(")),
                                         only(PhraseWhen::with_max, {.text = marked("old"), .ink = TensorColour::m}),
                                         only(PhraseWhen::with_max, say(", ")),
                                         only(PhraseWhen::with_max, kS),
                                         only(PhraseWhen::with_max, say(")")),
                                         only(PhraseWhen::without_max, kM),
                                         only(PhraseWhen::without_max, say(marked(" held at 0")))};
inline constexpr Phrase kStoredCaption[] = {kO, say(marked(" to HBM"))};
inline constexpr Phrase kDividedCaption[] = {kO, kBecomes, kO, say(" / "), kL};

// ---- columns, but for their captions

inline constexpr ColumnLook kColumnQ{
    .column = Column::q, .id = "##tile_q", .slot = Slot::q, .title = TitleKind::rows, .words = marked("row")};
inline constexpr ColumnLook kColumnS{
    .column = Column::s, .id = "##tile_s", .slot = Slot::s, .above = Slot::k, .caption = kScoresCaption};
inline constexpr ColumnLook kColumnMOld{.column = Column::m_old,
                                        .id = "##tile_m_old",
                                        .slot = Slot::m_old,
                                        .beside_next = true,
                                        .title = TitleKind::earlier,
                                        .words = marked(" old")};
inline constexpr ColumnLook kColumnMNew{.column = Column::m_new,
                                        .id = "##tile_m_new",
                                        .slot = Slot::m_new,
                                        .title = TitleKind::fresh,
                                        .words = marked(" new"),
                                        .caption = kMaxCaption};
inline constexpr ColumnLook kColumnP{
    .column = Column::p, .id = "##tile_p", .slot = Slot::p, .title = TitleKind::letter, .words = marked(" weights")};
inline constexpr ColumnLook kColumnLOld{.column = Column::l_old,
                                        .id = "##tile_l_old",
                                        .slot = Slot::l_old,
                                        .beside_next = true,
                                        .title = TitleKind::earlier,
                                        .words = marked(" old")};
inline constexpr ColumnLook kColumnLNew{.column = Column::l_new,
                                        .id = "##tile_l_new",
                                        .slot = Slot::l_new,
                                        .title = TitleKind::fresh,
                                        .words = marked(" new")};
inline constexpr ColumnLook kColumnO{.column = Column::o,
                                     .id = "##tile_o",
                                     .slot = Slot::o_new,
                                     .other = Slot::o_old,
                                     .above = Slot::v,
                                     .title = TitleKind::output};
constexpr ColumnLook captioned(ColumnLook column, Phrases caption) {
  column.caption = caption;
  return column;
}

// ---- slots

inline constexpr std::string_view kInHbm = marked("Was on chip and is now only in HBM.");
inline constexpr LitOperand kOfScore[] = {{Column::q, false, OperandPart::row},
                                          {Column::s, true, OperandPart::key_column}};
inline constexpr LitOperand kOfWeight[] = {{Column::s, false, OperandPart::key_cell},
                                           {Column::m_new, false, OperandPart::first_cell}};
inline constexpr LitOperand kOfMaximum[] = {{Column::s, false, OperandPart::row}};
inline constexpr LitOperand kOfRescale[] = {{Column::m_old, false, OperandPart::first_cell},
                                            {Column::m_new, false, OperandPart::first_cell}};
inline constexpr LitOperand kOfSum[] = {{Column::p, false, OperandPart::row}};
inline constexpr LitOperand kOfOutput[] = {{Column::p, false, OperandPart::row},
                                           {Column::o, true, OperandPart::column}};

inline constexpr SlotLook kSlotQ{.slot = Slot::q,
                                 .each = marked("query"),
                                 .explain = Explain::input,
                                 .stood = {Stood::in_any, {Phase::scores}},
                                 .gone = kInHbm};
inline constexpr SlotLook kSlotK{.slot = Slot::k,
                                 .each = marked("key"),
                                 .never_if_skipped = true,
                                 .explain = Explain::input,
                                 .stood = {Stood::in_key_tile, {Phase::scores, Phase::scores}},
                                 .gone = kInHbm,
                                 .pins = SlotPin{Slot::s, true}};
inline constexpr SlotLook kSlotV{.slot = Slot::v,
                                 .each = marked("value"),
                                 .never_if_skipped = true,
                                 .explain = Explain::input,
                                 .stood = {Stood::in_key_tile, {Phase::scores, Phase::output}},
                                 .gone = kInHbm,
                                 .pins = SlotPin{Slot::o_new, false}};
inline constexpr SlotLook kSlotS{
    .slot = Slot::s, .explain = Explain::score, .operands = kOfScore, .stood = {Stood::as_version}};
inline constexpr SlotLook kSlotP{.slot = Slot::p,
                                 .overflows = true,
                                 .explain = Explain::weight,
                                 .operands = kOfWeight,
                                 .stood = {Stood::as_version}};
inline constexpr SlotLook kSlotMOld{
    .slot = Slot::m_old, .explain = Explain::earlier, .stood = {Stood::in_any, {Phase::max}}};
inline constexpr SlotLook kSlotMNew{.slot = Slot::m_new,
                                    .never_if_skipped = true,
                                    .older = Slot::m_old,
                                    .explain = Explain::maximum,
                                    .operands = kOfMaximum,
                                    .stood = {Stood::as_version}};
inline constexpr SlotLook kSlotAlpha{.slot = Slot::alpha,
                                     .never_if_skipped = true,
                                     .gauge = true,
                                     .explain = Explain::rescale,
                                     .operands = kOfRescale,
                                     .stood = {Stood::as_version}};
inline constexpr SlotLook kSlotLOld{
    .slot = Slot::l_old, .running_sum = true, .explain = Explain::earlier, .stood = {Stood::in_any, {Phase::sum}}};
inline constexpr SlotLook kSlotLNew{.slot = Slot::l_new,
                                    .never_if_skipped = true,
                                    .older = Slot::l_old,
                                    .running_sum = true,
                                    .overflows = true,
                                    .explain = Explain::sum,
                                    .operands = kOfSum,
                                    .stood = {Stood::as_version}};
inline constexpr SlotLook kSlotOOld{.slot = Slot::o_old,
                                    .running_sum = true,
                                    .explain = Explain::output,
                                    .stood = {Stood::in_any, {Phase::output}, Slot::o_new}};
inline constexpr SlotLook kSlotONew{.slot = Slot::o_new,
                                    .running_sum = true,
                                    .explain = Explain::output,
                                    .operands = kOfOutput,
                                    .lit_with = Column::p,
                                    .stood = {Stood::in_any, {Phase::output}, Slot::o_new}};
inline constexpr SlotLook kSlotLse{.slot = Slot::lse, .explain = Explain::earlier, .stood = {Stood::never}};
constexpr SlotLook waiting(SlotLook slot, std::string_view where) {
  slot.gone = where;
  return slot;
}

// ---- formulas (shared.cpp)

void work_scores(const StepWork& c);
void work_shape(const StepWork& c);  // softcap, bias and ALiBi, as far as the problem has them
void work_maximum(const StepWork& c);
void work_division(const StepWork& c);
void work_lse(const StepWork& c);

// ---- phases

inline constexpr PhaseLook kLoadQ{.phase = Phase::load_q, .lights = Column::q, .naive = {0, 1}};
inline constexpr PhaseLook kScores{
    .phase = Phase::scores, .lights = Column::s, .fills = true, .before_mask = true, .work = work_scores};
inline constexpr PhaseLook kMask{.phase = Phase::mask, .lights = Column::s, .naive = {0, 3}, .work = work_shape};
inline constexpr PhaseLook kMax{
    .phase = Phase::max, .lights = Column::m_new, .fills = true, .naive = {1, 1}, .work = work_maximum};
inline constexpr PhaseLook kNormalise{.phase = Phase::normalise,
                                      .lights = Column::o,
                                      .caption = kDividedCaption,
                                      .naive = {2, 1},
                                      .divides_output = true,
                                      .work = work_division};
inline constexpr PhaseLook kStoreO{
    .phase = Phase::store_o, .lights = Column::o, .caption = kDividedCaption, .naive = {2, 4}, .work = work_lse};
// Of orders whose O was divided while it was made.
inline constexpr PhaseLook kStoreDividedO{
    .phase = Phase::store_o, .lights = Column::o, .caption = kStoredCaption, .naive = {2, 4}, .work = work_lse};
inline constexpr PhaseLook kSkipped{.phase = Phase::skipped, .naive = {0, 0, false}};
constexpr PhaseLook weights_phase(void (*work)(const StepWork&)) {
  return {.phase = Phase::weights, .lights = Column::p, .fills = true, .naive = {1, 3}, .work = work};
}
constexpr PhaseLook sum_phase(void (*work)(const StepWork&)) {
  return {.phase = Phase::sum, .lights = Column::l_new, .fills = true, .naive = {1, 2}, .work = work};
}
constexpr PhaseLook output_phase(void (*work)(const StepWork&)) {
  return {.phase = Phase::output, .lights = Column::o, .fills = true, .naive = {2, 1}, .work = work};
}
// With the last steps of an order whose statistics are the row's by then.
constexpr PhaseLook ending(PhaseLook phase) {
  phase.ends_row = true;
  return phase;
}

// ---- the rest

inline constexpr Slot kComputed[] = {Slot::s, Slot::m_new, Slot::alpha, Slot::p, Slot::l_new, Slot::o_new, Slot::lse};
inline constexpr ComparedLook kCompared[] = {
    {Phase::scores, Slot::s, "S"},        {Phase::mask, Slot::s, "mask"},         {Phase::max, Slot::m_new, "m"},
    {Phase::rescale, Slot::alpha, "α"},   {Phase::weights, Slot::p, "P"},         {Phase::sum, Slot::l_new, "ℓ"},
    {Phase::output, Slot::o_new, "O"},    {Phase::normalise, Slot::o_new, "O/ℓ"}, {Phase::normalise, Slot::lse, "LSE"},
    {Phase::store_o, Slot::o_new, "out"},
};
// In the order of time, as the tiles stand on screen.
inline constexpr SheetLook kSheet[] = {{Slot::q, Slot::q}, {Slot::k, Slot::k},         {Slot::v, Slot::v},
                                       {Slot::s, Slot::s}, {Slot::m_new, Slot::m_old}, {Slot::alpha, Slot::alpha},
                                       {Slot::p, Slot::p}, {Slot::l_new, Slot::l_old}, {Slot::o_new, Slot::o_old}};
using Either = std::array<Slot, 2>;
inline constexpr Either kChipQ[] = {{Slot::q, Slot::q}}, kChipK[] = {{Slot::k, Slot::k}},
                        kChipV[] = {{Slot::v, Slot::v}}, kChipO[] = {{Slot::o_old, Slot::o_new}},
                        kChipStats[] = {{Slot::m_old, Slot::m_new}, {Slot::l_old, Slot::l_new}};
inline constexpr std::string_view kBesideOrders[] = {"cpu_sequential", "cpu_flash", "cpu_flash1", "cpu_tiled"};

}  // namespace attn::looks
