#include "viz/draw/marks.h"

#include <cmath>
#include <numbers>
#include <vector>

#include "viz/draw/theme.h"

namespace attn {
namespace {

// Corners of a regular polygon, the first at `turn` (0 = right, clockwise), every second one drawn in for a star.
std::vector<ImVec2> polygon(ImVec2 c, float radius, int corners, float turn, bool star) {
  std::vector<ImVec2> points;
  const int n = star ? 2 * corners : corners;
  const float within = corners == 3 ? 0.2F : 0.45F;  // half of it would be a triangle's side
  for (int i = 0; i < n; ++i) {
    const float r = star && i % 2 == 1 ? within * radius : radius;
    const float angle = turn + 2 * std::numbers::pi_v<float> * static_cast<float>(i) / static_cast<float>(n);
    points.emplace_back(c.x + r * std::cos(angle), c.y + r * std::sin(angle));
  }
  return points;
}

std::vector<ImVec2> outline(ImVec2 c, MarkShape shape, float r) {
  constexpr float kUp = -std::numbers::pi_v<float> / 2;
  switch (shape) {
    case MarkShape::square:
      return polygon(c, r * 1.2F, 4, kUp / 2, false);
    case MarkShape::triangle_up:
      return polygon(c, r * 1.25F, 3, kUp, false);
    case MarkShape::triangle_down:
      return polygon(c, r * 1.25F, 3, -kUp, false);
    case MarkShape::triangle_left:
      return polygon(c, r * 1.25F, 3, 2 * kUp, false);
    case MarkShape::triangle_right:
      return polygon(c, r * 1.25F, 3, 0, false);
    case MarkShape::diamond:
      return polygon(c, r * 1.25F, 4, 0, false);
    case MarkShape::circle:
      return polygon(c, r, 20, 0, false);
    case MarkShape::hexagon:
      return polygon(c, r * 1.1F, 6, kUp, false);
    case MarkShape::pentagon:
      return polygon(c, r * 1.15F, 5, kUp, false);
    case MarkShape::star:
      return polygon(c, r * 1.4F, 5, kUp, true);
    case MarkShape::three_rays:
      return polygon(c, r * 1.5F, 3, kUp, true);
    case MarkShape::plus:
      return polygon(c, r * 1.4F, 4, kUp, true);
    case MarkShape::cross:
      break;
  }
  return {};
}

}  // namespace

void draw_mark(ImDrawList& list, ImVec2 centre, const MarkStyle& mark) {
  if (mark.mark.bar) {
    const float y = centre.y + 1.75F * mark.radius;
    list.AddLine({centre.x - mark.radius, y}, {centre.x + mark.radius, y}, mark.ink, mark.thickness);
  }
  if (mark.mark.shape == MarkShape::cross) {
    const float r = mark.radius * 0.8F;
    list.AddLine({centre.x - r, centre.y - r}, {centre.x + r, centre.y + r}, mark.ink, mark.thickness);
    list.AddLine({centre.x - r, centre.y + r}, {centre.x + r, centre.y - r}, mark.ink, mark.thickness);
    return;
  }
  const std::vector<ImVec2> points = outline(centre, mark.mark.shape, mark.radius);
  const int n = static_cast<int>(points.size());
  const MarkShape shape = mark.mark.shape;
  const bool star = shape == MarkShape::star || shape == MarkShape::plus || shape == MarkShape::three_rays;
  const ImU32 inside = mark.fill == MarkFill::solid ? mark.ink : mark.ground;
  if (star) {
    list.AddConcavePolyFilled(points.data(), n, inside);
  } else {
    list.AddConvexPolyFilled(points.data(), n, inside);
  }
  if (mark.fill == MarkFill::solid) return;
  list.AddPolyline(points.data(), n, mark.ink, ImDrawFlags_Closed, mark.thickness);
  if (mark.fill == MarkFill::open) list.AddCircleFilled(centre, mark.radius * 0.32F, mark.ink);
}

void draw_dotted(ImDrawList& list, std::span<const ImVec2> points, ImU32 ink, float thickness) {
  const float step = 2.6F * thickness;
  float travelled = 0;  // since the last dot, carried over the corners
  for (std::size_t i = 1; i < points.size(); ++i) {
    const ImVec2 a = points[i - 1], b = points[i];
    const float length = std::hypot(b.x - a.x, b.y - a.y);
    if (!(length > 0) || length > 1e5F) continue;
    float at = i == 1 ? 0 : step - travelled;
    for (; at <= length; at += step) {
      const float t = at / length;
      list.AddCircleFilled({a.x + t * (b.x - a.x), a.y + t * (b.y - a.y)}, thickness * 0.62F, ink, 8);
    }
    travelled = length - (at - step);
  }
}

namespace {

// Drawn and left out in turn, in multiples of the thickness; none = unbroken.
std::span<const float> pattern_of(std::size_t order) {
  // Eight runs differ in what is drawn and in how much of it; a swatch of 30 px still shows each. The last is for the
  // peers of a run whose own is theirs already.
  static constexpr std::array<float, 2> kLong{8, 3}, kShort{3, 2.5F}, kSparse{3, 6.5F};
  static constexpr std::array<float, 4> kDashDot{7, 2.5F, 1.2F, 2.5F}, kLongShort{8, 2.5F, 3, 2.5F};
  static constexpr std::array<float, 6> kDashDotDot{7, 2.5F, 1.2F, 2.5F, 1.2F, 2.5F},
      kThreeDots{1.2F, 1.8F, 1.2F, 1.8F, 1.2F, 6}, kThreeDashes{3, 2.5F, 3, 2.5F, 3, 6};
  static constexpr std::array<std::span<const float>, 9> kPatterns{
      std::span<const float>{}, kLong, kShort, kDashDot, kSparse, kDashDotDot, kLongShort, kThreeDots, kThreeDashes};
  return kPatterns[order % kPatterns.size()];
}

}  // namespace

void draw_patterned(ImDrawList& list, std::span<const ImVec2> points, ImU32 ink, float thickness, std::size_t order) {
  const std::span<const float> pattern = pattern_of(order);
  if (pattern.empty()) {
    list.AddPolyline(points.data(), static_cast<int>(points.size()), ink, thickness);
    return;
  }
  std::size_t part = 0;
  float left = pattern[0] * thickness;  // of this part of the pattern, carried over the corners
  for (std::size_t i = 1; i < points.size(); ++i) {
    const ImVec2 a = points[i - 1], b = points[i];
    const float length = std::hypot(b.x - a.x, b.y - a.y);
    if (!(length > 0) || length > 1e5F) continue;
    for (float at = 0; at < length;) {
      const float to = std::min(length, at + left);
      const auto on = [&](float x) { return ImVec2(a.x + x / length * (b.x - a.x), a.y + x / length * (b.y - a.y)); };
      if (part % 2 == 0) list.AddLine(on(at), on(to), ink, thickness);
      left -= to - at;
      at = to;
      if (left > 0.01F) continue;  // what is less would vanish in `at` and never end
      part = (part + 1) % pattern.size();
      left = pattern[part] * thickness;
    }
  }
}

void draw_swatch(ImDrawList& list, ImVec2 left, float width, std::string_view kernel_id, const SwatchStyle& look) {
  const Style& s = style();
  ImU32 ink = kernel_colour(s.theme, kernel_id);
  if (look.dim) ink = (ink & ~IM_COL32_A_MASK) | (ImU32{0x66} << IM_COL32_A_SHIFT);
  list.AddLine(left, {left.x + width, left.y}, ink, s.px(look.thick ? 4.0F : 1.75F));
  draw_mark(list, {left.x + width / 2, left.y},
            {look_of(kernel_id).mark, look.open ? MarkFill::open : MarkFill::solid, ink, colour(s.theme, Token::card),
             s.px(4.5F), s.px(1.5F)});
}

}  // namespace attn
