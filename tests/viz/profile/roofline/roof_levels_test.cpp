// The picture of the roofline by level: each way ends at its own roof, and no words lie on others or on a line.
#include "viz/profile/roofline/roof_levels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "tests/viz/profile/profile_rows.h"

namespace attn {
namespace {

constexpr float kLine = 15;
float width_of(std::string_view words) {
  return 6.4F * static_cast<float>(words.size());
}

struct Kernel {
  const char* name;
  double tflops, top, dram, l2, shared;  // FLOP a byte of each
  bool tensor = false;
};
// As they were measured on an H100 with D = 64.
constexpr std::array kKernels{
    Kernel{"flash_simt", 32.9, 65.2, 1169, 53.3, 2.06},   Kernel{"tiled", 22.2, 65.2, 15.2, 10.6, 1.88},
    Kernel{"naive", 0.845, 65.2, 10.5, 3.82, 30.1},       Kernel{"flash_tf32x3", 69.2, 107, 1200, 77, 10, true},
    Kernel{"flash_mma", 352, 653, 2690, 164, 26.8, true}, Kernel{"flash_wmma", 184, 653, 2690, 87, 8.1, true},
    Kernel{"near one another", 20, 65.2, 12, 11, 10},
};

Roofline roof_of(const Kernel& k) {
  Roofline r;
  r.top_tflops = k.top;
  (k.tensor ? r.tensor_tflops : r.peak_tflops) = k.top;
  const auto level = [&](const char* name, double rate, double intensity) {
    r.levels.push_back({name, rate, intensity, intensity * rate * 1e-3});
  };
  level("DRAM", 2820, k.dram);
  level("L2", 7820, k.l2);
  level("shared memory", 32700, k.shared);
  return r;
}

// Whether a line from a to b goes through the box.
bool crosses(const LabelBox& box, RoofPoint a, RoofPoint b) {
  for (int n = 0; n <= 400; ++n) {
    const float t = static_cast<float>(n) / 400, x = a.x + (b.x - a.x) * t, y = a.y + (b.y - a.y) * t;
    if (x > box.left && x < box.right && y > box.top && y < box.bottom) return true;
  }
  return false;
}

void expect_clear(const LabelBox& label, const RoofLevelPicture& p, const std::string& what) {
  for (const RoofStroke& roof : p.roofs) EXPECT_FALSE(crosses(label, roof.from, roof.to)) << what << ", a roof";
  for (const RoofWay& way : p.ways) EXPECT_FALSE(crosses(label, way.from, way.to)) << what << ", " << way.share;
  EXPECT_FALSE(crosses(label, p.rate.from, p.rate.to)) << what << ", its rate";
}

TEST(RoofLevels, NoWordsLieOnOthersOrOnALine) {
  // The card at 1440 x 900, beside the bytes, on a large screen, and below the roofline of DRAM alone.
  for (const LabelBox& plot :
       {LabelBox{40, 0, 470, 520}, LabelBox{40, 0, 560, 200}, LabelBox{50, 0, 760, 720}, LabelBox{30, 0, 480, 110}})
    for (const Kernel& k : kKernels) {
      const RoofLevelPicture p = level_picture(roof_of(k), k.name, k.tflops, plot, kLine, width_of);
      for (std::size_t a = 0; a < p.ways.size(); ++a) {
        const std::string what = std::string(k.name) + ", " + p.ways[a].share;
        if (plot.bottom > 300) {
          EXPECT_FALSE(p.ways[a].of.empty()) << k.name << ": there is room for all words";
        }
        if (p.ways[a].share.empty()) continue;
        expect_clear(p.ways[a].label, p, what);
        for (std::size_t b = a + 1; b < p.ways.size(); ++b) {
          if (p.ways[b].share.empty()) continue;
          EXPECT_EQ(overlap(p.ways[a].label, p.ways[b].label), 0) << what << " and " << p.ways[b].share;
        }
        for (std::size_t b = 0; b < p.ways.size(); ++b) {
          const RoofPoint ring = p.ways[b].to;
          if (a != b && plot.bottom > 300) {
            EXPECT_EQ(overlap(p.ways[a].label, {ring.x - 12, ring.y - 12, ring.x + 12, ring.y + 12}), 0)
                << what << " stands at the ring of " << p.ways[b].share;
          }
        }
        EXPECT_EQ(overlap(p.ways[a].label, p.name_at), 0) << what << " and its name";
        EXPECT_GE(p.ways[a].label.left, plot.left);
        EXPECT_LE(p.ways[a].label.right, plot.right);
      }
    }
}

TEST(RoofLevels, EachWayEndsAtItsOwnRoofAndTheNearestIsMarked) {
  const LabelBox plot{0, 0, 1000, 1000};
  const Kernel& k = kKernels[0];
  const RoofLevelPicture p = level_picture(roof_of(k), k.name, k.tflops, plot, kLine, width_of);
  ASSERT_EQ(p.ways.size(), 4U);
  EXPECT_EQ(p.ways[0].share, "DRAM 0.998 %");
  EXPECT_EQ(p.ways[0].of, "of 2.82 TB/s");
  EXPECT_EQ(p.ways[3].share, "multiply-adds 50.5 %");
  // Heights are logarithms, so ways are as long as what is left to the roof.
  const double each = std::log(1 / 0.505) / (p.ways[3].from.y - p.ways[3].to.y);
  for (std::size_t n = 0; n < 3; ++n) {
    const RoofWay& way = p.ways[n];
    EXPECT_EQ(way.from.x, way.to.x);
    const double allowed = roof_of(k).levels[n].allowed_tflops;
    EXPECT_NEAR((way.from.y - way.to.y) * each, std::log(allowed / k.tflops), 0.02) << way.share;
  }
  for (const RoofWay& way : p.ways) EXPECT_EQ(way.nearest, way.arithmetic) << way.share;
}

TEST(RoofLevels, LevelsStandApartByTheirIntensities) {
  for (const Kernel& k : kKernels) {
    const RoofAxes axes = level_axes(roof_of(k), k.tflops);
    for (const RoofLevel& level : roof_of(k).levels) {
      EXPECT_GT(level.intensity, axes.x_min);
      EXPECT_LT(level.intensity, axes.x_max);
      EXPECT_LT(level.allowed_tflops, axes.y_max) << k.name << ": the ring is in the picture";
    }
    EXPECT_GT(k.tflops, axes.y_min);
  }
}

TEST(RoofAxes, LeaveANameItsRoomOverTheHighestRoof) {
  Roofline r;
  r.x_min = 10, r.x_max = 5000, r.y_min = 0.4, r.y_max = 65.2 * 1.6, r.peak_tflops = 65.2;
  for (const float height : {60.0F, 120.0F, 200.0F, 600.0F}) {
    const RoofAxes axes = roof_axes(r, height, kLine);
    const double over = height * std::log(axes.y_max / 65.2) / std::log(axes.y_max / axes.y_min);
    EXPECT_GE(over, kLine - 0.01) << height;
    EXPECT_EQ(axes.y_min, 0.4);
  }
  EXPECT_EQ(roof_axes(r, 600, kLine).y_max, r.y_max) << "there is room anyway";
  EXPECT_EQ(roof_axes(Roofline(), 600, kLine).y_max, 1) << "no roof, no name";
}

}  // namespace
}  // namespace attn
