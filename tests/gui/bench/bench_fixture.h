// Bench in the real frame, with rows of three kernels at three lengths.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "imgui_internal.h"
#include "profiling/figures/baseline.h"
#include "profiling/session/run.h"
#include "profiling/spec/sweep_point.h"
#include "tests/gui/gui_fixture.h"
#include "viz/bench/sweep/sweep_fields.h"

namespace attn {

using Ctx = ImGuiTestContext;

inline bool look_at(Ctx* ctx, const std::string& name) {
  ImGuiWindow* window = child_window(name);
  if (window != nullptr) ctx->SetRef(window);
  return window != nullptr;
}

// cpu_multicore, cpu_sequential and cpu_flash at L = 512, 1024, 2048, with times that grow with L.
inline std::vector<Measurement> rows_of(const SweepSpec& base) {
  SweepSpec sweep = with_axis(base, Axis::L);
  std::vector<Measurement> rows;
  for (const std::int64_t l : {512, 1024, 2048}) {
    for (const auto& [kernel, factor] :
         {std::pair{"cpu_multicore", 10.0}, std::pair{"cpu_sequential", 30.0}, std::pair{"cpu_flash", 2.0}}) {
      Measurement m;
      m.key.kernel = kernel;
      m.key.problem = problem_at(sweep, l);
      m.key.options.br = m.key.options.bc = 64;
      m.key.device = "a CPU";
      m.time = {9, factor * static_cast<double>(l), 0, 0, 0, 0, 0, 0, true, false};
      m.time.q1 = m.time.ci_low = 0.99 * m.time.median;
      m.time.q3 = m.time.ci_high = 1.01 * m.time.median;
      m.launches.resize(1);
      rows.push_back(m);
    }
  }
  relate_to_baseline(rows);
  return rows;
}

class BenchTest : public ::testing::Test {
 protected:
  void open(int width = 1440, int height = 900, float scale = 1, bool rows = true) {
    window = std::make_unique<TestWindow>(width, height);
    window->controller().update({ChooseWorkspace{Workspace::bench}, SetScale{scale}});
    if (rows) {
      ListedRun shown;
      shown.run = new_run("");
      shown.run.rows = rows_of(state().document.sweep);
      window->controller().show({shown}, nullptr);
    }
    window->draw_frames(4);
  }
  const State& state() const { return window->state(); }
  const SweepSpec& sweep() const { return state().document.sweep; }

  std::unique_ptr<TestWindow> window;
};

}  // namespace attn
