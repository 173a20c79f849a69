// One chart: axes by ImPlot; lines, marks, names and the pointer by us, so that no line is told by colour alone.
#include "viz/bench/charts/charts_draw.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "implot.h"
#include "viz/bench/charts/axes_draw.h"
#include "viz/bench/charts/chart_menu_draw.h"
#include "viz/bench/charts/end_labels_draw.h"
#include "viz/bench/charts/line_looks_draw.h"
#include "viz/draw/canvas.h"
#include "viz/draw/figure_text.h"
#include "viz/draw/label_places.h"
#include "viz/draw/marks.h"
#include "viz/draw/number_text.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"

namespace attn {
namespace {

constexpr float kAxisText = 11.5F, kTickRow = 23, kSourceRow = 13, kSourceText = 10.5F;  // logical pixels
constexpr float kNear = 12;  // so near to a line or a point it is meant

// ---- the plot

ImVec2 pixel(std::int64_t x, double y) {
  return ImPlot::PlotToPixels(static_cast<double>(x), y);
}

void draw_whisker(ImDrawList& list, const BenchPoint& p, ImU32 ink) {
  const Style& s = style();
  const ImVec2 low = pixel(p.x, p.low), high = pixel(p.x, p.high);
  if (std::abs(low.y - high.y) < s.px(11)) return;  // lies within the mark
  const float cap = s.px(3);
  list.AddLine(low, high, ink, s.px(1.25F));
  for (const ImVec2 end : {low, high}) list.AddLine({end.x - cap, end.y}, {end.x + cap, end.y}, ink, s.px(1.25F));
}

void draw_line(ImDrawList& list, const BenchLine& line, bool pointed) {
  const Style& s = style();
  const ImU32 ink = ink_of(line);
  std::vector<ImVec2> points;
  points.reserve(line.points.size());
  for (const BenchPoint& p : line.points) points.push_back(pixel(p.x, p.y));
  const float thickness = s.px(thickness_of(line) + (pointed ? 1.25F : 0));
  if (line.dotted)
    draw_dotted(list, points, ink, thickness);
  else
    draw_patterned(list, points, ink, thickness, pattern_of(line));
  for (const BenchPoint& p : line.points) draw_whisker(list, p, ink);
  if (line.kernel.empty() || line.bare) return;
  for (const ImVec2 at : points) draw_line_mark(list, at, line, s.px(line.emphasised || pointed ? 5.0F : 4.25F));
}

// Around a point that is chosen or pointed at.
void draw_ring(ImDrawList& list, const BenchLine& line, std::int64_t value, Token token) {
  const Style& s = style();
  if (line.bare) return;
  for (const BenchPoint& p : line.points)
    if (p.x == value) list.AddCircle(pixel(p.x, p.y), s.px(8.5F), colour(s.theme, token), 0, s.px(1.25F));
}

void draw_lines(ImDrawList& list, const BenchChart& chart, const BenchScene& scene, const BenchCache& cache) {
  // The thick baseline lies under the others, the kernel of the verdict over them, the one pointed at over all.
  const auto layer_of = [&](const BenchLine& line) {
    return is_pointed_at(cache, line) ? 3 : line.emphasised ? 2 : line.baseline ? 0 : 1;
  };
  for (const int layer : {0, 1, 2, 3}) {
    for (const BenchLine& line : chart.lines) {
      if (layer_of(line) != layer || is_hidden(cache, line)) continue;
      draw_line(list, line, layer == 3);
      if (line.emphasised && scene.chosen) draw_ring(list, line, *scene.chosen, Token::text);
      if (layer == 3 && cache.pointed->value) draw_ring(list, line, *cache.pointed->value, Token::dim);
    }
  }
}

// Where the lines run between two places on the axis, and where their marks are, from top to bottom.
std::vector<Reach> heights_between(const BenchChart& chart, const BenchCache& cache, float left, float right) {
  std::vector<Reach> heights;
  for (const BenchLine& line : chart.lines) {
    for (std::size_t n = 1; n < line.points.size() && !is_hidden(cache, line); ++n) {
      const ImVec2 a = pixel(line.points[n - 1].x, line.points[n - 1].y), b = pixel(line.points[n].x, line.points[n].y);
      if (b.x < left || a.x > right || a.x == b.x) continue;
      const auto at = [&](float x) { return a.y + (b.y - a.y) * (std::clamp(x, a.x, b.x) - a.x) / (b.x - a.x); };
      heights.push_back({std::min(at(left), at(right)), std::max(at(left), at(right))});
    }
    for (const BenchPoint& p : line.points) {
      const ImVec2 at = pixel(p.x, p.y);
      const float mark = style().px(5);
      if (!is_hidden(cache, line) && at.x > left - mark && at.x < right + mark)
        heights.push_back({at.y - mark, at.y + mark});
    }
  }
  return heights;
}

void draw_span(ImDrawList& list, const BenchChart& chart, const BenchCache& cache, float right) {
  const Style& s = style();
  const BenchSpan& span = *chart.span;
  const ImVec2 a = pixel(span.x, span.from), b = pixel(span.x, span.to);
  const float text = text_width(Face::bold, 12.5F, span.text);
  if (std::abs(a.y - b.y) < s.px(34)) return;
  // To the right of the points, or to the left where the plot ends.
  const float side = a.x + s.px(10) + text > right ? -1.0F : 1.0F;
  const float x = a.x + side * s.px(9);
  const ImU32 ink = colour(s.theme, Token::text);
  list.AddLine({x, a.y}, {x, b.y}, ink, s.px(1.25F));
  for (const float y : {a.y, b.y}) list.AddLine({x - side * s.px(4), y}, {x, y}, ink, s.px(1.25F));
  const float begin = side > 0 ? x - s.px(3) : x + s.px(3) - text;
  const float middle = clear_middle({a.y, b.y}, s.px(15), heights_between(chart, cache, begin, begin + text));
  const ImVec2 at(begin, middle - s.px(8));
  draw_text_over(&list, at, Face::bold, 12.5F, ink, span.text);
}

// The chosen value and the one under the pointer always have their label, the others where there is room.
void draw_ticks(ImDrawList& list, const BenchScene& scene, const BenchCache& cache, ImVec2 origin, ImVec2 size,
                float y) {
  const Style& s = style();
  std::vector<std::pair<float, float>> taken;
  const auto draw = [&](const BenchTick& tick, Face face, Token token, bool always) {
    const float x = pixel(tick.at, 1).x, half = text_width(face, kAxisText, tick.text) / 2;
    if (x < origin.x - 1 || x > origin.x + size.x + 1) return;
    const bool free = std::none_of(taken.begin(), taken.end(), [&](const auto& t) {
      return x - half < t.second + s.px(6) && x + half > t.first - s.px(6);
    });
    if (!free && !always) return;
    draw_text(&list, {x - half, y}, face, kAxisText, colour(s.theme, token), tick.text);
    taken.emplace_back(x - half, x + half);
  };
  const auto each = [&](auto wanted, Face face, Token token, bool always) {
    for (const BenchTick& tick : scene.ticks)
      if (wanted(tick.at)) draw(tick, face, token, always);
  };
  const auto hovered = [&](std::int64_t at) { return cache.hovered == at; };
  const auto chosen = [&](std::int64_t at) { return scene.chosen == at; };
  each(hovered, scene.chosen == cache.hovered ? Face::bold : Face::text, Token::text, true);
  each([&](std::int64_t at) { return chosen(at) && !hovered(at); }, Face::bold, Token::text, false);
  each([&](std::int64_t at) { return !chosen(at) && !hovered(at); }, Face::text, Token::dim, false);
}

void draw_x_axis(ImDrawList& list, const BenchScene& scene, const BenchCache& cache, ImVec2 origin, ImVec2 size) {
  const Style& s = style();
  const float y = origin.y + size.y + s.px(9);
  const bool letter = scene.axis_letter.size() == 1;
  const Box corner{{origin.x - s.px(60), y}, {origin.x - s.px(8), y + s.px(letter ? kAxisText + 4 : kAxisText)}};
  draw_text_in(&list, corner, Align::right, letter ? Face::maths : Face::text, letter ? 14 : kAxisText,
               colour(s.theme, Token::dim), scene.axis_letter);
  draw_ticks(list, scene, cache, origin, size, y);
}

void draw_upright(ImDrawList& list, std::int64_t x, ImVec2 origin, ImVec2 size, Token token, bool dashed) {
  const float at = std::round(pixel(x, 1).x) + 0.5F;
  if (at < origin.x || at > origin.x + size.x) return;
  const ImU32 ink = colour(style().theme, token);
  if (dashed) {
    draw_dashed_line(&list, {at, origin.y}, {at, origin.y + size.y}, ink, 3);
  } else {
    list.AddLine({at, origin.y}, {at, origin.y + size.y}, ink, style().px(1));
  }
}

// ---- the pointer

std::optional<std::int64_t> nearest_value(const BenchScene& scene, float x) {
  std::optional<std::int64_t> best;
  float min = 0;
  for (const BenchTick& tick : scene.ticks) {
    const float distance = std::abs(pixel(tick.at, 1).x - x);
    if (!best || distance < min) {
      best = tick.at;
      min = distance;
    }
  }
  return best;
}

// All values at x, the largest first.
void value_tooltip(const BenchScene& scene, const BenchChart& chart, const BenchCache& cache, std::int64_t x) {
  const Style& s = style();
  std::vector<std::pair<const BenchLine*, const BenchPoint*>> rows;
  for (const BenchLine& line : chart.lines) {
    if (is_hidden(cache, line)) continue;
    for (const BenchPoint& p : line.points)
      if (p.x == x) rows.emplace_back(&line, &p);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.second->y > b.second->y; });
  if (rows.empty()) return;
  // As many as the window is high, the one pointed at among them; how many are left out stands below.
  const float pitch = s.px(18) + ImGui::GetStyle().ItemSpacing.y;
  const auto room = static_cast<std::size_t>(std::max(3.0F, std::floor(most_tooltip_height() / pitch)));
  const std::size_t left_out = rows.size() + 1 > room ? rows.size() + 2 - room : 0;
  const auto pointed = std::ranges::find_if(rows, [&](const auto& r) { return is_pointed_at(cache, *r.first); });
  const std::size_t kept = rows.size() - left_out;
  if (left_out > 0 && pointed != rows.end() && pointed - rows.begin() >= static_cast<std::ptrdiff_t>(kept))
    std::iter_swap(pointed, rows.begin() + static_cast<std::ptrdiff_t>(kept) - 1);
  rows.resize(kept);
  float names = 0, numbers = 0;
  for (const auto& [line, point] : rows) {
    names = std::max(names, text_width(Face::bold, 13, line->label));
    numbers = std::max(numbers, text_width(Face::mono, 13, point->text));
  }
  const std::string head = fmt::format("{}, {} = {}", chart.title, scene.axis_letter, x);
  const float wide = std::max(s.px(60) + names + numbers, text_width(Face::bold, 13, head));
  const std::string more = left_out > 0 ? plural(left_out, "{} more", "{} more") : std::string();
  const std::size_t lines = rows.size() + 1 + (left_out > 0 ? 1 : 0);
  const ImVec2 corner = ImGui::GetWindowPos(), card = ImGui::GetWindowSize();
  if (!begin_tooltip_beside({corner, {corner.x + card.x, corner.y + card.y}},
                            {wide, pitch * static_cast<float>(lines)}))
    return;
  ImGui::PushFont(s.fonts.bold, s.px(13));
  ImGui::TextUnformatted(head.c_str());
  ImGui::PopFont();
  for (const auto& [line, point] : rows) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const Box box{at, {at.x + s.px(44) + names + numbers + s.px(16), at.y + s.px(18)}};
    const float middle = box.centre().y;
    draw_line_swatch(list, {at.x, middle}, s.px(24), *line);
    draw_text_in(&list, {{at.x + s.px(36), box.min.y}, box.max}, Align::left,
                 is_pointed_at(cache, *line) ? Face::bold : Face::text, 13, colour(s.theme, Token::text), line->label);
    draw_text_in(&list, box, Align::right, Face::mono, 13, colour(s.theme, Token::text), point->text);
    ImGui::Dummy({box.width(), box.height()});
  }
  if (left_out > 0) dim_text(more);
  ImGui::EndTooltip();
}

float distance_to(ImVec2 p, ImVec2 a, ImVec2 b) {
  const ImVec2 ab(b.x - a.x, b.y - a.y);
  const float length = ab.x * ab.x + ab.y * ab.y;
  const float t = length > 0 ? std::clamp(((p.x - a.x) * ab.x + (p.y - a.y) * ab.y) / length, 0.0F, 1.0F) : 0.0F;
  return std::hypot(p.x - a.x - t * ab.x, p.y - a.y - t * ab.y);
}

// The measured line that passes next to the pointer, or none.
const BenchLine* nearest_line(const BenchChart& chart, const BenchCache& cache, ImVec2 pointer) {
  const BenchLine* best = nullptr;
  float min = style().px(kNear);
  for (const BenchLine& line : chart.lines) {
    if (is_hidden(cache, line) || line.kernel.empty() || line.bare) continue;
    for (std::size_t i = 0; i < line.points.size(); ++i) {
      const ImVec2 a = pixel(line.points[i].x, line.points[i].y);
      const BenchPoint& next = line.points[std::min(i + 1, line.points.size() - 1)];
      if (const float d = distance_to(pointer, a, pixel(next.x, next.y)); d < min) {
        min = d;
        best = &line;
      }
    }
  }
  return best;
}

void follow_pointer(std::size_t index, BenchCache& cache, Commands& commands) {
  const BenchScene& scene = cache.scene;
  if (!ImPlot::IsPlotHovered()) return;
  const ImVec2 pointer = ImGui::GetMousePos();
  const auto x = nearest_value(scene, pointer.x);
  if (!x) return;
  cache.hovered_next = x;
  const BenchLine* line = nearest_line(scene.charts[index], cache, pointer);
  if (line != nullptr) cache.pointed_next = {line->id, x};
  value_tooltip(scene, scene.charts[index], cache, *x);
  const ImVec2 drag = ImGui::GetMouseDragDelta(ImGuiMouseButton_Left, 0);
  const bool still = std::hypot(drag.x, drag.y) < style().px(4);
  if (ImGui::IsMouseReleased(ImGuiMouseButton_Left) && still) {
    commands.push_back(ChooseBenchValue{*x});
    if (line != nullptr) commands.push_back(ChooseBenchKernel{line->kernel});
  }
  if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) fit_chart(index, cache);
}

// ---- the plot's card

// What dotted lines are, and where the figures come from: on one line, or on two where they have no room beside one
// another.
int foot_rows(const BenchChart& chart, float width) {
  if (chart.source.empty() && chart.dotted.empty()) return 0;
  if (chart.source.empty() || chart.dotted.empty()) return 1;
  const float wanted = style().px(26 + 16) + text_width(Face::text, kSourceText, chart.dotted + chart.source);
  return wanted > width ? 2 : 1;
}

void draw_legend(const BenchChart& chart, const Box& row) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImU32 ink = colour(s.theme, Token::dim);
  float left = row.min.x;
  if (!chart.dotted.empty()) {
    const float middle = row.min.y + s.px(kSourceRow) / 2;
    const std::array<ImVec2, 2> ends{ImVec2(left, middle), ImVec2(left + s.px(20), middle)};
    draw_dotted(*list, ends, ink, s.px(2));
    left += s.px(26);
    const std::string words = fitted_text(Face::text, kSourceText, chart.dotted, row.max.x - left);
    draw_text_in(list, {{left, row.min.y}, {row.max.x, row.min.y + s.px(kSourceRow)}}, Align::left, Face::text,
                 kSourceText, ink, words);
    left += text_width(Face::text, kSourceText, words) + s.px(16);
  }
  const bool own_line = row.height() > 1.5F * s.px(kSourceRow);
  if (own_line) left = row.min.x;
  const Box last{{left, own_line ? row.centre().y : row.min.y}, row.max};
  const std::string source = fitted_text(Face::text, kSourceText, chart.source, last.width());
  draw_text_in(list, last, own_line ? Align::left : Align::right, Face::text, kSourceText, ink, source);
  if (source != chart.source_all && ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect(last.min, last.max))
    show_tooltip(chart.source_all, 480);
}

void push_plot_style() {
  const Style& s = style();
  ImGui::PushFont(s.fonts.mono, s.px(kAxisText));
  ImPlot::PushStyleColor(ImPlotCol_AxisGrid, ImGui::ColorConvertU32ToFloat4(colour(s.theme, Token::line)));
  ImPlot::PushStyleColor(ImPlotCol_AxisText, ImGui::ColorConvertU32ToFloat4(colour(s.theme, Token::dim)));
  ImPlot::PushStyleColor(ImPlotCol_PlotBg, ImVec4(0, 0, 0, 0));
  ImPlot::PushStyleColor(ImPlotCol_FrameBg, ImVec4(0, 0, 0, 0));
}

void pop_plot_style() {
  ImPlot::PopStyleColor(4);
  ImGui::PopFont();
}

// What lies within the axes.
void draw_inside(const BenchChart& chart, const BenchCache& cache, ImVec2 origin, ImVec2 inner) {
  const BenchScene& scene = cache.scene;
  ImDrawList& list = *ImPlot::GetPlotDrawList();
  ImPlot::PushPlotClipRect(style().px(8));
  if (scene.chosen) draw_upright(list, *scene.chosen, origin, inner, Token::faint, true);
  if (cache.hovered && cache.hovered != scene.chosen)
    draw_upright(list, *cache.hovered, origin, inner, Token::line, false);
  draw_lines(list, chart, scene, cache);
  const std::string& letter = scene.slice.letter;
  const std::string subject = scene.verdict.kernel + (letter.empty() ? "" : " " + letter);
  if (chart.span && !cache.hidden.contains(subject)) draw_span(list, chart, cache, origin.x + inner.x);
  ImPlot::PopPlotClipRect();
}

void draw_plot(std::size_t index, ImVec2 size, BenchCache& cache, Commands& commands) {
  const Style& s = style();
  const BenchChart& chart = cache.scene.charts[index];
  const bool labelled = names_beside(chart, cache, size.x);
  const float foot = s.px(kSourceRow) * static_cast<float>(foot_rows(chart, size.x));
  const float names = names_height(chart, cache, size.x);
  const ImVec2 plot(size.x - (labelled ? label_gutter(chart) : s.px(8)), size.y - s.px(kTickRow) - names - foot);
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  push_plot_style();
  if (ImPlot::BeginPlot("##plot", plot, ImPlotFlags_CanvasOnly | ImPlotFlags_NoFrame)) {
    set_chart_axes(cache.scene, index, plot.y, cache);
    const ImVec2 origin = ImPlot::GetPlotPos(), inner = ImPlot::GetPlotSize();
    draw_inside(chart, cache, origin, inner);
    follow_pointer(index, cache, commands);
    ImGui::PushFont(s.fonts.text, s.px(12));
    draw_x_axis(*ImGui::GetWindowDrawList(), cache.scene, cache, origin, inner);
    ImGui::PopFont();
    std::vector<EndLabel> labels;
    if (labelled) labels = end_labels(chart, cache, origin, inner);
    ImPlot::EndPlot();
    if (foot > 0)
      draw_legend(chart,
                  {{corner.x, corner.y + size.y - foot + s.px(2)}, {corner.x + size.x, corner.y + size.y + s.px(2)}});
    draw_end_labels(*ImGui::GetWindowDrawList(), labels, cache, origin, inner);
    if (names > 0)
      draw_names(*ImGui::GetWindowDrawList(), chart, cache, {corner.x, corner.y + size.y - foot - names + s.px(2)},
                 size.x);
    ImGui::SetCursorScreenPos(corner);
    ImGui::Dummy(size);
  }
  pop_plot_style();
}

// Not measured yet: the plot's place as a dashed slot, with what will stand there.
void draw_empty(const BenchChart& chart, ImVec2 room) {
  const Style& s = style();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const Box slot{{at.x, at.y + s.px(8)}, {at.x + room.x, at.y + room.y - s.px(4)}};
  draw_dashed(ImGui::GetWindowDrawList(), slot, colour(s.theme, Token::line), 4);
  const TextRuns words{{chart.empty, Face::text, Token::dim, 0, false}};
  const float one_line = runs_width(words, 13);
  const float width = std::min({one_line + s.px(2), slot.width() - s.px(32), s.px(420)});
  const float height = draw_paragraph(nullptr, {}, width, 13, words, 5, false);
  draw_paragraph(ImGui::GetWindowDrawList(), {slot.centre().x - width / 2, slot.centre().y - height / 2}, width, 13,
                 words, 5);
  ImGui::Dummy(room);
}

}  // namespace

float bench_names_height(const BenchCache& cache, float width) {
  float most = 0;
  const float inner = width - style().px(2 * kCardSide);
  for (const BenchChart& chart : cache.scene.charts)
    if (!chart.lines.empty()) most = std::max(most, names_height(chart, cache, inner));
  return most;
}

void draw_bench_chart(std::size_t index, ImVec2 size, BenchCache& cache, Commands& commands) {
  const Style& s = style();
  const BenchChart& chart = cache.scene.charts[index];
  if (begin_card(chart.id.c_str(), size)) {
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(s.px(8), s.px(4)));
    draw_chart_head(index, cache, commands);
    const ImVec2 room = ImGui::GetContentRegionAvail();
    if (!chart.lines.empty()) {
      draw_plot(index, room, cache, commands);
    } else {
      draw_empty(chart, room);
    }
    ImGui::PopStyleVar();
    draw_chart_menu(index, cache, commands);
  }
  ImGui::EndChild();
}

}  // namespace attn
