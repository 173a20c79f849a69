#include "viz/profile/source/phase_hue_draw.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "viz/draw/canvas.h"
#include "viz/draw/theme.h"
#include "viz/profile/source/source.h"

namespace attn {
namespace {

constexpr std::array<float, kWarpStates> kTint{1.0F,  0.7F,  0.6F,  0.55F, 0.5F,  0.45F, 0.41F,
                                               0.38F, 0.35F, 0.31F, 0.27F, 0.23F, 0.18F};

// How much of a phase's hue each kind of instruction has, in their order: what computes is full.
constexpr std::array<float, gpu::kInstructionKinds> kKindTint{1.0F, 1.0F, 0.72F, 0.5F, 0.36F, 0.24F, 0.14F};

// In the dark theme words on what waits are white, in all hues alike: a fill too bright for that is darkened.
constexpr double kContrast = 4.6;
constexpr float kDarken = 0.97F;
constexpr float kHatch = 0.28F;  // opacity

ImU32 mixed(ImU32 ground, ImU32 over, float share) {
  const ImVec4 a = ImGui::ColorConvertU32ToFloat4(ground), b = ImGui::ColorConvertU32ToFloat4(over);
  const auto mix = [&](float x, float y) { return x + (y - x) * share; };
  return ImGui::ColorConvertFloat4ToU32({mix(a.x, b.x), mix(a.y, b.y), mix(a.z, b.z), 1});
}

double contrast_with_white(ImU32 c) {
  return 1.05 / (luminance(c) + 0.05);
}

}  // namespace

float tint_of(WarpState state) {
  return kTint.at(static_cast<std::size_t>(state));
}

bool waits(WarpState state) {
  return state != WarpState::issues && state != WarpState::ready;
}

CellColours cell_colours(Theme theme, ImU32 hue, WarpState state) {
  const ImU32 card = colour(theme, Token::card);
  float share = tint_of(state);
  CellColours c{mixed(card, hue, share), 0, 0};
  if (waits(state) && theme == Theme::dark) {
    for (; contrast_with_white(c.fill) < kContrast && share > 0.01F; share *= kDarken) c.fill = mixed(card, hue, share);
    c.text = IM_COL32_WHITE;
  } else {
    c.text = text_on(c.fill);
  }
  c.hatch = faded(c.text, kHatch);
  return c;
}

float phase_sign_width(gpu::CodePhase phase) {
  const PhaseSign sign = sign_of(phase);
  return text_width(sign.face, sign.face == Face::maths ? 12.5F : 11, sign.text) + style().px(7);
}

void draw_phase_sign(ImDrawList* list, const Box& box, gpu::CodePhase phase) {
  const PhaseSign sign = sign_of(phase);
  draw_text_in(list, box, Align::left, sign.face, sign.face == Face::maths ? 12.5F : 11, colour_of(sign.ink), sign.text,
               7);
}

void draw_mix(ImDrawList* list, const Box& box, const gpu::InstructionMix& mix, std::uint32_t most,
              gpu::CodePhase phase) {
  if (most == 0) return;
  const ImU32 hue = hue_of(phase);
  float x = box.min.x;
  for (const gpu::InstructionKind kind : gpu::all_instruction_kinds()) {
    if (mix[kind] == 0) continue;
    const float width = box.width() * static_cast<float>(mix[kind]) / static_cast<float>(most);
    list->AddRectFilled({x, box.min.y}, {x + width, box.max.y},
                        faded(hue, kKindTint.at(static_cast<std::size_t>(kind))));
    x += width;
  }
}

ImU32 hue_of(gpu::CodePhase phase) {
  const PhaseSign sign = sign_of(phase);
  return sign.ink.tensor ? colour_of(sign.ink) : colour(style().theme, Token::faint);
}

}  // namespace attn
