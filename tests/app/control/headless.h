// The whole program without a window, in a folder of its own.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "app/control/controller.h"
#include "app/state/apply/apply.h"
#include "tests/kernels/temp_folder.h"
#include "viz/state/run_words.h"

namespace attn::control_test {

namespace fs = std::filesystem;

class Headless : public ::testing::Test {
 protected:
  ControllerOptions options(State state = initial_state()) const {
    ControllerOptions o;
    o.state = std::move(state);
    o.save_folder = folder_;
    o.runs.runs = folder_ / "runs";
    o.runs.recent = folder_ / "data" / "recent";
    return o;
  }
  static std::string last_words(Controller& c) {
    const auto entries = c.log().after(0);
    return entries.empty() ? "" : entries.back().text;
  }
  // The rows of the run that was ticked last.
  static std::vector<Measurement> shown_rows(const Controller& c) {
    const auto runs = shown_runs(c.state().document.runs, c.model());
    return runs.empty() ? std::vector<Measurement>{} : runs.back()->run.rows;
  }
  fs::path run_file() const {
    for (const auto& entry : fs::directory_iterator(folder_ / "runs"))
      if (entry.path().extension() == ".attn") return entry.path();
    return {};
  }
  std::vector<fs::path> files(const char* extension) const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      if (entry.path().extension() == extension) found.push_back(entry.path());
    }
    return found;
  }
  static State small_sweep() {
    State s = initial_state();
    s.document.sweep.kernels = {"cpu_multicore", "cpu_flash"};
    s.document.sweep.values = {16, 32};
    s.document.sweep.seconds_per_point = 0.01;
    s.document.sweep.peak = {1, 1, 1};
    return s;
  }
  TempFolder temporary_;
  fs::path folder_ = temporary_.path();
};

}  // namespace attn::control_test
