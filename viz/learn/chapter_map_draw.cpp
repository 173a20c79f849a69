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

constexpr float kRadius = 36, kSmallRadius = 26, kTop = 54, kFoot = 48, kLegend = 36;
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
  // In two lines where one does not fit its column.
  std::pair<std::string, std::string> title_lines(const MapStop& stop, const std::string& title) const {
    float room = in.width();
    for (const MapColumn& column : map.columns)
      if (stop.x >= column.left && stop.x <= column.right)
        room = std::min(room, in.width() * (column.right - column.left) - s.px(12));
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
                  {f.in.min.x + f.in.width() * column.right - f.s.px(3), card.max.y - f.s.px(kLegend)}};
    f.list->AddRectFilled(box.min, box.max, faded(colour_of(Token::band), kColumn), f.s.px(6));
    const float room = box.width() - f.s.px(20);
    draw_text(f.list, {box.min.x + f.s.px(11), box.min.y + f.s.px(8)}, Face::bold, 14, colour_of(Token::text),
              fitted_text(Face::bold, 14, column.title, room));
    draw_text(f.list, {box.min.x + f.s.px(11), box.min.y + f.s.px(27)}, Face::text, 13, colour_of(Token::dim),
              fitted_text(Face::text, 13, phrase("{} min", column.minutes), room));
  }
}

ImVec2 point_of_road(ImVec2 a, ImVec2 c0, ImVec2 c1, ImVec2 b, float t) {
  const float u = 1 - t, p = u * u * u, q = 3 * u * u * t, r = 3 * u * t * t, w = t * t * t;
  return {p * a.x + q * c0.x + r * c1.x + w * b.x, p * a.y + q * c0.y + r * c1.y + w * b.y};
}

// A road's arrow, where it meets the circle of its end.
void draw_arrow(const Frame& f, const MapRoad& road, ImVec2 c0, ImVec2 c1, ImU32 ink) {
  const ImVec2 a = f.at(f.map.stops[road.from]), b = f.at(f.map.stops[road.to]);
  const float edge = f.radius(f.map.stops[road.to]) + f.s.px(f.map.stops[road.to].here ? 9 : 4);
  ImVec2 tip = b;
  for (float t = 1; t > 0; t -= 1 / 256.0F) {
    tip = point_of_road(a, c0, c1, b, t);
    if (std::hypot(b.x - tip.x, b.y - tip.y) >= edge) break;
  }
  const float length = std::hypot(b.x - tip.x, b.y - tip.y);
  if (length <= 0) return;
  const ImVec2 way{(b.x - tip.x) / length, (b.y - tip.y) / length};
  const float tall = f.s.px(8), half = f.s.px(4.5F);
  const ImVec2 foot{tip.x - way.x * tall, tip.y - way.y * tall};
  f.list->AddTriangleFilled(tip, {foot.x - way.y * half, foot.y + way.x * half},
                            {foot.x + way.y * half, foot.y - way.x * half}, ink);
}

// Leaves to the right and arrives from the left where there is a way, else straight down.
void draw_road(const Frame& f, const MapRoad& road) {
  const MapStop &from = f.map.stops[road.from], &to = f.map.stops[road.to];
  const ImVec2 a = f.at(from), b = f.at(to);
  const float across = b.x - a.x, down = b.y - a.y;
  const bool sideways = std::fabs(across) > f.radius(from) + f.radius(to);
  const float lean = sideways ? across * 0.5F : 0;
  // A long way down leaves downwards: between the stops that lie ahead there is no room.
  const bool dives = across > 6 * f.radius(from) && std::fabs(down) > across * 0.55F;
  const ImVec2 c0{dives ? a.x : a.x + lean, a.y + (dives      ? down * 0.95F
                                                   : sideways ? 0
                                                              : down * 0.5F)},
      c1{b.x - lean, b.y - (sideways ? 0 : down * 0.5F)};
  const ImU32 ink = colour_of(road.look == StopLook::walked ? Token::text
                              : road.look == StopLook::open ? Token::dim
                                                            : Token::faint);
  if (road.look != StopLook::later) {
    f.list->AddBezierCubic(a, c0, c1, b, ink, f.s.px(road.look == StopLook::walked ? 3.5F : 1.8F));
    draw_arrow(f, road, c0, c1, ink);
    return;
  }
  // Dashes of the legend's length, whatever the road's own.
  constexpr int kPieces = 240;
  const float dash = std::max(f.s.px(kDash), 1.0F);
  float gone = 0;
  ImVec2 last = a;
  for (int n = 1; n <= kPieces; ++n) {
    const ImVec2 here = point_of_road(a, c0, c1, b, static_cast<float>(n) / kPieces);
    if (std::fmod(gone, 2 * dash) < dash) f.list->AddLine(last, here, ink, f.s.px(1.4F));
    gone += std::hypot(here.x - last.x, here.y - last.y);
    last = here;
  }
  draw_arrow(f, road, c0, c1, ink);
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
  std::vector<StopLine> lines;
  const auto add = [&](float top, const std::string& words, float size, bool name) {
    const float width = text_width(name ? Face::bold : Face::text, size, words);
    const float x = std::clamp(centre.x - width / 2, f.in.min.x + f.s.px(4), f.in.max.x - width - f.s.px(4));
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

// Covers no circle and no word of any stop.
void draw_here(const Frame& f, const MapStop& stop) {
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

// What is told of a stop: its question, and what it needs.
void draw_told(const Frame& f, const MapStop& stop, const Box& card) {
  const ChapterScene& c = f.chapter(stop);
  const float width = f.s.px(330), inside = width - f.s.px(28);
  TextRuns needs;
  if (!stop.needs.empty())
    needs = {{phrase("It {}. You can start anyway: two lines explain what this chapter builds on.", stop.needs),
              Face::text, Token::dim, 0, false}};
  const TextRuns goal{{c.goal, Face::text, Token::text, 0, false}};
  const float tall = draw_paragraph(f.list, {}, inside, 13.5F, goal, 3, false),
              more = needs.empty() ? 0 : draw_paragraph(f.list, {}, inside, 13, needs, 4, false) + f.s.px(4);
  const float height = f.s.px(12 + 24 + 10) + tall + more;
  // In the lower corner that is further from the stop.
  const bool left = f.at(stop).x > card.centre().x && f.at(stop).y > card.centre().y;
  const float x = left ? card.min.x + f.s.px(20) : card.max.x - width - f.s.px(20);
  const Box box{{x, card.max.y - height - f.s.px(18)}, {x + width, card.max.y - f.s.px(18)}};
  f.list->AddRectFilled(box.min, box.max, colour_of(Token::card), f.s.px(8));
  draw_outline(f.list, box, colour_of(Token::dim), 1, 8);
  draw_text(f.list, {box.min.x + f.s.px(14), box.min.y + f.s.px(10)}, Face::bold, 14, colour_of(Token::text),
            fitted_text(Face::bold, 14, c.title, inside));
  float y = box.min.y + f.s.px(34);
  y += draw_paragraph(f.list, {box.min.x + f.s.px(14), y}, inside, 13.5F, goal, 3) + f.s.px(4);
  if (!needs.empty()) draw_paragraph(f.list, {box.min.x + f.s.px(14), y}, inside, 13, needs, 4);
}

void draw_map_legend(const Frame& f, const Box& card) {
  float x = card.min.x + f.s.px(24);
  const float y = card.max.y - f.s.px(kLegend / 2);
  const auto entry = [&](StopLook look, const char* words) {
    const ImVec2 a{x, y}, b{x + f.s.px(30), y};
    if (look == StopLook::later)
      draw_dashed_line(f.list, a, b, colour_of(Token::faint), kDash);
    else
      f.list->AddLine(a, b, ink_of(look), f.s.px(look == StopLook::walked ? 3.5F : 1.8F));
    draw_text(f.list, {b.x + f.s.px(8), y - f.s.px(8)}, Face::text, 13, colour_of(Token::dim), words);
    x = b.x + f.s.px(8 + 22) + text_width(Face::text, 13, words);
  };
  entry(StopLook::walked, tr("done"));
  entry(StopLook::open, tr("open"));
  entry(StopLook::later, tr("needs earlier chapters"));
}

}  // namespace

bool map_has_room(const Box& box) {
  return box.width() >= style().px(kLeastWidth) && box.height() >= style().px(kLeastHeight);
}

void draw_chapter_map(const LearnScene& learn, const ChapterMap& map, const Box& box, Commands& commands) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  draw_card(list, box);
  const Frame f{list,
                learn,
                map,
                s,
                {{box.min.x + s.px(8), box.min.y + s.px(kTop)}, {box.max.x - s.px(8), box.max.y - s.px(kFoot)}}};
  draw_columns(f, box);
  for (const StopLook look : {StopLook::later, StopLook::open, StopLook::walked})
    for (const MapRoad& road : map.roads)
      if (road.look == look) draw_road(f, road);
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
    if (stop.here) draw_here(f, stop);
  draw_map_legend(f, box);
  if (told) draw_told(f, map.stops[*told], box);
}

}  // namespace attn
