#include "viz/step/charts/charts_draw.h"

#include <algorithm>
#include <string>

#include "kernels/base/text.h"
#include "viz/draw/theme.h"

namespace attn {
namespace {

void draw_strip(ImDrawList* list, const Box& plot, const PassStrip& strip, std::int32_t keys, bool shown) {
  const Style& s = style();
  const auto x_of = [&](std::int32_t key) {
    return plot.min.x + plot.width() * static_cast<float>(key) / static_cast<float>(std::max(keys, 1));
  };
  for (const PassTile& tile : strip.tiles) {
    const float gap = x_of(tile.first_key + tile.keys) - x_of(tile.first_key) > s.px(6) ? s.px(1) : 0;
    const Box box{{x_of(tile.first_key) + gap, plot.min.y}, {x_of(tile.first_key + tile.keys) - gap, plot.max.y}};
    const ImU32 hue = colour_of(strip.hue);
    switch (tile.look) {
      case PassLook::skipped:
        draw_hatch(list, box, faded(colour_of(Token::faint), 0.6F), 5);
        break;
      case PassLook::done:
        list->AddRectFilled(box.min, box.max, faded(hue, shown ? 0.85F : 0.55F), s.px(2));
        break;
      case PassLook::live:
        list->AddRectFilled(box.min, box.max, faded(hue, 0.3F), s.px(2));
        draw_outline(list, box, colour_of(Token::text), shown ? 2 : 1, 3);
        break;
      case PassLook::to_come:
        if (box.width() > s.px(3)) draw_dashed(list, box, colour_of(Token::faint), 3);
        break;
    }
  }
}

}  // namespace

void draw_passes(ImDrawList* list, const Box& in, const PassesScene& scene) {
  const Style& s = style();
  if (!scene.nothing.empty()) {
    draw_paragraph(list, {in.min.x, in.min.y + s.px(16)}, in.width(), 13, {word(scene.nothing)}, 3);
    return;
  }
  const float names = s.px(in.width() > s.px(620) ? 186 : 120);
  const float words = in.width() > s.px(620) ? std::min(in.width() * 0.42F, s.px(330)) : 0;
  const auto together = [&](float y, bool draw) {
    return draw_paragraph(list, {in.min.x, y}, in.width(), 13, scene.together, 4, draw);
  };
  // One line, or where that is too wide as many as it has.
  const float wrapped = scene.together.empty() ? 0 : together(0, false);
  const bool breaks = runs_width(scene.together, 13) > in.width();
  const float below = scene.together.empty() ? s.px(2) : breaks ? wrapped + s.px(4) : s.px(22);
  const Box plot{{in.min.x + names, in.min.y + s.px(16)},
                 {in.max.x - (words > 0 ? words + s.px(14) : 0), in.max.y - below}};
  const float pitch = std::min(plot.height() / 4 - s.px(1), s.px(54)), bar = std::min(pitch - s.px(5), s.px(30));
  if (bar < s.px(6) || plot.width() < s.px(40)) return;
  const float x = plot.min.x + plot.width() * (static_cast<float>(scene.key) + 0.5F) / static_cast<float>(scene.keys);
  const std::string title = phrase("key {}", scene.key);
  const float half = text_width(Face::text, 12, title) / 2;
  draw_text(list, {std::clamp(x - half, plot.min.x, plot.max.x - 2 * half), in.min.y - s.px(1)}, Face::text, 12,
            colour_of(Token::text), title);
  for (std::size_t n = 0; n < scene.strips.size(); ++n) {
    const PassStrip& strip = scene.strips[n];
    const bool flash = n == 3;
    const float top = plot.min.y + pitch * static_cast<float>(n) + (flash ? s.px(4) : 0);
    const Box line{{plot.min.x, top}, {plot.max.x, top + bar}};
    if (flash)
      list->AddLine({in.min.x, top - s.px(4)}, {in.max.x, top - s.px(4)}, colour_of(Token::line),
                    std::max(1.0F, s.px(1)));
    TextRuns name{word((flash ? scene.flash_name : scene.naive_name) + " ", strip.other ? Token::dim : Token::text),
                  word(strip.name)};
    if (words > 0) {
      name.push_back(word("  "));
      name.insert(name.end(), strip.makes.begin(), strip.makes.end());
    }
    draw_runs_in(list, {{in.min.x, line.min.y}, {plot.min.x - s.px(8), line.max.y}}, Align::left, 13, name);
    draw_strip(list, line, strip, scene.keys, !strip.other);
    if (words <= 0) continue;
    TextRuns right = strip.value;
    if (!right.empty()) right.push_back(word("   "));
    right.insert(right.end(), strip.waits.begin(), strip.waits.end());
    float size = 13;
    while (size > 10 && runs_width(right, size) > words) size -= 0.5F;
    draw_runs_in(list, {{plot.max.x + s.px(14), line.min.y}, {in.max.x, line.max.y}}, Align::left, size, right);
  }
  const float bottom = plot.min.y + pitch * 3 + s.px(4) + bar + s.px(3);
  list->AddLine({x, plot.min.y - s.px(2)}, {x, bottom}, colour_of(Token::text), std::max(1.0F, s.px(1)));
  if (scene.together.empty()) return;
  if (breaks)
    together(std::min(in.max.y - wrapped, bottom + s.px(4)), true);
  else
    draw_runs(list, {in.min.x, std::min(in.max.y - s.px(17), bottom + s.px(10))}, 13, scene.together);
}

}  // namespace attn
