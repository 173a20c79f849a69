// Colours by their role, so that scenes name no RGB: a token of the theme, or the ink of a tensor. Plain values; what
// they look like is in viz/draw/theme_table.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/model/order.h"  // Slot

namespace attn {

enum class Token : std::uint8_t { ground, card, field, line, text, dim, faint, band };
enum class TensorColour : std::uint8_t { q, k, v, s, p, m, l, o, alpha };
constexpr std::size_t kTensorColourCount = 9;  // rows of kTensorColours

TensorColour tensor_of(Slot s);
// Q, K, V, S and O hold numbers of both signs: their cells are shaded from a neutral zero.
constexpr bool is_signed(TensorColour c) {
  return c == TensorColour::q || c == TensorColour::k || c == TensorColour::v || c == TensorColour::s ||
         c == TensorColour::o;
}

struct Ink {
  bool tensor = false;
  Token token = Token::text;
  TensorColour hue = TensorColour::s;
  constexpr Ink() = default;
  constexpr Ink(Token t) : token(t) {}                     // NOLINT(google-explicit-constructor): a role is an ink
  constexpr Ink(TensorColour c) : tensor(true), hue(c) {}  // NOLINT(google-explicit-constructor)
  bool operator==(const Ink&) const = default;
};

}  // namespace attn
