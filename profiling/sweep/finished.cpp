#include "profiling/sweep/finished.h"

#include <algorithm>

#include "kernels/cpu/device.h"
#include "profiling/figures/row_state.h"
#include "profiling/measure/point.h"
#include "profiling/measure/source_now.h"
#include "profiling/spec/ring_point.h"
#include "profiling/spec/sweep_point.h"
#include "profiling/sweep/points.h"
#include "profiling/tune/candidates.h"

namespace attn {

bool is_finished_point(const Measurement& m, const KernelRow& row, const Point& p, const Device& device) {
  const MeasurementKey asked = empty_row(p, row.processor).key;
  if (m.state != RowState::done || m.time.n == 0 || m.key.kernel != asked.kernel) return false;
  if (m.ranks.has_value() != runs_as_ring(row, p.options)) return false;
  if (!(m.key.problem == asked.problem) || m.key.l2 != asked.l2 || m.key.device != device.name) return false;
  if ((p.verify && !m.verdict) || m.key.source_hash != source_hash_now(row, p.problem)) return false;
  const auto plan = row.plan(row, p.problem, p.options, device);
  return plan && plan->options == m.key.options;
}

SweepCount count_finished(const SweepSpec& s, std::span<const Measurement> rows, const Device& gpu) {
  const auto kernels = kernels_of(s);
  return kernels ? count_finished(s, *kernels, rows, gpu) : SweepCount();
}

SweepCount count_finished(const SweepSpec& s, std::span<const KernelRow* const> kernels,
                          std::span<const Measurement> rows, const Device& gpu) {
  SweepCount count;
  if (!validate(s, kernels)) return count;
  const Device cpu = cpu_device();
  for (const SweepPoint& point : points_of(s, kernels)) {
    ++count.points;
    Point p = point_at(s, *point.row, point.value);
    count.finished += std::any_of(rows.begin(), rows.end(), [&](const Measurement& m) {
      // Whatever tile was kept when the row was taken: the sweep itself asks which one is kept now.
      if (s.tuned && has_tiles(*point.row)) {
        if (m.tile_from != "tuned" || m.key.kernel != point.row->id) return false;
        p.options = m.key.options;
      }
      return is_finished_point(m, *point.row, p, point.row->processor == Processor::gpu ? gpu : cpu);
    });
  }
  return count;
}

}  // namespace attn
