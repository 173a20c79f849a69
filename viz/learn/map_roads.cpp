#include "viz/learn/map_roads.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

namespace attn {
namespace {

constexpr int kPieces = 32;                  // of a curve that is tried
constexpr float kApart = 9, kFromWords = 5;  // logical: of a road from stops and words
constexpr float kLeastCare = 0.3F;           // of those, where there is no other way
constexpr float kHeadLong = 8, kHeadHalf = 4.5F, kGap = 3;
constexpr float kTurn = 2 * std::numbers::pi_v<float>;

RoadPoint operator+(RoadPoint a, RoadPoint b) {
  return {a.x + b.x, a.y + b.y};
}
RoadPoint operator-(RoadPoint a, RoadPoint b) {
  return {a.x - b.x, a.y - b.y};
}
RoadPoint operator*(RoadPoint a, float f) {
  return {a.x * f, a.y * f};
}
float length(RoadPoint a) {
  return std::hypot(a.x, a.y);
}
RoadPoint direction(float angle) {
  return {std::cos(angle), std::sin(angle)};
}

// Between -pi and pi.
float turned(float angle) {
  return std::remainder(angle, kTurn);
}

// Leaves at `out` and arrives from `in`, angles seen from the two centres; `pull`: how far it keeps to them.
struct Try {
  float out = 0, in = 0, pull = 0, cost = 0;
};

RoadPath curve(const RoadStop& from, const RoadStop& to, const Try& t, float scale) {
  const RoadPoint out = direction(t.out), in = direction(t.in);
  RoadPath path;
  path.p0 = from.centre + out * from.radius;
  path.p1 = to.centre + in * (to.radius + kGap * scale);
  const float far = length(path.p1 - path.p0) * t.pull;
  path.c0 = path.p0 + out * far;
  path.c1 = path.p1 + in * far;
  const RoadPoint foot = path.p1 + in * (kHeadLong * scale), side = RoadPoint{-in.y, in.x} * (kHeadHalf * scale);
  path.head_left = foot + side;
  path.head_right = foot - side;
  return path;
}

// How much of it lies where no road may be, up to `most`: 0 for a road that can be drawn. `care`: a share of the usual
// distance.
float trouble(const RoadGround& g, const RoadEnds& road, const RoadPath& path, float care, float most) {
  const float apart = kApart * g.scale * care, words = kFromWords * g.scale * care;
  float sum = 0;
  const auto add = [&](RoadPoint p) {
    for (std::size_t n = 0; n < g.stops.size(); ++n) {
      const bool own = n == road.from || n == road.to;  // its own it only must not run back into
      const float room = g.stops[n].radius + (own ? -0.5F * g.scale : apart);
      sum += std::max(0.0F, room - length(p - g.stops[n].centre));
    }
    for (const LabelBox& box : g.words) {
      const float x = std::min(p.x - box.left, box.right - p.x) + words;
      const float y = std::min(p.y - box.top, box.bottom - p.y) + words;
      if (x > 0 && y > 0) sum += std::min(x, y);
    }
    sum += std::max({0.0F, g.inside.left - p.x, p.x - g.inside.right, g.inside.top - p.y, p.y - g.inside.bottom});
  };
  add(path.head_left), add(path.head_right);
  // From the middle outwards: there most of them meet something.
  for (int n = 0; n <= kPieces && sum < most; ++n) {
    const int away = (n + 1) / 2 * 2;
    add(path.at(0.5F + (n % 2 == 0 ? 0.5F : -0.5F) * static_cast<float>(away) / kPieces));
  }
  return sum;
}

// The straightest first: turns away from the way to the other stop cost, and so does their sum.
std::vector<Try> tries(const RoadStop& from, const RoadStop& to) {
  constexpr int kSteps = 24;
  constexpr std::array<float, 3> kPulls{0.42F, 0.62F, 0.28F};
  const RoadPoint way = to.centre - from.centre;
  const float ahead = std::atan2(way.y, way.x), back = ahead + kTurn / 2;
  const auto bend = [](float angle) { return std::pow(std::fabs(turned(angle)), 1.5F); };
  std::vector<Try> all;
  all.reserve(static_cast<std::size_t>(kSteps * kSteps) * kPulls.size());
  for (int a = 0; a < kSteps; ++a) {
    for (int b = 0; b < kSteps; ++b) {
      for (std::size_t p = 0; p < kPulls.size(); ++p) {
        const float out = kTurn * static_cast<float>(a) / kSteps, in = kTurn * static_cast<float>(b) / kSteps;
        if (std::max(std::fabs(turned(out - ahead)), std::fabs(turned(in - back))) > kTurn / 3) continue;
        // Time goes to the right: leaving on the left and arriving from the right looks like going back.
        const float against = 0.25F * (1 - std::cos(out)) + 0.25F * (1 + std::cos(in));
        all.push_back(
            {out, in, kPulls[p], bend(out - ahead) + bend(in - back) + against + 0.15F * static_cast<float>(p)});
      }
    }
  }
  std::ranges::stable_sort(all, {}, &Try::cost);
  return all;
}

}  // namespace

RoadPoint RoadPath::at(float t) const {
  const float u = 1 - t;
  return p0 * (u * u * u) + c0 * (3 * u * u * t) + c1 * (3 * u * t * t) + p1 * (t * t * t);
}

RoadPath road_path(const RoadGround& ground, const RoadEnds& road) {
  const RoadStop &from = ground.stops[road.from], &to = ground.stops[road.to];
  const std::vector<Try> all = tries(from, to);
  RoadPath best;
  float least = std::numeric_limits<float>::max();
  for (const float care : {1.0F, kLeastCare}) {
    for (const Try& t : all) {
      const RoadPath path = curve(from, to, t, ground.scale);
      const float bad = trouble(ground, road, path, care, least);
      if (bad < least) best = path, least = bad;
      if (bad == 0) return best;
    }
  }
  return best;
}

void MapRoads::follow(RoadGround now) {
  if (now == ground && paths.size() == now.roads.size()) return;
  ground = std::move(now);
  paths.clear();
  for (const RoadEnds& road : ground.roads) paths.push_back(road_path(ground, road));
}

}  // namespace attn
