// Where the critical path and the arrows of a timeline run, and where letters stand beside them: pure, in pixels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "viz/profile/timeline/scene/timeline_scene.h"

namespace attn {

// A row's place, and clocks on the axis.
struct RowPlace {
  float top = 0, bottom = 0;
  float height() const { return bottom - top; }
};
struct TimeAxis {
  float left = 0, width = 1;
  std::int64_t from = 0, to = 1;
  float x_of(std::int64_t clock) const {
    const double share = static_cast<double>(clock - from) / static_cast<double>(to - from);
    return left + width * static_cast<float>(share);
  }
};

// Level or upright.
struct PathLine {
  float x0 = 0, y0 = 0, x1 = 0, y1 = 0;
};
// Those of the path in sight, from left to right, each from where the one before ends: one unbroken line.
std::vector<PathLine> path_lines(const PipelineScene& s, const TimeAxis& axis, std::span<const RowPlace> rows);
// An arrow from the box that let go, upright to the wait, its tip last.
std::vector<PathLine> arrow_lines(const PipelineScene& s, const ReleaseArrow& a, const TimeAxis& axis,
                                  std::span<const RowPlace> rows);

// Where upright ones cross the band from `top` to `bottom`.
std::vector<float> crossings(std::span<const PathLine> lines, float top, float bottom);
// From where to where level ones run within that band.
std::vector<std::pair<float, float>> level_parts(std::span<const PathLine> lines, float top, float bottom);
// The widest part of [from, to] between two edges; of equals the first. In clocks: the same at every zoom.
std::pair<std::int64_t, std::int64_t> widest_part(std::int64_t from, std::int64_t to, std::vector<std::int64_t> edges);
// The left edge of what is `wide`, in the middle of the widest part of [from, to] from which all crossings are at least
// `margin` away; empty: it fits in none.
std::optional<float> place_between(float from, float to, std::span<const float> crossings, float wide, float margin);
// The same where parts are taken, too.
std::optional<float> place_beside(float from, float to, std::vector<std::pair<float, float>> taken, float wide,
                                  float margin);

}  // namespace attn
