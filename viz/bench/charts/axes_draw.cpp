#include "viz/bench/charts/axes_draw.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "implot.h"
#include "viz/draw/figure_text.h"
#include "viz/draw/number_text.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"

namespace attn {
namespace {

// All of one width, so that the charts' axes stand in line.
int format_tick(double value, char* buffer, int size, void*) {
  constexpr int kWidth = 6;
  const std::string text = tick_text(value);
  const int spaces = std::max(0, kWidth - text_length(text));
  return std::snprintf(buffer, static_cast<std::size_t>(size), "%*s%s", spaces, "", text.c_str());
}

// Of the logarithmic axis from `min` to `max`: every decade, or every second or third where they would stand too close;
// 1, 2, 5 within few decades, even steps within less than one.
std::vector<double> log_ticks(double min, double max, float height) {
  const double decades = std::log10(max / min);
  const auto room = static_cast<double>(height / style().px(16));  // labels that fit
  std::vector<double> ticks;
  if (decades < 0.7) {
    const double wanted = (max - min) / std::clamp(room, 1.0, 6.0),
                 power = std::pow(10.0, std::floor(std::log10(wanted)));
    const double step = power * (wanted <= 2 * power ? 2 : wanted <= 5 * power ? 5 : 10);
    for (double at = std::ceil(min / step) * step; at <= max; at += step) ticks.push_back(at);
    return ticks;
  }
  const int step = std::max(1, static_cast<int>(std::ceil(decades / std::max(1.0, room))));
  const int first = static_cast<int>(std::floor(std::log10(min))), last = static_cast<int>(std::ceil(std::log10(max)));
  const bool fine = decades < 2.2 && 3 * decades < room;
  for (int power = first; power <= last; power += step) {
    for (const double digit : {1.0, 2.0, 5.0})
      if (fine || digit == 1.0) ticks.push_back(digit * std::pow(10.0, power));
  }
  return ticks;
}

// Fits what was asked to be fitted, and what shows other data than it was fitted to: a growing line stays in sight, a
// click keeps what the user zoomed to.
void fit(const BenchScene& scene, std::size_t index, BenchCache& cache, bool& fit_y) {
  const BenchChart& chart = scene.charts[index];
  const std::string x = fmt::format("{}|{}|{}", scene.x_min, scene.x_max, scene.log_x);
  if (x != cache.x_fitted) {
    cache.x_fitted = x;
    cache.x_min = scene.x_min;
    cache.x_max = scene.x_max;
  }
  std::string y = fmt::format("{}|{}|{}|{}", chart.metric, chart.y_min, chart.y_max, chart.log_y);
  fit_y = y != cache.y_fitted[index];
  cache.y_fitted[index] = std::move(y);
}

// Nothing lies beyond the limits, so neither does the view: it moves where it is zoomed in.
void set_limits(const BenchScene& scene, const BenchChart& chart) {
  ImPlot::SetupAxisLimitsConstraints(ImAxis_X1, scene.x_min, scene.x_max);
  ImPlot::SetupAxisLimitsConstraints(ImAxis_Y1, chart.y_min, chart.y_max);
  const auto smallest = [](double min, double max, bool log) { return log ? 0.01 * min : 0.001 * (max - min); };
  ImPlot::SetupAxisZoomConstraints(ImAxis_X1, smallest(scene.x_min, scene.x_max, scene.log_x), HUGE_VAL);
  ImPlot::SetupAxisZoomConstraints(ImAxis_Y1, smallest(chart.y_min, chart.y_max, chart.log_y), HUGE_VAL);
}

}  // namespace

void set_chart_axes(const BenchScene& scene, std::size_t index, float height, BenchCache& cache) {
  const BenchChart& chart = scene.charts[index];
  bool fit_y = false;
  fit(scene, index, cache, fit_y);
  constexpr ImPlotAxisFlags kBoth = ImPlotAxisFlags_NoTickMarks | ImPlotAxisFlags_NoMenus |
                                    ImPlotAxisFlags_NoSideSwitch | ImPlotAxisFlags_NoHighlight |
                                    ImPlotAxisFlags_NoInitialFit;
  ImPlot::SetupAxes(nullptr, nullptr, kBoth | ImPlotAxisFlags_NoGridLines | ImPlotAxisFlags_NoTickLabels, kBoth);
  ImPlot::SetupAxisScale(ImAxis_X1, scene.log_x ? ImPlotScale_Log10 : ImPlotScale_Linear);
  ImPlot::SetupAxisScale(ImAxis_Y1, chart.log_y ? ImPlotScale_Log10 : ImPlotScale_Linear);
  ImPlot::SetupAxisFormat(ImAxis_Y1, format_tick, nullptr);
  ImPlot::SetupAxisLinks(ImAxis_X1, &cache.x_min, &cache.x_max);
  ImPlot::SetupAxisLimits(ImAxis_Y1, chart.y_min, chart.y_max, fit_y ? ImPlotCond_Always : ImPlotCond_Once);
  set_limits(scene, chart);
  if (chart.log_y) {
    const auto [min, max] = fit_y ? std::pair(chart.y_min, chart.y_max) : cache.y_shown[index];
    const std::vector<double> ticks = log_ticks(min, max, height);
    ImPlot::SetupAxisTicks(ImAxis_Y1, ticks.data(), static_cast<int>(ticks.size()));
  }
  ImPlot::SetupFinish();
  const ImPlotRange shown = ImPlot::GetPlotLimits().Y;
  cache.y_shown[index] = {shown.Min, shown.Max};
}

}  // namespace attn
