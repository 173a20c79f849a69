#include "viz/profile/timeline/scene/path_lines.h"

#include <algorithm>
#include <cmath>

namespace attn {
namespace {

// The stretch of the row whose end, or whose inside, is at that moment: the box that let go.
const TimelineStretch* box_at(const TimelineRow& row, std::int64_t at) {
  const TimelineStretch* best = nullptr;
  for (const TimelineStretch& x : row.stretches) {
    if (x.from >= at) break;
    if (x.to >= at) best = &x;
  }
  return best;
}

}  // namespace

std::vector<PathLine> path_lines(const PipelineScene& s, const TimeAxis& axis, std::span<const RowPlace> rows) {
  std::vector<PathLine> lines;
  if (!s.with_path) return lines;
  for (std::size_t n = 0; n < s.path.size(); ++n) {
    const PathStretch& p = s.path[n];
    if (p.to < s.from || p.from > s.to) continue;
    const std::size_t row = s.path_rows[n];
    const float y = rows[row].top + rows[row].height() * s.rows[row].path_at;
    const float from = axis.x_of(p.from), to = axis.x_of(p.to);
    if (!lines.empty() && std::fabs(lines.back().y1 - y) > 0.5F) lines.push_back({from, lines.back().y1, from, y});
    lines.push_back({from, y, to, y});
  }
  return lines;
}

std::vector<PathLine> arrow_lines(const PipelineScene& s, const ReleaseArrow& a, const TimeAxis& axis,
                                  std::span<const RowPlace> rows) {
  if (a.to < s.from || a.at > s.to || a.by_row == a.row) return {};
  const RowPlace &by = rows[a.by_row], &to = rows[a.row];
  const bool down = by.top < to.top;
  const TimelineStretch* const box = box_at(s.rows[a.by_row], a.at);
  const float begin =
      box == nullptr ? (down ? by.bottom : by.top) : by.top + by.height() * (down ? box->bottom : box->top);
  const bool low = s.rows[a.row].kind == RowKind::computes;
  const float tip = down ? to.top + (low ? to.height() * kWaitTop : 0) : to.bottom;
  const float x = axis.x_of(a.at), at = axis.x_of(a.to);
  constexpr float kHead = 7;
  const float turn = tip + (down ? -kHead : kHead);
  std::vector<PathLine> lines{{x, begin, x, turn}};
  if (std::fabs(at - x) > 0.5F) lines.push_back({x, turn, at, turn});
  lines.push_back({at, turn, at, tip});
  return lines;
}

std::vector<float> crossings(std::span<const PathLine> lines, float top, float bottom) {
  std::vector<float> at;
  for (const PathLine& line : lines) {
    if (line.x0 != line.x1) continue;
    if (std::max(line.y0, line.y1) > top && std::min(line.y0, line.y1) < bottom) at.push_back(line.x0);
  }
  return at;
}

std::pair<std::int64_t, std::int64_t> widest_part(std::int64_t from, std::int64_t to, std::vector<std::int64_t> edges) {
  edges.push_back(to);
  std::ranges::sort(edges);
  std::pair best(from, from);
  for (std::int64_t left = from; const std::int64_t edge : edges) {
    const std::int64_t right = std::clamp(edge, from, to);
    if (right - left > best.second - best.first) best = {left, right};
    left = right;
  }
  return best;
}

std::vector<std::pair<float, float>> level_parts(std::span<const PathLine> lines, float top, float bottom) {
  std::vector<std::pair<float, float>> parts;
  for (const PathLine& line : lines)
    if (line.y0 == line.y1 && line.y0 > top && line.y0 < bottom)
      parts.emplace_back(std::min(line.x0, line.x1), std::max(line.x0, line.x1));
  return parts;
}

std::optional<float> place_between(float from, float to, std::span<const float> crossings, float wide, float margin) {
  std::vector<std::pair<float, float>> taken;
  taken.reserve(crossings.size());
  for (const float x : crossings) taken.emplace_back(x, x);
  return place_beside(from, to, std::move(taken), wide, margin);
}

std::optional<float> place_beside(float from, float to, std::vector<std::pair<float, float>> taken, float wide,
                                  float margin) {
  std::erase_if(taken, [&](const auto& part) { return part.second <= from - margin || part.first >= to + margin; });
  std::ranges::sort(taken);
  float best_from = from, best_to = from, left = from;
  const auto offer = [&](float right) {
    if (right - left > best_to - best_from) best_from = left, best_to = right;
  };
  for (const auto& [begin, end] : taken) {
    offer(std::min(begin - margin, to));
    left = std::max(left, end + margin);
  }
  offer(to);
  if (best_to - best_from < wide) return std::nullopt;
  return (best_from + best_to - wide) / 2;
}

}  // namespace attn
