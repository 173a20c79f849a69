#include "viz/profile/timeline/ahead_draw.h"

#include <algorithm>

#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"

namespace attn {
namespace {

constexpr float kFlag = 4, kTick = 5, kAfter = 8, kStroke = 1.5F, kDash = 2, kHalo = 3;  // logical pixels

// A flag on the chart's top.
void draw_flag(ImDrawList* list, float x, float top, ImU32 ink) {
  const float half = style().px(kFlag);
  list->AddTriangleFilled({x - half, top - half * 1.5F}, {x + half, top - half * 1.5F}, {x, top}, ink);
}

void draw_moment(ImDrawList* list, float x, float top, float bottom, ImU32 ink) {
  list->AddLine({x, top}, {x, bottom}, faded(colour(style().theme, Token::card), 0.7F), style().px(kHalo));
  draw_dashed_line(list, {x, top}, {x, bottom}, ink, kDash);
}

}  // namespace

void add_dotted(const PipelineScene& scene, Chart& above, Chart& below) {
  if (const auto at = alignment_of(scene); at && at->in_sight) {
    above.dotted.push_back(above.x_of(at->above));
    below.dotted.push_back(below.x_of(at->below));
  }
  if (const auto ahead = ahead_of(scene)) {
    above.dotted.push_back(above.x_of(ahead->above));
    below.dotted.push_back(below.x_of(ahead->below));
  }
}

void draw_dotted(ImDrawList* list, const Chart& chart) {
  for (const float x : chart.dotted)
    draw_moment(list, x, chart.plot.min.y, chart.plot.max.y, colour(style().theme, Token::text));
}

void draw_ahead(ImDrawList* list, const TwoCharts& charts, const Ahead& ahead, const Box& room,
                const std::string& words) {
  const Style& s = style();
  const Chart &up = charts.above, &low = charts.below;
  const ImU32 ink = colour(s.theme, Token::text);
  const float middle = room.centre().y;
  const float above = up.x_of(ahead.above), below = low.x_of(ahead.below);
  draw_moment(list, above, up.plot.max.y, middle, ink);
  draw_moment(list, below, middle, low.plot.min.y, ink);
  draw_flag(list, above, up.plot.min.y, ink);
  draw_flag(list, below, low.plot.min.y, ink);
  const float tick = s.px(kTick), left = std::min(above, below), right = std::max(above, below);
  list->AddLine({left, middle}, {right, middle}, ink, s.px(kStroke));
  for (const float x : {left, right}) list->AddLine({x, middle - tick}, {x, middle + tick}, ink, s.px(kStroke));
  const float wide = text_width(Face::bold, 12, words), at = left - s.px(kAfter) - wide;
  const bool before = at >= room.min.x;
  const Box box = before ? Box{{at, room.min.y}, {left - s.px(kAfter), room.max.y}}
                         : Box{{right + s.px(kAfter), room.min.y}, room.max};
  draw_text_in(list, box, Align::left, Face::bold, 12, ink, fitted_text(Face::bold, 12, words, box.width() + 1));
}

}  // namespace attn
