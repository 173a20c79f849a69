// What the program knows beside the state: what tasks made, found and measured. Panels read it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/recording/recording.h"
#include "profiling/figures/measurement.h"

namespace attn {

// A running or finished task, as panels show it. `title` is empty where there is none.
struct TaskView {
  std::string title, now, error;
  double fraction = 0;
  double seconds_left = -1;
  bool running = false;
};

// The GPUs that the program found, or why it can use none. Before it has looked, nothing is known.
struct GpuChoice {
  std::int32_t index = 0;
  std::string name, arch;
};
struct GpuView {
  bool looked = false;
  std::string why_none;
  std::vector<GpuChoice> gpus;
};

// A session that Bench offers to open while it has no rows.
struct SessionOffer {
  std::string path;
  std::string words;  // "the bundled session of NVIDIA H100 80GB HBM3"
};

// All that panels may read. Shared pointers so that a task can replace a recording while a frame draws the old one.
struct Model {
  std::shared_ptr<const Recording> recording;  // what Step shows; null only when `recording_error` says why
  std::string recording_error;                 // words: the problem cannot be recorded (size, options)
  std::vector<Measurement> measurements;       // rows of the current sweep, growing
  Provenance provenance;
  bool rows_from_here = true;  // taken on this machine, in this run or an earlier one: a sweep can go on from them
  GpuView gpu;
  std::vector<SessionOffer> offers;
  TaskView task;
};

}  // namespace attn
