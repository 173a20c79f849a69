#include "viz/profile/timeline/lanes_draw.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "imgui_internal.h"
#include "kernels/base/text.h"
#include "viz/draw/canvas.h"
#include "viz/draw/hands.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/profile/timeline/ahead_draw.h"
#include "viz/profile/timeline/scene/followed.h"

namespace attn {
namespace {

// Logical pixels.
constexpr float kLeastDrag = 4, kMarkArrow = 4, kMarkPad = 6, kUnitGap = 8, kTickPad = 3;

// White over all, black in the light theme: the path from end to end, unbroken.
void draw_path(ImDrawList* list, const Chart& chart) {
  const Style& s = style();
  const ImU32 ink = colour(s.theme, Token::text), ground = colour(s.theme, Token::card);
  list->PushClipRect({chart.plot.min.x, chart.plot.min.y - s.px(4)}, chart.plot.max, true);
  for (const bool under : {true, false}) {
    const float width = under ? s.px(4) : s.px(2), half = width / 2;
    const ImU32 c = under ? faded(ground, 0.7F) : ink;
    for (const PathLine& l : chart.path) {
      const auto [x0, x1] = std::minmax(l.x0, l.x1);
      const auto [y0, y1] = std::minmax(l.y0, l.y1);
      list->AddRectFilled({x0 - half, y0 - half}, {x1 + half, y1 + half}, c);
    }
  }
  list->PopClipRect();
}

void zoom(const Chart& chart, float wheel, Commands& commands) {
  const PipelineScene& scene = chart.scene;
  const double ns = scene.ns_a_clock, factor = std::pow(0.8, static_cast<double>(wheel));
  const double at = static_cast<double>(chart.clock_of(ImGui::GetIO().MousePos.x)) * ns;
  const double from = at - (at - static_cast<double>(scene.from) * ns) * factor;
  const double to = at + (static_cast<double>(scene.to) * ns - at) * factor,
               all = static_cast<double>(scene.length) * ns;
  if (from <= 0 && to >= all) return commands.push_back(whole_block(scene));
  commands.push_back(ChooseTimeSpan{static_cast<std::int64_t>(std::max(0.0, from)),
                                    static_cast<std::int64_t>(std::ceil(std::min(all, std::max(to, from + 20))))});
}

// A span that was measured stays until the next click.
struct Measured {
  ImGuiStorage* in = ImGui::GetStateStorage();
  ImGuiID from = ImGui::GetID("measured_from"), to = ImGui::GetID("measured_to");
  std::int64_t begin() const { return in->GetInt(from, 0); }
  std::int64_t end() const { return in->GetInt(to, 0); }
  void set(std::int64_t a, std::int64_t b) {
    in->SetInt(from, static_cast<int>(a));
    in->SetInt(to, static_cast<int>(b));
  }
};

std::string measured_words(const PipelineScene& scene, std::int64_t clocks) {
  std::string words = phrase("{}, {} clocks", duration_text(scene, clocks), clocks);
  if (scene.tile_clocks > 1)
    words += phrase(", {:.1f} key tiles", static_cast<double>(clocks) / static_cast<double>(scene.tile_clocks));
  return words;
}

void draw_span(ImDrawList* list, const Chart& chart, std::int64_t from, std::int64_t to, bool named) {
  const Style& s = style();
  const ImU32 ink = colour(s.theme, Token::text);
  const float left = std::clamp(chart.x_of(from), chart.plot.min.x, chart.plot.max.x);
  const float right = std::clamp(chart.x_of(to), chart.plot.min.x, chart.plot.max.x);
  if (right <= left) return;
  list->AddRectFilled({left, chart.plot.min.y}, {right, chart.plot.max.y}, faded(ink, 0.1F));
  draw_outline(list, {{left, chart.plot.min.y}, {right, chart.plot.max.y}}, faded(ink, 0.6F), 1);
  if (!named) return;
  const std::string words = measured_words(chart.scene, to - from);
  const float width = text_width(Face::text, 12, words) + s.px(12);
  const float at = std::clamp((left + right - width) / 2, chart.plot.min.x, chart.plot.max.x - width);
  const Box tag{{at, chart.plot.min.y - s.px(kTimeAxis)}, {at + width, chart.plot.min.y}};
  list->AddRectFilled(tag.min, tag.max, colour(s.theme, Token::field), s.px(3));
  draw_text_in(list, tag, Align::centre, Face::text, 12, ink, words);
}

// The stretch that the keys have come to, of one that has a name.
struct Walked {
  ImGuiStorage* in = ImGui::GetStateStorage();
  ImGuiID row = ImGui::GetID("walked_row"), nth = ImGui::GetID("walked_nth");
};

const TimelineStretch* walk(const Chart& chart, Commands& commands, const TimelineRow*& row_of) {
  const PipelineScene& scene = chart.scene;
  Walked at;
  const auto last_row = static_cast<int>(scene.rows.size()) - 1;
  int row = std::clamp(at.in->GetInt(at.row, 0), 0, std::max(last_row, 0));
  int nth = at.in->GetInt(at.nth, -1);
  const ImGuiID owner = ImGui::GetID("timeline_lanes");
  const auto pressed = [&](ImGuiKey key) {
    ImGui::SetKeyOwner(key, owner);
    return ImGui::IsKeyPressed(key, ImGuiInputFlags_Repeat, owner);
  };
  if (scene.rows.empty()) return nullptr;
  const auto& of = [&]() -> const std::vector<TimelineStretch>& {
    return scene.rows[static_cast<std::size_t>(row)].stretches;
  };
  const auto first_in_sight = [&](std::int64_t moment) {
    const auto x = std::ranges::find_if(of(), [&](const TimelineStretch& t) { return t.to > moment; });
    return static_cast<int>(x - of().begin());
  };
  const auto clamped = [&] { return std::clamp(nth, 0, std::max(0, static_cast<int>(of().size()) - 1)); };
  if (nth < 0) nth = first_in_sight(scene.from);
  nth = clamped();
  const int by = (pressed(ImGuiKey_RightArrow) ? 1 : 0) - (pressed(ImGuiKey_LeftArrow) ? 1 : 0);
  const int down = (pressed(ImGuiKey_DownArrow) ? 1 : 0) - (pressed(ImGuiKey_UpArrow) ? 1 : 0);
  if (by != 0) nth += by, nth = clamped();
  if (down != 0 && !of().empty()) {
    const std::int64_t moment = of()[static_cast<std::size_t>(nth)].from;
    row = std::clamp(row + down, 0, last_row);
    nth = first_in_sight(moment);
    nth = clamped();
  }
  at.in->SetInt(at.row, row);
  at.in->SetInt(at.nth, nth);
  if (of().empty()) return nullptr;
  const TimelineStretch& x = of()[static_cast<std::size_t>(nth)];
  row_of = &scene.rows[static_cast<std::size_t>(row)];
  if (by != 0 && (x.from >= scene.to || x.to <= scene.from)) {
    // The window goes along.
    const double ns = scene.ns_a_clock, span = static_cast<double>(scene.to - scene.from) * ns;
    const double from = std::clamp(static_cast<double>(x.from) * ns - span / 2, 0.0,
                                   std::max(0.0, static_cast<double>(scene.length) * ns - span));
    commands.push_back(
        ChooseTimeSpan{static_cast<std::int64_t>(from), static_cast<std::int64_t>(std::ceil(from + span))});
  }
  if (ImGui::IsKeyPressed(ImGuiKey_Enter, ImGuiInputFlags_None))
    commands.push_back(FollowKeyTile{x.tile == scene.follow ? -1 : x.tile});
  return &x;
}

std::string words_of(const PipelineScene& scene, const TimelineStretch& x) {
  const std::int64_t clocks = x.to - x.from;
  return phrase("{}\n{}, {} clocks; from {} on", x.what, duration_text(scene, clocks), clocks,
                duration_text(scene, x.from));
}

// It is framed, with what released it.
void tell_of(ImDrawList* list, const Chart& chart, const TimelineRow& row, const TimelineStretch& x) {
  const Style& s = style();
  const auto at = static_cast<std::size_t>(&row - chart.scene.rows.data());
  const Box& place = chart.rows[at];
  const Box box{{chart.x_of(x.from), place.min.y + place.height() * x.top},
                {chart.x_of(x.to), place.min.y + place.height() * x.bottom}};
  list->PushClipRect({chart.plot.min.x - s.px(2), chart.plot.min.y - s.px(2)},
                     {chart.plot.max.x + s.px(2), chart.plot.max.y + s.px(2)}, true);
  draw_outline(list, box.grown(s.px(1)), colour(s.theme, Token::text), 1.5F, 2);
  list->PopClipRect();
  std::string words = words_of(chart.scene, x);
  if (const ReleaseArrow* a = release_of(chart.scene, x); a != nullptr) {
    draw_release(list, chart, *a, colour(s.theme, Token::text));
    words += "\n" + a->words;
  }
  show_tooltip(words, 360);
}

void point_at(ImDrawList* list, const Chart& chart, ImVec2 pointer) {
  const TimelineRow* row = nullptr;
  if (const TimelineStretch* x = under_pointer(chart, pointer, &row); x != nullptr)
    return tell_of(list, chart, *row, *x);
  const std::int64_t at = chart.clock_of(pointer.x);
  if (row == nullptr || row->kind != RowKind::products) return;
  for (const auto& [from, to] : chart.scene.idle)
    if (at >= from && at < to)
      return show_tooltip(phrase("Surely idle for {}: no product is in flight, so the tensor cores have no work",
                                 duration_text(chart.scene, to - from)),
                          360);
}

}  // namespace

ChooseTimeSpan whole_block(const PipelineScene& scene) {
  return {0, static_cast<std::int64_t>(std::ceil(static_cast<double>(scene.length) * scene.ns_a_clock))};
}

Chart chart_at(const PipelineScene& scene, ImVec2 left_top, float right, const RowHeights& heights) {
  const Style& s = style();
  Chart chart{scene, {left_top, {right, left_top.y}}, {}, {}, {}};
  float y = left_top.y;
  std::vector<RowPlace> places;
  for (const TimelineRow& row : scene.rows) {
    y += s.px(heights.above(row));
    const float height = s.px(heights.of(row));
    chart.rows.push_back({{left_top.x, y}, {right, y + height}});
    places.push_back({y, y + height});
    y += height;
  }
  chart.plot.max.y = y;
  chart.path = path_lines(scene, chart.axis(), places);
  for (const ReleaseArrow& a : scene.releases)
    if (scene.follow >= 0 && a.tile == scene.follow)
      for (const PathLine& l : arrow_lines(scene, a, chart.axis(), places)) chart.arrows.push_back(l);
  return chart;
}

namespace {

// Where the followed key tile is: the room that it takes at an edge of the axis. Nothing where it is in sight.
Box draw_followed_mark(ImDrawList* list, const Chart& chart, float top, Commands& commands) {
  const Style& s = style();
  const PipelineScene& scene = chart.scene;
  const auto elsewhere = followed_elsewhere(scene);
  if (!elsewhere) return {};
  const double us = static_cast<double>(elsewhere->from) * scene.ns_a_clock * 1e-3;
  const std::string words = phrase("key tile {} at {:.1f} µs", scene.follow, us);
  const float arrow = s.px(2 * kMarkArrow + kMarkPad), width = text_width(Face::bold, 12, words) + arrow + s.px(8);
  const float left = elsewhere->before ? chart.plot.min.x : chart.plot.max.x - width;
  const Box box{{left, top}, {left + width, top + s.px(kTimeAxis - 2)}};
  const ImU32 ink = colour(s.theme, Token::text);
  list->AddRectFilled(box.min, box.max, colour(s.theme, Token::field), s.px(3));
  draw_arrow(list, {elsewhere->before ? box.min.x + s.px(8) : box.max.x - s.px(8), box.centre().y}, s.px(kMarkArrow),
             elsewhere->before ? Arrow::left : Arrow::right, ink);
  draw_text_in(list, box, elsewhere->before ? Align::right : Align::left, Face::bold, 12, ink, words, 4);
  ImGui::SetCursorScreenPos(box.min);
  if (ImGui::InvisibleButton("timeline_followed", {box.width(), box.height()}, ImGuiButtonFlags_EnableNav)) {
    const auto [from, to] = window_about(scene, *elsewhere);
    commands.push_back(
        ChooseTimeSpan{static_cast<std::int64_t>(static_cast<double>(from) * scene.ns_a_clock),
                       static_cast<std::int64_t>(std::ceil(static_cast<double>(to) * scene.ns_a_clock))});
  }
  tooltip(tr("Moves the view to the key tile that is lit"));
  return box;
}

}  // namespace

void draw_time_axis(ImDrawList* list, const Chart& chart, float top, Commands* commands) {
  const Style& s = style();
  const ImU32 dim = colour(s.theme, Token::dim);
  const Box mark = commands == nullptr ? Box{} : draw_followed_mark(list, chart, top, *commands);
  draw_text_in(list, {{chart.plot.min.x - s.px(40), top}, {chart.plot.min.x - s.px(kUnitGap), top + s.px(kTimeAxis)}},
               Align::right, Face::mono, 11, dim, "µs");
  const std::vector<Box> named =
      draw_moment_names(list, chart, {{chart.plot.min.x, top}, {chart.plot.max.x, top + s.px(kTimeAxis)}}, mark);
  float taken = chart.plot.min.x - s.px(kUnitGap) - s.px(2);  // a single digit has room at the plot's edge
  for (const TimelineTick& tick : chart.scene.ticks) {
    const float x = chart.x_of(tick.at), half = text_width(Face::mono, 11, tick.text) / 2;
    list->AddLine({x, chart.plot.min.y}, {x, chart.plot.max.y}, faded(colour(s.theme, Token::line), 0.7F), s.px(1));
    // At its tick or nowhere.
    const bool beside_mark = x + half + s.px(6) < mark.min.x || x - half - s.px(6) > mark.max.x;
    const bool on_line = std::ranges::any_of(named, [&](const Box& box) {
      return box.max.x > x - half - s.px(kTickPad) && box.min.x < x + half + s.px(kTickPad);
    });
    if (x - half < taken + s.px(6) || x + half > chart.plot.max.x + s.px(2) || !beside_mark || on_line) continue;
    taken = x + half;
    draw_text_in(list, {{x - half, top}, {x + half, top + s.px(kTimeAxis)}}, Align::left, Face::mono, 11, dim,
                 tick.text);
  }
}

void draw_chart(ImDrawList* list, const Chart& chart, float left) {
  draw_labels(list, chart, left);
  const std::vector<TimelineRow>& rows = chart.scene.rows;
  const auto seen = [&](std::size_t n) { return chart.rows[n].height() > 0; };
  for (std::size_t n = 0; n < chart.rows.size(); ++n)
    if (seen(n)) draw_row(list, chart, rows[n], chart.rows[n]);
  draw_idle(list, chart);
  draw_moments(list, chart);
  draw_path(list, chart);
  draw_releases(list, chart);
  for (std::size_t n = 0; n < chart.rows.size(); ++n)
    if (seen(n)) draw_row_letters(list, chart, rows[n], chart.rows[n]);
  draw_edges(list, chart);
}

float overview_height(const PipelineScene& scene) {
  float height = 4;
  for (const TimelineRow& row : scene.overview) height += row.height + row.gap;
  return style().px(height);
}

// The whole block, small, with the window on it; a drag or a click moves there.
void draw_overview(ImDrawList* list, const PipelineScene& scene, const Box& box, Commands& commands) {
  const Style& s = style();
  list->AddRectFilled(box.min, box.max, colour(s.theme, Token::field), s.px(2));
  float y = box.min.y + s.px(2);
  const auto x_of = [&](std::int64_t at) {
    return box.min.x + box.width() * static_cast<float>(static_cast<double>(at) / static_cast<double>(scene.length));
  };
  for (const TimelineRow& row : scene.overview) {
    for (const TimelineStretch& x : row.stretches)
      list->AddRectFilled({x_of(x.from), y}, {std::max(x_of(x.to), x_of(x.from) + 1), y + s.px(row.height)},
                          faded(colour_of(x.ink), x.tile == scene.follow || scene.follow < 0 ? 0.8F : 0.3F));
    y += s.px(row.height + row.gap);
  }
  if (!scene.whole)
    draw_outline(list,
                 {{x_of(scene.from), box.min.y}, {std::max(x_of(scene.to), x_of(scene.from) + s.px(3)), box.max.y}},
                 colour(s.theme, Token::text), 1.5F, 3);
  ImGui::SetCursorScreenPos(box.min);
  ImGui::InvisibleButton("timeline_overview", {box.width(), box.height()});
  tooltip(for_hands(tr("The whole block; click to move the view there"),
                    tr("The whole block; tap to move the view there")));
  if (!ImGui::IsItemActive() || scene.whole) return;
  const double share = std::clamp((ImGui::GetIO().MousePos.x - box.min.x) / box.width(), 0.0F, 1.0F);
  const double half = static_cast<double>(scene.to - scene.from) * scene.ns_a_clock / 2;
  const double middle = std::clamp(share * static_cast<double>(scene.length) * scene.ns_a_clock, half,
                                   static_cast<double>(scene.length) * scene.ns_a_clock - half);
  commands.push_back(
      ChooseTimeSpan{static_cast<std::int64_t>(middle - half), static_cast<std::int64_t>(std::ceil(middle + half))});
}

void follow_pointer(ImDrawList* list, const Chart& chart, Commands& commands) {
  const Style& s = style();
  ImGui::SetCursorScreenPos(chart.plot.min);
  ImGui::InvisibleButton("timeline_lanes", {chart.plot.width(), chart.plot.height()}, ImGuiButtonFlags_EnableNav);
  const ImGuiContext& g = *ImGui::GetCurrentContext();
  const bool walks = ImGui::IsItemFocused() && g.NavCursorVisible;
  const ImGuiIO& io = ImGui::GetIO();
  Measured measured;
  const auto within = [&](float x) { return std::clamp(x, chart.plot.min.x, chart.plot.max.x); };
  const float from = within(std::min(io.MouseClickedPos[0].x, io.MousePos.x));
  const float to = within(std::max(io.MouseClickedPos[0].x, io.MousePos.x));
  const bool pressed = ImGui::IsItemActive() || ImGui::IsItemDeactivated();
  const bool dragged = pressed && ImGui::IsMousePosValid(&io.MouseClickedPos[0]) && to - from >= s.px(kLeastDrag);
  const double ns = chart.scene.ns_a_clock;
  const auto ns_at = [&](float x) { return static_cast<double>(chart.clock_of(x)) * ns; };
  if (measured.end() > measured.begin()) draw_span(list, chart, measured.begin(), measured.end(), true);
  if (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(0)) return commands.push_back(whole_block(chart.scene));
  if (ImGui::IsItemHovered() && io.MouseWheel != 0 && io.KeyCtrl) return zoom(chart, io.MouseWheel, commands);
  if (walks) {
    const TimelineRow* row = nullptr;
    if (const TimelineStretch* x = walk(chart, commands, row); x != nullptr) tell_of(list, chart, *row, *x);
    return;
  }
  if (ImGui::IsItemDeactivated() && dragged && io.KeyShift)
    return measured.set(chart.clock_of(from), chart.clock_of(to));
  if (ImGui::IsItemDeactivated()) measured.set(0, 0);
  if (ImGui::IsItemDeactivated() && dragged) {
    commands.push_back(ChooseTimeSpan{static_cast<std::int64_t>(std::floor(ns_at(from))),
                                      static_cast<std::int64_t>(std::ceil(ns_at(to)))});
  } else if (ImGui::IsItemDeactivated()) {
    const TimelineStretch* x = under_pointer(chart, io.MousePos);
    const std::int32_t tile = x == nullptr ? -1 : x->tile;
    commands.push_back(FollowKeyTile{tile == chart.scene.follow ? -1 : tile});
  } else if (ImGui::IsItemActive() && dragged) {
    draw_span(list, chart, chart.clock_of(from), chart.clock_of(to), true);
  } else if (ImGui::IsItemHovered()) {
    point_at(list, chart, io.MousePos);
  }
}

void point_below(ImDrawList* list, const Chart& chart) {
  ImGui::SetCursorScreenPos(chart.plot.min);
  ImGui::InvisibleButton("timeline_beside", {chart.plot.width(), std::max(1.0F, chart.plot.height())});
  if (ImGui::IsItemHovered()) point_at(list, chart, ImGui::GetIO().MousePos);
}

}  // namespace attn
