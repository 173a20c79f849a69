#include "viz/learn/figure.h"

#include <vector>

#include <fmt/format.h>

namespace attn {
namespace {

// The last row of the kernel that was measured; empty where none is of this problem.
OccupancyScene occupancy_of(const Session& session, const LessonFigure& figure) {
  OccupancyScene scene;
  scene.empty = fmt::format("The session has no row of {} at L = {}, D = {}.", figure.kernel, figure.L, figure.D);
  for (const SweepRun& run : session.runs) {
    for (const Measurement& m : run.rows) {
      const Problem& p = m.key.problem;
      if (m.key.kernel == figure.kernel && p.Lq == figure.L && p.Lk == figure.L && p.D == figure.D)
        scene = occupancy_scene(m, run.provenance.device_arch, run.provenance.cores);
    }
  }
  return scene;
}

}  // namespace

StageFigure figure_of(const Session& session, const LessonFigure& figure) {
  StageFigure out;
  out.kind = figure.kind;
  out.of = fmt::format("{} at L = {}, D = {}", figure.kernel, figure.L, figure.D);
  if (figure.kind == FigureKind::occupancy) {
    out.occupancy = occupancy_of(session, figure);
    return out;
  }
  std::vector<const Measurement*> rows;
  for (const SweepRun& run : session.runs) {
    for (const Measurement& m : run.rows) {
      const Problem& p = m.key.problem;
      if (p.Lq == figure.L && p.Lk == figure.L && p.D == figure.D) rows.push_back(&m);
    }
  }
  out.roof = roofline(rows, figure.kernel);
  return out;
}

}  // namespace attn
