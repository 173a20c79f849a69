#include "viz/bench/charts/end_labels_draw.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "implot.h"
#include "kernels/base/text.h"
#include "viz/bench/charts/line_looks_draw.h"
#include "viz/bench/charts/named_first.h"
#include "viz/draw/canvas.h"
#include "viz/draw/figure_text.h"
#include "viz/draw/hands.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"

namespace attn {
namespace {

constexpr float kLabelText = 12, kHeight = 14;       // logical pixels
constexpr float kLeader = 14, kMark = 14, kGap = 4;  // from the plot's edge to the mark, the mark, to the name
constexpr float kLeastPlot = 200;                    // narrower than this names stand under a plot, not beside it
constexpr float kNameRow = 17, kBetween = 12;        // there

// The line that names this one too: a measured line stands for its dotted prediction.
const BenchLine* named_by(const BenchChart& chart, const BenchLine& line) {
  for (const BenchLine& other : chart.lines) {
    if (&other == &line) return nullptr;
    if (!other.kernel.empty() && (other.id == line.id || (line.bare && other.kernel == line.kernel))) return &other;
  }
  return nullptr;
}

Face face_of(const BenchLine& line) {
  return line.emphasised ? Face::bold : Face::text;
}

// Its mark begins at `at.x`; `at.y` is its middle.
void draw_name(ImDrawList& list, ImVec2 at, const BenchLine& line, BenchCache& cache) {
  const Style& s = style();
  const bool hidden = is_hidden(cache, line);
  const float left = at.x + s.px(kMark + kGap), width = text_width(face_of(line), kLabelText, line.label);
  const Box box{{at.x, at.y - s.px(kHeight) / 2}, {left + width, at.y + s.px(kHeight) / 2}};
  ImGui::SetCursorScreenPos(box.min);
  if (ImGui::InvisibleButton(fmt::format("label_{}", line.id).c_str(), {box.width(), box.height()})) {
    if (hidden)
      cache.hidden.erase(line.id);
    else
      cache.hidden.insert(line.id);
  }
  if (ImGui::IsItemHovered() && !line.kernel.empty()) cache.pointed_next = {line.id, {}};
  const std::string whose = line.peer ? phrase("{}: {} in files", line.label, line.kernel) + "\n" : "";
  tooltip(whose + (hidden ? for_hands(tr("Click to show this line again"), tr("Tap to show this line again"))
                          : for_hands(tr("Click to hide this line in every chart"),
                                      tr("Tap to hide this line in every chart"))));
  if (!hidden && line.kernel.empty())
    draw_line_swatch(list, at, s.px(kMark), line);
  else if (!hidden)
    draw_line_mark(list, {at.x + s.px(kMark) / 2, at.y}, line, s.px(4));
  const ImU32 ink = colour(s.theme, line.kernel.empty() ? Token::dim : Token::text);
  const Box name{{left, box.min.y}, box.max};
  draw_text_in(&list, name, Align::left, face_of(line), kLabelText, hidden ? faded(ink, 0.45F) : ink, line.label);
  if (is_pointed_at(cache, line) && !hidden)
    list.AddLine({left, name.max.y}, {name.max.x, name.max.y}, ink, std::max(1.0F, s.px(1)));
}

// Names side by side, in as many rows as they take of this width: `place(where, line)` from the first row's left end.
// Returns the height of all, pixels.
template <typename Place>
float flow(const BenchChart& chart, float width, Place place) {
  const Style& s = style();
  ImVec2 at(0, 0);
  for (const BenchLine& line : chart.lines) {
    if (named_by(chart, line) != nullptr) continue;
    const float own = s.px(kMark + kGap) + text_width(face_of(line), kLabelText, line.label);
    if (at.x > 0 && at.x + own > width) at = {0, at.y + s.px(kNameRow)};
    place(at, line);
    at.x += own + s.px(kBetween);
  }
  return at.y + s.px(kNameRow);
}

// Of more names than `room` those that tell most, and one for the others at the end.
void keep_what_fits(std::vector<EndLabel>& labels, std::size_t room, double bottom) {
  if (labels.size() <= room) return;
  std::vector<const BenchLine*> lines;
  lines.reserve(labels.size());
  for (const EndLabel& l : labels) lines.push_back(l.line);
  const std::vector<const BenchLine*> ranked = named_first(std::move(lines));
  EndLabel rest;
  rest.y = bottom;
  for (std::size_t n = room - 1; n < ranked.size(); ++n) rest.others.push_back(ranked[n]);
  std::erase_if(labels, [&](const EndLabel& l) { return std::ranges::find(rest.others, l.line) != rest.others.end(); });
  labels.push_back(std::move(rest));
}

void draw_others(ImDrawList& list, ImVec2 at, const EndLabel& label) {
  const Style& s = style();
  const std::string words = plural(label.others.size(), "{} more", "{} more");
  const float half = s.px(kHeight) / 2;
  const Box box{{at.x, at.y - half}, {at.x + text_width(Face::text, kLabelText, words), at.y + half}};
  draw_text_in(&list, box, Align::left, Face::text, kLabelText, colour(s.theme, Token::dim), words);
  if (!ImGui::IsWindowHovered() || !ImGui::IsMouseHoveringRect(box.min, box.max)) return;
  std::string names;
  for (const BenchLine* line : label.others) names += (names.empty() ? "" : ", ") + line->label;
  show_tooltip(names);
}

}  // namespace

float label_gutter(const BenchChart& chart) {
  float widest = 0;
  for (const BenchLine& line : chart.lines)
    if (named_by(chart, line) == nullptr) widest = std::max(widest, text_width(face_of(line), kLabelText, line.label));
  return widest + style().px(kLeader + kMark + kGap + 4);
}

std::vector<EndLabel> end_labels(const BenchChart& chart, const BenchCache& cache, ImVec2 origin, ImVec2 size) {
  std::vector<EndLabel> labels;
  for (const BenchLine& line : chart.lines) {
    if (named_by(chart, line) != nullptr) continue;
    const BenchPoint& last = line.points.back();
    ImVec2 end = ImPlot::PlotToPixels(static_cast<double>(last.x), last.y);
    const bool hidden = is_hidden(cache, line);
    if (hidden) end = {origin.x + size.x, origin.y + size.y};
    const bool inside = end.y >= origin.y && end.y <= origin.y + size.y;
    end.y = std::clamp(end.y, origin.y, origin.y + size.y);
    // The last value stands a little before the edge.
    const bool at_edge = !hidden && inside && end.x > origin.x + 0.9F * size.x && end.x <= origin.x + size.x + 1;
    labels.push_back({&line, end, at_edge, end.y});
  }
  const double half = style().px(kHeight) / 2, top = origin.y - 2, bottom = origin.y + size.y + half;
  keep_what_fits(labels, static_cast<std::size_t>(std::max(1.0, std::floor((bottom - top) / (2 * half)) + 1)), bottom);
  std::vector<double> wishes;
  wishes.reserve(labels.size());
  for (const EndLabel& l : labels) wishes.push_back(l.y);
  const auto places = spread_labels(wishes, 2 * half, top, bottom);
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i].y = places[i];
  return labels;
}

// What leads from a line to its name is grey and stays beside the plot, so that it is never taken for data; the mark
// says whose name it is where a line ends earlier.
void draw_end_labels(ImDrawList& list, const std::vector<EndLabel>& labels, BenchCache& cache, ImVec2 origin,
                     ImVec2 size) {
  const Style& s = style();
  const float edge = origin.x + size.x, mark = edge + s.px(kLeader);
  for (const EndLabel& label : labels) {
    const auto y = static_cast<float>(label.y);
    if (label.line == nullptr) {
      draw_others(list, {mark + s.px(kMark + kGap), y}, label);
      continue;
    }
    if (label.at_edge && std::abs(label.end.y - y) > s.px(3))
      list.AddLine({edge, label.end.y}, {mark - s.px(1), y}, colour(s.theme, Token::faint),
                   std::max(1.0F, s.px(0.75F)));
    draw_name(list, {mark, y}, *label.line, cache);
  }
}

bool names_beside(const BenchChart& chart, const BenchCache& cache, float width) {
  return cache.labels && width - label_gutter(chart) > style().px(kLeastPlot);
}

float names_height(const BenchChart& chart, const BenchCache& cache, float width) {
  if (!cache.labels || names_beside(chart, cache, width)) return 0;
  return flow(chart, width, [](ImVec2, const BenchLine&) {});
}

void draw_names(ImDrawList& list, const BenchChart& chart, BenchCache& cache, ImVec2 at, float width) {
  flow(chart, width, [&](ImVec2 place, const BenchLine& line) {
    draw_name(list, {at.x + place.x, at.y + place.y + style().px(kNameRow) / 2}, line, cache);
  });
}

}  // namespace attn
