#include "profiling/figures/baseline.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/text.h"
#include "kernels/ladder.h"
#include "kernels/model/problem/pages.h"
#include "profiling/figures/metric_makers.h"
#include "profiling/figures/metrics.h"

namespace attn {
namespace {

using metric_rows::none;

// The row that `m` is set against: same problem, device and L2 state; best with as many threads.
const Measurement* baseline_for(const Measurement& m, std::span<const Measurement> rows, std::string_view id) {
  const Measurement* best = nullptr;
  for (const Measurement& row : rows) {
    const bool fits = row.key.kernel == id && row.state == RowState::done && row.time.n > 0 &&
                      row.key.problem == m.key.problem && row.key.l2 == m.key.l2 && same_device(row.key, m.key);
    if (!fits) continue;
    const bool best_matches = best != nullptr && best->key.options.threads == m.key.options.threads;
    if (!best_matches || row.key.options.threads == m.key.options.threads) best = &row;
  }
  return best;
}

std::string_view usual_baseline(const Measurement& m) {
  return baseline_of(m.processor, m.key.problem.pass);
}

// A peer is set against the baseline in its own turns: the same clock, flush and pause.
void relate_peer(Measurement& m, std::string_view id) {
  const auto& beside = m.peer->beside;
  const auto at = std::ranges::find(beside, id, &TimedBeside::kernel);
  m.peaks.baseline = at != beside.end() ? at->kernel : std::string();
  m.peaks.baseline_us = at != beside.end() ? at->time.median : 0;
  fill_figures(m);
}

void relate(Measurement& m, std::span<const Measurement> rows, std::string_view id) {
  if (m.peer) return relate_peer(m, id);
  const Measurement* baseline = baseline_for(m, rows, id);
  m.peaks.baseline = baseline != nullptr ? baseline->key.kernel : std::string();
  m.peaks.baseline_us = baseline != nullptr ? baseline->time.median : 0;
  fill_figures(m);
}

// Of the same kernel and problem the row with the same options and L2 state, else with the same options, else the only
// one there is: with several to choose from (a sweep over tiles) none is better than the wrong one.
const Measurement* same_point(const Measurement& m, std::span<const Measurement> reference) {
  const Measurement* any = nullptr;
  const Measurement* best = nullptr;
  std::size_t others = 0;
  for (const Measurement& row : reference) {
    const bool fits = row.key.kernel == m.key.kernel && row.state == RowState::done && row.time.n > 0 &&
                      row.key.problem == m.key.problem;
    if (!fits) continue;
    any = &row;
    ++others;
    if (!(row.key.options == m.key.options)) continue;
    if (best == nullptr || best->key.l2 != m.key.l2 || row.key.l2 == m.key.l2) best = &row;
  }
  if (best != nullptr) return best;
  return others == 1 ? any : nullptr;
}

// The last row that `like` says `m` may be set against; a peer has turns of its own.
template <class Like>
std::optional<double> over(const Measurement& m, std::span<const Measurement> rows, Like like) {
  if (m.peer || m.state != RowState::done || m.time.n == 0) return {};
  std::optional<double> ratio;
  for (const Measurement& row : rows) {
    const bool fits = !row.peer && row.state == RowState::done && row.time.n > 0 && row.time.median > 0 &&
                      row.key.kernel == m.key.kernel && row.key.source_hash == m.key.source_hash &&
                      row.key.options == m.key.options && m.key.l2 == row.key.l2 && same_device(row.key, m.key);
    if (fits && like(row.key.problem)) ratio = m.time.median / row.time.median;
  }
  return ratio;
}

// As even as whole keys are.
bool even(const std::vector<std::int64_t>& lengths) {
  const auto [least, most] = std::ranges::minmax(lengths);
  return most - least <= 1;
}

// What a layout is set against, and why a row has no figure of it.
struct Layout {
  std::string_view metric, method, not_laid_out, no_other;
  std::optional<double> (*over)(const Measurement&, std::span<const Measurement>);
};
constexpr Layout kPages{"over_contiguous_ratio", marked("relative to the row with contiguous K and V"),
                        marked("K and V are contiguous, not paged"),
                        marked("no row with contiguous K and V; measure this point with --page 0 as well"),
                        over_contiguous};
constexpr Layout kLengths{"over_even_ratio", marked("relative to the row with equal key lengths"),
                          marked("all batches have the same number of keys"),
                          marked("no row with equal key lengths; measure this point with --ragged even as well"),
                          over_even};

Figure layout_figure(const Measurement& m, const RowsOfRuns& runs, const Layout& layout, bool laid_out) {
  if (m.peer) return none(marked("peers are not measured in other layouts"));
  if (!laid_out) return none(std::string(layout.not_laid_out));
  if (m.state != RowState::done || m.time.n == 0) return none(marked("not timed"));
  for (const std::span<const Measurement> rows : runs)
    if (const auto ratio = layout.over(m, rows)) return {Origin::derived, *ratio, std::string(layout.method), ""};
  return none(std::string(layout.no_other));
}

}  // namespace

bool has_pages(const Problem& p) {
  return p.storage.kind() == Storage::paged;
}

bool has_uneven_keys(const Problem& p) {
  return !p.mask.key_lengths.empty() && !even(p.mask.key_lengths);
}

std::optional<double> over_contiguous(const Measurement& m, std::span<const Measurement> rows) {
  if (!has_pages(m.key.problem)) return {};
  const Problem plain = without_pages(m.key.problem);
  return over(m, rows, [&](const Problem& p) { return p == plain; });
}

std::optional<double> over_even(const Measurement& m, std::span<const Measurement> rows) {
  const std::vector<std::int64_t>& own = m.key.problem.mask.key_lengths;
  if (!has_uneven_keys(m.key.problem)) return {};
  const std::int64_t keys = std::accumulate(own.begin(), own.end(), std::int64_t{0});
  return over(m, rows, [&](Problem p) {
    const std::vector<std::int64_t> lengths = std::exchange(p.mask.key_lengths, own);
    return p == m.key.problem && lengths.size() == own.size() && even(lengths) &&
           std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0}) == keys;
  });
}

void relate_to_layouts(Measurement& m, const RowsOfRuns& runs) {
  if (m.figures.size() != metric_table().size()) fill_figures(m);
  const auto put = [&](const Layout& layout, bool laid_out) {
    m.figures[*find_metric(layout.metric)] = layout_figure(m, runs, layout, laid_out);
  };
  put(kPages, has_pages(m.key.problem));
  put(kLengths, has_uneven_keys(m.key.problem));
}

bool is_of_plain_layout(const Measurement& m) {
  const auto says_so = [&](const Layout& layout) {
    const Figure& f = figure(m, layout.metric);
    return !f.available() && f.reason == layout_figure(m, {}, layout, false).reason;
  };
  return m.figures.size() == metric_table().size() && !has_pages(m.key.problem) && !has_uneven_keys(m.key.problem) &&
         says_so(kPages) && says_so(kLengths);
}

std::string layout_words(const Measurement& m) {
  std::string words;
  if (const Figure& f = figure(m, kPages.metric); f.available())
    words = phrase("{:.3f}× the time with contiguous K and V", f.value);
  if (const Figure& f = figure(m, kLengths.metric); f.available())
    words += (words.empty() ? "" : ", ") + phrase("{:.3f}× the time with equal key lengths", f.value);
  return words.empty() ? words : phrase("{} (derived)", words);
}

void relate_to_baseline(Measurement& m, std::span<const Measurement> rows) {
  relate(m, rows, usual_baseline(m));
}

void relate_to_baseline(Measurement& m, std::span<const Measurement> rows, std::string_view chosen) {
  relate(m, rows, chosen);
}

void relate_to_baseline(std::span<Measurement> rows, std::string_view chosen) {
  const auto row = find_kernel(chosen);
  for (Measurement& m : rows) {
    const bool fits = row && (*row)->processor == m.processor && takes_pass(**row, m.key.problem.pass);
    relate(m, rows, fits ? chosen : usual_baseline(m));
  }
}

void relate_to_baseline(std::span<Measurement> rows) {
  for (Measurement& m : rows) relate_to_baseline(m, rows);
}

void relate_to_run(std::span<Measurement> rows, std::span<const Measurement> reference, std::string_view words) {
  for (Measurement& m : rows) {
    const Measurement* same = same_point(m, reference);
    m.peaks.reference = words;
    m.peaks.reference_us = same != nullptr ? same->time.median : 0;
    fill_figures(m);
  }
}

std::string_view baseline_of(Processor processor, Pass pass) {
  const std::string_view forward = processor == Processor::cpu ? "cpu_multicore" : "naive";
  if (pass == Pass::forward) return forward;
  for (const KernelRow& step : training_table())
    if (step.parts.front()->id == forward) return pass == Pass::backward ? step.parts.back()->id : step.id;
  return forward;
}

}  // namespace attn
