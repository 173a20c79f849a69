#include "kernels/recording/replay/exact_keys.h"

#include <algorithm>

namespace attn {

ExactKeys::ExactKeys(const Recording& rec, std::int32_t b, std::int32_t kv, std::int32_t j)
    : rec_(rec), order_(order_row(rec.order)), b_(b), kv_(kv), j_(j) {
  for (EventIndex e = 0; e < rec.events.size(); ++e) {
    const EventId& at = rec.events[e].id;
    if (at.b != b || at.j != j || rec.problem.kv_head(at.h) != kv) continue;
    const OrderPhase* phase = order_.phase(at.phase);
    if (phase != nullptr && phase->exact_keys != nullptr) events_.push_back(e);
  }
}

std::span<const ExactNumber> ExactKeys::row(VersionId v, std::int32_t row) {
  const Version& version = rec_.version(v);
  if (row < 0 || row >= version.rows) return {};
  for (; next_ < events_.size() && events_[next_] <= version.made_by; ++next_) {
    e_ = events_[next_];
    order_.phase(id().phase)->exact_keys(*this);
  }
  const auto cols = static_cast<std::size_t>(version.cols);
  const std::span<const ExactNumber> all = sum(v);
  return all.empty() ? all : all.subspan(static_cast<std::size_t>(row) * cols, cols);
}

std::span<const ExactNumber> ExactKeys::sum(VersionId v) const {
  const auto at = sums_.find(v);
  return at == sums_.end() ? std::span<const ExactNumber>() : std::span<const ExactNumber>(at->second);
}

// What the rows of the event's query tile hold by the last step that adds them up: of this key tile alone.
void ExactKeys::walk_query_tile() {
  const EventId now = id();
  if (walked_.h == now.h && walked_.i == now.i) return;
  walked_ = now;
  EventIndex last = e_;
  for (std::size_t n = next_; n < events_.size(); ++n) {
    const EventId& at = rec_.events[events_[n]].id;
    if (at.h == now.h && at.i == now.i) last = events_[n];
  }
  std::vector<EventIndex> steps;
  for (const OrderPhase& phase : order_.phases) {
    for (const std::int32_t j : {-1, j_}) {
      const auto e = phase.exact == nullptr ? std::nullopt : rec_.find({now.b, now.h, now.i, j, phase.phase});
      if (e && *e < last) steps.push_back(*e);
    }
  }
  std::ranges::sort(steps);
  const std::int32_t first = now.i * rec_.options.br;
  const auto rows = std::min<std::int64_t>(rec_.options.br, rec_.problem.Lq - first);
  rows_.assign(static_cast<std::size_t>(rows), {});
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    ExactWalk walk(rec_, DType::f32, first + static_cast<std::int32_t>(r), rows_[r]);
    for (const EventIndex e : steps) walk.event(e);
  }
}

const ExactRow& ExactKeys::query_row(VersionId v, std::int32_t row) {
  walk_query_tile();
  return rows_[static_cast<std::size_t>(row)][v];
}

}  // namespace attn
