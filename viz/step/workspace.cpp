// Step: the layout of its panels. Left to right, top to bottom: Problem, the strip, the tiles, the row chart beside HBM
// traffic, the timeline with the map.
#include "viz/step/workspace.h"

#include <algorithm>

#include "kernels/base/text.h"
#include "kernels/model/order_row.h"
#include "kernels/model/ring.h"
#include "kernels/recording/replay/exact.h"
#include "viz/draw/canvas.h"
#include "viz/draw/hands.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/step/bars/areas_draw.h"
#include "viz/step/bars/bars_draw.h"
#include "viz/step/bars/gpu_bar.h"
#include "viz/step/bars/refused_draw.h"
#include "viz/step/bars/strip.h"
#include "viz/step/bars/wrong_run.h"
#include "viz/step/chart_card_draw.h"
#include "viz/step/charts/chart_card.h"
#include "viz/step/charts/traffic_draw.h"
#include "viz/step/facts/abreast.h"
#include "viz/step/facts/code_phase.h"
#include "viz/step/facts/gpu_run.h"
#include "viz/step/facts/side_by_side.h"
#include "viz/step/orders/looks.h"
#include "viz/step/problem/problem_draw.h"
#include "viz/step/problem/problem_fields.h"
#include "viz/step/step_cache.h"
#include "viz/step/tiles/pointed.h"
#include "viz/step/tiles/tiles_draw.h"

namespace attn {
namespace {

// Where there is little width the chip keeps its name alone.
std::string problem_chip_words(const Document& d, const Box& strip) {
  constexpr float kLeast = 560;  // logical
  if (strip.width() < style().px(kLeast)) return tr("Problem");
  return fitted_text(Face::text, 13, problem_words(d), strip.width() * 0.42F);
}

// Charts without a panel are behind a chip. A page has its charts, unless the ranks of a ring are on it.
bool has_charts_chip(const StepAreas& areas, const Recording& rec) {
  constexpr float kLeast = 560;  // logical
  const bool ranks = side_by_side_of(rec).tiles != nullptr && areas.strip.width() >= style().px(kLeast);
  return !areas.has_bottom && (!areas.phone || ranks);
}

// Where the chips on the strip's first line begin.
float chips_left(const StepAreas& areas, const Recording& rec, const Document& d, bool alone) {
  const Style& s = style();
  const auto wide = [&](const std::string& words) { return text_width(Face::text, 13, words) + s.px(40 + 8); };
  float left = areas.strip.max.x - s.px(12);
  if (!areas.has_problem && !alone) left -= wide(problem_chip_words(d, areas.strip));
  if (has_charts_chip(areas, rec)) left -= wide(charts_chip_words(rec));
  return left;
}

// The chip that stands for the folded Problem panel: at the right of the strip's first line. Returns where it begins.
float draw_problem_chip(const ProblemPanel& panel, const Box& strip) {
  const Style& s = style();
  Box box;
  const std::string words = problem_chip_words(panel.state.document, strip);
  if (chip_button("##problem_chip", words, {strip.max.x - s.px(12), strip.min.y + chip_top(strip)}, box))
    ImGui::OpenPopup("##problem_popup");
  const float height = problem_panel_height(panel.state);
  const ImGuiViewport& view = *ImGui::GetMainViewport();
  const ImVec2 below{box.max.x, box.max.y + s.px(6)};
  const float room = view.Pos.y + view.Size.y - below.y - s.px(10);
  if (!begin_folded("##problem_popup", below, {1, 0}, {s.px(264), height + s.px(24)}, room)) {
    keep_typed(panel);
    return box.min.x;
  }
  let_clicks_through(box);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const Box inside{at, {at.x + ImGui::GetContentRegionAvail().x, at.y + height}};
  draw_problem_panel(panel, inside, false);
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy({inside.width(), height});
  end_folded();
  return box.min.x;
}

struct StripPlace {
  const State& state;
  const Recording& rec;
  const StepPlace& at;
  const StepUiState& ui;
  bool alone = false, door = false;  // a lesson does not lead away
};

void draw_strip(const StepAreas& areas, StripScene strip, const StripPlace& in, Commands& commands) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  strip.note = in.rec.gpu ? recorded_words(in.rec, in.at.event) : stand_in_words(in.state);
  if (!in.door || by_touch()) strip.door.clear();  // a line of text is no finger's target
  if (draw_step_strip(list, areas.strip, strip, chips_left(areas, in.rec, in.state.document, in.alone)))
    commands.push_back(ShowPhase{*code_phase_of(in.rec.events[in.at.event].id.phase)});
}

// The chart of the followed row and that of HBM; what a lesson asks for is answer_hidden.
void draw_bottom(ImDrawList* list, const StepAreas& areas, const ChartCard& charts, const SideBySideView& view) {
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

// A lesson's chart that stands alone comes before the letters of the tiles.
bool has_letters(const StepFocus& look) {
  return look.names_statistics() || look.names_tiles() || look.has(StepPart::k) || look.has(StepPart::v);
}

// The bars over a run that is wrong, and over a GPU's.
struct RunBars {
  WrongRunScene wrong;
  GpuBarScene gpu;
};

RunBars run_bars(const State& state, const Model& model, StepUiState& ui) {
  const bool one = ui.only && *ui.only != StepPanel::run, alone = ui.alone || ui.only;
  RunBars bars{wrong_run_scene(state, model, ui.hidden.on), {}};
  bars.wrong.shown = bars.wrong.shown && !one;
  const bool own = model.recording->gpu && !ui.hidden.on && !alone;  // a GPU's run, and no lesson
  if (own) bars.gpu = gpu_bar_scene(state, *model.recording, ui.cache->cpu_comparison());
  return bars;
}

bool is_low_for_bars(const Box& all) {
  constexpr float kLow = 620;  // logical
  return all.height() < style().px(kLow);
}

float run_bars_height(const RunBars& bars, const Box& all) {
  const float gutter = style().px(kStepGutter);
  return (bars.wrong.shown ? wrong_run_height(bars.wrong, all.width()) + gutter : 0) +
         (bars.gpu.shown ? gpu_bar_height(bars.gpu, all.width(), is_low_for_bars(all)) + gutter : 0);
}

// Their room is taken from `all`.
void draw_run_bars(const RunBars& bars, Box& all, Commands& commands) {
  if (bars.wrong.shown) {
    const float height = wrong_run_height(bars.wrong, all.width());
    draw_wrong_run({all.min, {all.max.x, all.min.y + height}}, bars.wrong, commands);
    all.min.y += height + style().px(kStepGutter);
  }
  if (bars.gpu.shown) {
    const bool low = is_low_for_bars(all);
    const float height = gpu_bar_height(bars.gpu, all.width(), low);
    draw_gpu_bar({all.min, {all.max.x, all.min.y + height}}, bars.gpu, low, commands);
    all.min.y += height + style().px(kStepGutter);
  }
}

// Where they would leave the tiles too little they are scrolled with them.
bool has_bars_on_page(const RunBars& bars, const Box& all, bool lying, bool phone) {
  constexpr float kLeast = 400;  // logical: of what stays and tiles
  return lying || (phone && all.height() - run_bars_height(bars, all) < style().px(kLeast));
}

// What the panels of a frame are drawn from.
struct StepFrame {
  const ProblemPanel& problem;
  const SideBySideView& view;
  const ChartCard& charts;
  const StepRoom& room;
  const Box& all;
  const TensorScales& scales;  // of the tiles
  bool fragments;              // of the hardware, not of the step: they take the room of the tiles and of all charts
};

// On a phone.
bool has_words_below(StepChart chart) {
  return chart == StepChart::error || chart == StepChart::attention;
}

// How much of a phone's tiles is in sight at once. The head of what follows peeks in below those that need no more.
float tiles_seen(const StepAreas& phone, const Recording& rec) {
  constexpr float kLying = 200, kPeek = 40;  // logical
  const bool lies = phone.page.width() > phone.page.height();
  const bool more = (phone.has_chart || phone.has_traffic) && side_by_side_of(rec).tiles == nullptr;
  const float peek = more && !lies ? style().px(kPhoneGutter + kPeek) : 0;
  return std::max(phone.page.height() - peek, style().px(lies ? kLying : kScrolledTiles));
}

// `bars`: on the page.
StepAreas areas_of(const StepFrame& f, const TilesScene& tiles, bool phone, const RunBars* bars,
                   const PointedScene* spelled) {
  const StepUiState& ui = f.view.ui;
  if (!phone && ui.only && *ui.only != StepPanel::run) return panel_areas(f.all, *ui.only);
  if (!phone) {
    StepAreas areas = step_areas(f.all, f.room);
    // On a page that is scrolled they are whole, rather than a page within it.
    if (areas.scrolls && f.fragments)
      areas.tiles.max.y = areas.tiles.min.y + fragments_card_height(areas.tiles.width());
    return areas;
  }
  StepAreas areas = phone_areas(f.all, f.room, ui.only);
  const Box& page = areas.page;
  const float least = tiles_seen(areas, f.view.rec);
  const SideBySide& way = side_by_side_of(f.view.rec);
  const float words = spelled != nullptr ? spelled_height(*spelled, page.width()) + style().px(kPhoneGutter) : 0;
  // What is spelled out is said of a cell in sight.
  constexpr float kLeastPage = 150;  // logical
  const bool upright = page.max.y <= areas.timeline.min.y && page.min.x <= areas.strip.min.x;
  if (words > 0 && upright && areas.has_strip && page.height() - words < style().px(kLeastPage)) fold_strip(areas);
  fill_phone_page(areas, f.room, bars != nullptr ? run_bars_height(*bars, page) : 0,
                  f.fragments ? fragments_card_height(page.width())
                  : way.tiles ? std::max(least, way.tiles_height(f.view, page.width()))
                              : phone_tiles_height(tiles, f.view.rec, f.scales, f.room.look, page.width(), least));
  if (f.fragments) areas.has_bottom = areas.has_traffic = false;
  areas.page.max.y -= words;
  return areas;
}

// Whether a figure has the layout of a phone: in a narrow column of another page, where that shows more.
bool is_phone_figure(const StepFrame& f, const TilesScene& tiles, const Recording& held_run) {
  constexpr float kWidest = 640, kColumn = 480, kLowest = 380;  // logical
  const std::optional<StepPanel>& only = f.view.ui.only;
  const bool run = only == StepPanel::run;
  const float width = f.all.width() / style().scale, height = f.all.height() / style().scale;
  if ((!run && only != StepPanel::tiles) || f.fragments || width >= kWidest || (run && height < kLowest)) return false;
  if (run && width < kColumn) return true;  // its sentence needs more lines
  return side_by_side_of(f.view.rec).tiles == nullptr &&
         page_has_more_numbers(tiles, held_run, f.scales, run ? step_areas(f.all, f.room).tiles : f.all);
}

// The timeline stays in sight under the charts, where they have room above it.
float charts_bottom(const StepFrame& f, const StepAreas& areas) {
  constexpr float kBoth = 24 + 160 + kStepGutter + 150 + 12;  // logical
  const float above = areas.timeline.min.y - style().px(6);
  const bool clear = areas.has_timeline && above - areas.strip.max.y >= style().px(kBoth);
  return clear ? above : f.all.max.y;
}

// The strip, and the chips of what has no panel.
void draw_head(const StepFrame& f, const StepAreas& areas, Commands& commands) {
  const auto& [rec, at, state, ui, cache, _] = f.view;
  if (!areas.has_strip) return;
  float chips = areas.strip.max.x - style().px(12);
  draw_strip(areas, strip_scene(rec, at, f.charts.values, ui.texts),
             {state, rec, at, ui, f.room.alone, !f.room.alone && !ui.hidden.on}, commands);
  if (!areas.has_problem && !f.room.alone) chips = draw_problem_chip(f.problem, areas.strip) - style().px(8);
  if (has_charts_chip(areas, rec) && !ui.hidden.map && state.view.step.chart != StepChart::fragments)
    draw_charts_chip(f.charts, f.view, {areas.strip.min, {chips, areas.strip.max.y}}, f.all, charts_bottom(f, areas));
}

// `panel`: of the tiles.
void draw_body(const StepFrame& f, const StepAreas& areas, const TilesPanel& panel, TilesScene& tiles) {
  const SideBySideView& view = f.view;
  if (areas.has_tiles && f.fragments) {
    view.ui.tiles.focused = false;
    draw_chart_card(f.charts,
                    {areas.tiles.min, {areas.tiles.max.x, areas.has_bottom ? areas.chart.max.y : areas.tiles.max.y}});
  } else if (areas.has_tiles && side_by_side_of(view.rec).tiles != nullptr) {
    side_by_side_of(view.rec).tiles(view, areas.tiles);
  } else if (areas.has_tiles) {
    draw_step_tiles(panel, areas.tiles, tiles);
  }
  if (areas.has_bottom && !f.fragments) draw_bottom(ImGui::GetWindowDrawList(), areas, f.charts, view);
}

// Where the page begins that is drawn anew: of another beat, or back in Step.
void begin_at(const StepAreas& areas, StepUiState& ui, EventIndex now) {
  if (areas.phone && ImGui::IsWindowAppearing()) {
    ImGui::SetScrollY(0);
    ui.page.step.reset();
    ui.page.pinned.reset();
  }
  if (!areas.phone && ui.page.differs(ui.look, now)) ImGui::SetScrollY(style().px(kScrolledTiles));
}

Box box_below(const Box& page, const PointedScene& spelled) {
  const float top = page.max.y + style().px(kPhoneGutter);
  return {{page.min.x, top}, {page.max.x, top + spelled_height(spelled, page.width())}};
}

bool is_on_tablet(const Box& all) {
  constexpr float kTablet = 560;  // logical, so high
  return by_touch() && all.height() >= style().px(kTablet);
}

// Where the card has too little room for the numbers, or for all ranks of a ring.
bool wants_page(const StepFrame& f, const TilesScene& tiles, const Recording& held_run) {
  const StepAreas card = step_areas(f.all, f.room);
  if (f.fragments || !card.has_tiles) return false;
  const SideBySide& way = side_by_side_of(f.view.rec);
  return way.tiles == nullptr ? page_has_more_numbers(tiles, held_run, f.scales, card.tiles)
                              : way.tiles_height(f.view, card.tiles.width()) > card.tiles.height();
}

// A lesson's halves of the keys beside its card on a tablet held upright: side by side neither would have its numbers.
bool has_halves_below(const Box& all, const Recording& rec, const StepFocus& look) {
  constexpr float kBesideCard = 640;  // logical
  return is_on_tablet(all) && all.width() < style().px(kBesideCard) && look.parts.any() &&
         side_by_side_of(rec).tiles == nullptr && side_by_side_of(rec).card == nullptr && abreast(rec) > 1;
}

}  // namespace

void draw_step(const State& state, const Model& model, StepUiState& ui, Commands& commands) {
  if (!ui.cache) ui.cache = std::make_shared<StepCache>();
  StepCache& cache = *ui.cache;
  const ImVec2 origin = ImGui::GetCursorScreenPos(), size = ImGui::GetContentRegionAvail();
  Box all{origin, {origin.x + size.x, origin.y + size.y}};
  ui.dragged.clear();
  ProblemPanel problem{state, model, cache.editing, commands};
  if (!model.recording || model.recording->events.empty()) {
    ui.tiles.focused = false;
    return draw_unrecorded(problem, all);
  }
  const std::shared_ptr<const Recording> shown = cache.shown(model.recording, ui.hidden);
  const Recording& rec = *shown;
  const auto last = static_cast<EventIndex>(rec.events.size() - 1);
  const EventIndex now = std::min(state.view.step.cursor, last);
  const Selection& selection = state.document.selection;
  cache.follow(shown, shown_step(rec, now, selection.row));
  ui.tiles.follow(model.recording);
  const float width = all.width() / style().scale, height = all.height() / style().scale;
  const bool lying = by_touch() && is_lying_phone(width, height) && !ui.alone && !ui.only;
  const bool on_phone = lying || is_upright_phone(width, height);
  const RunBars bars = run_bars(state, model, ui);
  const bool bars_on_page = has_bars_on_page(bars, all, lying, on_phone && !ui.alone && !ui.only);
  if (!bars_on_page) draw_run_bars(bars, all, commands);
  const StepFocus look = seen_of(ui.look, ui.hidden);
  // Sentence, charts and timeline are the formulas'; the tiles alone have what the kernel held.
  const Recording& held_run = bars.gpu.raw ? *model.recording : rec;
  const TensorScales& scales = bars.gpu.raw ? cache.held_scales(model.recording) : cache.scales;
  TilesScene tiles = tiles_at(held_run, now, state, scales);
  if (ui.hidden.on) keep_answers_back(tiles);
  fold_tiles(tiles, look);
  const StepPlace at = place_of(rec, now, selection);
  // Beside a question it could be the answer.
  const bool unsubtracted = !rec.options.subtract_max && order_look(rec.order).undivided;
  if (!ui.hidden.on)
    problem.outcome =
        unsubtracted ? first_wrong_outcome(cache.error_scan(at.b, at.h), selection) : merge_outcome(rec, selection);
  const StepValues values = step_values(rec, at, selection, cache.bounds());
  const SideBySideView view{rec, at, state, ui, cache, commands};
  AskedBar* asked_bar = ui.asked_bar ? &*ui.asked_bar : nullptr;
  const ChartCard charts{rec, at, values, state, cache, commands, false, ui.hidden.on, has_letters(look), asked_bar};
  const StepRoom room{rec,
                      look,
                      ui.alone || ui.only,
                      shows_wide_chart(state, rec) && !ui.hidden.on,
                      by_touch(),
                      has_words_below(state.view.step.chart),
                      bars_on_page && bars.wrong.shown && bars.wrong.wrong};
  const StepFrame frame{problem, view, charts, room, all, scales, shows_fragments(state, rec) && !ui.hidden.on};
  const bool paged = on_phone || (is_on_tablet(all) && wants_page(frame, tiles, held_run));
  const bool phone =
      (!room.alone && (paged || has_halves_below(all, rec, look))) || is_phone_figure(frame, tiles, held_run);
  // Beside a question the value in fp64 could be its answer.
  const ExactTile* exact = bars.gpu.raw || ui.hidden.on ? nullptr : cache.bounds();
  std::optional<PointedScene> spelled;
  if (phone && selection.col >= 0 && !frame.fragments && side_by_side_of(rec).tiles == nullptr)
    if (const auto pointed = pointed_cell(tiles, state, ui.tiles))
      spelled = pointed_scene(held_run, tiles, *pointed, exact);
  StepAreas areas = areas_of(frame, tiles, phone, bars_on_page ? &bars : nullptr, spelled ? &*spelled : nullptr);
  if (areas.phone) draw_head(frame, areas, commands);
  const bool to_bars = areas.has_wrong && draw_wrong_line(areas.wrong, bars.wrong);
  if (areas.scrolls) begin_page(areas), begin_at(areas, ui, state.view.step.cursor);
  if (to_bars) ImGui::SetScrollY(0);
  if (bars_on_page) draw_run_bars(bars, areas.bars, commands);
  if (areas.has_problem) draw_problem_panel(problem, areas.problem, true);
  if (!areas.phone) draw_head(frame, areas, commands);
  const float seen = phone ? tiles_seen(phone_areas(all, room, ui.only), rec) : 0;
  draw_body(frame, areas, {held_run, exact, scales, state, ui.tiles, commands, look, ui.hidden.on, seen}, tiles);
  if (areas.phone && areas.has_tiles) show_made_tiles(ui.page, ui.tiles, now, selection, areas.page);
  if (areas.phone) by_touch() ? fade_both_ends(2) : fade_where_more();
  if (areas.scrolls) end_page(areas);
  if (spelled) draw_spelled(box_below(areas.page, *spelled), *spelled, selection, commands);
  if (areas.has_timeline) draw_timeline_card(areas.timeline, view, areas.phone);
  ImGui::SetCursorScreenPos(origin);
  ImGui::Dummy(size);
}

}  // namespace attn
