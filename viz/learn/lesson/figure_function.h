// What expressions read of a row of a session: a metric, and what was sampled and counted in it. docs/lessons.md. Pure.
// The table of them is in viz/learn/lesson/row_figures.cpp.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/base/result.h"
#include "profiling/session/session_data.h"

namespace attn {

// A kernel, what is read of it, and what the row's problem must be ("L", 512).
struct FigureQuery {
  std::string_view kernel;
  std::vector<std::string_view> names;
  std::vector<std::pair<std::string_view, double>> where;  // B, H, L, D
};
struct ReadFigure {
  double value = 0;
  Origin origin = Origin::measured;
  std::string whose;  // the GPU and the day
};

struct FigureFunction {
  std::string_view name;
  std::size_t names = 1;  // that it takes beside the kernel
  // The error says what there is not, or that several rows fit.
  Result<ReadFigure> (*read)(const Session& session, const FigureQuery& query);
};
// metric(KERNEL, METRIC): of the table of metrics.
// samples(KERNEL, PHASE): the share of all samples that stand in this phase, 0 to 1.
// waits(KERNEL, STATE): the share of all samples in which the warp did this, 0 to 1.
// counted(KERNEL, COUNTER, PHASE): what the chip counted at the instructions of this phase in one run.
// Null where there is none of this name.
const FigureFunction* find_figure_function(std::string_view name);

}  // namespace attn
