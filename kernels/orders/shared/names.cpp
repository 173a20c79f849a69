#include "kernels/orders/shared/names.h"

#include <limits>

namespace attn::orders {

std::vector<PhaseName> shared_phases() {
  using enum Phase;
  return {
      {.name = "load_q", .letter = "Q", .makes = Slot::q, .maths = true, .elsewhere = {load_q, load_state}},
      {.name = "load_kv", .letter = "K V", .makes = Slot::k, .maths = true, .elsewhere = {load_kv, load_k}},
      {.name = "load_k", .letter = "K", .makes = Slot::k, .maths = true, .elsewhere = {load_kv, load_k}},
      {.name = "load_v", .letter = "V", .makes = Slot::v, .maths = true, .elsewhere = {load_v, load_kv}},
      {.name = "load_state", .letter = "in", .makes = Slot::o_old, .elsewhere = {load_state, load_q}},
      {.name = "scores", .letter = "S", .makes = Slot::s, .maths = true},
      {.name = "mask", .letter = "mask", .makes = Slot::s, .elsewhere = {mask, scores}},
      {.name = "store_s", .letter = "S out", .makes = Slot::s, .elsewhere = {mask, scores}},
      {.name = "max", .letter = "m", .makes = Slot::m_new, .maths = true},
      {.name = "rescale", .letter = "α", .makes = Slot::alpha, .maths = true, .elsewhere = {rescale, max}},
      {.name = "weights", .letter = "P", .makes = Slot::p, .maths = true},
      {.name = "sum", .letter = "ℓ", .makes = Slot::l_new, .maths = true},
      {.name = "output", .letter = "O", .makes = Slot::o_new, .maths = true},
      {.name = "normalise",
       .letter = "÷ℓ",
       .makes = Slot::o_new,
       .maths = true,
       .elsewhere = {normalise, store_o, output}},
      {.name = "store_o", .letter = "out", .makes = Slot::o_new},
      {.name = "store_state", .letter = "out", .makes = Slot::o_new, .elsewhere = {store_state, output}},
      {.name = "skipped", .letter = "skipped", .elsewhere = {skipped, mask, scores}},
  };
}

std::vector<SlotRow> shared_slots() {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr SlotRows kKeys = SlotRows::keys;
  using enum SlotColumns;
  return {
      {.name = "q", .letter = "Q", .like = Slot::q, .columns = head, .input = true},
      {.name = "k", .letter = "K", .like = Slot::k, .rows = kKeys, .columns = head, .input = true},
      {.name = "v", .letter = "V", .like = Slot::v, .rows = kKeys, .columns = value_head, .input = true},
      {.name = "s", .letter = "S", .like = Slot::s, .columns = keys, .score = true},
      {.name = "p", .letter = "P", .like = Slot::p, .columns = keys},
      {.name = "m_old", .letter = "m", .like = Slot::m_old, .made_as = Slot::m_new, .start = -kInfinity, .score = true},
      {.name = "m_new", .letter = "m", .like = Slot::m_new, .score = true},
      {.name = "alpha", .letter = "α", .like = Slot::alpha},
      {.name = "l_old", .letter = "ℓ", .like = Slot::l_old, .made_as = Slot::l_new, .start = 0.0F, .lanes = true},
      {.name = "l_new", .letter = "ℓ", .like = Slot::l_new, .lanes = true},
      {.name = "o_old",
       .letter = "O",
       .like = Slot::o_old,
       .columns = value_head,
       .made_as = Slot::o_new,
       .start = 0.0F},
      {.name = "o_new", .letter = "O", .like = Slot::o_new, .columns = value_head},
      {.name = "lse", .letter = "LSE", .like = Slot::lse},
  };
}

}  // namespace attn::orders
