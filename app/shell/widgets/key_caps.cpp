#include "app/shell/widgets/key_caps.h"

#include <algorithm>
#include <string>

#include "app/shell/keys/shortcuts.h"
#include "viz/draw/canvas.h"

namespace attn {
namespace {

constexpr float kCapHeight = 20, kGap = 4;

bool is_arrow(const std::string& cap) {
  return cap == "left" || cap == "right";
}

float cap_width(const std::string& cap) {
  const Style& s = style();
  const float text = is_arrow(cap) ? s.px(8) : text_width(Face::text, 12, cap);
  return std::max(s.px(kCapHeight), text + s.px(12));
}

float draw_cap(ImDrawList* list, float x, float centre_y, const std::string& cap) {
  const Style& s = style();
  const float half = s.px(kCapHeight) / 2;
  const Box box{{x, centre_y - half}, {x + cap_width(cap), centre_y + half}};
  list->AddRectFilled(box.min, box.max, colour(s.theme, Token::field), s.px(4));
  list->AddRect(box.min, box.max, colour(s.theme, Token::line), s.px(4), 0, std::max(1.0F, s.px(1)));
  const ImU32 ink = colour(s.theme, Token::text);
  if (is_arrow(cap)) {
    draw_arrow(list, box.centre(), 8, cap == "left" ? Arrow::left : Arrow::right, ink);
  } else {
    draw_text_in(list, box, Align::centre, Face::text, 12, ink, cap);
  }
  return box.max.x + s.px(kGap);
}

}  // namespace

float chord_width(ImGuiKeyChord chord) {
  float width = 0;
  for (const std::string& cap : caps_of(chord)) width += cap_width(cap) + style().px(kGap);
  return std::max(0.0F, width - style().px(kGap));
}

float draw_chord(ImDrawList* list, float x, float centre_y, ImGuiKeyChord chord) {
  for (const std::string& cap : caps_of(chord)) x = draw_cap(list, x, centre_y, cap);
  return x;
}

float draw_last_cap(ImDrawList* list, float x, float centre_y, ImGuiKeyChord chord) {
  return draw_cap(list, x, centre_y, caps_of(chord).back());
}

}  // namespace attn
