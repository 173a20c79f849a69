#include "profiling/session/regression.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/base/text.h"
#include "kernels/gpu/rungs/own_kernel.h"
#include "kernels/model/kernel.h"
#include "profiling/session/fairness.h"

namespace attn {
namespace {

struct Partner {
  const Measurement* row = nullptr;
  const Provenance* where = nullptr;
};

bool same_kernel(const Measurement& a, const Measurement& b) {
  if (a.key.kernel == b.key.kernel) return true;
  const auto stem = gpu::own_stem(a.key.kernel);
  return !stem.empty() && stem == gpu::own_stem(b.key.kernel);
}

bool has_time(const Measurement& m) {
  return m.state == RowState::done && m.time.n > 0 && m.time.median > 0;
}

// Those of the same kernel and problem that were measured, the last one last.
std::vector<Partner> candidates(const Measurement& m, std::span<const SweepRun> earlier) {
  std::vector<Partner> found;
  for (const SweepRun& run : earlier)
    for (const Measurement& row : run.rows)
      if (!row.peer && has_time(row) && same_kernel(row, m) && row.key.problem == m.key.problem)
        found.push_back({&row, &run.provenance});
  return found;
}

// Keeps those that fit. Where none does says what they have instead: false.
template <class Fits>
bool narrow(std::vector<Partner>& found, const Fits& fits) {
  std::vector<Partner> kept;
  std::ranges::copy_if(found, std::back_inserter(kept), [&](const Partner& p) { return fits(*p.row); });
  if (kept.empty()) return false;
  found = std::move(kept);
  return true;
}

// The row, or none and why.
Partner partner_of(const Measurement& m, std::span<const SweepRun> earlier, std::string& why) {
  std::vector<Partner> found = candidates(m, earlier);
  if (found.empty()) {
    why = tr("the session has no measured time for this kernel on this problem");
    return {};
  }
  if (!narrow(found, [&](const Measurement& row) { return row.key.device == m.key.device; })) {
    why = phrase("measured on {} in the session", found.back().row->key.device);
    return {};
  }
  if (!narrow(found, [&](const Measurement& row) { return row.key.l2 == m.key.l2; })) {
    why = phrase("measured with {} caches in the session", name_of(found.back().row->key.l2));
    return {};
  }
  // A row that could not be measured has options as they were asked for, not as they would have been chosen.
  const bool resolved = m.state == RowState::done;
  const bool same = narrow(found, [&](const Measurement& row) { return row.key.options == m.key.options; });
  if (!same && resolved && found.size() > 1) {
    why = phrase("the session has {} matching rows, each with different options", found.size());
    return {};
  }
  return found.back();
}

}  // namespace

std::size_t Held::compared() const {
  return static_cast<std::size_t>(std::ranges::count_if(rows, &HeldRow::measured));
}

Held hold_against(std::span<const Measurement> rows, const Provenance& where, std::span<const SweepRun> earlier) {
  Held held;
  for (const Measurement& m : rows) {
    if (m.peer) continue;
    HeldRow r;
    r.row = &m;
    const Partner partner = partner_of(m, earlier, r.why_none);
    r.earlier = partner.row;
    if (partner.row != nullptr && has_time(m)) {
      const TimeStatistics &now = m.time, &then = partner.row->time;
      r.ratio = then.median / now.median;
      r.low = then.ci_low > 0 && now.ci_high > 0 ? then.ci_low / now.ci_high : r.ratio;
      r.high = then.ci_high > 0 && now.ci_low > 0 ? then.ci_high / now.ci_low : r.ratio;
      r.unfair = unfair(m, where, *partner.row, *partner.where);
    }
    held.rows.push_back(std::move(r));
  }
  return held;
}

bool fell(const HeldRow& r, double least) {
  return r.earlier != nullptr && (!r.measured() || r.ratio < least);
}

bool unsure(const HeldRow& r, double least) {
  return r.measured() && r.low < least && r.high >= least;
}

std::string words_of(const HeldRow& r) {
  const Measurement& m = *r.row;
  std::string words = fmt::format("{}, {}: ", m.key.kernel, describe(m.key.problem));
  if (r.earlier == nullptr) return words + phrase("not compared, {}", r.why_none);
  if (!r.measured())
    return words + phrase("{} ({}), previously {:.1f} µs", name_of(m.state), m.reason, r.earlier->time.median);
  words += phrase(
      "{:.3f}× its earlier speed ({:.3f} to {:.3f} by the 95 % intervals of both): {:.1f} µs now and {:.1f} µs "
      "previously",
      r.ratio, r.low, r.high, m.time.median, r.earlier->time.median);
  if (!(m.key.options == r.earlier->key.options)) words += tr(", with other options");
  if (!m.time.settled || !r.earlier->time.settled)
    words += m.time.settled ? tr(", earlier run not settled") : tr(", not settled");
  if (!r.unfair.empty()) words += phrase(". Differences: {}", fmt::join(r.unfair, "; "));
  return words;
}

}  // namespace attn
