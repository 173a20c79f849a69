#include "viz/profile/timeline/ahead_draw.h"

#include <algorithm>

#include "kernels/base/text.h"
#include "viz/draw/canvas.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/profile/timeline/scene/common_part.h"

namespace attn {
namespace {

// Logical pixels.
constexpr float kFlag = 4, kTick = 5, kAfter = 8, kStroke = 1.5F, kHalo = 3, kBesideFlag = 4, kName = 11;
constexpr float kEdgeArrow = 5;
constexpr float kDot = 2, kDash = 6;  // of a line where both are aligned, of one at an end

// A flag on the chart's top.
void draw_flag(ImDrawList* list, float x, float top, ImU32 ink) {
  const float half = style().px(kFlag);
  list->AddTriangleFilled({x - half, top - half * 1.5F}, {x + half, top - half * 1.5F}, {x, top}, ink);
}

void draw_diamond(ImDrawList* list, float x, float top, ImU32 ink) {
  const float half = style().px(kFlag), y = top - half - style().px(1);
  const ImVec2 corners[] = {{x - half, y}, {x, y - half}, {x + half, y}, {x, y + half}};
  list->AddQuadFilled(corners[0], corners[1], corners[2], corners[3], colour(style().theme, Token::card));
  list->AddQuad(corners[0], corners[1], corners[2], corners[3], ink, style().px(kStroke));
}

void draw_line(ImDrawList* list, float x, float top, float bottom, float dash) {
  const Token ground = Token::card, ink = Token::text;
  list->AddLine({x, top}, {x, bottom}, faded(colour(style().theme, ground), 0.7F), style().px(kHalo));
  draw_dashed_line(list, {x, top}, {x, bottom}, colour(style().theme, ink), dash);
}

// Of a bracket's words: left of it or right of it.
struct PlacedWords {
  bool before = false;
  std::string words;
};

// The longest form that stands whole on one side, or with its cause on the other; where not even the shortest does, its
// measure alone, or nothing.
std::vector<PlacedWords> beside_bracket(const AheadWords& words, float before, float behind, Face face) {
  const auto wide = [&](const std::string& w) { return text_width(face, 12, w); };
  const auto on_one_side = [&](const std::string& w) {
    std::vector<PlacedWords> placed;
    if (wide(w) <= std::max(before, behind)) placed.push_back({wide(w) <= before, w});
    return placed;
  };
  for (const AheadForm& form : words.forms) {
    if (std::vector<PlacedWords> placed = on_one_side(form.all()); !placed.empty()) return placed;
    if (!form.cause.empty() && wide(form.measured) <= before && wide(form.cause) <= behind)
      return {{true, form.measured}, {false, form.cause}};
  }
  return on_one_side(words.forms.back().measured);
}

// Where the pointer rests.
void tell_whole(const Box& room, const std::string& words) {
  if (room.width() <= 0) return;
  ImGui::SetCursorScreenPos(room.min);
  ImGui::InvisibleButton("timeline_bracket", {room.width(), room.height()});
  tooltip(words);
}

}  // namespace

void add_moments(const PipelineScene& scene, Chart& above, Chart& below) {
  if (const auto at = alignment_of(scene); at && at->in_sight) {
    above.moments.push_back({above.x_of(at->above), ""});
    below.moments.push_back({below.x_of(at->below), ""});
  }
  if (const auto ahead = ahead_of(scene)) {
    const std::string done = plural(ahead->tiles, "{0} tile done", "{0} tiles done");
    above.moments.push_back({above.x_of(ahead->above), done});
    below.moments.push_back({below.x_of(ahead->below), done});
  }
}

void draw_moments(ImDrawList* list, const Chart& chart) {
  const ImU32 ink = colour(style().theme, Token::text);
  for (const ChartMoment& moment : chart.moments) {
    const bool end = !moment.done.empty();
    draw_line(list, moment.x, chart.plot.min.y, chart.plot.max.y, end ? kDash : kDot);
    if (end)
      draw_flag(list, moment.x, chart.plot.min.y, ink);
    else
      draw_diamond(list, moment.x, chart.plot.min.y, ink);
  }
}

std::vector<Box> draw_moment_names(ImDrawList* list, const Chart& chart, const Box& axis, const Box& mark) {
  const Style& s = style();
  const float half = s.px(kFlag), gap = s.px(kBesideFlag);
  std::vector<Box> taken;
  taken.reserve(chart.moments.size());
  for (const ChartMoment& moment : chart.moments)
    taken.push_back({{moment.x - half, axis.min.y}, {moment.x + half, axis.max.y}});
  for (const ChartMoment& moment : chart.moments) {
    if (moment.done.empty()) continue;
    const float wide = text_width(Face::text, kName, moment.done);
    // Right of its flag, else left of it.
    for (const float left : {moment.x + half + gap, moment.x - half - gap - wide}) {
      const Box box{{left, axis.min.y}, {left + wide, axis.max.y}};
      const auto meets = [&](const Box& o) {
        return box.min.x < o.max.x + gap - 0.5F && o.min.x < box.max.x + gap - 0.5F;
      };
      if (left < axis.min.x || box.max.x > axis.max.x || (mark.width() > 0 && meets(mark))) continue;
      if (std::ranges::any_of(taken, meets)) continue;
      draw_text_in(list, box, Align::left, Face::text, kName, colour(s.theme, Token::text), moment.done);
      taken.push_back(box);
      break;
    }
  }
  return taken;
}

void draw_ahead(ImDrawList* list, const TwoCharts& charts, const Ahead& ahead, const Box& room,
                const AheadWords& words) {
  const Style& s = style();
  const Chart &up = charts.above, &low = charts.below;
  const ImU32 ink = colour(s.theme, Token::text);
  const float middle = room.centre().y;
  const float above = up.x_of(ahead.above), below = low.x_of(ahead.below);
  draw_line(list, above, up.plot.max.y, middle, kDash);
  draw_line(list, below, middle, low.plot.min.y, kDash);
  const float tick = s.px(kTick), left = std::min(above, below), right = std::max(above, below);
  list->AddLine({left, middle}, {right, middle}, ink, s.px(kStroke));
  for (const float x : {left, right}) list->AddLine({x, middle - tick}, {x, middle + tick}, ink, s.px(kStroke));
  // Bold is what the headline says too.
  const Face face = words.agrees ? Face::bold : Face::text;
  const Box before{room.min, {left - s.px(kAfter), room.max.y}}, behind{{right + s.px(kAfter), room.min.y}, room.max};
  const std::string all = words.forms.front().all();
  bool whole = false;
  for (const PlacedWords& placed : beside_bracket(words, before.width(), behind.width(), face)) {
    draw_text_in(list, placed.before ? before : behind, placed.before ? Align::right : Align::left, face, 12, ink,
                 placed.words);
    whole |= placed.words == all;
  }
  if (!whole) tell_whole(room, all);
}

void draw_no_bracket(ImDrawList* list, const Box& room, const std::vector<std::string>& words) {
  const auto fits =
      std::ranges::find_if(words, [&](const std::string& w) { return text_width(Face::text, 12, w) <= room.width(); });
  if (fits != words.end())
    draw_text_in(list, room, Align::left, Face::text, 12, colour(style().theme, Token::dim), *fits);
  if (fits != words.begin()) tell_whole(room, words.front());
}

void draw_edges(ImDrawList* list, const Chart& chart) {
  const Style& s = style();
  for (const BlockEdge& edge : block_edges(chart.scene)) {
    const float from = chart.x_of(edge.from), to = chart.x_of(edge.to);
    const float arrow = s.px(kEdgeArrow), pad = s.px(kAfter), wide = text_width(Face::text, 12, edge.words);
    const float all = wide + 2 * arrow + 3 * pad, high = line_height(12) + s.px(kEdgeArrow);
    if (to - from < all) continue;
    const ImVec2 centre{(from + to) / 2, (chart.plot.min.y + chart.plot.max.y) / 2};
    const Box tag{{centre.x - all / 2, centre.y - high / 2}, {centre.x + all / 2, centre.y + high / 2}};
    list->AddRectFilled(tag.min, tag.max, colour(s.theme, Token::field), s.px(3));
    const ImU32 ink = colour(s.theme, Token::text);
    // Towards the block.
    draw_arrow(list, {edge.before ? tag.min.x + pad + arrow / 2 : tag.max.x - pad - arrow / 2, centre.y}, arrow,
               edge.before ? Arrow::left : Arrow::right, ink);
    const float at = edge.before ? tag.max.x - pad - wide : tag.min.x + pad;
    draw_text_in(list, {{at, tag.min.y}, {at + wide + 1, tag.max.y}}, Align::left, Face::text, 12, ink, edge.words);
  }
}

}  // namespace attn
