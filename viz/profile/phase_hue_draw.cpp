#include "viz/profile/phase_hue_draw.h"

#include <array>
#include <cstddef>

#include "viz/draw/canvas.h"
#include "viz/draw/theme.h"
#include "viz/profile/source.h"

namespace attn {
namespace {

constexpr std::array<float, kWarpStates> kTint{1.0F,  0.7F,  0.6F,  0.55F, 0.5F,  0.45F, 0.41F,
                                               0.38F, 0.35F, 0.31F, 0.27F, 0.23F, 0.18F};

}  // namespace

float tint_of(WarpState state) {
  return kTint.at(static_cast<std::size_t>(state));
}

bool waits(WarpState state) {
  return state != WarpState::issues && state != WarpState::ready;
}

ImU32 hue_of(gpu::CodePhase phase) {
  const PhaseSign sign = sign_of(phase);
  return sign.ink.tensor ? colour_of(sign.ink) : colour(style().theme, Token::faint);
}

}  // namespace attn
