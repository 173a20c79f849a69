#include "app/ring/ring_row.h"

#include <algorithm>
#include <cmath>

#include "app/ring/dealt_rows.h"
#include "kernels/base/text.h"
#include "profiling/figures/metrics.h"
#include "profiling/measure/source_now.h"

namespace attn {

std::vector<RankSpan> kept_spans(std::vector<RankSpan> spans) {
  const auto kept = [](double us) { return std::max(0.0, std::round(us * 1e3) / 1e3); };
  for (RankSpan& s : spans) s.begin_us = kept(s.begin_us), s.end_us = std::max(s.begin_us, kept(s.end_us));
  return spans;
}

std::vector<Tensor> travelling(Pass pass) {
  std::vector<Tensor> travels{Tensor::k, Tensor::v};
  const auto sums = answered_of_keys(pass);
  travels.insert(travels.end(), sums.begin(), sums.end());
  return travels;
}

Measurement ring_row(const TakenRing& t) {
  const InEnglish recorded;
  Measurement m;
  m.key = {std::string(t.kernel->id), source_hash_now(*t.kernel, t.problem), t.options, t.problem, t.l2, t.device, ""};
  m.processor = t.kernel->processor;
  m.clock = t.clock;
  m.samples_us = t.samples_us;
  m.time = statistics_of(m.samples_us);
  m.verdict = t.verdict;
  m.ranks = t.ranks;
  if (!t.wrong.empty()) m.state = RowState::failed, m.reason = t.wrong;
  fill_figures(m);
  return m;
}

}  // namespace attn
