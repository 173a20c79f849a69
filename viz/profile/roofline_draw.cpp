// The roofline: axes by ImPlot, roofs, marks and names by us.
#include "viz/profile/roofline_draw.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "implot.h"
#include "viz/bench/scene.h"
#include "viz/draw/canvas.h"
#include "viz/draw/label_places.h"
#include "viz/draw/marks.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"

namespace attn {
namespace {

constexpr float kAxisText = 11.5F, kLabelText = 12;  // logical pixels

int format_tick(double value, char* buffer, int size, void*) {
  return std::snprintf(buffer, static_cast<std::size_t>(size), "%.6g", value);
}

std::vector<double> decades(double from, double to) {
  std::vector<double> ticks;
  for (int p = static_cast<int>(std::floor(std::log10(from))); p <= static_cast<int>(std::ceil(std::log10(to))); ++p)
    ticks.push_back(std::pow(10.0, p));
  return ticks;
}

void set_axes(const Roofline& roof) {
  constexpr ImPlotAxisFlags kFlags = ImPlotAxisFlags_NoTickMarks | ImPlotAxisFlags_NoMenus |
                                     ImPlotAxisFlags_NoSideSwitch | ImPlotAxisFlags_NoHighlight;
  ImPlot::SetupAxes(nullptr, nullptr, kFlags, kFlags);
  ImPlot::SetupAxisScale(ImAxis_X1, ImPlotScale_Log10);
  ImPlot::SetupAxisScale(ImAxis_Y1, ImPlotScale_Log10);
  ImPlot::SetupAxisFormat(ImAxis_X1, format_tick, nullptr);
  ImPlot::SetupAxisFormat(ImAxis_Y1, format_tick, nullptr);
  ImPlot::SetupAxesLimits(roof.x_min, roof.x_max, roof.y_min, roof.y_max, ImPlotCond_Always);
  const auto x = decades(roof.x_min, roof.x_max), y = decades(roof.y_min, roof.y_max);
  ImPlot::SetupAxisTicks(ImAxis_X1, x.data(), static_cast<int>(x.size()));
  ImPlot::SetupAxisTicks(ImAxis_Y1, y.data(), static_cast<int>(y.size()));
  ImPlot::SetupFinish();
}

// TFLOP/s that a rate allows at an intensity.
double under(double gb_per_s, double intensity) {
  return intensity * gb_per_s * 1e-3;
}
double under_copy(const Roofline& roof, double intensity) {
  return under(roof.copy_gb_per_s, intensity);
}

// Where words stand: each takes its room, and what comes later keeps out of it.
class Labels {
 public:
  Labels(ImVec2 origin, ImVec2 size) : inside_{origin.x, origin.y, origin.x + size.x, origin.y + size.y} {}
  void take(ImVec2 centre, float radius) {
    taken_.push_back({centre.x - radius, centre.y - radius, centre.x + radius, centre.y + radius});
  }
  // The left top corner among the places, the best first.
  ImVec2 place(std::span<const ImVec2> places, float width) {
    std::vector<LabelBox> candidates;
    candidates.reserve(places.size());
    for (const ImVec2 at : places) candidates.push_back({at.x, at.y, at.x + width, at.y + style().px(kLabelHeight)});
    taken_.push_back(place_label(candidates, taken_, inside_));
    return {taken_.back().left, taken_.back().top};
  }
  float left() const { return inside_.left; }
  float right() const { return inside_.right; }

 private:
  static constexpr float kLabelHeight = 15;  // logical pixels
  std::vector<LabelBox> taken_;
  LabelBox inside_;
};

// Words that lines may lie behind.
void draw_over_lines(ImDrawList& list, ImVec2 at, const std::string& words) {
  draw_text_over(&list, at, Face::text, kLabelText, colour_of(Token::dim), words);
}

// A level roof from where the slope meets it, its name at the right end: over it, under it where another's stands
// there.
void draw_peak(ImDrawList& list, const Roofline& roof, double tflops, const std::string& name, Labels& labels) {
  if (tflops <= 0) return;
  const Style& s = style();
  const ImU32 ink = colour(s.theme, Token::dim);
  const double from = ridge(roof, tflops);
  const ImVec2 a = ImPlot::PlotToPixels(from > 0 ? from : roof.x_min, tflops);
  list.AddLine(a, {labels.right(), a.y}, ink, s.px(1.5F));
  const std::string words = fmt::format("{}, {:.3g} TFLOP/s", name, tflops);
  const float width = text_width(Face::text, kLabelText, words), left = labels.right() - width - s.px(4);
  const float begins = std::max(a.x, labels.left()) + s.px(4);
  const std::array<ImVec2, 4> places{ImVec2(left, a.y - s.px(17)), ImVec2(left, a.y + s.px(3)),
                                     ImVec2(begins, a.y - s.px(17)), ImVec2(begins + s.px(14), a.y + s.px(3))};
  draw_text(&list, labels.place(places, width), Face::text, kLabelText, ink, words);
}

std::string rate_words(const std::string& name, double gb_per_s) {
  return name + ", " + value_with_unit(gb_per_s * 1e9, {1e-12, "TB/s"});
}

void draw_roofs(ImDrawList& list, const Roofline& roof, Labels& labels) {
  const Style& s = style();
  const ImU32 ink = colour(s.theme, Token::dim);
  if (roof.copy_gb_per_s > 0) {
    const double top = roof.top_tflops > 0 ? std::max(roof.peak_tflops, roof.tensor_tflops) : 0;
    const double end = top > 0 ? ridge(roof, top) : roof.x_max;
    const ImVec2 a = ImPlot::PlotToPixels(roof.x_min, under_copy(roof, roof.x_min));
    const ImVec2 b = ImPlot::PlotToPixels(end, under_copy(roof, end));
    list.AddLine(a, b, ink, s.px(1.5F));
    // Right of the slope, where the plot begins; its upper edge is where the slope is nearest.
    const std::string words = rate_words("copy", roof.copy_gb_per_s);
    const float top_edge = a.y - s.px(20), rise = a.y - b.y;
    const float across = rise > 0 ? (b.x - a.x) * s.px(20) / rise : 0;
    const std::array<ImVec2, 2> places{ImVec2(a.x + across + s.px(6), top_edge), ImVec2(a.x + s.px(6), a.y - s.px(34))};
    draw_text(&list, labels.place(places, text_width(Face::text, kLabelText, words)), Face::text, kLabelText, ink,
              words);
  }
  draw_peak(list, roof, roof.tensor_tflops, roof.tensor_name, labels);
  draw_peak(list, roof, roof.peak_tflops, "multiply-add peak", labels);
}

// Dashed, its rate under its beginning as the copy rate's is.
void draw_level_roof(ImDrawList& list, const Roofline& roof, const RoofLevel& level, double top, Labels& labels) {
  const Style& s = style();
  const double end = top > 0 ? top * 1e3 / level.gb_per_s : roof.x_max;
  const ImVec2 from = ImPlot::PlotToPixels(roof.x_min, under(level.gb_per_s, roof.x_min));
  draw_dashed_line(&list, from, ImPlot::PlotToPixels(end, under(level.gb_per_s, end)), colour(s.theme, Token::dim), 4);
  const std::string words = rate_words(level.name, level.gb_per_s);
  const std::array<ImVec2, 2> places{ImVec2(from.x + s.px(6), from.y + s.px(4)),
                                     ImVec2(from.x + s.px(6), from.y - s.px(30))};
  draw_over_lines(list, labels.place(places, text_width(Face::text, kLabelText, words)), words);
}

// The slopes of the levels inside DRAM, and on each the distance from the chosen kernel's height to its roof.
void draw_levels(ImDrawList& list, const Roofline& roof, double tflops, ImU32 mine, Labels& labels) {
  const Style& s = style();
  const double top = roof.top_tflops;
  for (const RoofLevel& level : roof.levels)
    if (level.name != "DRAM") draw_level_roof(list, roof, level, top, labels);
  for (const RoofLevel& level : roof.levels) labels.take(ImPlot::PlotToPixels(level.intensity, tflops), s.px(3));
  for (const RoofLevel& level : roof.levels) {
    const double reach = top > 0 ? std::min(level.allowed_tflops, top) : level.allowed_tflops;
    const ImVec2 at = ImPlot::PlotToPixels(level.intensity, tflops);
    const ImVec2 roof_at = ImPlot::PlotToPixels(level.intensity, reach);
    list.AddLine(at, roof_at, mine, s.px(1.5F));
    list.AddCircleFilled(at, s.px(3), mine);
    if (reach <= roof.y_max) list.AddCircle(roof_at, s.px(3), mine, 0, s.px(1.5F));
    const float right = at.x + s.px(7), below = at.y + s.px(6), row = s.px(15);
    const std::array<ImVec2, 3> places{ImVec2(right, below), ImVec2(right, below + row),
                                       ImVec2(right, below + 2 * row)};
    draw_over_lines(list, labels.place(places, text_width(Face::text, kLabelText, level.name)), level.name);
    if (std::hypot(ImGui::GetMousePos().x - at.x, ImGui::GetMousePos().y - at.y) < s.px(8))
      show_tooltip(fmt::format("{}: {} FLOP a byte; {} TB/s allow {} TFLOP/s there", level.name,
                               figure_text(level.intensity), figure_text(level.gb_per_s * 1e-3),
                               figure_text(level.allowed_tflops)));
  }
}

ImU32 dot_colour(const RoofDot& dot) {
  return faded(kernel_colour(style().theme, dot.kernel), dot.elsewhere ? 0.45F : 1);
}

MarkStyle mark_of(const RoofDot& dot, bool counted) {
  const Style& s = style();
  return {look_of(dot.kernel).mark,
          counted ? MarkFill::solid : MarkFill::hollow,
          dot_colour(dot),
          colour(s.theme, Token::card),
          s.px(dot.chosen ? 7.0F : 5.0F),
          s.px(1.75F)};
}

// Roofs' names keep out of the marks, which are drawn over the roofs.
void take_marks(const Roofline& roof, Labels& labels) {
  for (const RoofDot& dot : roof.dots)
    for (const std::optional<double>& intensity : {dot.predicted, dot.measured})
      if (intensity) labels.take(ImPlot::PlotToPixels(*intensity, dot.tflops), style().px(8));
}

// Its mark at what was counted; a hollow one, joined by dashes, at the least that it must move.
void draw_marks(ImDrawList& list, const RoofDot& dot) {
  const Style& s = style();
  const auto one = [&](double intensity, bool counted) {
    const ImVec2 p = ImPlot::PlotToPixels(intensity, dot.tflops);
    draw_mark(list, p, mark_of(dot, counted));
    if (std::hypot(ImGui::GetMousePos().x - p.x, ImGui::GetMousePos().y - p.y) < s.px(10)) show_tooltip(dot.tip);
  };
  if (dot.predicted && dot.measured)
    draw_dashed_line(&list, ImPlot::PlotToPixels(*dot.measured, dot.tflops),
                     ImPlot::PlotToPixels(*dot.predicted, dot.tflops), dot_colour(dot), 3);
  if (dot.predicted) one(*dot.predicted, false);
  if (dot.measured) one(*dot.measured, true);
}

// Beside the mark that is furthest to the right; where that place is taken, under it, over it or at the other side.
void draw_name(ImDrawList& list, const RoofDot& dot, Labels& labels) {
  if (!dot.predicted && !dot.measured) return;
  const Style& s = style();
  const double last = std::max(dot.predicted.value_or(0), dot.measured.value_or(0));
  const double first = std::min(dot.predicted.value_or(last), dot.measured.value_or(last));
  const ImVec2 r = ImPlot::PlotToPixels(last, dot.tflops), l = ImPlot::PlotToPixels(first, dot.tflops);
  const Face face = dot.chosen ? Face::bold : Face::text;
  const std::string words = dot.elsewhere ? dot.kernel + " (not this roof's pipe)" : dot.kernel;
  const float width = text_width(face, kLabelText, words), gap = s.px(11);
  const float middle = r.y - s.px(8), under = r.y + s.px(9), over = r.y - s.px(25);
  std::vector<ImVec2> places;
  if (r.x + gap + width <= labels.right()) places.emplace_back(r.x + gap, middle);
  for (const ImVec2 at :
       {ImVec2(r.x - width / 2, under), ImVec2(r.x - width / 2, over), ImVec2(r.x, under), ImVec2(r.x, over),
        ImVec2(r.x - width, under), ImVec2(r.x - width, over), ImVec2(l.x - gap - width, middle)})
    places.push_back(at);
  draw_text(&list, labels.place(places, width), face, kLabelText,
            colour(s.theme, dot.chosen ? Token::text : Token::dim), words);
}

// The chosen one's mark over the others; its name has the first choice of a place.
void draw_dots(ImDrawList& list, const Roofline& roof, Labels& labels) {
  for (const bool chosen : {false, true})
    for (const RoofDot& dot : roof.dots)
      if (dot.chosen == chosen) draw_marks(list, dot);
  for (const bool chosen : {true, false})
    for (const RoofDot& dot : roof.dots)
      if (dot.chosen == chosen) draw_name(list, dot, labels);
}

void draw_plot(const Roofline& roof, ImVec2 size, bool levels) {
  const Style& s = style();
  ImGui::PushFont(s.fonts.mono, s.px(kAxisText));
  ImPlot::PushStyleColor(ImPlotCol_AxisGrid, ImGui::ColorConvertU32ToFloat4(colour(s.theme, Token::line)));
  ImPlot::PushStyleColor(ImPlotCol_AxisText, ImGui::ColorConvertU32ToFloat4(colour(s.theme, Token::dim)));
  ImPlot::PushStyleColor(ImPlotCol_PlotBg, ImVec4(0, 0, 0, 0));
  ImPlot::PushStyleColor(ImPlotCol_FrameBg, ImVec4(0, 0, 0, 0));
  constexpr ImPlotFlags kFlags = ImPlotFlags_CanvasOnly | ImPlotFlags_NoFrame | ImPlotFlags_NoInputs;
  if (ImPlot::BeginPlot("##roofline", size, kFlags)) {
    set_axes(roof);
    const ImVec2 origin = ImPlot::GetPlotPos(), inner = ImPlot::GetPlotSize();
    ImDrawList& list = *ImPlot::GetPlotDrawList();
    ImPlot::PushPlotClipRect(s.px(8));
    Labels labels(origin, inner);
    if (!levels) take_marks(roof, labels);
    draw_roofs(list, roof, labels);
    const auto mine = std::ranges::find(roof.dots, true, &RoofDot::chosen);
    // By levels, the chosen one alone.
    if (levels && !roof.levels.empty() && mine != roof.dots.end()) {
      draw_levels(list, roof, mine->tflops, kernel_colour(s.theme, mine->kernel), labels);
    } else {
      draw_dots(list, roof, labels);
    }
    ImPlot::PopPlotClipRect();
    ImPlot::EndPlot();
  }
  ImPlot::PopStyleColor(4);
  ImGui::PopFont();
}

// A switch beside the heading, of a kernel of a GPU.
void draw_level_switch(bool on, Commands& commands) {
  ImGui::SameLine();
  if (toggle("By level", on, "DRAM, L2 and shared memory: the way of this kernel to each of their roofs"))
    commands.push_back(ShowRoofLevels{!on});
}

void draw_roof_card(const Roofline& roof, bool levels, ImVec2 size, Commands* commands) {
  const Style& s = style();
  if (begin_card("roofline", size)) {
    heading("Roofline");
    if (!roof.empty.empty()) {
      dim_text(roof.empty);
    } else {
      if (commands != nullptr && !roof.level_words.empty()) draw_level_switch(levels, *commands);
      const std::string words =
          levels ? "FLOP a byte of each level; the line from the point to the ring is the way to its roof. " +
                       roof.level_words
                 : "FLOP a byte of DRAM. Filled: counted; hollow: the least that the order must move. " + roof.note;
      dim_text("TFLOP/s of useful work");
      const float foot = dim_text_height(words) + ImGui::GetStyle().ItemSpacing.y;
      draw_plot(roof, {ImGui::GetContentRegionAvail().x, std::max(s.px(80), ImGui::GetContentRegionAvail().y - foot)},
                levels);
      dim_text(words);
    }
  }
  ImGui::EndChild();
}

}  // namespace

void draw_roofline(const Roofline& roof, bool by_level, ImVec2 size, Commands& commands) {
  draw_roof_card(roof, by_level && !roof.level_words.empty(), size, &commands);
}

void draw_roofline(const Roofline& roof, bool by_level, ImVec2 size) {
  draw_roof_card(roof, by_level && !roof.level_words.empty(), size, nullptr);
}

}  // namespace attn
