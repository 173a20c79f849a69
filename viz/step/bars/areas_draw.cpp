#include "viz/step/bars/areas_draw.h"

#include <algorithm>
#include <cstdint>

#include "imgui_internal.h"
#include "viz/draw/hands.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/step/bars/bars_draw.h"
#include "viz/step/facts/side_by_side.h"
#include "viz/step/tiles/layout_draw.h"
#include "viz/step/tiles/pointed_draw.h"

namespace attn {
namespace {

constexpr float kSpelledPad = 10;
constexpr float kFoldBelow = 1340, kMinTiles = 170;
constexpr float kLeastBesideCard = 210;  // of the tiles, where a card takes more than it must
constexpr float kMostLanes = 236;        // of a card with lanes in it
constexpr float kMoreForLanes = 16;      // than for a track
constexpr float kPhoneLanes = 40;        // the same on a phone
constexpr float kTwoTabLines = 480;      // below that width the charts' tabs take two lines
constexpr float kPhoneTimeline = 116, kPhoneChart = 284, kPhoneTraffic = 200;
constexpr float kSlimWrong = 28;    // a line of text; a finger reaches into the gutters
constexpr float kPhoneTabs = 40;    // more for two lines of tabs for fingers
constexpr float kPhoneWords = 120;  // and for words under a picture

// Cards that a lesson's beat does not speak of are folded away, and the others have their room. The tiles stay where
// nothing else would fill it.
void fold(StepAreas& a, const StepFocus& look, bool charts, bool low, const SideBySide& way) {
  using enum StepPart;
  if (look.parts.none()) return;
  a.has_timeline = look.has(timeline);
  a.has_strip = look.has(strip) || (charts && low);  // a chart that has no room is behind a chip of the strip
  a.has_chart = look.has(chart);
  a.has_tiles = !charts || low || way.tiles != nullptr || look.names_tiles() || look.has(k) || look.has(v) ||
                look.has(chip) || look.has(legend);
}

}  // namespace

StepAreas step_areas(const Box& all, const StepRoom& room) {
  const auto& [rec, look, alone, wide, touch, words_below, wrong] = room;
  const Style& s = style();
  StepAreas a;
  const float gutter = s.px(kStepGutter), width = all.width() / s.scale, height = all.height() / s.scale;
  Box rest = all;
  constexpr float kLowest = 410;  // of what holds tiles and charts
  const SideBySide& way = side_by_side_of(rec);
  const bool charts = look.has(StepPart::chart) || (look.has(StepPart::traffic) && way.card == nullptr);
  fold(a, look, charts, height - 112 - 2 * kStepGutter < kLowest, way);
  const float strip_whole = strip_height(rest.width() / s.scale, height), strip = a.has_strip ? strip_whole : 0;
  const float strip_gap = a.has_strip ? kStepGutter : 0;
  // Low beside the tiles, rather than tiles that are scrolled.
  const bool squat = height < 300 || (height < 420 && height - strip_whole - 91 - 2 * kStepGutter < kMinTiles);
  float timeline = !a.has_timeline ? 0
                   : touch         ? (squat ? 68 : 112)
                   : squat         ? 66
                   : height < 420  ? 91
                   : height < 700  ? 100
                                   : 112;
  if (way.track != nullptr && !squat && !touch) timeline += kMoreForLanes;
  float middle = height - strip - timeline - strip_gap - (a.has_timeline ? kStepGutter : 0);
  const float card =
      way.card == nullptr ? 0 : way.card_height(rec, rest.width() / s.scale, middle - kStepGutter - kLeastBesideCard);
  // Lanes have what neither tiles nor loops would fill.
  if (a.has_timeline && a.has_tiles && way.track != nullptr && way.card != nullptr && middle >= kLowest) {
    const float spare = middle - kStepGutter - card - liked_tiles_height(rec, middle);
    const float more = std::clamp(spare, 0.0F, kMostLanes - timeline);
    timeline += more, middle -= more;
  }
  a.scrolls = middle < kMinTiles;
  a.has_problem = width >= kFoldBelow && !a.scrolls && !alone;
  if (a.has_problem) {
    a.problem = {all.min,
                 {all.min.x + s.px(kProblemWidth), all.max.y - s.px(std::max(timeline, 112.0F) + kStepGutter)}};
    rest.min.x = a.problem.max.x + gutter;
  }
  a.strip = {rest.min, {rest.max.x, rest.min.y + s.px(strip)}};
  a.timeline = {{all.min.x, all.max.y - s.px(timeline)}, all.max};
  a.page = {a.strip.min, {a.strip.max.x, a.timeline.min.y - gutter}};
  // Secondary cards go before the tiles are squeezed.
  float bottom = 0;
  if (charts && !a.has_tiles)
    bottom = middle;
  else if (charts && middle >= kLowest && way.tiles == nullptr)
    bottom = way.card != nullptr
                 ? card
                 : std::max(wide ? std::clamp(middle * 0.46F, 180.0F, 360.0F)
                                 : std::clamp(middle * 0.32F, width < kTwoTabLines ? 166.0F : 138.0F, 240.0F),
                            middle - kStepGutter - liked_tiles_height(rec, middle));
  else if (charts && way.low_card > 0 && middle >= kMinTiles + kStepGutter + way.low_card)
    bottom = way.low_card;
  a.has_bottom = bottom > 0;
  const float top = a.strip.max.y + s.px(strip_gap), gap = a.has_tiles ? gutter : 0;
  const float tiles_bottom =
      !a.has_tiles ? top
                   : top + s.px((a.scrolls ? kScrolledTiles : middle) - (a.has_bottom ? bottom + kStepGutter : 0));
  a.tiles = {{rest.min.x, top}, {rest.max.x, tiles_bottom}};
  const Box low{{rest.min.x, tiles_bottom + gap}, {rest.max.x, tiles_bottom + gap + s.px(bottom)}};
  a.has_traffic = a.has_bottom && look.has(StepPart::traffic) && !wide && way.card == nullptr &&
                  (!a.has_chart || low.width() / s.scale >= 760);
  if (a.has_traffic && !a.has_chart) {
    a.traffic = low;
    return a;
  }
  const float split = a.has_traffic ? low.max.x - std::clamp(low.width() * 0.39F, s.px(340), s.px(560)) : low.max.x;
  a.chart = {low.min, {a.has_traffic ? split - gutter : split, low.max.y}};
  a.traffic = {{split, low.min.y}, low.max};
  return a;
}

StepAreas panel_areas(const Box& all, StepPanel panel) {
  StepAreas a;
  a.strip = a.tiles = a.chart = a.traffic = a.timeline = all;
  a.has_strip = false;
  a.has_tiles = panel == StepPanel::tiles;
  a.has_chart = panel == StepPanel::chart;
  a.has_traffic = panel == StepPanel::traffic;
  a.has_bottom = a.has_chart || a.has_traffic;
  a.has_timeline = panel == StepPanel::timeline;
  return a;
}

namespace {

// What stays has a column of its own; lanes, and the timeline alone, are a line below the page.
void lie_down(StepAreas& a, const Box& all, float timeline, const StepRoom& room) {
  constexpr float kLine = 68, kButtons = 60, kSlim = 260, kLeastStrip = 140, kLeastLong = 170;  // logical
  const Style& s = style();
  const float gutter = s.px(kPhoneGutter), width = all.width() / s.scale, height = all.height() / s.scale;
  a.page = a.strip = a.timeline = all;
  const float column = std::clamp(width * 0.33F, 240.0F, 280.0F);
  if (a.has_strip) a.strip.max.x = all.min.x + s.px(column), a.page.min.x = a.strip.max.x + gutter;
  const Recording& rec = room.rec;
  a.has_wrong = room.wrong && a.has_strip;
  const float wrong = a.has_wrong ? kSlimWrong + kPhoneGutter : 0;
  const auto leave_wrong = [&] {
    if (!a.has_wrong) return;
    a.wrong = {{a.strip.min.x, a.strip.max.y - s.px(kSlimWrong)}, a.strip.max};
    a.strip.max.y -= s.px(wrong);
  };
  if (!a.has_timeline) return leave_wrong();
  if (!a.has_strip || side_by_side_of(rec).track != nullptr) {
    a.timeline.min.y = all.max.y - s.px(kLine);
    a.page.max.y = a.strip.max.y = a.timeline.min.y - gutter;
    return leave_wrong();
  }
  // The sentence is the point: where the track leaves too little for it the buttons stand alone.
  const bool is_long = column < kSlim || rec.problem.pass == Pass::backward;
  if (height - timeline - kPhoneGutter - wrong < (is_long ? kLeastLong : kLeastStrip)) timeline = kButtons;
  a.timeline = {{all.min.x, all.max.y - s.px(timeline)}, {a.strip.max.x, all.max.y}};
  a.strip.max.y = a.timeline.min.y - gutter;
  leave_wrong();
}

}  // namespace

StepAreas phone_areas(const Box& all, const StepRoom& room, std::optional<StepPanel> only) {
  const Style& s = style();
  StepAreas a;
  a.phone = a.scrolls = true;
  a.has_chart = !only;
  a.has_traffic = !only;
  if (only == StepPanel::tiles) {
    a.has_strip = a.has_timeline = false;
    a.page = all;
    return a;
  }
  const SideBySide& way = side_by_side_of(room.rec);
  const bool traffic = room.look.has(StepPart::traffic) && way.card == nullptr;
  fold(a, room.look, room.look.has(StepPart::chart) || traffic, false, way);
  a.has_traffic = a.has_traffic && traffic;
  const float width = all.width() / s.scale, height = all.height() / s.scale;
  const float strip = width < kTwoTabLines ? kPhoneStrip : strip_height(width, height);
  const float timeline = kPhoneTimeline + (way.track != nullptr ? kPhoneLanes : 0);
  if (room.touch && is_lying_phone(width, height)) {
    lie_down(a, all, timeline, room);
    return a;
  }
  a.strip = {all.min, {all.max.x, all.min.y + s.px(a.has_strip ? strip : 0)}};
  a.timeline = {{all.min.x, all.max.y - s.px(a.has_timeline ? timeline : 0)}, all.max};
  a.page = {{all.min.x, a.strip.max.y + s.px(a.has_strip ? kPhoneGutter : 0)},
            {all.max.x, a.timeline.min.y - s.px(a.has_timeline ? kPhoneGutter : 0)}};
  a.has_wrong = room.wrong;
  if (!a.has_wrong) return a;
  a.wrong = {a.page.min, {a.page.max.x, a.page.min.y + s.px(kSlimWrong)}};
  a.page.min.y = a.wrong.max.y + s.px(kPhoneGutter);
  return a;
}

void fold_strip(StepAreas& a) {
  const float more = a.page.min.y - a.strip.min.y - (a.has_wrong ? a.page.min.y - a.wrong.min.y : 0);
  a.has_strip = false;
  a.page.min.y -= more;
  a.wrong.min.y -= more, a.wrong.max.y -= more;
}

void fill_phone_page(StepAreas& a, const StepRoom& room, float bars, float tiles) {
  const Style& s = style();
  const SideBySide& way = side_by_side_of(room.rec);
  float y = a.page.min.y + bars;
  a.bars = {a.page.min, {a.page.max.x, y}};
  const auto next = [&](float height) {
    const Box box{{a.page.min.x, y}, {a.page.max.x, y + height}};
    y = box.max.y + s.px(kPhoneGutter);
    return box;
  };
  a.tiles = a.chart = a.traffic = {{a.page.min.x, y}, {a.page.max.x, y}};
  if (a.has_tiles) a.tiles = next(tiles);
  a.has_chart = a.has_chart && way.tiles == nullptr;
  a.has_traffic = a.has_traffic && !room.wide && way.tiles == nullptr && way.card == nullptr;
  a.has_bottom = a.has_chart || a.has_traffic;
  const float chart = kPhoneChart + (room.touch ? kPhoneTabs : 0) + (room.words_below ? kPhoneWords : 0);
  constexpr float kAny = 10'000;
  if (a.has_chart)
    a.chart = next(s.px(way.card != nullptr ? way.card_height(room.rec, a.page.width() / s.scale, kAny) : chart));
  if (a.has_traffic) a.traffic = next(s.px(kPhoneTraffic));
  // What stands alone has all of it, and no more where that will do.
  if (a.has_tiles || !a.has_bottom) return;
  constexpr float kWillDo = 180;  // logical
  Box& last = a.has_traffic ? a.traffic : a.chart;
  const bool one = !a.has_chart || !a.has_traffic;
  if (last.max.y < a.page.max.y || (one && a.page.max.y - last.min.y >= s.px(kWillDo))) last.max.y = a.page.max.y;
}

void begin_page(StepAreas& a) {
  const Box& page = a.page;
  const ImGuiWindowFlags bare = a.phone && by_touch() ? ImGuiWindowFlags_NoScrollbar : ImGuiWindowFlags_None;
  ImGui::SetCursorScreenPos(page.min);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::PushStyleColor(ImGuiCol_ChildBg, 0U);
  ImGui::BeginChild("page", {page.width(), page.height()}, ImGuiChildFlags_NavFlattened, bare);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
  const float moved = ImGui::GetCursorScreenPos().y - page.min.y;
  const float bar = bare == 0 && ImGui::GetScrollMaxY() > 0 ? style().px(14) : 0;
  for (Box* box : {&a.strip, &a.bars, &a.tiles, &a.chart, &a.traffic}) {
    if (a.phone && box == &a.strip) continue;
    box->min.y += moved, box->max.y += moved;
    box->max.x -= bar;
  }
}

void show_made_tiles(PageMemory& memory, const TilesUiState& tiles, EventIndex now, const Selection& selection,
                     const Box& page) {
  const auto is_there = [](const TilesSpan& span) { return span.bottom > span.top; };
  const bool pins = selection.col >= 0 && memory.pinned != selection && is_there(tiles.pinned);
  const TilesSpan& wanted = pins ? tiles.pinned : tiles.made;
  // What is drawn later, once more of a run is known, is still to be brought.
  if ((memory.step == now && !pins) || !is_there(wanted)) return;
  memory.step = now;
  memory.pinned = selection;
  constexpr float kFade = 16;  // logical: where the page goes pale
  const float scroll = ImGui::GetScrollY(), seen = page.height() - style().px(kFade);
  const float top = wanted.top - page.min.y + scroll, bottom = wanted.bottom - page.min.y + scroll;
  if (bottom > scroll + seen || bottom - top > seen)
    ImGui::SetScrollY(bottom - seen);
  else if (top < scroll)
    ImGui::SetScrollY(top);
}

namespace {

// At the page's right edge, in the margin: how much of it is in sight, and where. A finger moves the page itself.
void draw_page_bar(const Box& page, float scroll, float most) {
  constexpr float kAside = 4, kWide = 4, kLeast = 24;  // logical
  const Style& s = style();
  const float high = std::max(s.px(kLeast), page.height() * page.height() / (page.height() + most));
  const float top = page.min.y + (page.height() - high) * std::clamp(scroll / most, 0.0F, 1.0F);
  const ImVec2 corner{page.max.x + s.px(kAside), top}, end{corner.x + s.px(kWide), top + high};
  ImGui::ItemAdd({corner, end}, ImGui::GetID("##page_bar"));
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->PushClipRectFullScreen();
  list->AddRectFilled(corner, end, colour_of(Token::dim), s.px(kWide / 2));
  list->PopClipRect();
}

}  // namespace

void end_page(const StepAreas& a) {
  const Box& first = !a.phone ? a.strip : a.bars.height() > 0 ? a.bars : a.tiles;
  const float bottom = std::max({a.tiles.max.y, a.phone && a.has_chart && a.has_bottom ? a.chart.max.y : 0.0F,
                                 a.phone && a.has_traffic ? a.traffic.max.y : 0.0F});
  ImGui::SetCursorScreenPos(first.min);
  ImGui::Dummy({1, bottom - first.min.y});
  const float scroll = ImGui::GetScrollY(), most = ImGui::GetScrollMaxY();
  ImGui::EndChild();
  if (a.phone && by_touch() && most > 1) draw_page_bar(a.page, scroll, most);
}

std::optional<ImVec2> begin_folded(const char* id, ImVec2 at, ImVec2 pivot, ImVec2 size, float room) {
  const float edge = style().px(kPhoneGutter);
  const ImGuiViewport& view = *ImGui::GetMainViewport();
  const ImVec2 first{view.Pos.x + edge, view.Pos.y + edge};
  const ImVec2 seen{std::min(size.x, view.Size.x - 2 * edge), std::min({size.y, room, view.Size.y - 2 * edge})};
  const ImVec2 last{view.Pos.x + view.Size.x - edge - seen.x, view.Pos.y + view.Size.y - edge - seen.y};
  ImGui::SetNextWindowPos({std::clamp(at.x - pivot.x * seen.x, first.x, std::max(first.x, last.x)),
                           std::clamp(at.y - pivot.y * seen.y, first.y, std::max(first.y, last.y))});
  ImGui::SetNextWindowSize(seen);
  const ImVec2 pad = ImGui::GetStyle().WindowPadding;
  ImGui::SetNextWindowContentSize({0, size.y - 2 * pad.y});
  if (!ImGui::BeginPopup(id, ImGuiWindowFlags_NoMove)) return std::nullopt;
  const ImVec2 corner = ImGui::GetWindowPos();
  return ImVec2{corner.x, corner.y - ImGui::GetScrollY()};
}

void end_folded() {
  fade_where_more();
  ImGui::EndPopup();
}

float spelled_height(const PointedScene& scene, float width) {
  return pointed_height(scene, width - style().px(kSpelledPad + kFinger)) + style().px(2 * kSpelledPad);
}

void draw_spelled(const Box& box, const PointedScene& scene, const Selection& pinned, Commands& commands) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  draw_card(list, box);
  const float side = s.px(kFinger), pad = s.px(kSpelledPad);
  draw_pointed(list, {{box.min.x + pad, box.min.y + pad}, {box.max.x - side, box.max.y - pad}}, scene);
  ImGui::SetCursorScreenPos({box.max.x - side, box.min.y});
  if (ImGui::InvisibleButton("##let_go", {side, side}, ImGuiButtonFlags_EnableNav)) {
    Select released{pinned};
    released.selection.col = -1;
    commands.emplace_back(released);
  }
  const ImVec2 c{box.max.x - side / 2, box.min.y + side / 2};
  const float arm = s.px(5);
  const ImU32 ink = colour_of(ImGui::IsItemHovered() ? Token::text : Token::dim);
  list->AddLine({c.x - arm, c.y - arm}, {c.x + arm, c.y + arm}, ink, s.px(1.5F));
  list->AddLine({c.x - arm, c.y + arm}, {c.x + arm, c.y - arm}, ink, s.px(1.5F));
}

}  // namespace attn
