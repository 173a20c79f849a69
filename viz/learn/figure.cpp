#include "viz/learn/figure.h"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace attn {
namespace {

struct FoundRow {
  const Measurement* row = nullptr;  // null: there is none
  OccupancyScene occupancy;
};

// The last row of the kernel that was measured on this problem.
FoundRow row_of(const Session& session, const LessonFigure& figure) {
  FoundRow found;
  found.occupancy.empty =
      fmt::format("The session has no row of {} at L = {}, D = {}.", figure.kernel, figure.L, figure.D);
  for (const SweepRun& run : session.runs) {
    for (const Measurement& m : run.rows) {
      const Problem& p = m.key.problem;
      if (m.key.kernel == figure.kernel && p.Lq == figure.L && p.Lk == figure.L && p.D == figure.D)
        found = {&m, occupancy_scene(m, run.provenance.device_arch, run.provenance.cores)};
    }
  }
  return found;
}

HeartbeatScene heartbeat_of(const FoundRow& found) {
  HeartbeatScene scene;
  scene.empty = found.occupancy.empty;
  if (found.row == nullptr) return scene;
  return heartbeat_scene(*found.row, nullptr, {}, found.occupancy.empty.empty() ? found.occupancy.waves : "");
}

}  // namespace

StageFigure figure_of(const Session& session, const LessonFigure& figure) {
  StageFigure out;
  out.kind = figure.kind;
  out.of = fmt::format("{} at L = {}, D = {}", figure.kernel, figure.L, figure.D);
  if (figure.kind != FigureKind::roofline) {
    FoundRow found = row_of(session, figure);
    if (figure.kind == FigureKind::heartbeat) out.heartbeat = heartbeat_of(found);
    out.occupancy = std::move(found.occupancy);
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
