// The roofline: axes by ImPlot, roofs, marks and names by us.
#include "viz/profile/roofline_draw.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "implot.h"
#include "viz/bench/scene.h"
#include "viz/draw/canvas.h"
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

// A level roof from where the slope meets it, its name at the right end.
void draw_peak(ImDrawList& list, const Roofline& roof, double tflops, const std::string& name, float right) {
  if (tflops <= 0) return;
  const Style& s = style();
  const ImU32 ink = colour(s.theme, Token::dim);
  const double from = ridge(roof, tflops);
  const ImVec2 a = ImPlot::PlotToPixels(from > 0 ? from : roof.x_min, tflops);
  list.AddLine(a, {right, a.y}, ink, s.px(1.5F));
  const std::string words = fmt::format("{}, {:.3g} TFLOP/s", name, tflops);
  draw_text(&list, {right - text_width(Face::text, kLabelText, words) - s.px(4), a.y - s.px(17)}, Face::text,
            kLabelText, ink, words);
}

void draw_roofs(ImDrawList& list, const Roofline& roof, ImVec2 origin, ImVec2 size) {
  const Style& s = style();
  const ImU32 ink = colour(s.theme, Token::dim);
  if (roof.copy_gb_per_s > 0) {
    const double top = std::max(roof.peak_tflops, roof.tensor_tflops);
    const double end = top > 0 ? ridge(roof, top) : roof.x_max;
    const ImVec2 a = ImPlot::PlotToPixels(roof.x_min, under_copy(roof, roof.x_min));
    const ImVec2 b = ImPlot::PlotToPixels(end, under_copy(roof, end));
    list.AddLine(a, b, ink, s.px(1.5F));
  }
  draw_peak(list, roof, roof.peak_tflops, "multiply-add peak", origin.x + size.x);
  draw_peak(list, roof, roof.tensor_tflops, roof.tensor_name, origin.x + size.x);
  if (roof.copy_gb_per_s > 0) {
    const std::string words = "copy, " + value_with_unit(roof.copy_gb_per_s * 1e9, {1e-12, "TB/s"});
    // Under the slope, where the plot begins.
    const ImVec2 p = ImPlot::PlotToPixels(roof.x_min, under_copy(roof, roof.x_min));
    const float y = std::clamp(p.y + s.px(4), origin.y + s.px(2), origin.y + size.y - s.px(18));
    draw_text(&list, {origin.x + s.px(6), y}, Face::text, kLabelText, ink, words);
  }
}

// Words that lines may lie behind.
void draw_over_lines(ImDrawList& list, ImVec2 at, const std::string& words) {
  const Style& s = style();
  list.AddRectFilled({at.x - s.px(2), at.y},
                     {at.x + text_width(Face::text, kLabelText, words) + s.px(2), at.y + s.px(15)},
                     colour(s.theme, Token::card));
  draw_text(&list, at, Face::text, kLabelText, colour(s.theme, Token::dim), words);
}

// Dashed, its rate under its beginning as the copy rate's is.
void draw_level_roof(ImDrawList& list, const Roofline& roof, const RoofLevel& level, double top) {
  const Style& s = style();
  const double end = top > 0 ? top * 1e3 / level.gb_per_s : roof.x_max;
  const ImVec2 from = ImPlot::PlotToPixels(roof.x_min, under(level.gb_per_s, roof.x_min));
  draw_dashed_line(&list, from, ImPlot::PlotToPixels(end, under(level.gb_per_s, end)), colour(s.theme, Token::dim), 4);
  draw_over_lines(list, {from.x + s.px(6), from.y + s.px(4)},
                  level.name + ", " + value_with_unit(level.gb_per_s * 1e9, {1e-12, "TB/s"}));
}

// The slopes of the levels inside DRAM, and on each the distance from the chosen kernel's height to its roof.
void draw_levels(ImDrawList& list, const Roofline& roof, double tflops, ImU32 mine) {
  const Style& s = style();
  const double top = std::max(roof.peak_tflops, roof.tensor_tflops);
  for (const RoofLevel& level : roof.levels)
    if (level.name != "DRAM") draw_level_roof(list, roof, level, top);
  struct Name {
    float left = 0, right = 0;
    int row = 0;  // below the point: names that would meet have rows of their own
  };
  std::vector<Name> names;
  for (const RoofLevel& level : roof.levels) {
    const double reach = top > 0 ? std::min(level.allowed_tflops, top) : level.allowed_tflops;
    const ImVec2 at = ImPlot::PlotToPixels(level.intensity, tflops);
    const ImVec2 roof_at = ImPlot::PlotToPixels(level.intensity, reach);
    list.AddLine(at, roof_at, mine, s.px(1.5F));
    list.AddCircleFilled(at, s.px(3), mine);
    list.AddCircle(roof_at, s.px(3), mine, 0, s.px(1.5F));
    Name name{at.x + s.px(5), at.x + s.px(11) + text_width(Face::text, kLabelText, level.name), 0};
    const auto meets = [&](const Name& other) {
      return other.row == name.row && name.left < other.right && other.left < name.right;
    };
    while (std::ranges::any_of(names, meets)) ++name.row;
    names.push_back(name);
    draw_over_lines(list, {name.left, at.y + s.px(6) + static_cast<float>(name.row) * s.px(15)}, level.name);
    if (std::hypot(ImGui::GetMousePos().x - at.x, ImGui::GetMousePos().y - at.y) < s.px(8))
      show_tooltip(fmt::format("{}: {} FLOP a byte; {} TB/s allow {} TFLOP/s there", level.name,
                               figure_text(level.intensity), figure_text(level.gb_per_s * 1e-3),
                               figure_text(level.allowed_tflops)));
  }
}

MarkStyle mark_of(const RoofDot& dot, bool counted) {
  const Style& s = style();
  return {look_of(dot.kernel).mark,           counted ? MarkFill::solid : MarkFill::hollow,
          kernel_colour(s.theme, dot.kernel), colour(s.theme, Token::card),
          s.px(dot.chosen ? 7.0F : 5.0F),     s.px(1.75F)};
}

// Its mark at what was counted; a hollow one, joined by dashes, at the least that it must move.
void draw_dot(ImDrawList& list, const RoofDot& dot, float right) {
  const Style& s = style();
  const ImU32 ink = kernel_colour(s.theme, dot.kernel);
  ImVec2 name_at;
  if (dot.predicted) {
    const ImVec2 p = ImPlot::PlotToPixels(*dot.predicted, dot.tflops);
    if (dot.measured) draw_dashed_line(&list, ImPlot::PlotToPixels(*dot.measured, dot.tflops), p, ink, 3);
    draw_mark(list, p, mark_of(dot, false));
    name_at = p;
    if (std::hypot(ImGui::GetMousePos().x - p.x, ImGui::GetMousePos().y - p.y) < s.px(10)) show_tooltip(dot.tip);
  }
  if (dot.measured) {
    const ImVec2 p = ImPlot::PlotToPixels(*dot.measured, dot.tflops);
    draw_mark(list, p, mark_of(dot, true));
    if (!dot.predicted || p.x > name_at.x) name_at = p;
    if (std::hypot(ImGui::GetMousePos().x - p.x, ImGui::GetMousePos().y - p.y) < s.px(10)) show_tooltip(dot.tip);
  }
  const Face face = dot.chosen ? Face::bold : Face::text;
  const float width = text_width(face, kLabelText, dot.kernel);
  // Over the mark where the plot ends beside it.
  const bool beside = name_at.x + s.px(11) + width <= right;
  const ImVec2 at = beside ? ImVec2(name_at.x + s.px(11), name_at.y - s.px(8))
                           : ImVec2(std::min(name_at.x - width / 2, right - width), name_at.y + s.px(9));
  draw_text(&list, at, face, kLabelText, colour(s.theme, dot.chosen ? Token::text : Token::dim), dot.kernel);
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
    draw_roofs(list, roof, origin, inner);
    // The chosen one over the others; by levels, alone.
    for (const bool chosen : {false, true})
      for (const RoofDot& dot : roof.dots) {
        if (dot.chosen != chosen) continue;
        if (!levels) draw_dot(list, dot, origin.x + inner.x);
        if (levels && chosen) draw_levels(list, roof, dot.tflops, kernel_colour(s.theme, dot.kernel));
      }
    ImPlot::PopPlotClipRect();
    ImPlot::EndPlot();
  }
  ImPlot::PopStyleColor(4);
  ImGui::PopFont();
}

// A switch beside the heading where levels inside DRAM have roofs and counts.
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
      const float foot = s.px(levels ? 51 : 34);
      dim_text("TFLOP/s of useful work");
      draw_plot(roof, {ImGui::GetContentRegionAvail().x, std::max(s.px(80), ImGui::GetContentRegionAvail().y - foot)},
                levels);
      dim_text(levels
                   ? "FLOP a byte of each level; the line from the point to the ring is the way to its roof. " +
                         roof.level_words
                   : "FLOP a byte of DRAM. Filled: counted; hollow: the least that the order must move. " + roof.note);
    }
  }
  ImGui::EndChild();
}

}  // namespace

void draw_roofline(const Roofline& roof, bool by_level, ImVec2 size, Commands& commands) {
  draw_roof_card(roof, by_level && !roof.level_words.empty(), size, &commands);
}

void draw_roofline(const Roofline& roof, ImVec2 size) {
  draw_roof_card(roof, false, size, nullptr);
}

}  // namespace attn
