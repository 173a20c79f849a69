#include "viz/learn/lesson/figure_function.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/base/text.h"
#include "profiling/figures/counts.h"
#include "profiling/figures/metrics.h"
#include "profiling/figures/samples.h"

namespace attn {
namespace {

struct FoundRow {
  const Measurement* row = nullptr;
  std::string whose;
};

Result<bool> row_fits(const Measurement& m, const FigureQuery& query) {
  const Problem& p = m.key.problem;
  bool all = m.key.kernel == query.kernel;
  for (const auto& [name, value] : query.where) {
    const auto is = [want = value](std::int64_t extent) { return static_cast<double>(extent) == want; };
    if (name == "L")
      all = all && is(p.Lq) && is(p.Lk);
    else if (name == "D")
      all = all && is(p.D);
    else if (name == "H")
      all = all && is(p.Hq);
    else if (name == "B")
      all = all && is(p.B);
    else
      return bad_input(phrase("unknown extent '{}'; use B, H, L or D", name));
  }
  return all;
}

Result<FoundRow> one_row(const Session& session, const FigureQuery& query) {
  FoundRow found;
  std::size_t rows = 0;
  for (const SweepRun& run : session.runs) {
    for (const Measurement& m : run.rows) {
      const auto fitting = row_fits(m, query);
      if (!fitting) return tl::unexpected(fitting.error());
      if (!*fitting || ++rows > 1) continue;
      found = {&m, fmt::format("{}, {}", m.key.device, run.date.substr(0, 10))};
    }
  }
  if (rows != 1)
    return bad_input(
        phrase("{} rows of the session match {} with these extents; exactly one must", rows, query.kernel));
  return found;
}

Result<ReadFigure> read_metric(const Session& session, const FigureQuery& query) {
  const std::string_view metric = query.names.front();
  if (const auto known = find_metric(metric); !known) return tl::unexpected(known.error());
  const auto found = one_row(session, query);
  if (!found) return tl::unexpected(found.error());
  const Figure& f = figure(*found->row, metric);
  if (!f.available()) return bad_input(phrase("{} of {} is not available: {}", metric, query.kernel, tr_of(f.reason)));
  return ReadFigure{f.value, f.origin, found->whose};
}

Result<gpu::CodePhase> code_phase_named(std::string_view name) {
  if (const auto phase = gpu::code_phase_from_name(name)) return *phase;
  std::vector<std::string_view> all;
  for (const gpu::CodePhase phase : gpu::all_code_phases()) all.push_back(gpu::name_of(phase));
  return bad_input(phrase("unknown phase '{}'; use {}", name, fmt::join(all, ", ")));
}

Result<std::string_view> state_column_named(std::string_view name) {
  const auto columns = state_columns();
  const auto at = std::ranges::find(columns, name);
  if (at != columns.end()) return *at;
  return bad_input(phrase("unknown warp state '{}'; use {}", name, fmt::join(columns, ", ")));
}

struct FoundSamples {
  const KernelSamples* samples = nullptr;
  std::string whose;
};

Result<FoundSamples> samples_of(const Session& session, const FigureQuery& query) {
  const auto found = one_row(session, query);
  if (!found) return tl::unexpected(found.error());
  const KernelSamples* samples = found->row->samples.get();
  if (samples == nullptr) return bad_input(phrase("the session has no samples for {}", query.kernel));
  if (!samples->no_lines.empty())
    return bad_input(phrase("the samples for {} have no phases: {}", query.kernel, samples->no_lines));
  return FoundSamples{samples, found->whose};
}

Result<ReadFigure> read_samples(const Session& session, const FigureQuery& query) {
  const auto phase = code_phase_named(query.names.front());
  if (!phase) return tl::unexpected(phase.error());
  const auto found = samples_of(session, query);
  if (!found) return tl::unexpected(found.error());
  const std::uint64_t all = counts_of(*found->samples).all;
  for (const SampledPhase& sampled : samples_by_phase(*found->samples))
    if (sampled.phase == *phase) return ReadFigure{share_of(sampled.counts.all, all), Origin::measured, found->whose};
  return ReadFigure{0, Origin::measured, found->whose};
}

Result<ReadFigure> read_waits(const Session& session, const FigureQuery& query) {
  const auto column = state_column_named(query.names.front());
  if (!column) return tl::unexpected(column.error());
  const auto found = samples_of(session, query);
  if (!found) return tl::unexpected(found.error());
  const SampleCounts all = counts_of(*found->samples);
  return ReadFigure{share_of(all.in(*column), all.all), Origin::measured, found->whose};
}

Result<ReadFigure> read_counted(const Session& session, const FigureQuery& query) {
  const auto table = instruction_counter_table();
  const auto row = std::ranges::find(table, query.names.front(), &InstructionCounterRow::id);
  if (row == table.end()) {
    std::vector<std::string_view> all;
    for (const InstructionCounterRow& r : table) all.push_back(r.id);
    return bad_input(phrase("unknown counter '{}'; use {}", query.names.front(), fmt::join(all, ", ")));
  }
  const auto phase = code_phase_named(query.names.back());
  if (!phase) return tl::unexpected(phase.error());
  const auto found = one_row(session, query);
  if (!found) return tl::unexpected(found.error());
  if (found->row->counts == nullptr) return bad_input(phrase("the session has no counts for {}", query.kernel));
  const KernelCounts& counts = *found->row->counts;
  if (!counts.no_lines.empty())
    return bad_input(phrase("the counts for {} have no phases: {}", query.kernel, counts.no_lines));
  if (!counts.has(row->counter)) return bad_input(phrase("{} does not count {}", counts.chip, row->words));
  double sum = 0;
  for (const CountedPhase& counted : counts_by_phase(counts))
    if (counted.phase == *phase) sum = static_cast<double>(counted.sums[row->counter]);
  return ReadFigure{sum, Origin::measured, found->whose};
}

constexpr std::array<FigureFunction, 4> kFunctions{{
    {"metric", 1, read_metric},
    {"samples", 1, read_samples},
    {"waits", 1, read_waits},
    {"counted", 2, read_counted},
}};

}  // namespace

const FigureFunction* find_figure_function(std::string_view name) {
  const auto found = std::ranges::find(kFunctions, name, &FigureFunction::name);
  return found == kFunctions.end() ? nullptr : &*found;
}

}  // namespace attn
