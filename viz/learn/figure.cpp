#include "viz/learn/figure.h"

#include <vector>

namespace attn {

StageFigure figure_of(const Session& session, const LessonFigure& figure) {
  std::vector<const Measurement*> rows;
  for (const SweepRun& run : session.runs) {
    for (const Measurement& m : run.rows) {
      const Problem& p = m.key.problem;
      if (p.Lq == figure.L && p.Lk == figure.L && p.D == figure.D) rows.push_back(&m);
    }
  }
  return {roofline(rows, figure.kernel), false};
}

}  // namespace attn
