#include "viz/profile/timeline/bands_draw.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "kernels/base/text.h"
#include "viz/draw/theme.h"

namespace attn {
namespace {

constexpr float kWeakest = 0.28F, kStrongest = 0.75F, kShown = 1;  // the shown block is above all

// When the first SM has no block left.
double tail_from(const PipelineScene& scene) {
  double from = 0;
  for (const BlockBand& b : scene.bands)
    if (b.row == 0) from = std::max(from, b.to_ns);
  return from;
}

// Where SMs have no work left, and its name where there is room for it.
void draw_tail(ImDrawList* list, const Box& box, bool named) {
  const Style& s = style();
  if (box.width() < s.px(2)) return;
  draw_hatch(list, box, colour(s.theme, Token::dim), 5);
  list->AddLine(box.min, {box.min.x, box.max.y}, colour(s.theme, Token::text), s.px(1));
  const std::string words = tr("tail");
  const float width = text_width(Face::bold, 11, words);
  if (!named || width + s.px(6) > box.width()) return;
  const Box tag{{box.max.x - width - s.px(5), box.min.y + s.px(3)},
                {box.max.x - s.px(1), box.min.y + s.px(3) + line_height(11)}};
  list->AddRectFilled(tag.min, tag.max, colour(s.theme, Token::card), s.px(2));
  draw_text_in(list, tag, Align::centre, Face::bold, 11, colour(s.theme, Token::text), words);
}

void draw_band(ImDrawList* list, const BandPlot& plot, const BlockBand& b, float tail) {
  const Style& s = style();
  const float line = plot.line(), top = plot.box.min.y + line * static_cast<float>(b.row);
  const float high = std::max(1.0F, line - (line > 3 ? 1 : 0));
  const auto places = static_cast<float>(plot.scene.band_places), place = static_cast<float>(b.place);
  const float y = top + high * place / places, low = top + high * (place + 1) / places;
  const ImU32 hue = kernel_colour(s.theme, plot.scene.timeline->kernel), card = colour(s.theme, Token::card);
  // What works covers the hatching.
  if (plot.x_of(b.to_ns) > tail)
    list->AddRectFilled({std::max(plot.x_of(b.from_ns), tail), y}, {plot.x_of(b.to_ns), low}, card);
  for (std::size_t n = 0; n < b.parts.size(); ++n) {
    const BlockBand::Part& part = b.parts[n];
    const float strength = b.shown ? kShown : kWeakest + (kStrongest - kWeakest) * part.length;
    list->AddRectFilled({plot.x_of(part.from_ns), y}, {plot.x_of(part.to_ns), low}, faded(hue, strength));
    if (n > 0) list->AddRectFilled({plot.x_of(part.from_ns), y}, {plot.x_of(part.from_ns) + s.px(1), low}, card);
  }
}

}  // namespace

void draw_bands(ImDrawList* list, const BandPlot& plot, bool named) {
  const float tail = plot.x_of(tail_from(plot.scene));
  const Box idle{{tail, plot.box.min.y}, {plot.x_of(plot.scene.launch_ns), plot.box.max.y}};
  draw_tail(list, idle, named);
  for (const BlockBand& b : plot.scene.bands) draw_band(list, plot, b, tail);
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
