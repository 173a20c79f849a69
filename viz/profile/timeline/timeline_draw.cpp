// Time to the right; who computes above, what lies in memory below, so that a release is a vertical line. Drag over a
// part to enlarge it, double click for the whole block, click a stretch to light its key tile.
#include "viz/profile/timeline/timeline_draw.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "viz/draw/canvas.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/profile/timeline/answers_draw.h"
#include "viz/profile/timeline/blocks_draw.h"
#include "viz/profile/timeline/choices_draw.h"
#include "viz/profile/timeline/keys_draw.h"
#include "viz/profile/timeline/rows_draw.h"
#include "viz/profile/timeline/sms_draw.h"

namespace attn {
namespace {

// Logical pixels.
constexpr float kHead = 24, kWordsGap = 6, kAxis = 18, kOverviewGap = 8, kLabel = 148, kLabelNarrow = 104,
                kNarrowCard = 640, kPads = 24, kDoor = 28, kDoorSides = 24;
constexpr float kLeastDrag = 4;
constexpr int kMostTail = 4;      // lines
constexpr float kPathAt = 0.08F;  // of a tall row: above its names

ChooseTimeSpan whole_block(const PipelineScene& scene) {
  return {0, static_cast<std::int64_t>(std::ceil(static_cast<double>(scene.length) * scene.ns_a_clock))};
}

void draw_axis(ImDrawList* list, const Chart& chart, float top) {
  const Style& s = style();
  float taken = -1e9F;
  for (const TimelineTick& tick : chart.scene.ticks) {
    const float x = chart.x_of(tick.at), half = text_width(Face::mono, 11, tick.text) / 2;
    list->AddLine({x, chart.plot.min.y}, {x, chart.plot.max.y}, faded(colour(s.theme, Token::line), 0.7F), s.px(1));
    const float middle = std::clamp(x, chart.plot.min.x + half, chart.plot.max.x - half);
    if (middle - half < taken + s.px(6)) continue;
    taken = middle + half;
    draw_text_in(list, {{middle - half, top}, {middle + half, top + s.px(kAxis)}}, Align::left, Face::mono, 11,
                 colour(s.theme, Token::dim), tick.text);
  }
}

// White over all, black in the light theme: the path from end to end.
void draw_path(ImDrawList* list, const Chart& chart) {
  const Style& s = style();
  if (!chart.scene.with_path) return;
  const ImU32 ink = colour(s.theme, Token::text), ground = colour(s.theme, Token::card);
  list->PushClipRect(chart.plot.min, chart.plot.max, true);
  for (const bool under : {true, false}) {
    float last = -1;
    for (std::size_t n = 0; n < chart.scene.path.size(); ++n) {
      const PathStretch& p = chart.scene.path[n];
      if (p.to < chart.scene.from || p.from > chart.scene.to) continue;
      const Box& row = chart.rows[chart.scene.path_rows[n]];
      const float y = row.height() > s.px(24) ? row.min.y + row.height() * kPathAt : row.centre().y;
      const float from = chart.x_of(p.from), to = chart.x_of(p.to);
      const float width = under ? s.px(4) : s.px(2);
      const ImU32 c = under ? faded(ground, 0.7F) : ink;
      if (last >= 0 && std::fabs(last - y) > 0.5F) list->AddLine({from, last}, {from, y}, c, width);
      list->AddLine({from, y}, {to, y}, c, width);
      last = y;
    }
  }
  list->PopClipRect();
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
                 colour(s.theme, Token::text), s.px(1.5F), 3);
  ImGui::SetCursorScreenPos(box.min);
  ImGui::InvisibleButton("timeline_overview", {box.width(), box.height()});
  tooltip(tr("The whole block; click to move the view there"));
  if (!ImGui::IsItemActive() || scene.whole) return;
  const double share = std::clamp((ImGui::GetIO().MousePos.x - box.min.x) / box.width(), 0.0F, 1.0F);
  const double half = static_cast<double>(scene.to - scene.from) * scene.ns_a_clock / 2;
  const double middle = std::clamp(share * static_cast<double>(scene.length) * scene.ns_a_clock, half,
                                   static_cast<double>(scene.length) * scene.ns_a_clock - half);
  commands.push_back(
      ChooseTimeSpan{static_cast<std::int64_t>(middle - half), static_cast<std::int64_t>(std::ceil(middle + half))});
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

void follow_pointer(ImDrawList* list, const Chart& chart, Commands& commands) {
  const Style& s = style();
  ImGui::SetCursorScreenPos(chart.plot.min);
  ImGui::InvisibleButton("timeline_lanes", {chart.plot.width(), chart.plot.height()});
  const ImGuiIO& io = ImGui::GetIO();
  const auto within = [&](float x) { return std::clamp(x, chart.plot.min.x, chart.plot.max.x); };
  const float from = within(std::min(io.MouseClickedPos[0].x, io.MousePos.x));
  const float to = within(std::max(io.MouseClickedPos[0].x, io.MousePos.x));
  const bool dragged = to - from >= s.px(kLeastDrag);
  const double ns = chart.scene.ns_a_clock;
  const auto ns_at = [&](float x) { return static_cast<double>(chart.clock_of(x)) * ns; };
  if (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(0)) return commands.push_back(whole_block(chart.scene));
  if (ImGui::IsItemHovered() && io.MouseWheel != 0 && io.KeyCtrl) return zoom(chart, io.MouseWheel, commands);
  if (ImGui::IsItemDeactivated() && dragged && !io.KeyShift) {
    commands.push_back(ChooseTimeSpan{static_cast<std::int64_t>(std::floor(ns_at(from))),
                                      static_cast<std::int64_t>(std::ceil(ns_at(to)))});
  } else if (ImGui::IsItemDeactivated() && !dragged) {
    const TimelineStretch* x = under_pointer(chart, io.MousePos);
    const std::int32_t tile = x == nullptr ? -1 : x->tile;
    commands.push_back(FollowKeyTile{tile == chart.scene.follow ? -1 : tile});
  } else if (ImGui::IsItemActive() && dragged) {
    const ImU32 ink = colour(s.theme, Token::text);
    list->AddRectFilled({from, chart.plot.min.y}, {to, chart.plot.max.y}, faded(ink, 0.1F));
    draw_outline(list, {{from, chart.plot.min.y}, {to, chart.plot.max.y}}, faded(ink, 0.6F), s.px(1));
    show_tooltip(duration_text(chart.scene, chart.clock_of(to) - chart.clock_of(from)), 200);
  } else if (ImGui::IsItemHovered()) {
    const TimelineStretch* x = under_pointer(chart, io.MousePos);
    if (x == nullptr) return;
    const std::int64_t clocks = x->to - x->from;
    std::string words = phrase("{}\n{}, {} clocks; from {} on", x->what, duration_text(chart.scene, clocks), clocks,
                               duration_text(chart.scene, x->from));
    if (const ReleaseArrow* a = release_of(chart.scene, *x); a != nullptr) {
      draw_release(list, chart, *a, colour(s.theme, Token::text));
      words += "\n" + a->words;
    }
    show_tooltip(words, 360);
  }
}

float rows_height(const PipelineScene& scene) {
  float height = 0;
  for (const TimelineRow& row : scene.rows) height += row.height + row.gap;
  return style().px(height);
}
float overview_height(const PipelineScene& scene) {
  float height = 4;
  for (const TimelineRow& row : scene.overview) height += row.height + row.gap;
  return style().px(height);
}
// Over all SMs: nothing of the one block, so that they have the room.
TextRuns tail_runs(const PipelineScene& scene) {
  const std::string answer = scene.answers.empty() ? std::string() : scene.answers.back().answer + " ";
  return {{answer, Face::bold, Token::text, 0, false}, {scene.tail, Face::text, Token::dim, 0, false}};
}
float door_height(const PipelineScene& scene) {
  return scene.door ? style().px(kDoor + kWordsGap) : 0;
}
// To a recording that says what this one does not.
void draw_door(const PipelineScene& scene, ImVec2 at, Commands& commands) {
  if (!scene.door) return;
  const float width = text_width(Face::text, 13, scene.door->words) + style().px(kDoorSides);
  if (box_button({at, {at.x + width, at.y + style().px(kDoor)}}, "##timeline_door", scene.door->words.c_str()))
    commands.push_back(ChooseTimeline{scene.door->id});
  tooltip(scene.door->tip);
}
float words_height(const PipelineScene& scene, float width) {
  if (scene.sms_shown) return draw_paragraph(nullptr, {}, width, 13, tail_runs(scene), kMostTail, false);
  const TextRuns words{{scene.words, Face::text, Token::dim, 0, false}};
  const float below =
      scene.words.empty() ? 0 : draw_paragraph(nullptr, {}, width, 13, words, 6, false) + style().px(kWordsGap);
  if (scene.answers.empty()) return line_height(17) + below + door_height(scene);
  return answers_height(scene, width) + style().px(kWordsGap) + below;
}
float notes_height(const PipelineScene& scene, float width) {
  return draw_paragraph(nullptr, {}, width, 12, {{scene.notes, Face::text, Token::dim, 0, false}}, 4, false);
}

void draw_title(ImDrawList* list, const PipelineScene& scene, const Box& line, float right) {
  const Style& s = style();
  draw_text_in(list, line, Align::left, Face::bold, 13, colour(s.theme, Token::text), tr("Timeline"));
  const float left = line.min.x + text_width(Face::bold, 13, tr("Timeline")) + s.px(12);
  std::string words = scene.sms_shown ? sms_words() : scene.title;
  if (!scene.sms_shown && scene.follow >= 0) words += phrase("; key tile {} is lit", scene.follow);
  draw_text_in(list, {{left, line.min.y}, {right, line.max.y}}, Align::left, Face::text, 12,
               colour(s.theme, Token::dim), fitted_text(Face::text, 12, words, right - left));
}

// Title, what to press.
void draw_head(ImDrawList* list, const PipelineScene& scene, const Box& line, Commands& commands) {
  const Style& s = style();
  float right = line.max.x;
  const auto button = [&](const char* label, bool on, const char* help) {
    right -= text_width(Face::text, 12, label) + s.px(12);
    ImGui::SetCursorScreenPos({right, line.centre().y - s.px(7)});
    const bool clicked = toggle(label, on, help);
    right -= s.px(6);
    return clicked;
  };
  if (button(tr("All SMs"), scene.sms_shown, tr("All blocks of the launch: waves, gaps and the tail")))
    commands.push_back(ShowAllSms{!scene.sms_shown});
  if (scene.sms_shown) return draw_title(list, scene, line, right);
  if (!scene.path.empty() && button(tr("Path"), scene.path_wanted,
                                    scene.path_wanted && !scene.with_path
                                        ? tr("Zoom in to see the critical path: it has too many segments at this scale")
                                        : tr("The critical path: what determines how long the block takes")))
    commands.push_back(ShowTimePath{!scene.path_wanted});
  if (!scene.whole && button(tr("Whole block"), false, tr("Shows the whole block, as does a double click")))
    commands.push_back(whole_block(scene));
  if (scene.whole && button(tr("Some tiles"), false, tr("Shows some key tiles in the middle of the block")))
    commands.push_back(ChooseTimeSpan{});
  if (scene.follow >= 0 && button(tr("All tiles"), false, tr("Follows no key tile")))
    commands.push_back(FollowKeyTile{});
  draw_title(list, scene, line, right);
}

// The second recording: its lanes under the same axis, and what differs.
float draw_beside(ImDrawList* list, const PipelineScene& scene, const Box& plot, float left, float top) {
  const Style& s = style();
  const PipelineScene& beside = *scene.beside;
  float y = top + s.px(kOverviewGap);
  draw_text(list, {left, y}, Face::bold, 13, colour(s.theme, Token::text), phrase("Below: {}", scene.beside_label));
  y += line_height(13);
  y += draw_paragraph(list, {left, y}, plot.max.x - left, 13, {{scene.beside_words, Face::text, Token::dim, 0, false}},
                      4);
  Chart chart{beside, {{plot.min.x, y}, {plot.max.x, y}}, {}};
  for (const TimelineRow& row : beside.rows) {
    y += s.px(row.gap);
    chart.rows.push_back({{plot.min.x, y}, {plot.max.x, y + s.px(row.height)}});
    y += s.px(row.height);
  }
  chart.plot.max.y = y;
  draw_labels(list, chart, left);
  for (std::size_t n = 0; n < chart.rows.size(); ++n) draw_row(list, chart, beside.rows[n], chart.rows[n]);
  draw_idle(list, chart);
  draw_releases(list, chart);
  for (std::size_t n = 0; n < chart.rows.size(); ++n) draw_row_letters(list, chart, beside.rows[n], chart.rows[n]);
  ImGui::SetCursorScreenPos(chart.plot.min);
  ImGui::InvisibleButton("timeline_beside", {chart.plot.width(), std::max(1.0F, chart.plot.height())});
  if (!ImGui::IsItemHovered()) return y;
  if (const TimelineStretch* x = under_pointer(chart, ImGui::GetIO().MousePos); x != nullptr)
    show_tooltip(fmt::format("{}\n{}", x->what, duration_text(beside, x->to - x->from)), 360);
  return y;
}

float beside_height(const PipelineScene& scene, float width) {
  if (scene.beside == nullptr) return 0;
  float height =
      style().px(kOverviewGap) + line_height(13) +
      draw_paragraph(nullptr, {}, width, 13, {{scene.beside_words, Face::text, Token::dim, 0, false}}, 4, false);
  for (const TimelineRow& row : scene.beside->rows) height += style().px(row.height + row.gap);
  return height;
}

// Head, menus, answers. Returns the y below them.
float draw_above(ImDrawList* list, const PipelineScene& scene, ImVec2 at, float width, Commands& commands) {
  const Style& s = style();
  const float right = at.x + width;
  draw_head(list, scene, {at, {right, at.y + s.px(kHead)}}, commands);
  float y = at.y + s.px(kHead);
  draw_timeline_choices(scene, {{at.x, y}, {right, y + s.px(kTimelineChoices)}}, commands);
  y += s.px(kTimelineChoices);
  if (scene.sms_shown) return y + draw_paragraph(list, {at.x, y}, width, 13, tail_runs(scene), kMostTail);
  float words = y;
  if (scene.answers.empty()) {
    draw_text(list, {at.x, y}, Face::bold, 17, colour(s.theme, Token::text), scene.headline);
    words += line_height(17);
  } else {
    draw_answers(list, scene, {at.x, y}, width, commands);
    words += answers_height(scene, width) + s.px(kWordsGap);
  }
  words += draw_paragraph(list, {at.x, words}, width, 13, {{scene.words, Face::text, Token::dim, 0, false}}, 6);
  draw_door(scene, {at.x, words + s.px(kWordsGap)}, commands);
  return y + words_height(scene, width);
}

void draw_lanes(const PipelineScene& scene, Commands& commands) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, right = at.x + width;
  float y = draw_above(list, scene, at, width, commands);
  draw_path_bar(list, scene, {at.x, y}, width);
  y += path_bar_height(scene, width);
  const float label = s.px(width < s.px(kNarrowCard) ? kLabelNarrow : kLabel);
  const float over = overview_height(scene);
  draw_text_in(list, {{at.x, y}, {at.x + label, y + over}}, Align::left, Face::text, 12, colour(s.theme, Token::dim),
               tr("whole block"));
  draw_overview(list, scene, {{at.x + label, y}, {right, y + over}}, commands);
  y += over + s.px(kOverviewGap);
  const float axis = y;
  y += s.px(kAxis);
  Chart chart{scene, {{at.x + label, y}, {right, y}}, {}};
  for (const TimelineRow& row : scene.rows) {
    y += s.px(row.gap);
    chart.rows.push_back({{at.x + label, y}, {right, y + s.px(row.height)}});
    y += s.px(row.height);
  }
  chart.plot.max.y = y;
  draw_axis(list, chart, axis);
  draw_labels(list, chart, at.x);
  for (std::size_t n = 0; n < chart.rows.size(); ++n) draw_row(list, chart, scene.rows[n], chart.rows[n]);
  draw_idle(list, chart);
  draw_path(list, chart);
  draw_releases(list, chart);
  for (std::size_t n = 0; n < chart.rows.size(); ++n) draw_row_letters(list, chart, scene.rows[n], chart.rows[n]);
  follow_pointer(list, chart, commands);
  if (scene.beside != nullptr) y = draw_beside(list, scene, chart.plot, at.x, y);
  draw_timeline_key(list, scene, {at.x, y}, width);
  y += timeline_key_height(scene, width);
  draw_paragraph(list, {at.x, y}, width, 12, {{scene.notes, Face::text, Token::dim, 0, false}}, 4);
}

float above_height(const PipelineScene& scene, float width) {
  return style().px(kHead + kTimelineChoices) + words_height(scene, width);
}

float lanes_height(const PipelineScene& scene, float width) {
  const Style& s = style();
  const float inner = width - 2 * s.px(kCardSide);
  return beside_height(scene, inner) + path_bar_height(scene, inner) + timeline_key_height(scene, inner) +
         s.px(kPads + kOverviewGap + kAxis + 4) + above_height(scene, inner) + overview_height(scene) +
         rows_height(scene) + notes_height(scene, inner);
}

void draw_sms_page(const PipelineScene& scene, Commands& commands) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
  const float y = draw_above(list, scene, at, room.x, commands) + s.px(kOverviewGap);
  draw_all_sms(list, scene, {{at.x, y}, {at.x + room.x, at.y + room.y}}, commands);
}

float sms_page_height(const PipelineScene& scene, float width) {
  const Style& s = style();
  return s.px(kPads + kOverviewGap) + above_height(scene, width - 2 * s.px(kCardSide)) + sms_height(scene);
}

}  // namespace

float timeline_height(const PipelineScene& scene, float width) {
  if (!scene.there) return style().px(92);
  if (scene.sms_shown) return sms_page_height(scene, width);
  return lanes_height(scene, width) + style().px(12) + blocks_height(scene, width);
}

void draw_timeline(const PipelineScene& scene, ImVec2 size, Commands& commands) {
  if (!scene.there) {
    if (begin_card("profile_timeline", {size.x, style().px(92)})) {
      heading(tr("Timeline"));
      dim_text(scene.empty);
    }
    return ImGui::EndChild();
  }
  if (scene.sms_shown) {
    if (begin_card("profile_timeline", size)) draw_sms_page(scene, commands);
    return ImGui::EndChild();
  }
  if (begin_card("profile_timeline", {size.x, lanes_height(scene, size.x)})) draw_lanes(scene, commands);
  ImGui::EndChild();
  draw_blocks(scene, {size.x, blocks_height(scene, size.x)}, commands);
}

}  // namespace attn
