#include "profiling/measure/problem_cache.h"

#include <utility>

#include "kernels/base/on_threads.h"
#include "kernels/cpu/backward/forward.h"
#include "kernels/cpu/device.h"
#include "kernels/cpu/thread_crew.h"
#include "kernels/model/inputs/inputs.h"

namespace attn {

bool ProblemCache::holds(const Point& p) const {
  return inputs_ && point_.problem == p.problem && point_.generator == p.generator && point_.seed == p.seed;
}

void ProblemCache::clear() {
  inputs_.reset();
  judged_by_.reset();
}

Result<const Inputs*> ProblemCache::inputs(const Point& p) {
  if (holds(p)) return &*inputs_;
  clear();
  InputSpec spec;
  spec.generator = p.generator;
  spec.seed = p.seed;
  cpu::ThreadCrew crew(cpu_device().cores);
  auto made = make_all_inputs(p.problem, spec, on_threads, p.memory_limit, Stream{{}, nullptr, &crew});
  if (!made) return tl::unexpected(made.error());
  inputs_ = std::move(*made);
  point_ = p;
  return &*inputs_;
}

Result<const JudgedBy*> ProblemCache::judged_by(const Point& p, const std::stop_token& stop) {
  const auto in = inputs(p);
  if (!in) return tl::unexpected(in.error());
  if (judged_by_ && full_ == p.verify_full) return &*judged_by_;
  judged_by_.reset();
  RowSample sample = choose_rows(p.problem, p.verify_full);
  auto reference = reference_rows(p.problem, **in, sample.rows, 0, stop);
  if (!reference) return tl::unexpected(reference.error());
  judged_by_ = JudgedBy{std::move(sample), std::move(*reference)};
  full_ = p.verify_full;
  return &*judged_by_;
}

}  // namespace attn
