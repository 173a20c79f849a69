// A strip a counter over one axis of time: launches above, values at the pointer, a part of the run by dragging over
// it.
#include "viz/profile/heartbeat/heartbeat_draw.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "viz/draw/canvas.h"
#include "viz/draw/hands.h"
#include "viz/draw/marks.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/profile/source/phase_hue_draw.h"

namespace attn {
namespace {

// Logical pixels.
constexpr float kHead = 24, kMark = 20, kStripLeast = 32, kStripMost = 84, kGap = 5, kAxis = 34, kLabel = 168,
                kLabelNarrow = 136, kNarrow = 560, kScale = 56, kPads = 32;
// In less room than kOver names and means stand over the strips, a line each, and the strips have the whole width.
constexpr float kOver = 420, kOverLine = 18;
constexpr float kLeastDrag = 4, kNamed = 48;  // a launch that is narrower has its name in its tip alone

struct Chart {
  const HeartbeatScene& scene;
  Box plot;
  bool over;  // names stand over the strips
  float x_of(double us) const {
    return plot.min.x + plot.width() * static_cast<float>((us - scene.from_us) / (scene.to_us - scene.from_us));
  }
  double us_of(float x) const {
    return scene.from_us + static_cast<double>((x - plot.min.x) / plot.width()) * (scene.to_us - scene.from_us);
  }
};

// The least, mean and largest value in each pixel's time.
struct Column {
  float low = 0, mean = 0, high = 0;
  bool there = false;
};
std::vector<Column> columns_of(const Chart& chart, const Heartbeat& h, const BeatCounter& c, double scale,
                               const Box& strip) {
  const auto count = static_cast<std::size_t>(std::max(1.0F, strip.width()));
  std::vector<Column> columns(count);
  const double per = (chart.scene.to_us - chart.scene.from_us) * 1e3 / static_cast<double>(count);
  const auto y_of = [&](double value) {
    return strip.max.y - (strip.height() - style().px(2)) * static_cast<float>(std::clamp(value / scale, 0.0, 1.0));
  };
  std::size_t first = 0;
  for (std::size_t n = 0; n < count; ++n) {
    const double from = chart.scene.from_us * 1e3 + static_cast<double>(n) * per, to = from + per;
    while (first < c.values.size() && static_cast<double>(h.samples[first].end_ns) <= from) ++first;
    double low = 0, high = 0, sum = 0, ns = 0;
    for (std::size_t i = first; i < c.values.size() && static_cast<double>(h.samples[i].start_ns) < to; ++i) {
      const double shared = std::min(static_cast<double>(h.samples[i].end_ns), to) -
                            std::max(static_cast<double>(h.samples[i].start_ns), from);
      if (shared <= 0) continue;
      low = ns > 0 ? std::min(low, c.values[i]) : c.values[i];
      high = ns > 0 ? std::max(high, c.values[i]) : c.values[i];
      sum += shared * c.values[i];
      ns += shared;
    }
    if (ns > 0) columns[n] = {y_of(low), y_of(sum / ns), y_of(high), true};
  }
  return columns;
}

// Dashes along a line: whole points, so that they lie as evenly as the line is steep.
void draw_dashes(ImDrawList* list, const std::vector<ImVec2>& points, ImU32 ink) {
  const Style& s = style();
  const auto dash = static_cast<std::size_t>(std::max(2.0F, s.px(5))),
             gap = static_cast<std::size_t>(std::max(2.0F, s.px(3)));
  for (std::size_t from = 0; from + 1 < points.size(); from += dash + gap)
    list->AddPolyline(points.data() + from, static_cast<int>(std::min(dash + 1, points.size() - from)), ink,
                      s.px(1.5F));
}

// A ribbon from the least to the largest value of each pixel, and the mean through it: dashed, and without a floor,
// where it is the other kernel's, so that hue is not all that tells the two apart.
void draw_line(ImDrawList* list, const Chart& chart, const Heartbeat& h, const BeatCounter& c, double scale,
               const Box& strip, ImU32 ink, bool filled) {
  const Style& s = style();
  const std::vector<Column> columns = columns_of(chart, h, c, scale, strip);
  std::vector<ImVec2> points;
  const auto flush = [&] {
    if (!filled)
      draw_dashes(list, points, ink);
    else if (points.size() > 1)
      list->AddPolyline(points.data(), static_cast<int>(points.size()), ink, s.px(1.5F));
    points.clear();
  };
  for (std::size_t n = 0; n < columns.size(); ++n) {
    const Column& at = columns[n];
    if (!at.there) {
      flush();
      continue;
    }
    const float x = strip.min.x + static_cast<float>(n);
    if (filled) list->AddRectFilled({x, at.mean}, {x + 1, strip.max.y}, faded(ink, 0.16F));
    if (at.low - at.high > 1) list->AddRectFilled({x, at.high}, {x + 1, at.low}, faded(ink, 0.3F));
    points.emplace_back(x + 0.5F, at.mean);
  }
  flush();
}

void draw_grid(ImDrawList* list, const Chart& chart, const Box& strip) {
  const Style& s = style();
  const ImU32 ink = colour(s.theme, Token::line);
  list->AddLine({strip.min.x, strip.max.y}, {strip.max.x, strip.max.y}, ink, s.px(1));
  list->AddLine({strip.min.x, strip.min.y}, {strip.max.x, strip.min.y}, faded(ink, 0.6F), s.px(1));
  for (const BeatTick& tick : chart.scene.ticks) {
    const float x = chart.x_of(tick.us);
    list->AddLine({x, strip.min.y}, {x, strip.max.y}, faded(ink, 0.6F), s.px(1));
  }
}

// A kernel's mean behind a stroke of its colour, dashed as its line is.
void draw_mean(ImDrawList* list, const BeatLine& line, const std::string& kernel, const Box& box, Align align,
               bool dashed) {
  const Style& s = style();
  if (line.counter == nullptr) return;
  const float width = text_width(Face::mono, 12, line.mean), bar = s.px(3), gap = s.px(4);
  const float left = align == Align::left ? box.min.x : box.max.x - width - bar - gap;
  const ImU32 ink = kernel_colour(s.theme, kernel);
  const float middle = box.centre().y;
  list->AddRectFilled({left, middle - s.px(5)}, {left + bar, middle - s.px(dashed ? 1.5F : -5)}, ink);
  if (dashed) list->AddRectFilled({left, middle + s.px(1.5F)}, {left + bar, middle + s.px(5)}, ink);
  draw_text_in(list, {{left + bar + gap, box.min.y}, {left + bar + gap + width, box.max.y}}, Align::left, Face::mono,
               12, colour(s.theme, align == Align::left ? Token::text : Token::dim), line.mean);
}

float mean_width(const BeatLine& line) {
  return line.counter == nullptr ? 0 : text_width(Face::mono, 12, line.mean) + style().px(3 + 4 + 8);
}

// Name, means and scale on one line over the strip.
void draw_words_over(ImDrawList* list, const Chart& chart, const BeatStrip& strip, const Box& line) {
  const Style& s = style();
  float right = line.max.x;
  draw_text_in(list, line, Align::right, Face::mono, 11, colour(s.theme, Token::dim), strip.scale_text);
  right -= text_width(Face::mono, 11, strip.scale_text) + s.px(8);
  for (const auto& [mean, kernel] : {std::pair{&strip.other, &chart.scene.other}, {&strip.own, &chart.scene.kernel}}) {
    draw_mean(list, *mean, *kernel, {{right - mean_width(*mean), line.min.y}, {right, line.max.y}}, Align::left,
              mean == &strip.other);
    right -= mean_width(*mean);
  }
  draw_text_in(list, {line.min, {right, line.max.y}}, Align::left, Face::text, 12, colour(s.theme, Token::text),
               fitted_text(Face::text, 12, strip.label, right - line.min.x));
}

void draw_words_beside(ImDrawList* list, const Chart& chart, const BeatStrip& strip, const Box& row, float label) {
  const Style& s = style();
  const bool tall = row.height() >= s.px(44);
  const float middle = row.centre().y;
  const Box name{{row.min.x, tall ? middle - s.px(18) : middle - s.px(16)}, {row.min.x + label, middle}};
  const Box mean{{row.min.x, middle}, {row.min.x + label, middle + s.px(16)}};
  draw_text_in(list, name, Align::left, Face::text, 12, colour(s.theme, Token::text),
               fitted_text(Face::text, 12, strip.label, label));
  draw_mean(list, strip.own, chart.scene.kernel, mean, Align::left, false);
  draw_mean(list, strip.other, chart.scene.other, mean, Align::right, true);
  draw_text_in(list, {{chart.plot.max.x, row.min.y}, {chart.plot.max.x + s.px(kScale), row.min.y + s.px(13)}},
               Align::right, Face::mono, 11, colour(s.theme, Token::dim), strip.scale_text);
}

void draw_strip(ImDrawList* list, const Chart& chart, const BeatStrip& strip, const Box& row) {
  const Style& s = style();
  const float words = chart.over ? s.px(kOverLine) : 0;
  const Box plot{{chart.plot.min.x, row.min.y + words}, {chart.plot.max.x, row.max.y}};
  const float label = chart.plot.min.x - row.min.x - s.px(12);
  if (chart.over) {
    // Off the edges, where the launch's borders go down.
    draw_words_over(list, chart, strip, {{row.min.x + s.px(4), row.min.y}, {row.max.x - s.px(4), row.min.y + words}});
  } else {
    draw_words_beside(list, chart, strip, row, label);
  }
  draw_grid(list, chart, plot);
  if (strip.own.counter == nullptr)
    draw_text_in(list, plot, Align::left, Face::text, 12, colour(s.theme, Token::dim),
                 fitted_text(Face::text, 12, phrase("not available: {}", strip.why_not), plot.width() - s.px(16)), 8);
  list->PushClipRect(plot.min, {plot.max.x, plot.max.y + 1}, true);
  if (strip.other.counter != nullptr)
    draw_line(list, chart, *chart.scene.beside, *strip.other.counter, strip.scale, plot,
              kernel_colour(s.theme, chart.scene.other), false);
  if (strip.own.counter != nullptr)
    draw_line(list, chart, *chart.scene.own, *strip.own.counter, strip.scale, plot,
              kernel_colour(s.theme, chart.scene.kernel), true);
  list->PopClipRect();
  ImGui::SetCursorScreenPos({row.min.x, row.min.y});
  ImGui::InvisibleButton(("strip_" + strip.id).c_str(),
                         chart.over ? ImVec2(row.width(), words) : ImVec2(label, row.height()));
  tooltip(strip.tip);
}

// Of a kernel's row the bar of its launches.
Box launches_in(const Chart& chart, const Box& row) {
  return chart.over ? Box{{row.min.x, row.max.y - style().px(kMark)}, row.max} : row;
}

// S, P and O behind the strips, in their tensors' colours, the letters on the bar of the launch.
void draw_stretches(ImDrawList* list, const Chart& chart, const Box& bar) {
  const Style& s = style();
  list->PushClipRect({chart.plot.min.x, bar.min.y}, chart.plot.max, true);
  for (const BeatStretch& stretch : chart.scene.stretches) {
    const ImU32 hue = hue_of(stretch.phase);
    const float from = chart.x_of(stretch.from_us), to = chart.x_of(stretch.to_us);
    list->AddRectFilled({from, bar.max.y}, {to, chart.plot.max.y}, faded(hue, 0.13F));
    list->AddRectFilled({from + s.px(0.5F), bar.max.y - s.px(3)}, {to - s.px(0.5F), bar.max.y}, hue);
    const std::string letter(gpu::name_of(stretch.phase));
    if (text_width(Face::maths, 13, letter) + s.px(2) < to - from)
      draw_text_in(list, {{from, bar.min.y}, {to, bar.max.y - s.px(3)}}, Align::centre, Face::maths, 13,
                   colour(s.theme, Token::text), letter);
  }
  list->PopClipRect();
}

// The launches of one kernel as a bar, its name beside or over it; borders go down through the strips.
void draw_marks(ImDrawList* list, const Chart& chart, const std::vector<LaunchMark>& marks, const std::string& kernel,
                const Box& row, float down_to) {
  const Style& s = style();
  const ImU32 ink = kernel_colour(s.theme, kernel);
  const Box bar = launches_in(chart, row);
  const float name_right = chart.over ? row.max.x : chart.plot.min.x - s.px(12);
  const Box name{row.min, {name_right, chart.over ? bar.min.y : row.max.y}};
  draw_mark(*list, {name.min.x + s.px(6), name.centre().y},
            {look_of(kernel).mark, MarkFill::solid, ink, colour(s.theme, Token::card), s.px(4.5F), s.px(1.5F)});
  draw_text_in(list, {{name.min.x + s.px(16), name.min.y}, name.max}, Align::left, Face::bold, 12,
               colour(s.theme, Token::text), fitted_text(Face::bold, 12, kernel, name.width() - s.px(16)));
  list->PushClipRect({chart.plot.min.x, bar.min.y}, {chart.plot.max.x + s.px(1), down_to}, true);
  for (const LaunchMark& mark : marks) {
    const Box box{{chart.x_of(mark.from_us), bar.min.y + s.px(2)}, {chart.x_of(mark.to_us), bar.max.y - s.px(2)}};
    if (box.max.x < chart.plot.min.x || box.min.x > chart.plot.max.x) continue;
    list->AddRectFilled(box.min, box.max, faded(ink, 0.22F), s.px(3));
    draw_outline(list, box, faded(ink, 0.7F), s.px(1), 3);
    const Box seen{{std::max(box.min.x, chart.plot.min.x), box.min.y},
                   {std::min(box.max.x, chart.plot.max.x), box.max.y}};
    // The letters of its stretches stand in the place of its name.
    const bool lettered = kernel == chart.scene.kernel && !chart.scene.stretches.empty();
    if (seen.width() >= s.px(kNamed) && !lettered)
      draw_text_in(list, seen, Align::left, Face::mono, 11, colour(s.theme, Token::text),
                   fitted_text(Face::mono, 11, mark.kernel, seen.width() - s.px(10)), 5);
    for (const float x : {box.min.x, box.max.x})
      draw_dashed_line(list, {x, bar.max.y}, {x, down_to}, faded(ink, 0.5F), 3);
  }
  list->PopClipRect();
  for (std::size_t n = 0; n < marks.size(); ++n) {
    const float from = std::max(chart.x_of(marks[n].from_us), chart.plot.min.x);
    const float to = std::min(chart.x_of(marks[n].to_us), chart.plot.max.x);
    if (to - from < 1) continue;
    ImGui::SetCursorScreenPos({from, bar.min.y});
    ImGui::InvisibleButton(fmt::format("launch_{}_{}", kernel, n).c_str(), {to - from, bar.height()});
    tooltip(marks[n].tip);
  }
}

void draw_axis(ImDrawList* list, const Chart& chart) {
  const Style& s = style();
  const float top = chart.plot.max.y + s.px(3);
  float taken = -1e9F;  // up to where numbers stand: one that would meet the last is left out
  for (const BeatTick& tick : chart.scene.ticks) {
    const float half = text_width(Face::mono, 11, tick.text) / 2;
    const float x = std::clamp(chart.x_of(tick.us), chart.plot.min.x + half, chart.plot.max.x - half);
    if (x - half < taken + s.px(6)) continue;
    taken = x + half;
    draw_text_in(list, {{x - half, top}, {x + half, top + s.px(14)}}, Align::left, Face::mono, 11,
                 colour(s.theme, Token::dim), tick.text);
  }
  const std::string words = chart.scene.whole ? phrase("{}; drag over a part to zoom in", chart.scene.axis)
                            : by_touch()      ? phrase("{}; double-tap for the whole run", chart.scene.axis)
                                              : phrase("{}; double-click for the whole run", chart.scene.axis);
  draw_text_in(list, {{chart.plot.min.x, top + s.px(14)}, {chart.plot.max.x, top + s.px(30)}}, Align::right, Face::text,
               11.5F, colour(s.theme, Token::dim), fitted_text(Face::text, 11.5F, words, chart.plot.width()));
}

// A line at the pointer with all values; a drag chooses a part of the run, a double click all of it.
void follow_pointer(ImDrawList* list, const Chart& chart, Commands& commands) {
  const Style& s = style();
  ImGui::SetCursorScreenPos(chart.plot.min);
  ImGui::InvisibleButton("beat_chart", {chart.plot.width(), chart.plot.height()});
  const ImGuiIO& io = ImGui::GetIO();
  const auto within = [&](float x) { return std::clamp(x, chart.plot.min.x, chart.plot.max.x); };
  const float from = within(std::min(io.MouseClickedPos[0].x, io.MousePos.x));
  const float to = within(std::max(io.MouseClickedPos[0].x, io.MousePos.x));
  const bool dragged = to - from >= s.px(kLeastDrag);
  if (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(0)) {
    commands.push_back(ChooseBeatSpan{});
  } else if (ImGui::IsItemDeactivated() && dragged) {
    const double first = std::floor(chart.us_of(from)), last = std::ceil(chart.us_of(to));
    commands.push_back(
        ChooseBeatSpan{static_cast<std::int64_t>(std::max(0.0, first)), static_cast<std::int64_t>(last)});
  } else if (ImGui::IsItemActive() && dragged) {
    const ImU32 ink = colour(s.theme, Token::text);
    list->AddRectFilled({from, chart.plot.min.y}, {to, chart.plot.max.y}, faded(ink, 0.12F));
    draw_outline(list, {{from, chart.plot.min.y}, {to, chart.plot.max.y}}, faded(ink, 0.6F), s.px(1));
  } else if (ImGui::IsItemHovered()) {
    const float x = within(io.MousePos.x);
    list->AddLine({x, chart.plot.min.y}, {x, chart.plot.max.y}, colour(s.theme, Token::text), s.px(1));
    const BeatReading reading = reading_at(chart.scene, chart.us_of(x));
    std::string words = reading.title;
    for (const std::string& line : reading.lines) words += "\n" + line;
    show_tooltip(words, 460);
  }
}

// The heading's line: what is drawn, and what is missing of the other.
void draw_head(ImDrawList* list, const HeartbeatScene& scene, const Box& line, bool over, Commands& commands) {
  const Style& s = style();
  draw_text_in(list, line, Align::left, Face::bold, 13, colour(s.theme, Token::text), tr("Heartbeat"));
  float right = line.max.x;
  if (!scene.whole) {
    const float width = text_width(Face::text, 12, tr("Whole run")) + s.px(12);
    right -= width;
    ImGui::SetCursorScreenPos({right, line.min.y});
    if (toggle(tr("Whole run"), true,
               for_hands(tr("Shows the whole run again, as does a double click in the chart"),
                         tr("Shows the whole run again, as does a double tap in the chart"))))
      commands.push_back(ChooseBeatSpan{});
    right -= s.px(8);
  }
  const float left = line.min.x + text_width(Face::bold, 13, tr("Heartbeat")) + s.px(16);
  // Where a strip has its words over its curve, the mean is one of them.
  const std::string where = over ? tr("next to each name") : tr("on the left");
  const std::string words =
      scene.no_other.empty()
          ? phrase("Share of the chip's peak; the mean over the launches is {}", where)
          : phrase("{} Share of the chip's peak; the mean over the launches is {}", scene.no_other, where);
  draw_text_in(list, {{left, line.min.y}, {right, line.max.y}}, Align::right, Face::text, 12,
               colour(s.theme, Token::dim), fitted_text(Face::text, 12, words, right - left));
}

// Of a card's inner width, pixels.
struct Layout {
  bool over;
  float marks;  // of all kernels' launches
  float extra;  // of a strip, beside its curve
  float foot;   // of the words under the axis
};
constexpr int kLines = 12;

Layout layout_of(const HeartbeatScene& scene, float width) {
  const Style& s = style();
  Layout l{};
  l.over = width < s.px(kOver);
  l.marks = s.px(kMark) * (scene.other_marks.empty() ? 1.0F : 2.0F) * (l.over ? 2.0F : 1.0F);
  l.extra = s.px(kGap) + (l.over ? s.px(kOverLine) : 0);
  const TextRuns words{{scene.words, Face::text, Token::text, 0, false}};
  const TextRuns notes{{scene.notes, Face::text, Token::dim, 0, false}};
  l.foot = draw_paragraph(nullptr, {}, width, 13, words, kLines, false) + s.px(4) +
           draw_paragraph(nullptr, {}, width, 12, notes, kLines, false);
  return l;
}

void draw_chart(const HeartbeatScene& scene, Commands& commands) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float right = at.x + room.x;
  const Layout l = layout_of(scene, room.x);
  draw_head(list, scene, {at, {right, at.y + s.px(kHead)}}, l.over, commands);
  const bool two = !scene.other_marks.empty();
  const float top = at.y + s.px(kHead), mark = l.marks / (two ? 2.0F : 1.0F);
  const auto count = static_cast<float>(scene.strips.size());
  const float left = room.y - s.px(kHead + kAxis + kGap) - l.marks - l.foot;
  const float curve = std::clamp(std::floor(left / count) - l.extra, s.px(kStripLeast), s.px(kStripMost));
  const float strip = curve + l.extra - s.px(kGap);
  const float first = top + l.marks + s.px(kGap);
  const float label = l.over ? 0 : s.px(room.x < s.px(kNarrow) ? kLabelNarrow : kLabel);
  const Chart chart{
      scene,
      {{at.x + label, first}, {right - (l.over ? 0 : s.px(kScale)), first + count * (strip + s.px(kGap)) - s.px(kGap)}},
      l.over};
  const Box own{{at.x, top}, {right, top + mark}}, other{{at.x, top + mark}, {right, top + l.marks}};
  draw_marks(list, chart, scene.marks, scene.kernel, own, chart.plot.max.y);
  draw_stretches(list, chart, launches_in(chart, own));
  if (two) draw_marks(list, chart, scene.other_marks, scene.other, other, top + l.marks);
  for (std::size_t n = 0; n < scene.strips.size(); ++n) {
    const float y = first + static_cast<float>(n) * (strip + s.px(kGap));
    draw_strip(list, chart, scene.strips[n], {{at.x, y}, {right, y + strip}});
  }
  draw_axis(list, chart);
  follow_pointer(list, chart, commands);
  const ImVec2 below{at.x, chart.plot.max.y + s.px(kAxis)};
  const float height =
      draw_paragraph(list, below, room.x, 13, {{scene.words, Face::text, Token::text, 0, false}}, kLines) + s.px(4);
  draw_paragraph(list, {below.x, below.y + height}, room.x, 12, {{scene.notes, Face::text, Token::dim, 0, false}},
                 kLines);
}

}  // namespace

float heartbeat_height(const HeartbeatScene& scene, float width) {
  const Style& s = style();
  if (!scene.there) return s.px(92);
  const Layout l = layout_of(scene, width - s.px(kPads));
  return s.px(kPads + kHead + kGap + kAxis) + l.marks +
         static_cast<float>(scene.strips.size()) * (s.px(kStripLeast) + l.extra) + l.foot;
}

void draw_heartbeat(const HeartbeatScene& scene, ImVec2 size, Commands& commands) {
  if (begin_card("profile_heartbeat", size)) {
    if (scene.there) {
      draw_chart(scene, commands);
    } else {
      heading(tr("Heartbeat"));
      dim_text(scene.empty);
    }
  }
  ImGui::EndChild();
}

}  // namespace attn
