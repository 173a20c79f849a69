// What FlashAttention-1 and -2 share: one pass, in which m, l and O so far are mended with each key tile.
#pragma once

#include <array>

#include "kernels/base/text.h"
#include "viz/step/orders/shared.h"

namespace attn::looks {

void work_rescale(const StepWork& c);
void work_online_weights(const StepWork& c);
void work_online_sum(const StepWork& c);
// What both do but for the first and last steps, O and what it says of its bytes.
inline constexpr PhaseLook kRescale{
    .phase = Phase::rescale, .lights = Column::alpha, .fills = true, .naive = {1, 1}, .work = work_rescale};

// Captions, columns but for Q and O, chip, passes, letters.
// Without a maximum too: m is then −∞ before the first key tile and 0 after it.
inline constexpr Phrase kAlphaCaption[] = {kAlpha, say(" = "), only(PhraseWhen::base_e, sign("e", TensorColour::alpha)),
                                           only(PhraseWhen::base_2, sign("2", TensorColour::alpha)),
                                           raised(marked("old − new"), TensorColour::m)};
inline constexpr Phrase kOnlineWeightsCaption[] = {kP,
                                                   say(" = "),
                                                   only(PhraseWhen::base_e, kE),
                                                   only(PhraseWhen::base_2, sign("2", TensorColour::p)),
                                                   kRaisedS,
                                                   {.raise = 1, .when = PhraseWhen::unscaled, .scale = true},
                                                   only(PhraseWhen::unscaled, raised(" · log₂e")),
                                                   only(PhraseWhen::with_max, kRaisedMinus),
                                                   only(PhraseWhen::with_max, raised(marked("new"), TensorColour::m))};
inline constexpr Phrase kOnlineSumCaption[] = {kL, kBecomes, kAlpha, kL, say(" + Σ "), kP};
inline constexpr Phrase kOnlineOutputCaption[] = {kO, kBecomes, kAlpha, kO, say(" + "), kP, kV};
inline constexpr ColumnLook kColumnAlpha{
    .column = Column::alpha, .id = "##tile_alpha", .slot = Slot::alpha, .caption = kAlphaCaption};
inline constexpr ColumnLook kColumnOnlineP = captioned(kColumnP, kOnlineWeightsCaption),
                            kColumnOnlineL = captioned(kColumnLNew, kOnlineSumCaption);

// All columns: those of Q and O are an order's own.
constexpr std::array<ColumnLook, 9> online_columns(const ColumnLook& q, const ColumnLook& o) {
  return {
      q, kColumnS, kColumnMOld, kColumnMNew, kColumnAlpha, kColumnOnlineP, kColumnLOld, kColumnOnlineL, o,
  };
}

// "With tiles as low as Br 1 flash reads more than naive ..."
TextRuns low_tile_words(const TrafficFacts& f);

// Without what differs: phases, slots, columns and words.
OrderLook online(Order order);

}  // namespace attn::looks
