// What Bench says of rows whose times are known.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/viz/bench/rows.h"
#include "viz/bench/scene/bench_scene.h"
#include "viz/bench/sweep/planned.h"

namespace attn::bench_test {

class BenchSceneTest : public ::testing::Test {
 protected:
  State state = sweep_state();
  const SweepSpec& sweep = state.document.sweep;

  Model three_kernels() const {
    std::vector<Measurement> rows;
    for (const std::int64_t l : {512, 1024, 2048}) {
      const auto x = static_cast<double>(l);
      rows.push_back(timed_row(sweep, "cpu_multicore", l, 10 * x));
      rows.push_back(timed_row(sweep, "cpu_sequential", l, 30 * x));
      rows.push_back(timed_row(sweep, "cpu_flash", l, 2 * x));
    }
    return model_of(std::move(rows));
  }
  // The speed-ups of a GPU's rows stand in no usual place.
  BenchChart speed_up(const Model& model) const {
    State s = state;
    s.view.bench.charts[3] = "speedup_ratio";
    return bench_scene(s, model, {}, "").charts[3];
  }
  BenchScene scene(const Model& model, bool all = false) const {
    BenchSwitches switches;
    switches.all_values = all;
    return bench_scene(state, model, switches, "estimate words");
  }
};

inline const BenchLine* line_of(const BenchChart& chart, std::string_view kernel) {
  for (const BenchLine& line : chart.lines)
    if (line.kernel == kernel) return &line;
  return nullptr;
}

inline const BenchChart& time_of(const BenchScene& s) {
  return chart_of(s, "time_us_median");
}

inline const BenchTableRow& row_of(const BenchTable& table, std::string_view kernel) {
  return *std::find_if(table.rows.begin(), table.rows.end(), [&](const auto& r) { return r.kernel == kernel; });
}

inline std::string cell(const BenchTable& table, std::string_view kernel, std::string_view column) {
  for (std::size_t i = 1; i < table.columns.size(); ++i)
    if (table.columns[i].id == column) return row_of(table, kernel).cells[i - 1].text;
  return "no such column";
}

inline std::string cell_tip(const BenchTable& table, std::string_view kernel, std::string_view column) {
  for (std::size_t i = 1; i < table.columns.size(); ++i)
    if (table.columns[i].id == column) return row_of(table, kernel).cells[i - 1].tip;
  return "no such column";
}

}  // namespace attn::bench_test
