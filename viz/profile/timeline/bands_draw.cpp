#include "viz/profile/timeline/bands_draw.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/base/text.h"
#include "viz/draw/theme.h"

namespace attn {
namespace {

constexpr float kSeamed = 6;  // pixels of a line: between lower ones seams would darken the whole

// All of them are one area from the first end on; what works covers it up to its own line's end, seams and all.
void draw_tail(ImDrawList* list, const BandPlot& plot, const std::vector<double>& ends) {
  const Style& s = style();
  if (ends.empty()) return;
  const float from = plot.x_of(*std::ranges::min_element(ends)), to = plot.x_of(plot.scene.launch_ns);
  if (to - from < s.px(2)) return;
  draw_hatch(list, {{from, plot.box.min.y}, {to, plot.box.max.y}}, colour(s.theme, Token::dim), 5);
  const ImU32 ground = colour(s.theme, plot.ground), ink = colour(s.theme, Token::text);
  for (std::size_t row = 0; row < ends.size(); ++row) {
    const float top = plot.box.min.y + plot.line() * static_cast<float>(row), end = plot.x_of(ends[row]);
    // A pixel more: edges between lines are drawn pale.
    list->AddRectFilled({from - 1, top}, {end, std::min(top + plot.line() + 1, plot.box.max.y)}, ground);
    list->AddRectFilled({end, top}, {end + s.px(1), top + plot.line()}, ink);
  }
}

// Its name, within the hatching alone.
void draw_tail_name(ImDrawList* list, const BandPlot& plot, const std::vector<double>& ends) {
  const Style& s = style();
  const std::string words = tr("tail");
  const float width = text_width(Face::bold, 11, words) + s.px(6), high = line_height(11), inside = s.px(4);
  const float right = plot.x_of(plot.scene.launch_ns) - inside, top = plot.box.min.y + inside;
  if (top + high > plot.box.max.y) return;
  for (std::size_t row = 0; row < ends.size(); ++row) {
    if (plot.box.min.y + plot.line() * static_cast<float>(row) > top + high) break;
    if (plot.x_of(ends[row]) + inside > right - width) return;
  }
  const Box tag{{right - width, top}, {right, top + high}};
  list->AddRectFilled(tag.min, tag.max, colour(s.theme, plot.ground), s.px(2));
  draw_text_in(list, tag, Align::centre, Face::bold, 11, colour(s.theme, Token::text), words);
}

void draw_band(ImDrawList* list, const BandPlot& plot, const BlockBand& b) {
  const Style& s = style();
  const float line = plot.line(), top = plot.box.min.y + line * static_cast<float>(b.row);
  const float high = std::max(1.0F, line - (line >= kSeamed ? 1 : 0));
  const auto places = static_cast<float>(plot.scene.band_places), place = static_cast<float>(b.place);
  const float y = top + high * place / places, low = top + high * (place + 1) / places;
  const ImU32 hue = kernel_colour(s.theme, plot.scene.timeline->kernel), card = colour(s.theme, plot.ground);
  for (std::size_t n = 0; n < b.parts.size(); ++n) {
    const BlockBand::Part& part = b.parts[n];
    const float strength = b.shown ? kShownBand : kWeakestBand + (kStrongestBand - kWeakestBand) * part.length;
    list->AddRectFilled({plot.x_of(part.from_ns), y}, {plot.x_of(part.to_ns), low}, faded(hue, strength));
    if (n > 0) list->AddRectFilled({plot.x_of(part.from_ns), y}, {plot.x_of(part.from_ns) + s.px(1), low}, card);
  }
}

}  // namespace

Box even_lines(const Box& box, std::int32_t lines) {
  const float top = std::round(box.min.y),
              line = std::floor((box.max.y - top) / static_cast<float>(std::max(lines, 1)));
  if (line < 1) return box;
  return {{box.min.x, top}, {box.max.x, top + line * static_cast<float>(std::max(lines, 1))}};
}

void draw_bands(ImDrawList* list, const BandPlot& plot, bool named) {
  const std::vector<double> ends = row_ends(plot.scene);
  draw_tail(list, plot, ends);
  for (const BlockBand& b : plot.scene.bands) draw_band(list, plot, b);
  if (named) draw_tail_name(list, plot, ends);
}

void draw_sms(ImDrawList* list, const BandPlot& plot, float left) {
  const Style& s = style();
  const float half = line_height(11) / 2;
  const auto name = [&](std::int32_t row, float y) {
    const auto band = std::ranges::find(plot.scene.bands, row, &BlockBand::row);
    if (band == plot.scene.bands.end()) return;
    draw_text_in(list, {{left, y - half}, {plot.box.min.x - s.px(6), y + half}}, Align::left, Face::text, 11,
                 colour(s.theme, Token::dim), phrase("SM {}", band->sm));
  };
  name(0, plot.box.min.y + half);
  if (plot.scene.band_rows > 1) name(plot.scene.band_rows - 1, plot.box.max.y - half);
}

const BlockBand* band_at(const BandPlot& plot, ImVec2 at) {
  if (!plot.box.contains(at)) return nullptr;
  const float line = (at.y - plot.box.min.y) / plot.line(), places = static_cast<float>(plot.scene.band_places);
  const auto row = static_cast<std::int32_t>(line);
  const auto place = static_cast<std::int32_t>((line - static_cast<float>(row)) * places);
  const BlockBand* other = nullptr;  // of the same SM at that time
  for (const BlockBand& b : plot.scene.bands) {
    if (b.row != row || at.x < plot.x_of(b.from_ns) || at.x > plot.x_of(b.to_ns)) continue;
    if (b.place == place) return &b;
    other = &b;
  }
  return other;
}

}  // namespace attn
