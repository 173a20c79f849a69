// One chart: axes by ImPlot; lines, marks, names and the pointer by us, so that no line is told by colour alone.
#include "viz/bench/charts_draw.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "implot.h"
#include "viz/draw/canvas.h"
#include "viz/draw/marks.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"

namespace attn {
namespace {

constexpr float kAxisText = 11.5F, kLabelText = 12, kLabelHeight = 14, kTickRow = 23,
                kSourceRow = 13;  // logical pixels

ImU32 ink_of(const BenchLine& line) {
  return line.kernel.empty() ? colour(style().theme, Token::faint) : kernel_colour(style().theme, line.kernel);
}

MarkFill fill_of(const BenchLine& line) {
  if (line.hollow) return MarkFill::hollow;
  return line.open ? MarkFill::open : MarkFill::solid;
}

float thickness_of(const BenchLine& line) {
  if (line.dotted) return line.baseline ? 3.0F : 2.0F;
  if (line.baseline) return 4;
  return line.emphasised ? 2.75F : 1.75F;
}

bool is_hidden(const BenchCache& cache, const BenchLine& line) {
  return !line.kernel.empty() && cache.hidden.contains(line.id);
}

// "0.001", "1", "1000": as many digits as the tick needs, all of one width so that the charts' axes stand in line.
int format_tick(double value, char* buffer, int size, void*) {
  char plain[32];
  const double magnitude = std::abs(value);
  if (magnitude != 0 && (magnitude >= 1e6 || magnitude < 1e-4)) {
    std::snprintf(plain, sizeof plain, "%.0e", value);
  } else {
    std::snprintf(plain, sizeof plain, "%.6g", value);
  }
  return std::snprintf(buffer, static_cast<std::size_t>(size), "%6s", plain);
}

// ---- the card's head

// Metrics that some row has a figure of, by group: what the fourth chart may show.
void metric_popup(const BenchScene& scene, const State& state, Commands& commands) {
  if (!ImGui::BeginPopup("metrics")) return;
  const MetricRow* before = nullptr;
  for (const std::string& id : scene.metrics) {
    const MetricRow& metric = metric_table()[*find_metric(id)];
    if (before == nullptr || before->group != metric.group) {
      ImGui::PushStyleColor(ImGuiCol_Text, colour(style().theme, Token::dim));
      ImGui::SeparatorText(std::string(name_of(metric.group)).c_str());
      ImGui::PopStyleColor();
    }
    before = &metric;
    if (ImGui::Selectable(std::string(metric.label).c_str(), metric.id == picked_metric(state)))
      commands.push_back(ChooseBenchMetric{id});
    ImGui::SetItemTooltip("%s", std::string(metric.help).c_str());
  }
  ImGui::EndPopup();
}

void chart_title(const BenchScene& scene, const BenchChart& chart, const State& state, Commands& commands) {
  const Style& s = style();
  ImGui::PushFont(s.fonts.bold, s.px(13));
  if (!chart.picks_metric || scene.metrics.empty()) {
    ImGui::TextUnformatted(chart.title.c_str());
    ImGui::PopFont();
    return;
  }
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 text = ImGui::CalcTextSize(chart.title.c_str());
  if (ImGui::InvisibleButton("pick_metric", {text.x + s.px(18), text.y}, ImGuiButtonFlags_EnableNav))
    ImGui::OpenPopup("metrics");
  const bool over = ImGui::IsItemHovered();
  ImGui::GetWindowDrawList()->AddText(at, colour(s.theme, Token::text), chart.title.c_str());
  ImGui::PopFont();
  draw_arrow(ImGui::GetWindowDrawList(), {at.x + text.x + s.px(10), at.y + text.y / 2 + s.px(1)}, 8, Arrow::down,
             colour(s.theme, over ? Token::text : Token::dim));
  ImGui::SetItemTooltip("Show another figure here");
  metric_popup(scene, state, commands);
}

void chart_head(std::size_t index, const BenchChart& chart, BenchCache& cache, const State& state, Commands& commands) {
  const Style& s = style();
  const float right = ImGui::GetContentRegionMax().x, top = ImGui::GetCursorPosY();
  const float left = ImGui::GetCursorScreenPos().x;
  chart_title(cache.scene, chart, state, commands);
  const float title_width = ImGui::GetItemRectSize().x;
  if (chart.lines.empty()) return;
  const float button = text_width(Face::text, 12, "log") + s.px(12);
  ImGui::SetCursorPos({right - button, top - s.px(1)});
  if (toggle("log", chart.log_y, "Logarithmic or linear scale")) cache.switches.log[index] = !chart.log_y;
  const float room = right - button - title_width - s.px(44);
  ImVec2 at = ImGui::GetWindowPos();
  at.x += right - button - s.px(8);
  at.y += top - ImGui::GetScrollY();
  // The unit is always there, the rest where it has room.
  const bool whole = text_width(Face::text, 12, chart.note) < room;
  const std::string& note = whole ? chart.note : chart.unit;
  draw_text(ImGui::GetWindowDrawList(), {at.x - text_width(Face::text, 12, note), at.y + s.px(1)}, Face::text, 12,
            colour(s.theme, Token::dim), note);
  if (!whole && ImGui::IsWindowHovered() &&
      ImGui::IsMouseHoveringRect({left, at.y}, {left + title_width, at.y + s.px(16)}))
    ImGui::SetTooltip("%s", chart.note.c_str());
  ImGui::SetCursorPosY(top + s.px(18));
}

// ---- the plot

// Every decade, or every second or third where they would stand too close; 1, 2, 5 within few decades. Beyond the
// chart's range too, for who zooms out.
std::vector<double> log_ticks(const BenchChart& chart, float height) {
  const double decades = std::log10(chart.y_max / chart.y_min);
  const auto room = static_cast<double>(height / style().px(16));  // labels that fit
  std::vector<double> ticks;
  const int step = std::max(1, static_cast<int>(std::ceil(decades / std::max(1.0, room))));
  const int first = static_cast<int>(std::floor(std::log10(chart.y_min))) - 2 * step;
  const int last = static_cast<int>(std::ceil(std::log10(chart.y_max))) + 2 * step;
  const bool fine = decades < 2.2 && 3 * decades < room;
  for (int power = first; power <= last; power += step) {
    for (const double digit : {1.0, 2.0, 5.0})
      if (fine || digit == 1.0) ticks.push_back(digit * std::pow(10.0, power));
  }
  return ticks;
}

void set_axes(const BenchScene& scene, const BenchChart& chart, float height, bool fit) {
  constexpr ImPlotAxisFlags kBoth = ImPlotAxisFlags_NoTickMarks | ImPlotAxisFlags_NoMenus |
                                    ImPlotAxisFlags_NoSideSwitch | ImPlotAxisFlags_NoHighlight |
                                    ImPlotAxisFlags_NoInitialFit;
  ImPlot::SetupAxes(nullptr, nullptr, kBoth | ImPlotAxisFlags_NoGridLines | ImPlotAxisFlags_NoTickLabels, kBoth);
  ImPlot::SetupAxisScale(ImAxis_X1, scene.log_x ? ImPlotScale_Log10 : ImPlotScale_Linear);
  ImPlot::SetupAxisScale(ImAxis_Y1, chart.log_y ? ImPlotScale_Log10 : ImPlotScale_Linear);
  ImPlot::SetupAxisFormat(ImAxis_Y1, format_tick, nullptr);
  ImPlot::SetupAxesLimits(scene.x_min, scene.x_max, chart.y_min, chart.y_max,
                          fit ? ImPlotCond_Always : ImPlotCond_Once);
  if (chart.log_y) {
    const std::vector<double> ticks = log_ticks(chart, height);
    ImPlot::SetupAxisTicks(ImAxis_Y1, ticks.data(), static_cast<int>(ticks.size()));
  }
  ImPlot::SetupFinish();
}

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

void draw_line(ImDrawList& list, const BenchLine& line) {
  const Style& s = style();
  const ImU32 ink = ink_of(line);
  std::vector<ImVec2> points;
  points.reserve(line.points.size());
  for (const BenchPoint& p : line.points) points.push_back(pixel(p.x, p.y));
  const float thickness = s.px(thickness_of(line));
  if (line.dotted) {
    draw_dotted(list, points, ink, thickness);
  } else {
    draw_patterned(list, points, ink, line.hollow ? thickness * 0.6F : thickness, line.order);
  }
  for (const BenchPoint& p : line.points) draw_whisker(list, p, ink);
  if (line.kernel.empty() || line.bare) return;
  for (const ImVec2 at : points) {
    draw_mark(list, at,
              {look_of(line.kernel).mark, fill_of(line), ink, colour(s.theme, Token::card),
               s.px(line.emphasised ? 5.0F : 4.25F), s.px(1.5F)});
  }
}

void draw_span(ImDrawList& list, const BenchSpan& span, float right) {
  const Style& s = style();
  const ImVec2 a = pixel(span.x, span.from), b = pixel(span.x, span.to);
  const float middle = (a.y + b.y) / 2, text = text_width(Face::bold, 12.5F, span.text);
  if (std::abs(a.y - b.y) < s.px(34)) return;
  // To the right of the points, or to the left where the plot ends.
  const float side = a.x + s.px(10) + text > right ? -1.0F : 1.0F;
  const float x = a.x + side * s.px(9);
  const ImU32 ink = colour(s.theme, Token::text);
  list.AddLine({x, a.y}, {x, b.y}, ink, s.px(1.25F));
  for (const float y : {a.y, b.y}) list.AddLine({x - side * s.px(4), y}, {x, y}, ink, s.px(1.25F));
  const ImVec2 at(side > 0 ? x - s.px(3) : x + s.px(3) - text, middle - s.px(8));
  list.AddRectFilled({at.x - s.px(2), at.y}, {at.x + text + s.px(2), at.y + s.px(16)}, colour(s.theme, Token::card));
  draw_text(&list, at, Face::bold, 12.5F, ink, span.text);
}

void draw_x_axis(ImDrawList& list, const BenchScene& scene, ImVec2 origin, ImVec2 size) {
  const Style& s = style();
  const float y = origin.y + size.y + s.px(9);
  const bool letter = scene.axis_letter.size() == 1;
  const Box corner{{origin.x - s.px(60), y}, {origin.x - s.px(8), y + s.px(letter ? kAxisText + 4 : kAxisText)}};
  draw_text_in(&list, corner, Align::right, letter ? Face::maths : Face::text, letter ? 14 : kAxisText,
               colour(s.theme, Token::dim), scene.axis_letter);
  float free_from = origin.x - s.px(20);
  for (const BenchTick& tick : scene.ticks) {
    const float x = pixel(tick.at, 1).x;
    if (x < origin.x - 1 || x > origin.x + size.x + 1) continue;
    const bool chosen = scene.chosen == tick.at;
    const Face face = chosen ? Face::bold : Face::text;
    const float width = text_width(face, kAxisText, tick.text);
    if (!chosen && x - width / 2 < free_from) continue;
    draw_text(&list, {x - width / 2, y}, face, kAxisText, colour(s.theme, chosen ? Token::text : Token::dim),
              tick.text);
    free_from = x + width / 2 + s.px(6);
  }
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

// ---- names at the ends of the lines

struct EndLabel {
  const BenchLine* line = nullptr;
  ImVec2 end;
  double wish = 0;
};

float gutter_width(const BenchChart& chart) {
  float widest = 0;
  for (const BenchLine& line : chart.lines) {
    if (!line.bare)
      widest = std::max(widest, text_width(line.emphasised ? Face::bold : Face::text, kLabelText, line.label));
  }
  return widest + style().px(26);
}

std::vector<EndLabel> end_labels(const BenchChart& chart, const BenchCache& cache, ImVec2 origin, ImVec2 size) {
  std::vector<EndLabel> labels;
  for (const BenchLine& line : chart.lines) {
    // A measured line carries the name of its dotted prediction too.
    const auto same = std::find_if(labels.begin(), labels.end(), [&](const EndLabel& l) {
      return l.line->id == line.id || (line.bare && l.line->kernel == line.kernel);
    });
    if (same != labels.end()) continue;
    ImVec2 end = pixel(line.points.back().x, line.points.back().y);
    if (is_hidden(cache, line)) end = {origin.x + size.x, origin.y + size.y};
    end.y = std::clamp(end.y, origin.y, origin.y + size.y);
    labels.push_back({&line, end, end.y});
  }
  std::vector<double> wishes;
  wishes.reserve(labels.size());
  for (const EndLabel& l : labels) wishes.push_back(l.wish);
  const double half = style().px(kLabelHeight) / 2;
  const auto places = spread_labels(wishes, 2 * half, origin.y - 2, origin.y + size.y + half);
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i].wish = places[i];
  return labels;
}

void draw_end_labels(ImDrawList& list, std::span<const EndLabel> labels, BenchCache& cache, ImVec2 origin,
                     ImVec2 size) {
  const Style& s = style();
  const float left = origin.x + size.x + s.px(18);
  for (const EndLabel& label : labels) {
    const BenchLine& line = *label.line;
    const bool hidden = is_hidden(cache, line);
    const auto y = static_cast<float>(label.wish);
    const Face face = line.emphasised ? Face::bold : Face::text;
    const float width = text_width(face, kLabelText, line.label);
    if (!hidden && label.end.x <= origin.x + size.x + 1) {
      const float bend = std::max(label.end.x + s.px(7), left - s.px(14));
      list.AddLine({std::min(label.end.x + s.px(7), bend), label.end.y}, {bend, label.end.y}, ink_of(line), s.px(1));
      list.AddLine({bend, label.end.y}, {left - s.px(3), y}, ink_of(line), s.px(1));
    }
    const Box box{{left, y - s.px(kLabelHeight) / 2}, {left + width, y + s.px(kLabelHeight) / 2}};
    if (!line.kernel.empty()) {
      ImGui::SetCursorScreenPos(box.min);
      if (ImGui::InvisibleButton(fmt::format("label_{}", line.id).c_str(), {width, box.height()})) {
        if (hidden) {
          cache.hidden.erase(line.id);
        } else {
          cache.hidden.insert(line.id);
        }
      }
      ImGui::SetItemTooltip("%s", hidden ? "Click to show its lines" : "Click to hide its lines");
    }
    const ImU32 ink = colour(s.theme, line.kernel.empty() ? Token::dim : Token::text);
    draw_text_in(&list, box, Align::left, face, kLabelText, hidden ? faded(ink, 0.45F) : ink, line.label);
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
  if (rows.empty() || !ImGui::BeginTooltip()) return;
  ImGui::PushFont(s.fonts.bold, s.px(13));
  ImGui::TextUnformatted(fmt::format("{}, {} = {}", chart.title, scene.axis_letter, x).c_str());
  ImGui::PopFont();
  float names = 0, numbers = 0;
  for (const auto& [line, point] : rows) {
    names = std::max(names, text_width(Face::text, 13, line->label));
    numbers = std::max(numbers, text_width(Face::mono, 13, point->text));
  }
  for (const auto& [line, point] : rows) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const Box box{at, {at.x + s.px(44) + names + numbers + s.px(16), at.y + s.px(18)}};
    const float middle = box.centre().y;
    if (line->kernel.empty()) {
      const std::array<ImVec2, 2> ends{ImVec2(at.x, middle), ImVec2(at.x + s.px(24), middle)};
      draw_dotted(list, ends, ink_of(*line), s.px(2));
    } else {
      draw_swatch(list, {at.x, middle}, s.px(24), line->kernel,
                  {is_device_baseline(line->kernel), line->open || line->hollow, false});
    }
    draw_text_in(&list, {{at.x + s.px(36), box.min.y}, box.max}, Align::left, Face::text, 13,
                 colour(s.theme, Token::text), line->label);
    draw_text_in(&list, box, Align::right, Face::mono, 13, colour(s.theme, Token::text), point->text);
    ImGui::Dummy({box.width(), box.height()});
  }
  ImGui::EndTooltip();
}

void follow_pointer(std::size_t index, BenchCache& cache, Commands& commands) {
  const BenchScene& scene = cache.scene;
  if (!ImPlot::IsPlotHovered()) return;
  const auto x = nearest_value(scene, ImGui::GetMousePos().x);
  if (!x) return;
  cache.hovered_next = x;
  value_tooltip(scene, scene.charts[index], cache, *x);
  const ImVec2 drag = ImGui::GetMouseDragDelta(ImGuiMouseButton_Left, 0);
  const bool still = std::hypot(drag.x, drag.y) < style().px(4);
  if (ImGui::IsMouseReleased(ImGuiMouseButton_Left) && still) commands.push_back(ChooseBenchValue{*x});
  if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) cache.fitted[index] = 0;
}

void draw_plot(std::size_t index, ImVec2 size, BenchCache& cache, Commands& commands) {
  const Style& s = style();
  const BenchScene& scene = cache.scene;
  const BenchChart& chart = scene.charts[index];
  const float gutter = gutter_width(chart);
  const bool labelled = cache.labels && size.x - gutter > s.px(200);
  const float foot = chart.source.empty() ? 0 : s.px(kSourceRow);
  const ImVec2 plot(size.x - (labelled ? gutter : s.px(8)), size.y - s.px(kTickRow) - foot);
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  constexpr ImPlotFlags kFlags = ImPlotFlags_CanvasOnly | ImPlotFlags_NoFrame;
  ImGui::PushFont(s.fonts.mono, s.px(kAxisText));
  ImPlot::PushStyleColor(ImPlotCol_AxisGrid, ImGui::ColorConvertU32ToFloat4(colour(s.theme, Token::line)));
  ImPlot::PushStyleColor(ImPlotCol_AxisText, ImGui::ColorConvertU32ToFloat4(colour(s.theme, Token::dim)));
  ImPlot::PushStyleColor(ImPlotCol_PlotBg, ImVec4(0, 0, 0, 0));
  ImPlot::PushStyleColor(ImPlotCol_FrameBg, ImVec4(0, 0, 0, 0));
  const bool open = ImPlot::BeginPlot("##plot", plot, kFlags);
  if (open) {
    set_axes(scene, chart, plot.y, cache.fitted[index] != cache.scene_number);
    cache.fitted[index] = cache.scene_number;
    const ImVec2 origin = ImPlot::GetPlotPos(), inner = ImPlot::GetPlotSize();
    ImDrawList& list = *ImPlot::GetPlotDrawList();
    ImPlot::PushPlotClipRect(s.px(8));
    if (scene.chosen) draw_upright(list, *scene.chosen, origin, inner, Token::faint, true);
    if (cache.hovered && cache.hovered != scene.chosen)
      draw_upright(list, *cache.hovered, origin, inner, Token::line, false);
    // The thick baseline lies under the others, the kernel of the verdict over them.
    for (const int layer : {0, 1, 2}) {
      for (const BenchLine& line : chart.lines) {
        const int its = line.emphasised ? 2 : line.baseline ? 0 : 1;
        if (its == layer && !is_hidden(cache, line)) draw_line(list, line);
      }
    }
    const std::string& letter = scene.slice.letter;
    const std::string subject = scene.verdict.kernel + (letter.empty() ? "" : " " + letter);
    if (chart.span && !cache.hidden.contains(subject)) draw_span(list, *chart.span, origin.x + inner.x);
    ImPlot::PopPlotClipRect();
    follow_pointer(index, cache, commands);
    ImGui::PushFont(s.fonts.text, s.px(kLabelText));
    draw_x_axis(*ImGui::GetWindowDrawList(), scene, origin, inner);
    ImGui::PopFont();
    std::vector<EndLabel> labels;
    if (labelled) labels = end_labels(chart, cache, origin, inner);
    ImPlot::EndPlot();
    if (!chart.source.empty()) {
      const Box box{{corner.x, corner.y + size.y - foot + s.px(2)}, {corner.x + size.x, corner.y + size.y + s.px(2)}};
      draw_text_in(ImGui::GetWindowDrawList(), box, Align::right, Face::text, 10.5F, colour(s.theme, Token::dim),
                   chart.source);
    }
    draw_end_labels(*ImGui::GetWindowDrawList(), labels, cache, origin, inner);
    ImGui::SetCursorScreenPos(corner);
    ImGui::Dummy(size);
  }
  ImPlot::PopStyleColor(4);
  ImGui::PopFont();
}

// Not measured yet: the plot's place as a dashed slot, with what will stand there.
void draw_empty(const BenchChart& chart, ImVec2 room) {
  const Style& s = style();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const Box slot{{at.x, at.y + s.px(8)}, {at.x + room.x, at.y + room.y - s.px(4)}};
  draw_dashed(ImGui::GetWindowDrawList(), slot, colour(s.theme, Token::line), 4);
  const Runs words{{chart.empty, Face::text, Token::dim, 0, false}};
  const float one_line = runs_width(words, 13);
  const float width = std::min({one_line + s.px(2), slot.width() - s.px(32), s.px(420)});
  const float height = draw_paragraph(nullptr, {}, width, 13, words, 5, false);
  draw_paragraph(ImGui::GetWindowDrawList(), {slot.centre().x - width / 2, slot.centre().y - height / 2}, width, 13,
                 words, 5);
  ImGui::Dummy(room);
}

}  // namespace

void draw_bench_chart(std::size_t index, ImVec2 size, BenchCache& cache, const State& state, Commands& commands) {
  const Style& s = style();
  const BenchChart& chart = cache.scene.charts[index];
  if (begin_card(chart.id.c_str(), size)) {
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(s.px(8), s.px(4)));
    chart_head(index, chart, cache, state, commands);
    const ImVec2 room = ImGui::GetContentRegionAvail();
    if (!chart.lines.empty()) {
      draw_plot(index, room, cache, commands);
    } else {
      draw_empty(chart, room);
    }
    ImGui::PopStyleVar();
  }
  ImGui::EndChild();
}

}  // namespace attn
