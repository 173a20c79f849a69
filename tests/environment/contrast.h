// How well one colour is read on another: WCAG 2, apart from what the program computes.
#pragma once

#include <algorithm>
#include <cmath>

#include "imgui.h"

namespace attn::test {

inline double luminance(const ImVec4& c) {
  const auto linear = [](float v) {
    const auto x = static_cast<double>(v);
    return x <= 0.04045 ? x / 12.92 : std::pow((x + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(c.x) + 0.7152 * linear(c.y) + 0.0722 * linear(c.z);
}

inline double contrast(const ImVec4& a, const ImVec4& b) {
  const double x = luminance(a) + 0.05, y = luminance(b) + 0.05;
  return std::max(x, y) / std::min(x, y);
}
inline double contrast(ImU32 a, ImU32 b) {
  return contrast(ImGui::ColorConvertU32ToFloat4(a), ImGui::ColorConvertU32ToFloat4(b));
}

}  // namespace attn::test
