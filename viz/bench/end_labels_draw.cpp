#include "viz/bench/end_labels_draw.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "implot.h"
#include "viz/bench/line_looks_draw.h"
#include "viz/draw/canvas.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"

namespace attn {
namespace {

constexpr float kLabelText = 12, kHeight = 14;       // logical pixels
constexpr float kLeader = 14, kMark = 14, kGap = 4;  // from the plot's edge to the mark, the mark, to the name

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
  std::vector<double> wishes;
  wishes.reserve(labels.size());
  for (const EndLabel& l : labels) wishes.push_back(l.y);
  const double half = style().px(kHeight) / 2;
  const auto places = spread_labels(wishes, 2 * half, origin.y - 2, origin.y + size.y + half);
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i].y = places[i];
  return labels;
}

// What leads from a line to its name is grey and stays beside the plot, so that it is never taken for data; the mark
// says whose name it is where a line ends earlier.
void draw_end_labels(ImDrawList& list, const std::vector<EndLabel>& labels, BenchCache& cache, ImVec2 origin,
                     ImVec2 size) {
  const Style& s = style();
  const float edge = origin.x + size.x, mark = edge + s.px(kLeader), left = mark + s.px(kMark + kGap);
  for (const EndLabel& label : labels) {
    const BenchLine& line = *label.line;
    const bool hidden = is_hidden(cache, line);
    const auto y = static_cast<float>(label.y);
    const float width = text_width(face_of(line), kLabelText, line.label);
    if (label.at_edge && std::abs(label.end.y - y) > s.px(3))
      list.AddLine({edge, label.end.y}, {mark - s.px(1), y}, colour(s.theme, Token::faint),
                   std::max(1.0F, s.px(0.75F)));
    const Box box{{mark, y - s.px(kHeight) / 2}, {left + width, y + s.px(kHeight) / 2}};
    ImGui::SetCursorScreenPos(box.min);
    if (ImGui::InvisibleButton(fmt::format("label_{}", line.id).c_str(), {box.width(), box.height()})) {
      if (hidden)
        cache.hidden.erase(line.id);
      else
        cache.hidden.insert(line.id);
    }
    if (ImGui::IsItemHovered() && !line.kernel.empty()) cache.pointed_next = {line.id, {}};
    const std::string whose = line.peer ? line.kernel + ". " : "";  // in files and on the command line
    tooltip(whose + (hidden ? "Click to show it again" : "Click to hide it in every chart"));
    if (!hidden && line.kernel.empty())
      list.AddLine({mark, y}, {mark + s.px(kMark), y}, ink_of(line), s.px(thickness_of(line)));
    else if (!hidden)
      draw_line_mark(list, {mark + s.px(kMark) / 2, y}, line, s.px(4));
    const bool pointed = is_pointed_at(cache, line);
    const ImU32 ink = colour(s.theme, line.kernel.empty() ? Token::dim : Token::text);
    const Box name{{left, box.min.y}, box.max};
    draw_text_in(&list, name, Align::left, face_of(line), kLabelText, hidden ? faded(ink, 0.45F) : ink, line.label);
    if (pointed && !hidden) list.AddLine({left, name.max.y}, {name.max.x, name.max.y}, ink, std::max(1.0F, s.px(1)));
  }
}

}  // namespace attn
