// The roofline by level as a picture: of each level of memory, and of the arithmetic, the way from the kernel's rate up
// to its own roof. Pure, in pixels; roofline_draw.cpp draws it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "viz/draw/label_places.h"
#include "viz/profile/roofline/roofline.h"

namespace attn {

struct RoofPoint {
  float x = 0, y = 0;
};

// A way from the kernel's rate to a roof.
struct RoofWay {
  RoofPoint from, to;
  bool nearest = false;     // of all of them
  bool arithmetic = false;  // its roof is level
  std::string share, of;    // "L2 7.76 %", "of 7.81 TB/s"; in a low picture less, or nothing
  LabelBox label;           // of the lines
  std::string tip;
};
struct RoofStroke {
  RoofPoint from, to;
  bool beyond = false;  // over the arithmetic's roof: what the bytes alone would allow
};

struct RoofLevelPicture {
  std::vector<RoofWay> ways;
  std::vector<RoofStroke> roofs;
  RoofStroke rate;   // of the kernel, across the plot
  std::string name;  // "flash_simt, 32.9 TFLOP/s"
  LabelBox name_at;
};

// The axes that hold all ways, as far apart as they are; logarithmic.
struct RoofAxes {
  double x_min = 1, x_max = 1, y_min = 1, y_max = 1;
};
RoofAxes level_axes(const Roofline& roof, double tflops);
// The axes of all kernels, which leave `over` of `height` pixels free over the highest roof: its name stands there.
RoofAxes roof_axes(const Roofline& roof, float height, float over);

// `plot`: where the axes lie; `width`: of words, `line`: the height of a line, pixels. `kernel` runs at `tflops`.
RoofLevelPicture level_picture(const Roofline& roof, const std::string& kernel, double tflops, const LabelBox& plot,
                               float line, const std::function<float(std::string_view)>& width);

}  // namespace attn
