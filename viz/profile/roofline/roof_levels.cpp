#include "viz/profile/roofline/roof_levels.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "viz/bench/scene/bench_scene.h"
#include "viz/draw/figure_text.h"

namespace attn {
namespace {

// Of the decades between the outermost levels: beyond them on either side, at the right also the arithmetic's way.
constexpr double kBefore = 0.35, kBehind = 0.45, kLeastBefore = 0.5, kLeastBehind = 0.8;
constexpr double kWayOfArithmetic = 0.88;  // of the plot's width

struct Scale {
  RoofAxes axes;
  LabelBox plot;
  RoofPoint at(double x, double y) const {
    const double right = std::log(x / axes.x_min) / std::log(axes.x_max / axes.x_min);
    const double up = std::log(y / axes.y_min) / std::log(axes.y_max / axes.y_min);
    return {plot.left + (plot.right - plot.left) * static_cast<float>(right),
            plot.bottom - (plot.bottom - plot.top) * static_cast<float>(up)};
  }
};

// A line as small boxes, for labels to keep out of.
void take_line(std::vector<LabelBox>& taken, RoofPoint a, RoofPoint b) {
  constexpr float kStep = 4, kHalf = 2.5F;
  const float length = std::hypot(b.x - a.x, b.y - a.y);
  const auto steps = static_cast<int>(std::ceil(length / kStep));
  for (int n = 0; n <= steps; ++n) {
    const float t = steps == 0 ? 0 : static_cast<float>(n) / static_cast<float>(steps);
    const float x = a.x + (b.x - a.x) * t, y = a.y + (b.y - a.y) * t;
    taken.push_back({x - kHalf, y - kHalf, x + kHalf, y + kHalf});
  }
}

RoofWay way_of(const std::string& name, double share, const std::string& roof, RoofPoint from, RoofPoint to) {
  RoofWay way;
  way.from = from;
  way.to = to;
  way.share = fmt::format("{} {}", name, percent_text(100 * share));
  way.of = phrase("of {}", roof);
  return way;
}

void put_ways(RoofLevelPicture& p, const Roofline& roof, double tflops, const Scale& scale) {
  double nearest = 0;
  std::size_t at = 0;
  const auto add = [&](RoofWay way, double share) {
    if (share > nearest) at = p.ways.size();
    nearest = std::max(nearest, share);
    p.ways.push_back(std::move(way));
  };
  for (const RoofLevel& level : roof.levels) {
    RoofWay way =
        way_of(level.name, tflops / level.allowed_tflops, value_with_unit(level.gb_per_s * 1e9, {1e-12, "TB/s"}),
               scale.at(level.intensity, tflops), scale.at(level.intensity, level.allowed_tflops));
    way.tip = phrase("{}: {} FLOP per byte; {} TB/s allows {} TFLOP/s", level.name, figure_text(level.intensity),
                     figure_text(level.gb_per_s * 1e-3), figure_text(level.allowed_tflops));
    add(std::move(way), tflops / level.allowed_tflops);
  }
  if (roof.top_tflops > 0) {
    const double x = scale.axes.x_min * std::pow(scale.axes.x_max / scale.axes.x_min, kWayOfArithmetic);
    const bool tensor = roof.top_tflops == roof.tensor_tflops;
    RoofWay way =
        way_of(tensor ? tr("tensor cores") : tr("multiply-adds"), tflops / roof.top_tflops,
               fmt::format("{:.3g} TFLOP/s", roof.top_tflops), scale.at(x, tflops), scale.at(x, roof.top_tflops));
    way.arithmetic = true;
    way.tip = phrase("{}: {:.3g} TFLOP/s", tensor ? roof.tensor_name : tr("multiply-add peak"), roof.top_tflops);
    add(std::move(way), tflops / roof.top_tflops);
  }
  if (!p.ways.empty()) p.ways[at].nearest = true;
}

// A level's slope up to the arithmetic's roof, and on to the ring of its way where that lies over it.
void put_roofs(RoofLevelPicture& p, const Roofline& roof, const Scale& scale) {
  const RoofAxes& axes = scale.axes;
  double first_ridge = axes.x_max;
  for (const RoofLevel& level : roof.levels) {
    const double per = level.gb_per_s * 1e-3, end = level.intensity;
    const double ridge = roof.top_tflops > 0 ? roof.top_tflops / per : end;
    const double from = std::max(axes.x_min, axes.y_min / per), part = std::clamp(ridge, from, std::max(end, ridge));
    const double solid = std::min(part, axes.x_max);
    p.roofs.push_back({scale.at(from, from * per), scale.at(solid, solid * per), false});
    if (end > part) p.roofs.push_back({scale.at(part, part * per), scale.at(end, end * per), true});
    first_ridge = std::min(first_ridge, std::max(part, axes.x_min));
  }
  if (roof.top_tflops > 0)
    p.roofs.push_back({scale.at(first_ridge, roof.top_tflops), scale.at(axes.x_max, roof.top_tflops), false});
}

// About the upper end of its way first, then down along it.
std::vector<LabelBox> places_of(const RoofWay& way, float width, float height, float line, float roof) {
  const float gap = line * 0.54F;  // as the letters grow
  std::vector<LabelBox> places;
  const auto add = [&](float left, float top) { places.push_back({left, top, left + width, top + height}); };
  const float right = way.to.x + gap, left = way.to.x - gap - width, length = way.from.y - way.to.y;
  add(way.to.x - width / 2, way.to.y - height - gap);
  add(right, way.to.y + gap / 2);
  add(left, way.to.y - height - gap);
  // Over the level roof, where no slope goes on.
  for (const float back : {0.5F, 0.7F, 0.9F, 0.3F, 0.1F})
    if (roof < way.to.y) add(way.to.x - width * back, roof - height - gap);
  for (int n = 0; n <= 10; ++n)
    for (const float x : {right, left})
      add(x, way.to.y - height / 2 + (length - height / 2) * static_cast<float>(n) / 10);
  for (const float x : {left, right, way.to.x - width / 2}) add(x, way.to.y - height - gap);
  for (const float x : {way.from.x - width / 2, right, left})
    for (int n = 0; n < 4; ++n) add(x, way.from.y + gap + (height + 2) * static_cast<float>(n));
  return places;
}

// Whether all have a place that is clear; `taken` gets them. With the share alone those that have none have no label.
bool place_ways(RoofLevelPicture& p, const LabelBox& plot, float line,
                const std::function<float(std::string_view)>& width, float level_roof, std::vector<LabelBox>& taken) {
  // Those with the shortest ways have the least choice.
  std::vector<RoofWay*> by_length;
  by_length.reserve(p.ways.size());
  for (RoofWay& way : p.ways) by_length.push_back(&way);
  std::ranges::stable_sort(by_length, {}, [](const RoofWay* way) { return way->from.y - way->to.y; });
  for (RoofWay* way : by_length) {
    const bool brief = way->of.empty();
    const float wide = brief ? width(way->share) : std::max(width(way->share), width(way->of));
    // Beside another's ring they would be read as its.
    std::vector<LabelBox> kept = taken;
    const float apart = line * 0.93F;
    std::vector<LabelPoint> own, others;
    for (const RoofWay& other : p.ways) {
      if (&other != way)
        kept.push_back({other.to.x - apart, other.to.y - apart, other.to.x + apart, other.to.y + apart});
      for (const float part : {0.0F, 0.25F, 0.5F, 0.75F, 1.0F})
        (&other == way ? own : others).push_back({other.to.x, other.to.y + (other.from.y - other.to.y) * part});
    }
    std::vector<LabelBox> places = places_of(*way, wide, (brief ? 1 : 2) * line, line, level_roof);
    if (brief) places = beside_own(places, own, others, plot);
    way->label = place_label(places, kept, plot);
    const auto met = [&](const LabelBox& box) { return overlap(way->label, box) > 0; };
    if (std::ranges::any_of(taken, met)) {
      if (!brief) return false;
      way->share.clear();
      continue;
    }
    const float side = line;  // from what stands on the same line, which would be read with it
    taken.push_back({way->label.left - side, way->label.top, way->label.right + side, way->label.bottom});
  }
  return true;
}

}  // namespace

RoofAxes level_axes(const Roofline& roof, double tflops) {
  RoofAxes axes{1e300, 0, tflops, std::max(tflops, roof.top_tflops)};
  for (const RoofLevel& level : roof.levels) {
    axes.x_min = std::min(axes.x_min, level.intensity);
    axes.x_max = std::max(axes.x_max, level.intensity);
    axes.y_max = std::max(axes.y_max, level.allowed_tflops);
  }
  if (roof.levels.empty()) return {roof.x_min, roof.x_max, roof.y_min, roof.y_max};
  const double span = std::log10(axes.x_max / axes.x_min), high = std::log10(axes.y_max / axes.y_min);
  axes.x_min /= std::pow(10, std::max(kLeastBefore, kBefore * span));
  axes.x_max *= std::pow(10, std::max(kLeastBehind, kBehind * span));
  axes.y_min /= std::pow(10, std::max(0.35, 0.3 * high));
  axes.y_max *= std::pow(10, std::max(0.2, 0.18 * high));
  return axes;
}

RoofAxes roof_axes(const Roofline& roof, float height, float over) {
  RoofAxes axes{roof.x_min, roof.x_max, roof.y_min, roof.y_max};
  const double top = std::max(roof.peak_tflops, roof.tensor_tflops), part = static_cast<double>(over / height);
  if (top > axes.y_min && part < 0.5)
    axes.y_max = std::max(axes.y_max, top * std::pow(top / axes.y_min, part / (1 - part)));
  return axes;
}

RoofLevelPicture level_picture(const Roofline& roof, const std::string& kernel, double tflops, const LabelBox& plot,
                               float line, const std::function<float(std::string_view)>& width) {
  RoofLevelPicture p;
  const Scale scale{level_axes(roof, tflops), plot};
  put_ways(p, roof, tflops, scale);
  put_roofs(p, roof, scale);
  p.rate = {scale.at(scale.axes.x_min, tflops), scale.at(scale.axes.x_max, tflops), false};
  p.name = fmt::format("{}, {}", kernel, value_with_unit(tflops, rate_unit(tflops)));
  const float level_roof =
      roof.top_tflops > 0 ? scale.at(scale.axes.x_min, roof.top_tflops).y : plot.bottom;  // lower than all: none
  std::vector<LabelBox> taken;
  for (const RoofStroke& stroke : p.roofs) take_line(taken, stroke.from, stroke.to);
  take_line(taken, p.rate.from, p.rate.to);
  for (const RoofWay& way : p.ways) {
    take_line(taken, way.from, way.to);
    // As far as a mark reaches, whatever its shape.
    for (const RoofPoint& end : {way.from, way.to})
      taken.push_back({end.x - line / 2, end.y - line / 2, end.x + line / 2, end.y + line / 2});
  }
  const std::size_t lines = taken.size();
  // In a low picture there is less room: the share alone, and what has no place even then is said under the picture.
  for (const bool brief : {false, true}) {
    taken.resize(lines);
    if (brief)
      for (RoofWay& way : p.ways) way.of.clear();
    if (place_ways(p, plot, line, width, level_roof, taken)) break;
  }
  const float wide = width(p.name);
  std::vector<LabelBox> places;
  // Along the rate, which is its line: at an end first, then wherever no mark and no label stands.
  constexpr int kPlaces = 32;
  for (const float off : {4.0F, line / 2 + 2, line})
    for (int n = 0; n <= kPlaces; ++n)
      for (const float top : {p.rate.from.y + off, p.rate.from.y - line - off}) {
        const float share = static_cast<float>(n % 2 == 0 ? n / 2 : kPlaces - n / 2) / kPlaces;
        const float left = plot.left + 4 + (plot.right - plot.left - wide - 8) * share;
        places.push_back({left, top, left + wide, top + line});
      }
  p.name_at = place_label(places, taken, plot);
  return p;
}

}  // namespace attn
