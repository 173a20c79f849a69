#include "viz/step/ring/ring_square_draw.h"

#include <cmath>

#include "viz/draw/inks.h"

namespace attn {
namespace {

ImU32 mixed(ImU32 over, ImU32 under, float share) {
  const ImVec4 a = ImGui::ColorConvertU32ToFloat4(over), b = ImGui::ColorConvertU32ToFloat4(under);
  const auto mix = [share](float x, float y) { return x * share + y * (1 - share); };
  return ImGui::ColorConvertFloat4ToU32({mix(a.x, b.x), mix(a.y, b.y), mix(a.z, b.z), 1});
}

}  // namespace

RingSquareInks ring_square_inks(Theme theme, RingSquareLook look) {
  constexpr float kDone = 0.45F;  // what is over stands back
  const ImU32 hue = colour(theme, TensorColour::p), card = colour(theme, Token::card);
  switch (look) {
    case RingSquareLook::now:
      return {hue, text_on(hue)};
    case RingSquareLook::done: {
      const ImU32 fill = mixed(hue, card, kDone);
      return {fill, text_on(fill)};
    }
    default:
      return {0, colour(theme, Token::dim)};
  }
}

std::optional<Box> ring_square_number(const Box& square, bool cut, ImVec2 size, float margin) {
  if (!cut) {
    if (size.x + 2 * margin > square.width() || size.y + 2 * margin > square.height()) return std::nullopt;
    return square;
  }
  // From the triangle's corner as far as from its long side: its upper right corner is the nearest to that.
  const float across = (square.width() - size.x - size.y) / (2 + std::sqrt(2.0F));
  if (across < margin) return std::nullopt;
  const ImVec2 foot{square.min.x + across, square.max.y - across};
  return Box{{foot.x, foot.y - size.y}, {foot.x + size.x, foot.y}};
}

}  // namespace attn
