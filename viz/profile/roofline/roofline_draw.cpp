// The roofline: axes by ImPlot, roofs, marks and names by us.
#include "viz/profile/roofline/roofline_draw.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "implot.h"
#include "kernels/base/text.h"
#include "viz/bench/scene/bench_scene.h"
#include "viz/draw/canvas.h"
#include "viz/draw/figure_text.h"
#include "viz/draw/label_places.h"
#include "viz/draw/marks.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/profile/roofline/roof_levels.h"

namespace attn {
namespace {

constexpr float kAxisText = 11.5F, kLabelText = 12, kLineHeight = 15;  // logical pixels
// How far labels, and whatever else is drawn, may stand over the chart's edge.
constexpr float kOverTop = 4, kOverEdge = 8;
constexpr float kTicksUnder = 24;  // logical: of the picture's height what the numbers under it take
constexpr float kApart = 6;        // logical: labels on one line

int format_tick(double value, char* buffer, int size, void*) {
  return std::snprintf(buffer, static_cast<std::size_t>(size), "%.6g", value);
}

void set_axes(const RoofAxes& roof) {
  constexpr ImPlotAxisFlags kFlags = ImPlotAxisFlags_NoTickMarks | ImPlotAxisFlags_NoMenus |
                                     ImPlotAxisFlags_NoSideSwitch | ImPlotAxisFlags_NoHighlight;
  ImPlot::SetupAxes(nullptr, nullptr, kFlags, kFlags);
  ImPlot::SetupAxisScale(ImAxis_X1, ImPlotScale_Log10);
  ImPlot::SetupAxisScale(ImAxis_Y1, ImPlotScale_Log10);
  ImPlot::SetupAxisFormat(ImAxis_X1, format_tick, nullptr);
  ImPlot::SetupAxisFormat(ImAxis_Y1, format_tick, nullptr);
  ImPlot::SetupAxesLimits(roof.x_min, roof.x_max, roof.y_min, roof.y_max, ImPlotCond_Always);
  const auto x = roof_ticks(roof.x_min, roof.x_max), y = roof_ticks(roof.y_min, roof.y_max);
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

// Where words stand: each takes its room, and what comes later keeps out of it. Patches behind all else that is drawn
// while this lives keep the grid out of the words, and not the roofs.
class Labels {
 public:
  // They may stand a little over the top, so that one has room over a high roof.
  Labels(ImDrawList& list, ImVec2 origin, ImVec2 size)
      : list_(list), inside_{origin.x, origin.y - style().px(kOverTop), origin.x + size.x, origin.y + size.y} {
    splitter_.Split(&list_, 2);
    splitter_.SetCurrentChannel(&list_, 1);
  }
  ~Labels() { splitter_.Merge(&list_); }
  Labels(const Labels&) = delete;
  Labels& operator=(const Labels&) = delete;
  void take_mark(ImVec2 centre, float radius) {
    take(centre, radius);
    legible_.push_back(taken_.back());
  }
  // Lines are taken as small boxes along them.
  void take_line(ImVec2 a, ImVec2 b) {
    const float step = style().px(4), length = std::hypot(b.x - a.x, b.y - a.y);
    const int steps = std::max(1, static_cast<int>(length / step));
    for (int n = 0; n <= steps; ++n) {
      const float t = static_cast<float>(n) / static_cast<float>(steps);
      take({a.x + (b.x - a.x) * t, a.y + (b.y - a.y) * t}, style().px(2));
    }
  }
  // The left top corner among the places, the best first; of a mark's name nearer to `own` than to `others`.
  ImVec2 place(std::span<const ImVec2> places, float width, std::span<const LabelPoint> own = {},
               std::span<const LabelPoint> others = {}) {
    std::vector<LabelBox> candidates;
    candidates.reserve(places.size());
    for (const ImVec2 at : places) candidates.push_back({at.x, at.y, at.x + width, at.y + style().px(kLineHeight)});
    if (!own.empty()) candidates = beside_own(candidates, own, others, inside_);
    const LabelBox box = place_label(clear_of(candidates, legible_, inside_), taken_, inside_);
    back(box);
    const float apart = style().px(kApart);
    taken_.push_back({box.left - apart, box.top, box.right + apart, box.bottom});
    legible_.push_back(taken_.back());
    return {box.left, box.top};
  }
  float left() const { return inside_.left; }
  float right() const { return inside_.right; }

 private:
  void take(ImVec2 centre, float radius) {
    taken_.push_back({centre.x - radius, centre.y - radius, centre.x + radius, centre.y + radius});
  }
  void back(const LabelBox& words) {
    const float side = style().px(2);
    splitter_.SetCurrentChannel(&list_, 0);
    list_.AddRectFilled({words.left - side, words.top}, {words.right + side, words.bottom},
                        colour(style().theme, Token::card));
    splitter_.SetCurrentChannel(&list_, 1);
  }
  ImDrawList& list_;
  ImDrawListSplitter splitter_;
  std::vector<LabelBox> taken_, legible_;  // all; of them words and marks
  LabelBox inside_;
};

// Where the slope meets a level roof, or where the plot begins: without a slope, or if it lies left of the plot.
ImVec2 begin_of_peak(const Roofline& roof, double tflops) {
  return ImPlot::PlotToPixels(std::max(ridge(roof, tflops), roof.x_min), tflops);
}

// No name lies on a level roof.
void take_peak(const Roofline& roof, double tflops, Labels& labels) {
  if (tflops <= 0) return;
  const ImVec2 a = begin_of_peak(roof, tflops);
  labels.take_line(a, {labels.right(), a.y});
}

// A level roof, its name at the right end: over it, under it where another's stands there.
void draw_peak(ImDrawList& list, const Roofline& roof, double tflops, const std::string& name, Labels& labels) {
  if (tflops <= 0) return;
  const Style& s = style();
  const ImU32 ink = colour(s.theme, Token::dim);
  const ImVec2 a = begin_of_peak(roof, tflops);
  list.AddLine(a, {labels.right(), a.y}, ink, s.px(1.5F));
  const std::string words = phrase("{}, {:.3g} TFLOP/s", name, tflops);
  const float width = text_width(Face::text, kLabelText, words), left = labels.right() - width - s.px(4);
  const float begins = std::max(a.x, labels.left()) + s.px(4);
  std::vector<ImVec2> places{ImVec2(left, a.y - s.px(17)), ImVec2(left, a.y + s.px(3)), ImVec2(begins, a.y - s.px(17)),
                             ImVec2(begins + s.px(14), a.y + s.px(3))};
  constexpr int kPlaces = 8;  // along it, from its end to its begin
  for (const float under : {3.0F, 10.0F, 22.0F})
    for (int n = 0; n <= kPlaces; ++n)
      places.emplace_back(left - std::max(0.0F, left - begins) * static_cast<float>(n) / kPlaces, a.y + s.px(under));
  draw_text(&list, labels.place(places, width), Face::text, kLabelText, ink, words);
}

std::string rate_words(const std::string& name, double gb_per_s) {
  return name + ", " + value_with_unit(gb_per_s * 1e9, {1e-12, "TB/s"});
}

// Along the slope, right of it from its foot up, then left of it from its head down; of a short one over its head or
// under its foot.
void draw_copy_words(ImDrawList& list, const Roofline& roof, ImVec2 a, ImVec2 b, Labels& labels) {
  const Style& s = style();
  const std::string words = rate_words("copy", roof.copy_gb_per_s);
  const float width = text_width(Face::text, kLabelText, words), rise = std::max(1.0F, a.y - b.y);
  std::vector<ImVec2> places;
  constexpr int kPlaces = 12;
  for (const bool right : {true, false})
    for (int n = 0; n < kPlaces; ++n) {
      const float up = (right ? 20.0F : 40.0F) * s.scale + rise * static_cast<float>(n) / kPlaces;
      if (up > rise) break;
      const float x = a.x + (b.x - a.x) * up / rise;
      // Its upper left corner is what comes nearest, or its lower right one.
      places.emplace_back(right ? x + s.px(8) : x - width - s.px(8), right ? a.y - up : a.y - up - s.px(kLineHeight));
    }
  places.emplace_back(a.x + s.px(4), b.y - s.px(17));
  for (const float under : {4.0F, 8.0F, 12.0F, 16.0F}) places.emplace_back(a.x + s.px(8), a.y + s.px(under));
  draw_text(&list, labels.place(places, width), Face::text, kLabelText, colour(s.theme, Token::dim), words);
}

void draw_roofs(ImDrawList& list, const Roofline& roof, Labels& labels) {
  const Style& s = style();
  const ImU32 ink = colour(s.theme, Token::dim);
  ImVec2 a{}, b{};
  bool in_sight = false;  // the whole picture may lie right of the slope
  if (roof.copy_gb_per_s > 0) {
    const double top = roof.top_tflops > 0 ? std::max(roof.peak_tflops, roof.tensor_tflops) : 0;
    const double end = top > 0 ? ridge(roof, top) : std::min(roof.x_max, roof.y_max * 1e3 / roof.copy_gb_per_s);
    const double begin = std::max(roof.x_min, ridge(roof, roof.y_min));
    in_sight = end > begin;
    if (in_sight) {
      a = ImPlot::PlotToPixels(begin, under_copy(roof, begin));
      b = ImPlot::PlotToPixels(end, under_copy(roof, end));
      list.AddLine(a, b, ink, s.px(1.5F));
      labels.take_line(a, b);
    }
  }
  for (const double tflops : {roof.tensor_tflops, roof.peak_tflops}) take_peak(roof, tflops, labels);
  draw_peak(list, roof, roof.tensor_tflops, roof.tensor_name, labels);
  draw_peak(list, roof, roof.peak_tflops, roof.peak_name, labels);
  if (in_sight) draw_copy_words(list, roof, a, b, labels);
}

ImVec2 pixel(RoofPoint p) {
  return {p.x, p.y};
}

// Its share in bold, of what under it.
void draw_way_words(ImDrawList& list, const RoofWay& way, float line) {
  const Style& s = style();
  const ImVec2 at{way.label.left, way.label.top};
  draw_text(&list, at, Face::bold, kLabelText, colour(s.theme, Token::text), way.share);
  draw_text(&list, {at.x, at.y + line}, Face::text, kLabelText, colour(s.theme, Token::dim), way.of);
}

// Roofs, the kernel's rate across them, and from it the way to each: a long way is much that is left.
void draw_levels(ImDrawList& list, const Roofline& roof, const RoofDot& mine, ImVec2 origin, ImVec2 size) {
  const Style& s = style();
  const ImU32 ink = colour(s.theme, Token::dim), own = kernel_colour(s.theme, mine.kernel);
  const float line = s.px(kLineHeight);
  const LabelBox plot{origin.x, origin.y, origin.x + size.x, origin.y + size.y};
  const RoofLevelPicture p = level_picture(roof, mine.name, mine.tflops, plot, line, [](std::string_view words) {
    return text_width(Face::bold, kLabelText, words);
  });
  for (const RoofStroke& stroke : p.roofs) {
    if (stroke.beyond) {
      draw_dashed_line(&list, pixel(stroke.from), pixel(stroke.to), faded(ink, 0.7F), 4);
    } else {
      list.AddLine(pixel(stroke.from), pixel(stroke.to), ink, s.px(1.5F));
    }
  }
  list.AddLine(pixel(p.rate.from), pixel(p.rate.to), faded(own, 0.45F), s.px(1));
  std::string tip;
  for (const RoofWay& way : p.ways) {
    const ImVec2 from = pixel(way.from), to = pixel(way.to);
    list.AddLine(from, to, own, s.px(way.nearest ? 3.5F : 1.5F));
    list.AddCircleFilled(to, s.px(4), colour(s.theme, Token::card));
    list.AddCircle(to, s.px(4), own, 0, s.px(1.5F));
    if (way.arithmetic) {
      list.AddCircleFilled(from, s.px(3.5F), own);
    } else {
      draw_mark(list, from,
                {look_of(mine.kernel).mark, MarkFill::solid, own, colour(s.theme, Token::card), s.px(5), s.px(1.5F)});
    }
    draw_way_words(list, way, line);
    const ImVec2 pointer = ImGui::GetMousePos();
    if (std::abs(pointer.x - from.x) < s.px(7) && pointer.y > to.y - s.px(7) && pointer.y < from.y + s.px(7))
      tip += (tip.empty() ? "" : "\n") + way.tip;
  }
  if (!tip.empty()) show_tooltip(tip);
  draw_text(&list, {p.name_at.left, p.name_at.top}, Face::bold, kLabelText, own, p.name);
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
      if (intensity) labels.take_mark(ImPlot::PlotToPixels(*intensity, dot.tflops), style().px(8));
}

// Its mark at what was counted; a hollow one, joined by dashes, at the least that it must move. Whether the pointer is
// on one of them.
bool draw_marks(ImDrawList& list, const RoofDot& dot) {
  const Style& s = style();
  bool pointed = false;
  const auto one = [&](double intensity, bool counted) {
    const ImVec2 p = ImPlot::PlotToPixels(intensity, dot.tflops);
    const MarkStyle mark = mark_of(dot, counted);
    // A rim of the ground's colour: of two marks that touch, the upper one keeps its shape.
    draw_mark(list, p,
              {mark.mark, MarkFill::solid, mark.ground, mark.ground, mark.radius + s.px(2.5F), mark.thickness});
    draw_mark(list, p, mark);
    pointed |= std::hypot(ImGui::GetMousePos().x - p.x, ImGui::GetMousePos().y - p.y) < s.px(10);
  };
  if (dot.predicted && dot.measured)
    draw_dashed_line(&list, ImPlot::PlotToPixels(*dot.measured, dot.tflops),
                     ImPlot::PlotToPixels(*dot.predicted, dot.tflops), dot_colour(dot), 3);
  if (dot.predicted) one(*dot.predicted, false);
  if (dot.measured) one(*dot.measured, true);
  return pointed;
}

std::vector<LabelPoint> marks_of(const RoofDot& dot) {
  std::vector<LabelPoint> points;
  for (const std::optional<double>& intensity : {dot.predicted, dot.measured})
    if (intensity) {
      const ImVec2 at = ImPlot::PlotToPixels(*intensity, dot.tflops);
      points.push_back({at.x, at.y});
    }
  return points;
}

std::vector<LabelPoint> marks_of_others(const Roofline& roof, const RoofDot& dot) {
  std::vector<LabelPoint> points;
  for (const RoofDot& other : roof.dots)
    if (&other != &dot)
      for (const LabelPoint& at : marks_of(other)) points.push_back(at);
  return points;
}

// Beside the mark that is furthest to the right; where that place is taken, under it, over it or at the other side.
void draw_name(ImDrawList& list, const Roofline& roof, const RoofDot& dot, Labels& labels) {
  if (!dot.predicted && !dot.measured) return;
  const Style& s = style();
  const double last = std::max(dot.predicted.value_or(0), dot.measured.value_or(0));
  const double first = std::min(dot.predicted.value_or(last), dot.measured.value_or(last));
  const ImVec2 r = ImPlot::PlotToPixels(last, dot.tflops), l = ImPlot::PlotToPixels(first, dot.tflops);
  const Face face = dot.chosen ? Face::bold : Face::text;
  const std::string words = dot.elsewhere ? phrase("{} ({})", dot.name, dot.pipe) : dot.name;
  const float width = text_width(face, kLabelText, words), gap = s.px(dot.chosen ? 14 : 11);
  const float middle = r.y - s.px(8), under = r.y + s.px(9), over = r.y - s.px(25);
  std::vector<ImVec2> places;
  if (r.x + gap + width <= labels.right()) places.emplace_back(r.x + gap, middle);
  for (const ImVec2 at :
       {ImVec2(r.x - width / 2, under), ImVec2(r.x - width / 2, over), ImVec2(r.x, under), ImVec2(r.x, over),
        ImVec2(r.x - width, under), ImVec2(r.x - width, over), ImVec2(l.x - gap - width, middle),
        ImVec2(l.x - gap - width, over), ImVec2(l.x - gap - width, under), ImVec2(r.x + gap, over),
        ImVec2(r.x + gap, under), ImVec2(r.x + gap, middle - s.px(5)), ImVec2(r.x + gap, middle + s.px(5)),
        // Just over a roof that goes through its mark, and just under it.
        ImVec2(l.x - gap - width, r.y - s.px(kLineHeight + 0.5F)), ImVec2(l.x - gap - width, r.y + s.px(3)),
        ImVec2(l.x - gap - width, r.y + s.px(6)), ImVec2(r.x - width / 2, over - s.px(6)),
        ImVec2(r.x - width, under + s.px(kLineHeight)), ImVec2(r.x - width, over - s.px(kLineHeight)),
        ImVec2(r.x - width / 2, over - s.px(kLineHeight))})
    places.push_back(at);
  draw_text(&list, labels.place(places, width, marks_of(dot), marks_of_others(roof, dot)), face, kLabelText,
            colour(s.theme, dot.chosen ? Token::text : Token::dim), words);
}

// The chosen one's mark over the others; its name has the first choice of a place.
void draw_dots(ImDrawList& list, const Roofline& roof, Labels& labels) {
  std::string tip;
  for (const bool chosen : {false, true})
    for (const RoofDot& dot : roof.dots)
      if (dot.chosen == chosen && draw_marks(list, dot)) tip += (tip.empty() ? "" : "\n") + dot.tip;
  if (!tip.empty()) show_tooltip(tip);
  for (const bool chosen : {true, false})
    for (const RoofDot& dot : roof.dots)
      if (dot.chosen == chosen) draw_name(list, roof, dot, labels);
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
    // By levels, the chosen one alone.
    const auto mine = std::ranges::find(roof.dots, true, &RoofDot::chosen);
    const bool by_level = levels && !roof.levels.empty() && mine != roof.dots.end();
    set_axes(by_level ? level_axes(roof, mine->tflops)
                      : roof_axes(roof, size.y - s.px(kTicksUnder), s.px(kLineHeight)));
    const ImVec2 origin = ImPlot::GetPlotPos(), inner = ImPlot::GetPlotSize();
    ImDrawList& list = *ImPlot::GetPlotDrawList();
    ImPlot::PushPlotClipRect(s.px(kOverEdge));
    if (by_level) {
      draw_levels(list, roof, *mine, origin, inner);
    } else {
      Labels labels(list, origin, inner);
      take_marks(roof, labels);
      draw_roofs(list, roof, labels);
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
  if (toggle(tr("By level"), on, tr("DRAM, L2 and shared memory: how far this kernel is from each roof")))
    commands.push_back(ShowRoofLevels{!on});
}

// Up to the card's edge, on the heading's line.
void dim_at_right(const std::string& words) {
  const Style& s = style();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float right = at.x + ImGui::GetContentRegionAvail().x, height = ImGui::GetTextLineHeight();
  draw_text_in(ImGui::GetWindowDrawList(), {at, {right, at.y + height}}, Align::right, Face::text, 12,
               colour(s.theme, Token::dim), fitted_text(Face::text, 12, words, right - at.x));
  ImGui::NewLine();
}

void draw_roof_card(const char* id, const Roofline& roof, bool levels, ImVec2 size, Commands* commands) {
  const Style& s = style();
  if (begin_card(id, size)) {
    heading(commands == nullptr && levels ? tr("Roofline by memory level") : tr("Roofline"));
    if (!roof.empty.empty()) {
      dim_text(roof.empty);
    } else {
      if (commands != nullptr && !roof.level_words.empty()) draw_level_switch(levels, *commands);
      dim_text(tr("TFLOP/s of useful work"));  // over its axis
      const std::string words = levels ? phrase(
                                             "Each line to a circle shows the gap to a roof. Where arithmetic is the "
                                             "lower limit, the line is dashed. {}",
                                             roof.level_words)
                                       : phrase("Filled: counted; hollow: at the minimum for the order. {}", roof.note);
      const float line = ImGui::GetTextLineHeight() + ImGui::GetStyle().ItemSpacing.y;
      const float foot = line + dim_text_height(words) + ImGui::GetStyle().ItemSpacing.y;
      draw_plot(roof, {ImGui::GetContentRegionAvail().x, std::max(s.px(80), ImGui::GetContentRegionAvail().y - foot)},
                levels);
      dim_at_right(levels ? tr("FLOP per byte of each level") : tr("FLOP per byte of DRAM"));  // under its axis
      dim_text(words);
    }
  }
  ImGui::EndChild();
}

}  // namespace

void draw_roofline(const Roofline& roof, bool by_level, ImVec2 size, Commands& commands) {
  draw_roof_card("roofline", roof, by_level && !roof.level_words.empty(), size, &commands);
}

void draw_roofline(const Roofline& roof, bool by_level, ImVec2 size) {
  draw_roof_card(by_level ? "roofline_levels" : "roofline", roof, by_level && !roof.level_words.empty(), size, nullptr);
}

}  // namespace attn
