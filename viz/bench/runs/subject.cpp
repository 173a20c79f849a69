#include "viz/bench/runs/subject.h"

#include <algorithm>
#include <tuple>

#include "kernels/judge/verdict.h"

namespace attn {

bool has_time(const Measurement& m) {
  return m.state == RowState::done && m.time.n > 0 && m.time.median > 0;
}

bool is_of_a_peer(const Measurement& m) {
  return m.peer.has_value();
}

bool is_wrong_row(const Measurement& m) {
  return m.verdict && outcome_of(*m.verdict) == Outcome::wrong;
}

bool is_baseline_shown(const State& state, const Measurement& m) {
  return m.key.kernel == baseline_shown(state, m);
}

std::vector<const Measurement*> timed_rows(const BenchSlice& slice, std::int64_t value) {
  std::vector<const Measurement*> rows;
  for (const Measurement* m : slice.rows) {
    const std::int64_t at = axis_value(slice.axis, *m);
    if (has_time(*m) && (at == value || at == 0)) rows.push_back(m);
  }
  return rows;
}

const Measurement* subject_of(const State& state, std::span<const Measurement* const> rows) {
  const auto alone = [&](const Measurement& m) {
    return std::none_of(rows.begin(), rows.end(),
                        [&](const Measurement* other) { return other != &m && other->processor == m.processor; });
  };
  const auto rank = [&](const Measurement& m) {
    return std::tuple(alone(m), m.key.kernel != bench_kernel(state), m.time.median);
  };
  const Measurement* best = nullptr;
  for (const Measurement* m : rows) {
    if (is_of_a_peer(*m) || is_wrong_row(*m) || (is_baseline_shown(state, *m) && m->key.kernel != bench_kernel(state)))
      continue;
    if (best == nullptr || rank(*m) < rank(*best)) best = m;
  }
  return best;
}

std::string subject_kernel(const State& state, const BenchSlice& slice, std::int64_t value) {
  const auto rows = timed_rows(slice, value);
  const Measurement* subject = subject_of(state, rows);
  // The baseline alone is what is spoken of where nothing else is there.
  for (const Measurement* m : rows)
    if (subject == nullptr && !is_of_a_peer(*m) && !is_wrong_row(*m)) subject = m;
  return subject == nullptr ? std::string() : subject->key.kernel;
}

}  // namespace attn
