#include "viz/learn/chapter_map_draw.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/text.h"
#include "viz/draw/label_places.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"
#include "viz/learn/chapter_pictures_draw.h"

namespace attn {
namespace {

constexpr float kRadius = 36, kSmallRadius = 26, kTop = 54, kFoot = 48, kLegendLine = 20;
constexpr float kLeastWidth = 1080, kLeastHeight = 470;
constexpr float kColumn = 0.55F;  // strength of a column's ground
constexpr float kDash = 4;        // logical

struct Frame {
  ImDrawList* list;
  const LearnScene& learn;
  const ChapterMap& map;
  const Style& s;
  Box in;  // of the stops

  const ChapterScene& chapter(const MapStop& stop) const { return learn.chapters[stop.chapter]; }
  ImVec2 at(const MapStop& stop) const { return {in.min.x + in.width() * stop.x, in.min.y + in.height() * stop.y}; }
  // Checkpoints are small.
  float radius(const MapStop& stop) const {
    const float shrink = std::clamp(in.height() / s.px(620), 0.72F, 1.25F);
    return s.px(chapter(stop).number.empty() ? kSmallRadius : kRadius) * shrink;
  }
  // What a stop's words keep within: its column, less a margin.
  std::pair<float, float> room_of(const MapStop& stop) const {
    float left = in.min.x, right = in.max.x;
    for (const MapColumn& column : map.columns) {
      if (stop.x < column.left || stop.x > column.right) continue;
      left = std::max(left, in.min.x + in.width() * column.left);
      right = std::min(right, in.min.x + in.width() * column.right);
    }
    return {left + s.px(6), right - s.px(6)};
  }
  // In two lines where one does not fit its column.
  std::pair<std::string, std::string> title_lines(const MapStop& stop, const std::string& title) const {
    const auto [left, right] = room_of(stop);
    const float room = right - left;
    const std::size_t blank = title.rfind(' ');
    if (text_width(Face::bold, 14, title) <= room || blank == title.npos) return {title, {}};
    return {title.substr(0, blank), title.substr(blank + 1)};
  }
};

ImU32 ink_of(StopLook look) {
  return colour_of(look == StopLook::later ? Token::faint : Token::text);
}

void draw_columns(const Frame& f, const Box& card) {
  for (const MapColumn& column : f.map.columns) {
    const Box box{{f.in.min.x + f.in.width() * column.left + f.s.px(3), card.min.y + f.s.px(8)},
                  {f.in.min.x + f.in.width() * column.right - f.s.px(3), card.max.y - f.s.px(8)}};
    f.list->AddRectFilled(box.min, box.max, faded(colour_of(Token::band), kColumn), f.s.px(6));
    const float room = box.width() - f.s.px(20);
    draw_text(f.list, {box.min.x + f.s.px(11), box.min.y + f.s.px(8)}, Face::bold, 14, colour_of(Token::text),
              fitted_text(Face::bold, 14, column.title, room));
    draw_text(f.list, {box.min.x + f.s.px(11), box.min.y + f.s.px(27)}, Face::text, 13, colour_of(Token::dim),
              fitted_text(Face::text, 13, phrase("{} min", column.minutes), room));
  }
}

void draw_road(const Frame& f, StopLook look, const RoadPath& path) {
  const auto vec = [](RoadPoint p) { return ImVec2{p.x, p.y}; };
  const ImU32 ink = colour_of(look == StopLook::walked ? Token::text
                              : look == StopLook::open ? Token::dim
                                                       : Token::faint);
  f.list->AddTriangleFilled(vec(path.p1), vec(path.head_left), vec(path.head_right), ink);
  if (look != StopLook::later) {
    f.list->AddBezierCubic(vec(path.p0), vec(path.c0), vec(path.c1), vec(path.p1), ink,
                           f.s.px(look == StopLook::walked ? 3.5F : 1.8F));
    return;
  }
  // Dashes of the legend's length, whatever the road's own.
  constexpr int kPieces = 240;
  const float dash = std::max(f.s.px(kDash), 1.0F);
  float gone = 0;
  RoadPoint last = path.p0;
  for (int n = 1; n <= kPieces; ++n) {
    const RoadPoint here = path.at(static_cast<float>(n) / kPieces);
    if (std::fmod(gone, 2 * dash) < dash) f.list->AddLine(vec(last), vec(here), ink, f.s.px(1.4F));
    gone += std::hypot(here.x - last.x, here.y - last.y);
    last = here;
  }
}

void draw_dashed_circle(const Frame& f, ImVec2 centre, float radius, ImU32 ink) {
  constexpr int kDashes = 22;
  constexpr float kTurn = 6.2831853F;
  for (int n = 0; n < kDashes; ++n) {
    const float a = kTurn * static_cast<float>(n) / kDashes;
    f.list->PathArcTo(centre, radius, a, a + kTurn * 0.55F / kDashes, 4);
    f.list->PathStroke(ink, 0, f.s.px(1.4F));
  }
}

// Its name in one line or two, and what is said of it below.
struct StopLine {
  Box box;
  std::string words;
  float size = 14;
  bool name = true;
};
std::vector<StopLine> lines_of(const Frame& f, const MapStop& stop) {
  const ChapterScene& c = f.chapter(stop);
  const ImVec2 centre = f.at(stop);
  const float y = centre.y + f.radius(stop) + f.s.px(stop.here ? 9 : 5);
  // Centred on the stop, but for those near an edge of the column.
  const auto [left, right] = f.room_of(stop);
  std::vector<StopLine> lines;
  const auto add = [&, left = left, right = right](float top, const std::string& words, float size, bool name) {
    const float width = text_width(name ? Face::bold : Face::text, size, words);
    const float x = std::max(std::min(centre.x - width / 2, right - width), left);
    lines.push_back({{{x, top}, {x + width, top + line_height(size)}}, words, size, name});
  };
  const auto [first, second] = f.title_lines(stop, c.number.empty() ? c.title : c.number + "  " + c.title);
  add(y, first, 14, true);
  if (!second.empty()) add(y + f.s.px(17), second, 14, true);
  add(y + f.s.px(second.empty() ? 18 : 35), stop.words, 13, false);
  return lines;
}

// A tick where the learner answered every question; else a ring: the chapter was gone through, no more.
void draw_badge(const Frame& f, ImVec2 at, bool answered) {
  f.list->AddCircleFilled(at, f.s.px(9), colour_of(Token::text));
  const ImU32 ink = colour_of(Token::card);
  if (!answered) {
    f.list->AddCircle(at, f.s.px(4), ink, 24, f.s.px(1.8F));
    return;
  }
  f.list->AddLine({at.x - f.s.px(4), at.y}, {at.x - f.s.px(1), at.y + f.s.px(3)}, ink, f.s.px(2));
  f.list->AddLine({at.x - f.s.px(1), at.y + f.s.px(3)}, {at.x + f.s.px(4), at.y - f.s.px(3)}, ink, f.s.px(2));
}

void draw_stop(const Frame& f, const MapStop& stop, bool lit) {
  const ImVec2 centre = f.at(stop);
  const float radius = f.radius(stop);
  const ChapterScene& c = f.chapter(stop);
  f.list->AddCircleFilled(centre, radius, colour_of(Token::card), 48);
  if (stop.look == StopLook::later && !lit)
    draw_dashed_circle(f, centre, radius, colour_of(Token::faint));
  else
    f.list->AddCircle(centre, radius, ink_of(lit ? StopLook::open : stop.look), 48,
                      f.s.px(stop.look == StopLook::walked || lit ? 3.0F : 1.8F));
  if (stop.here) f.list->AddCircle(centre, radius + f.s.px(5), colour_of(Token::text), 48, f.s.px(1.8F));
  draw_chapter_picture(f.list, centre, radius, c, stop.look == StopLook::later && !lit ? 0.62F : 1);
  if (stop.look == StopLook::walked) {
    draw_badge(f, {centre.x + radius * 0.72F, centre.y + radius * 0.72F}, all_answered(c));
  }
  for (const StopLine& line : lines_of(f, stop)) {
    // Words lie on a patch of the columns' own colour, since roads pass behind them.
    for (const ImU32 layer : {colour_of(Token::card), faded(colour_of(Token::band), kColumn)})
      f.list->AddRectFilled({line.box.min.x - f.s.px(3), line.box.min.y}, {line.box.max.x + f.s.px(3), line.box.max.y},
                            layer);
    const bool dim = !line.name || (stop.look == StopLook::later && !lit);
    draw_text(f.list, line.box.min, line.name ? Face::bold : Face::text, line.size,
              colour_of(dim ? Token::dim : Token::text), line.words);
  }
}

constexpr float kFlagTall = 24, kFlagInset = 10, kFlagTip = 6;

// Where the flag may stand, the best first: above its stop, or beside it; its tip points at the circle.
std::vector<LabelBox> flag_places(const Frame& f, const MapStop& stop, float width) {
  const ImVec2 c = f.at(stop);
  const float away = f.radius(stop) + f.s.px(13), tall = f.s.px(kFlagTall), lean = width / 2 - f.s.px(14);
  std::vector<LabelBox> places;
  for (const float x : {0.0F, lean, -lean})
    places.push_back({c.x + x - width / 2, c.y - away - tall, c.x + x + width / 2, c.y - away});
  for (const float y : {0.0F, -0.5F, 0.5F}) {
    const float top = c.y + y * f.radius(stop) - tall / 2;
    places.push_back({c.x + away, top, c.x + away + width, top + tall});
    places.push_back({c.x - away - width, top, c.x - away, top + tall});
  }
  return places;
}

// Covers no circle and no word of any stop, and no road's head.
void draw_here(const Frame& f, const MapStop& stop, const MapRoads& roads) {
  const ImVec2 centre = f.at(stop);
  const std::string words = f.chapter(stop).seen > 0 ? tr("You are here") : tr("Start here");
  const float width = text_width(Face::bold, 13, words) + 2 * f.s.px(kFlagInset), tip = f.s.px(kFlagTip);
  std::vector<LabelBox> taken;
  for (const MapStop& other : f.map.stops) {
    const ImVec2 at = f.at(other);
    const float radius = f.radius(other) + f.s.px(2);
    taken.push_back({at.x - radius, at.y - radius, at.x + radius, at.y + radius});
    for (const StopLine& line : lines_of(f, other))
      taken.push_back({line.box.min.x, line.box.min.y, line.box.max.x, line.box.max.y});
  }
  for (const RoadPath& path : roads.paths) {
    const auto [left, right] = std::minmax({path.p1.x, path.head_left.x, path.head_right.x});
    const auto [top, bottom] = std::minmax({path.p1.y, path.head_left.y, path.head_right.y});
    taken.push_back({left, top, right, bottom});
  }
  const LabelBox at =
      place_label(flag_places(f, stop, width), taken, {f.in.min.x, f.in.min.y - f.s.px(4), f.in.max.x, f.in.max.y});
  const Box box{{at.left, at.top}, {at.right, at.bottom}};
  const ImU32 ink = colour_of(Token::text);
  f.list->AddRectFilled(box.min, box.max, ink, f.s.px(5));
  if (box.max.y < centre.y - f.radius(stop)) {
    f.list->AddTriangleFilled({centre.x - tip, box.max.y}, {centre.x + tip, box.max.y}, {centre.x, box.max.y + tip},
                              ink);
  } else {
    const bool right = box.min.x > centre.x;
    const float x = right ? box.min.x : box.max.x, y = box.centre().y;
    f.list->AddTriangleFilled({x, y - tip}, {x, y + tip}, {right ? x - tip : x + tip, y}, ink);
  }
  draw_text_in(f.list, box, Align::centre, Face::bold, 13, colour_of(Token::card), words);
}

// Three lines at the foot of the first column, whose width they keep.
struct LegendLine {
  StopLook look;
  std::string words;
  Box box;
};
std::vector<LegendLine> legend_lines(const Frame& f, const Box& card) {
  const float left = card.min.x + f.s.px(22), mark = f.s.px(30 + 8);
  const float right = f.map.columns.empty() ? card.max.x : f.in.min.x + f.in.width() * f.map.columns.front().right;
  const float room = right - f.s.px(10) - left - mark;
  std::vector<LegendLine> lines;
  float height = 0;
  for (const auto& [look, words] : {std::pair(StopLook::walked, tr("done")),
                                    {StopLook::open, tr("open")},
                                    {StopLook::later, tr("needs earlier chapters")}}) {
    const TextRuns runs{{words, Face::text, Token::dim, 0, false}};
    const float tall = std::max(f.s.px(kLegendLine), draw_paragraph(f.list, {}, room, 13, runs, 3, false) + f.s.px(2));
    lines.push_back({look, words, {{left, height}, {left + mark + room, height + tall}}});
    height += tall;
  }
  const float top = card.max.y - f.s.px(16) - height;
  for (LegendLine& line : lines) line.box.min.y += top, line.box.max.y += top;
  return lines;
}

void draw_map_legend(const Frame& f, const Box& card) {
  for (const LegendLine& line : legend_lines(f, card)) {
    const float y = line.box.min.y + f.s.px(8);
    const ImVec2 a{line.box.min.x, y}, b{line.box.min.x + f.s.px(30), y};
    if (line.look == StopLook::later)
      draw_dashed_line(f.list, a, b, colour_of(Token::faint), kDash);
    else
      f.list->AddLine(a, b, ink_of(line.look), f.s.px(line.look == StopLook::walked ? 3.5F : 1.8F));
    draw_paragraph(f.list, {b.x + f.s.px(8), line.box.min.y}, line.box.max.x - b.x - f.s.px(8), 13,
                   {{line.words, Face::text, Token::dim, 0, false}}, 3);
  }
}

LabelBox label_box(const Box& box) {
  return {box.min.x, box.min.y, box.max.x, box.max.y};
}

// What roads run around. Between a stop and its own name there is no way through.
RoadGround ground_of(const Frame& f, const Box& card) {
  RoadGround ground;
  ground.scale = f.s.scale;
  ground.inside = {card.min.x + f.s.px(12), card.min.y + f.s.px(kTop - 8), card.max.x - f.s.px(12),
                   card.max.y - f.s.px(12)};
  for (const MapStop& stop : f.map.stops) {
    const ImVec2 at = f.at(stop);
    const float radius = f.radius(stop);
    ground.stops.push_back({{at.x, at.y}, radius + f.s.px(stop.here ? 6.5F : 1)});
    const std::vector<StopLine> lines = lines_of(f, stop);
    for (const StopLine& line : lines) ground.words.push_back(label_box(line.box.grown(f.s.px(1))));
    ground.words.push_back({at.x - radius * 0.6F, at.y, at.x + radius * 0.6F, lines.front().box.max.y});
  }
  for (const LegendLine& line : legend_lines(f, card)) ground.words.push_back(label_box(line.box));
  for (const MapRoad& road : f.map.roads) ground.roads.push_back({road.from, road.to});
  return ground;
}

}  // namespace

bool map_has_room(const Box& box) {
  return box.width() >= style().px(kLeastWidth) && box.height() >= style().px(kLeastHeight);
}

std::optional<std::size_t> draw_chapter_map(const LearnScene& learn, const ChapterMap& map, const Box& box,
                                            MapRoads& roads, Commands& commands) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  draw_card(list, box);
  const Frame f{list,
                learn,
                map,
                s,
                {{box.min.x + s.px(8), box.min.y + s.px(kTop)}, {box.max.x - s.px(8), box.max.y - s.px(kFoot)}}};
  draw_columns(f, box);
  roads.follow(ground_of(f, box));
  for (const StopLook look : {StopLook::later, StopLook::open, StopLook::walked})
    for (std::size_t n = 0; n < map.roads.size(); ++n)
      if (map.roads[n].look == look) draw_road(f, look, roads.paths[n]);
  std::optional<std::size_t> told;
  for (std::size_t n = 0; n < map.stops.size(); ++n) {
    const MapStop& stop = map.stops[n];
    const ImVec2 centre = f.at(stop);
    const float radius = f.radius(stop) + s.px(4);
    ImGui::SetCursorScreenPos({centre.x - radius, centre.y - radius});
    const std::string id = "##chapter_" + f.chapter(stop).id;
    if (ImGui::InvisibleButton(id.c_str(), {2 * radius, 2 * radius}, ImGuiButtonFlags_EnableNav))
      commands.emplace_back(StartLesson{f.chapter(stop).id, ""});
    const bool hovered = ImGui::IsItemHovered(), lit = hovered || ImGui::IsItemFocused();
    if (hovered) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    if (lit) told = n;
    draw_stop(f, stop, lit);
  }
  for (const MapStop& stop : map.stops)
    if (stop.here) draw_here(f, stop, roads);
  draw_map_legend(f, box);
  return told;
}

}  // namespace attn
