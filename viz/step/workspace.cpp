// Step: the layout of its panels. Left to right, top to bottom: Problem, the strip, the tiles, the row chart beside HBM
// traffic, the timeline with the map.
#include "viz/step/workspace.h"

#include <algorithm>

#include "kernels/base/text.h"
#include "kernels/model/order_row.h"
#include "kernels/model/ring.h"
#include "kernels/recording/replay/exact.h"
#include "viz/draw/canvas.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/step/bars/bars_draw.h"
#include "viz/step/bars/gpu_bar.h"
#include "viz/step/bars/refused_draw.h"
#include "viz/step/bars/strip.h"
#include "viz/step/bars/wrong_run.h"
#include "viz/step/chart_card_draw.h"
#include "viz/step/charts/chart_card.h"
#include "viz/step/charts/traffic_draw.h"
#include "viz/step/facts/code_phase.h"
#include "viz/step/facts/gpu_run.h"
#include "viz/step/facts/side_by_side.h"
#include "viz/step/orders/looks.h"
#include "viz/step/problem/problem_draw.h"
#include "viz/step/problem/problem_fields.h"
#include "viz/step/step_cache.h"
#include "viz/step/tiles/tiles_draw.h"
#include "viz/step/timeline/heads_draw.h"
#include "viz/step/timeline/map_draw.h"
#include "viz/step/timeline/timeline_draw.h"
#include "viz/step/timeline/transport_draw.h"

namespace attn {
namespace {

constexpr float kGutter = 12, kProblemWidth = 200, kFoldBelow = 1340, kMinTiles = 170, kScrolledTiles = 240;
constexpr float kTwoTabLines = 480;  // below that width the charts' tabs take two lines

struct Areas {
  Box problem, strip, tiles, chart, traffic, timeline;
  bool has_problem = false, has_bottom = false, has_traffic = false;
  bool has_strip = true, has_tiles = true, has_chart = true, has_timeline = true;
  bool scrolls = false;  // strip and tiles, in a window too low for both; the timeline stays where it is
};

// Height that the tiles would fill, logical: beyond it the charts get the space.
float liked_tiles_height(const Recording& rec, float height) {
  const auto extent = [](std::int32_t tile, std::int64_t length) {
    return static_cast<float>(tile > 0 ? std::min<std::int64_t>(tile, length) : length);
  };
  const float rows = extent(rec.options.br, rec.problem.Lq);
  const float k_rows = static_cast<float>(rec.problem.D);
  const float growth = std::clamp(height / 900, 1.0F, 2.0F);
  return 110 + growth * (std::min(rows * 64, 900.0F) + std::max(110.0F, std::min(k_rows * 32, 420.0F)));
}

// Cards that a lesson's beat does not speak of are folded away, and the others have their room. The tiles stay where
// nothing else would fill it.
void fold(Areas& a, const StepFocus& look, bool charts, bool low, const SideBySide& way) {
  using enum StepPart;
  if (look.parts.none()) return;
  a.has_timeline = look.has(timeline);
  a.has_strip = look.has(strip) || (charts && low);  // a chart that has no room is behind a chip of the strip
  a.has_chart = look.has(chart);
  a.has_tiles = !charts || low || way.tiles != nullptr || look.names_tiles() || look.has(k) || look.has(v) ||
                look.has(chip) || look.has(legend);
}

// `wide`: a chart that takes the place of HBM traffic, and needs height.
Areas layout(const Box& all, const Recording& rec, bool alone, bool wide, const StepFocus& look) {
  const Style& s = style();
  Areas a;
  const float gutter = s.px(kGutter), width = all.width() / s.scale, height = all.height() / s.scale;
  Box rest = all;
  constexpr float kLowest = 410;  // of what holds tiles and charts
  const SideBySide& way = side_by_side_of(rec);
  const bool charts = look.has(StepPart::chart) || (look.has(StepPart::traffic) && way.card == nullptr);
  fold(a, look, charts, height - 112 - 2 * kGutter < kLowest, way);
  const float strip_whole = strip_height(rest.width() / s.scale, height), strip = a.has_strip ? strip_whole : 0;
  const float strip_gap = a.has_strip ? kGutter : 0;
  // Low beside the tiles, rather than tiles that are scrolled.
  const bool squat = height < 300 || (height < 420 && height - strip_whole - 91 - 2 * kGutter < kMinTiles);
  const float timeline = !a.has_timeline ? 0 : squat ? 66 : height < 420 ? 91 : height < 700 ? 100 : 112;
  const float middle = height - strip - timeline - strip_gap - (a.has_timeline ? kGutter : 0);
  a.scrolls = middle < kMinTiles;
  a.has_problem = width >= kFoldBelow && !a.scrolls && !alone;
  if (a.has_problem) {
    a.problem = {all.min, {all.min.x + s.px(kProblemWidth), all.max.y - s.px(112 + kGutter)}};
    rest.min.x = a.problem.max.x + gutter;
  }
  a.strip = {rest.min, {rest.max.x, rest.min.y + s.px(strip)}};
  a.timeline = {{all.min.x, all.max.y - s.px(timeline)}, all.max};
  // Secondary cards go before the tiles are squeezed.
  float bottom = 0;
  if (charts && !a.has_tiles)
    bottom = middle;
  else if (charts && middle >= kLowest && way.tiles == nullptr)
    bottom = std::max(way.card != nullptr ? way.card_height
                      : wide              ? std::clamp(middle * 0.46F, 180.0F, 360.0F)
                                          : std::clamp(middle * 0.32F, width < kTwoTabLines ? 166.0F : 138.0F, 240.0F),
                      middle - kGutter - liked_tiles_height(rec, middle));
  a.has_bottom = bottom > 0;
  const float top = a.strip.max.y + s.px(strip_gap), gap = a.has_tiles ? gutter : 0;
  const float tiles_bottom =
      !a.has_tiles ? top : top + s.px((a.scrolls ? kScrolledTiles : middle) - (a.has_bottom ? bottom + kGutter : 0));
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

// One panel in the room of all.
Areas one_panel(const Box& all, StepPanel panel) {
  Areas a;
  a.strip = a.tiles = a.chart = a.traffic = a.timeline = all;
  a.has_strip = false;
  a.has_tiles = panel == StepPanel::tiles;
  a.has_chart = panel == StepPanel::chart;
  a.has_traffic = panel == StepPanel::traffic;
  a.has_bottom = a.has_chart || a.has_traffic;
  a.has_timeline = panel == StepPanel::timeline;
  return a;
}

// Strip and tiles move with the page that they are on.
void begin_page(Areas& a) {
  const Box page{a.strip.min, {a.strip.max.x, a.timeline.min.y - style().px(kGutter)}};
  ImGui::SetCursorScreenPos(page.min);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::PushStyleColor(ImGuiCol_ChildBg, 0U);
  ImGui::BeginChild("page", {page.width(), page.height()}, ImGuiChildFlags_NavFlattened);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
  const float moved = ImGui::GetCursorScreenPos().y - page.min.y;
  const float bar = ImGui::GetScrollMaxY() > 0 ? style().px(14) : 0;
  for (Box* box : {&a.strip, &a.tiles}) {
    box->min.y += moved, box->max.y += moved;
    box->max.x -= bar;
  }
}

// On a page that is scrolled a lesson's step begins with its tiles in sight: the card beside it has the words.
void show_lit_tiles(StepUiState& ui, EventIndex now) {
  if (!ui.look.names_tiles()) return ui.page_at.reset();
  if (ui.page_at == now) return;
  ui.page_at = now;
  ImGui::SetScrollY(style().px(kScrolledTiles));
}

void end_page(const Areas& a) {
  ImGui::SetCursorScreenPos(a.strip.min);
  ImGui::Dummy({1, a.tiles.max.y - a.strip.min.y});
  ImGui::EndChild();
}

// Where there is little width the chip keeps its name alone.
std::string problem_chip_words(const Document& d, const Box& strip) {
  constexpr float kLeast = 560;  // logical
  if (strip.width() < style().px(kLeast)) return tr("Problem");
  return fitted_text(Face::text, 13, problem_words(d), strip.width() * 0.42F);
}

// Where the chips on the strip's first line begin.
float chips_left(const Areas& areas, const Document& d, bool alone) {
  const Style& s = style();
  const auto wide = [&](const std::string& words) { return text_width(Face::text, 13, words) + s.px(40 + 8); };
  float left = areas.strip.max.x - s.px(12);
  if (!areas.has_problem && !alone) left -= wide(problem_chip_words(d, areas.strip));
  if (!areas.has_bottom) left -= wide(tr("Charts"));
  return left;
}

// The chip that stands for the folded Problem panel: at the right of the strip's first line. Returns where it begins.
float draw_problem_chip(const ProblemPanel& panel, const Box& strip) {
  const Style& s = style();
  Box box;
  const std::string words = problem_chip_words(panel.state.document, strip);
  if (chip_button("##problem_chip", words, {strip.max.x - s.px(12), strip.min.y + s.px(5)}, box))
    ImGui::OpenPopup("##problem_popup");
  const float height = problem_panel_height(panel.state);
  ImGui::SetNextWindowPos({box.max.x - s.px(264), box.max.y + s.px(6)});
  ImGui::SetNextWindowSize(
      {s.px(264), std::min(height + s.px(24), ImGui::GetMainViewport()->Size.y - box.max.y - s.px(16))});
  if (!ImGui::BeginPopup("##problem_popup", ImGuiWindowFlags_NoMove)) {
    keep_typed(panel);
    return box.min.x;
  }
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const Box inside{at, {at.x + ImGui::GetContentRegionAvail().x, at.y + height}};
  draw_problem_panel(panel, inside, false);
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy({inside.width(), height});
  ImGui::EndPopup();
  return box.min.x;
}

// Where the window has no room for the charts under the tiles they are behind a chip, left of `strip`'s right edge.
void draw_charts_chip(const ChartCard& card, const Box& strip, const Box& all, const HiddenAnswers& hidden) {
  const Style& s = style();
  Box box;
  if (chip_button("##charts_chip", tr("Charts"), {strip.max.x, strip.min.y + s.px(5)}, box))
    ImGui::OpenPopup("##charts_popup");
  const float room = all.max.y - strip.max.y - s.px(12), wide = std::min(all.width() - s.px(24), s.px(860));
  // Where both have no room at once they are scrolled.
  const float chart = std::min(room - s.px(24), s.px(220));
  const float traffic = std::clamp(room - chart - s.px(36), s.px(150), s.px(190));
  const bool both = !hidden.traffic;
  const float height = chart + (both ? traffic + s.px(kGutter) : 0);
  ImGui::SetNextWindowPos({all.max.x - wide - s.px(12), strip.max.y + s.px(6)});
  ImGui::SetNextWindowSize({wide, std::min(height + s.px(24), room)});
  if (!ImGui::BeginPopup("##charts_popup", ImGuiWindowFlags_NoMove)) return;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float right = at.x + ImGui::GetContentRegionAvail().x;
  draw_chart_card(card, {at, {right, at.y + chart}});
  if (both)
    draw_traffic_card(ImGui::GetWindowDrawList(), {{at.x, at.y + chart + s.px(kGutter)}, {right, at.y + height}},
                      traffic_scene(card.rec, card.at.event, card.cache.traffic), card.rec, card.at.event);
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy({right - at.x, height});
  ImGui::EndPopup();
}

// In place of what a question is about.
void draw_veiled_words(ImDrawList* list, const Box& box, bool later) {
  draw_dashed(list, box, colour_of(Token::faint));
  draw_text_in(list, box, Align::centre, Face::text, 13, colour_of(Token::dim),
               fitted_text(Face::text, 13, later ? tr("for a later question") : tr("after your answer"), box.width()));
}

void draw_veiled_card(ImDrawList* list, const Box& box, const char* title, bool later) {
  const Style& s = style();
  draw_card(list, box);
  draw_text(list, {box.min.x + s.px(16), box.min.y + s.px(12)}, Face::bold, 14, colour_of(Token::text), title);
  draw_veiled_words(list, {{box.min.x + s.px(16), box.min.y + s.px(40)}, {box.max.x - s.px(16), box.max.y - s.px(16)}},
                    later);
}

// What the timeline has no room for in a low window.
void draw_more_popup(const Box& chip, const Recording& rec, const StepPlace& at, const State& state,
                     const TimelineScene& scene, bool map, Commands& commands) {
  const Style& s = style();
  constexpr float kWidth = 300, kPad = 12, kRow = 24, kLine = 36, kMap = 84;
  const float height = kRow + kPad + kLine + (map ? kPad + kMap : 0);
  ImGui::SetNextWindowPos({chip.min.x, chip.min.y - s.px(6)}, ImGuiCond_Always, {0, 1});
  ImGui::SetNextWindowSize({s.px(kWidth + 2 * kPad), s.px(height + 2 * kPad)});
  if (!ImGui::BeginPopup("##timeline_more_popup", ImGuiWindowFlags_NoMove)) return;
  const ImVec2 corner = ImGui::GetWindowPos();
  const float left = corner.x + s.px(kPad), right = left + s.px(kWidth);
  float y = corner.y + s.px(kPad);
  draw_transport_marks({{left, y}, {right, y + s.px(kRow)}}, state, scene, commands);
  y += s.px(kRow + kPad);
  draw_scrubber({{left + s.px(4), y}, {right - s.px(4), y + s.px(kLine)}}, scene, commands);
  y += s.px(kLine + kPad);
  if (map) draw_step_map({{left, y}, {right, y + s.px(kMap)}}, map_scene(rec, at), rec, at, commands);
  ImGui::EndPopup();
}

void draw_timeline_card(const Box& box, const SideBySideView& view) {
  const auto& [rec, at, state, ui, cache, commands] = view;
  const HiddenAnswers& hidden = ui.hidden;
  const Style& s = style();
  draw_card(ImGui::GetWindowDrawList(), box);
  TimelineScene scene = timeline_scene(rec, at, cache.marks, state.view.step.bookmarks);
  if (hidden.on || hidden.map) hide_after(scene, hidden.on ? hidden.horizon : at.event, hidden.map);
  const Box in{{box.min.x + s.px(16), box.min.y + s.px(12)}, {box.max.x - s.px(16), box.max.y - s.px(8)}};
  Box more{};
  if (draw_transport({in.min, {in.min.x + s.px(kTransportWidth), in.max.y}}, state, scene, commands, more))
    ImGui::OpenPopup("##timeline_more_popup");
  draw_more_popup(more, rec, at, state, scene, !hidden.map, commands);
  const float width = box.width() / s.scale;
  float x = in.min.x + s.px(kTransportWidth + 14);
  if (const auto track = side_by_side_of(rec).track) return track(view, {{x, in.min.y}, in.max});
  if (width >= 760) {
    const float map = width >= 1100 ? 190 : 110;
    const Box map_box{{x, in.min.y - s.px(6)}, {x + s.px(map), in.max.y}};
    if (hidden.map)
      draw_veiled_words(ImGui::GetWindowDrawList(), map_box, hidden.map_later);
    else
      draw_step_map(map_box, map_scene(rec, at), rec, at, commands);
    x += s.px(map + 14);
    if (rec.problem.B * rec.problem.Hq > 1) {
      const float heads = heads_width(cache.heads);
      draw_head_picker({{x, in.min.y - s.px(4)}, {x + heads, in.max.y + s.px(4)}}, cache.heads, rec, at,
                       state.document.selection, commands);
      x += heads + s.px(18);
    }
  }
  draw_track({{x, in.min.y}, in.max}, scene, commands);
}

struct StripPlace {
  const State& state;
  const Recording& rec;
  const StepPlace& at;
  const StepUiState& ui;
  bool alone = false, door = false;  // a lesson does not lead away
};

void draw_strip(const Areas& areas, StripScene strip, const StripPlace& in, Commands& commands) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  strip.note = in.rec.gpu ? recorded_words(in.rec, in.at.event) : stand_in_words(in.state);
  if (!in.door) strip.door.clear();
  if (draw_step_strip(list, areas.strip, strip, chips_left(areas, in.state.document, in.alone)))
    commands.push_back(ShowPhase{*code_phase_of(in.rec.events[in.at.event].id.phase)});
}

// The chart of the followed row and that of HBM; what a lesson asks for is answer_hidden.
void draw_bottom(ImDrawList* list, const Areas& areas, const ChartCard& charts, const SideBySideView& view) {
  const StepUiState& ui = view.ui;
  const EventIndex event = charts.at.event;
  if (const auto card = side_by_side_of(charts.rec).card)
    card(view, areas.chart);
  else if (areas.has_chart && ui.hidden.map)
    draw_veiled_card(list, areas.chart, tr("The row across the keys"), ui.hidden.map_later);
  else if (areas.has_chart)
    draw_chart_card(charts, areas.chart);
  if (areas.has_traffic && ui.hidden.traffic)
    draw_veiled_card(list, areas.traffic, tr("HBM traffic"), ui.hidden.traffic_later);
  else if (areas.has_traffic)
    draw_traffic_card(list, areas.traffic, traffic_scene(charts.rec, event, charts.cache.traffic), charts.rec, event,
                      ui.look.has(StepPart::orders));
}

// The step whose state the tiles show.
EventIndex shown_step(const Recording& rec, EventIndex now, std::int32_t row) {
  const auto step = side_by_side_of(rec).tiles_step;
  return step == nullptr ? now : step(rec, now, row);
}

// After step `now`; of consumers that go abreast, as the one stands that computes the followed row.
TilesScene tiles_at(const Recording& rec, EventIndex now, const State& state, const TensorScales& scales) {
  const Selection& selection = state.document.selection;
  const EventIndex e = shown_step(rec, now, selection.row);
  return e == now ? tiles_scene(rec, now, selection, state.view.step.reading, scales)
                  : tiles_scene(rec, e, now, selection, scales);
}

bool shows_fragments(const State& state, const Recording& rec) {
  return state.view.step.chart == StepChart::fragments && has_chart(rec, StepChart::fragments);
}

void draw_unrecorded(const ProblemPanel& problem, const Box& all, Commands& commands) {
  const Style& s = style();
  const float width = std::min(s.px(kProblemWidth), all.width() / 3);
  draw_problem_panel(problem, {all.min, {all.min.x + width, all.max.y}}, true);
  draw_refused({{all.min.x + width + s.px(kGutter), all.min.y}, all.max}, problem.state, problem.model.recording_error,
               commands);
}

// A lesson's chart that stands alone comes before the letters of the tiles.
bool has_letters(const StepFocus& look) {
  return look.names_statistics() || look.names_tiles() || look.has(StepPart::k) || look.has(StepPart::v);
}

}  // namespace

void draw_step(const State& state, const Model& model, StepUiState& ui, Commands& commands) {
  if (!ui.cache) ui.cache = std::make_shared<StepCache>();
  StepCache& cache = *ui.cache;
  const ImVec2 origin = ImGui::GetCursorScreenPos(), size = ImGui::GetContentRegionAvail();
  Box all{origin, {origin.x + size.x, origin.y + size.y}};
  const ProblemPanel problem{state, model, cache.editing, commands};
  if (!model.recording || model.recording->events.empty()) {
    ui.tiles.focused = false;
    return draw_unrecorded(problem, all, commands);
  }
  const std::shared_ptr<const Recording> shown = cache.shown(model.recording, ui.hidden);
  const Recording& rec = *shown;
  const auto last = static_cast<EventIndex>(rec.events.size() - 1);
  const EventIndex now = std::min(state.view.step.cursor, last);
  cache.follow(shown, shown_step(rec, now, state.document.selection.row));
  ui.tiles.follow(model.recording);
  const bool one = ui.only && *ui.only != StepPanel::run, alone = ui.alone || ui.only;
  if (const WrongRunScene wrong = wrong_run_scene(state, model, ui.hidden.on); wrong.shown && !one) {
    const float height = wrong_run_height(wrong, all.width());
    draw_wrong_run({all.min, {all.max.x, all.min.y + height}}, wrong, commands);
    all.min.y += height + style().px(kGutter);
  }
  const bool own = model.recording->gpu && !ui.hidden.on && !alone;  // a GPU's run, and no lesson
  const GpuBarScene bar = own ? gpu_bar_scene(state, *model.recording, cache.cpu_comparison()) : GpuBarScene{};
  if (bar.shown) {
    constexpr float kLow = 620;  // logical
    const bool low = all.height() < style().px(kLow);
    const float height = gpu_bar_height(bar, all.width(), low);
    draw_gpu_bar({all.min, {all.max.x, all.min.y + height}}, bar, low, commands);
    all.min.y += height + style().px(kGutter);
  }
  const StepFocus look = seen_of(ui.look, ui.hidden);
  Areas areas =
      one ? one_panel(all, *ui.only) : layout(all, rec, alone, shows_wide_chart(state, rec) && !ui.hidden.on, look);
  // Fragments are of the hardware, not of the step: they take the room of the tiles and of all charts.
  const bool fragments = shows_fragments(state, rec) && !ui.hidden.on;
  // On a page that is scrolled they are whole, rather than a page within it.
  if (areas.scrolls && fragments) areas.tiles.max.y = areas.tiles.min.y + fragments_card_height(areas.tiles.width());
  if (areas.scrolls) {
    begin_page(areas);
    show_lit_tiles(ui, state.view.step.cursor);
  }
  // Sentence, charts and timeline are the formulas'; the tiles alone have what the kernel held.
  const Recording& held_run = bar.raw ? *model.recording : rec;
  const TensorScales& scales = bar.raw ? cache.held_scales(model.recording) : cache.scales;
  TilesScene tiles = tiles_at(held_run, now, state, scales);
  if (ui.hidden.on) keep_answers_back(tiles);
  const StepPlace at = place_of(rec, now, state.document.selection);
  const StepValues values = step_values(rec, at, state.document.selection, cache.bounds());
  ImDrawList* list = ImGui::GetWindowDrawList();
  if (areas.has_problem) draw_problem_panel(problem, areas.problem, true);
  float chips = areas.strip.max.x - style().px(12);
  if (areas.has_strip) {
    draw_strip(areas, strip_scene(rec, at, values, ui.texts), {state, rec, at, ui, alone, !alone && !ui.hidden.on},
               commands);
    if (!areas.has_problem && !alone) chips = draw_problem_chip(problem, areas.strip) - style().px(8);
  }
  const SideBySideView view{rec, at, state, ui, cache, commands};
  AskedBar* asked_bar = ui.asked_bar ? &*ui.asked_bar : nullptr;
  const ChartCard charts{rec, at, values, state, cache, commands, false, ui.hidden.on, has_letters(look), asked_bar};
  if (areas.has_strip && !areas.has_bottom && !ui.hidden.map && state.view.step.chart != StepChart::fragments)
    draw_charts_chip(charts, {areas.strip.min, {chips, areas.strip.max.y}}, all, ui.hidden);
  if (areas.has_tiles && fragments) {
    ui.tiles.focused = false;
    draw_chart_card(charts,
                    {areas.tiles.min, {areas.tiles.max.x, areas.has_bottom ? areas.chart.max.y : areas.tiles.max.y}});
  } else if (areas.has_tiles && side_by_side_of(rec).tiles != nullptr) {
    side_by_side_of(rec).tiles(view, areas.tiles);
  } else if (areas.has_tiles) {
    // Beside a question the value in fp64 could be its answer.
    const ExactTile* exact = bar.raw || ui.hidden.on ? nullptr : cache.bounds();
    draw_step_tiles({held_run, exact, scales, state, ui.tiles, commands, look, ui.hidden.on}, areas.tiles, tiles);
  }
  if (areas.has_bottom && !fragments) draw_bottom(list, areas, charts, view);
  if (areas.scrolls) end_page(areas);
  if (areas.has_timeline) draw_timeline_card(areas.timeline, view);
  ImGui::SetCursorScreenPos(origin);
  ImGui::Dummy(size);
}

}  // namespace attn
