// The table under the charts: one row a kernel at the chosen value, or at every value.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "kernels/base/bytes.h"
#include "kernels/base/text.h"
#include "kernels/ladder.h"
#include "profiling/figures/baseline.h"
#include "profiling/spec/tile_words.h"
#include "viz/bench/runs/source_words.h"
#include "viz/bench/scene/bench_scene.h"
#include "viz/bench/sweep/sweep_fields.h"
#include "viz/bench/table/cells.h"
#include "viz/draw/figure_text.h"
#include "viz/draw/hands.h"

namespace attn {
namespace {

// Units hold for a whole column, so that its numbers can be compared at a glance.
struct Units {
  BenchUnit time, rate, bytes, dram, memory;
};

struct Extent {
  double min = std::numeric_limits<double>::infinity(), max = 0;
};

Extent extent_of(std::span<const Measurement* const> rows, std::string_view metric) {
  Extent e;
  for (const Measurement* m : rows) {
    const Figure& f = figure(*m, metric);
    if (!f.available() || f.value <= 0) continue;
    e.min = std::min(e.min, f.value);
    e.max = std::max(e.max, f.value);
  }
  return e;
}

Units units_of(std::span<const Measurement* const> rows) {
  const Extent time = extent_of(rows, "time_us_median");
  const double dram = extent_of(rows, "dram_read_bytes").max;
  return {time_unit(time.min, time.max), rate_unit(extent_of(rows, "tflops").max),
          bytes_unit(extent_of(rows, "tile_load_bytes").max), dram > 0 ? bytes_unit(dram) : BenchUnit{},
          memory_unit(extent_of(rows, "memory_peak_bytes").max)};
}

// Of a peer: whose it is, what was done so that it takes the problem, and what ours took in its turns.
std::string peer_tip(const Measurement& m, const BenchUnit& unit) {
  std::string tip = phrase("; {} ({} in files), {}", tr_of(m.peer->title), m.key.kernel, m.peer->software);
  if (!m.peer->how.empty()) tip += "; " + m.peer->how;
  for (const TimedBeside& b : m.peer->beside)
    tip += phrase("; in its turns, {} took {}", b.kernel, value_with_unit(b.time.median, unit));
  return tip;
}

// With which tile, and where that came from.
BenchCell with_tile(BenchCell cell, const Measurement& m) {
  if (const auto row = find_kernel(m.key.kernel); cell.available && row && !m.tile_from.empty())
    cell.tip += phrase("; tile {} ({})", tile_words(**row, m.key.options), m.tile_from);
  return cell;
}

// The tip of a kernel of several launches tells what each took.
BenchCell time_cell(const Measurement& m, const BenchUnit& unit) {
  BenchCell cell = with_tile(figure_cell(m, "time_us_median", unit), m);
  if (cell.available && m.peer) cell.tip += peer_tip(m, unit);
  if (!cell.available || m.launches.size() < 2 || m.launch_us.size() != m.launches.size()) return cell;
  std::vector<std::string> each;
  for (std::size_t n = 0; n < m.launches.size(); ++n)
    each.push_back(fmt::format("{} {}", m.launches[n].name, value_with_unit(m.launch_us[n], unit)));
  cell.tip += phrase("; of that, {}", fmt::join(each, ", "));
  return cell;
}

// Of several launches the least is known: the warps that are active, an average over all, may exceed it.
BenchCell possible_cell(const Measurement& m) {
  BenchCell cell = figure_cell(m, "occupancy_theoretical_pct", {1, "%"});
  const bool min = figure(m, "occupancy_theoretical_pct").min_of_launches;
  if (cell.available && min && cell.sort < 99.95) cell.text = "≥ " + cell.text;  // more than all cannot be
  return cell;
}

// Two decimals up to ten, so that the baseline's 1.00 stands among its like. Of a layout three: it costs little.
auto ratio_cell(std::string_view metric, int decimals = 2) {
  return [metric, decimals](const Measurement& m) {
    BenchCell cell = figure_cell(m, metric, {1, ""});
    if (cell.available && cell.sort >= 0.01)
      cell.text = fmt::format("{:.{}f}", cell.sort, cell.sort < 9.995 ? decimals : 1);
    return cell;
  };
}

// Half the 95 % interval of the median, in percent of it.
BenchCell interval_cell(const Measurement& m) {
  const Figure& low = figure(m, "time_us_ci_low");
  const Figure& high = figure(m, "time_us_ci_high");
  if (!low.available()) return missing_cell(low.reason);
  if (!high.available() || m.time.median <= 0) return missing_cell(high.reason);
  const double percent = 50 * (high.value - low.value) / m.time.median;
  const BenchUnit unit = time_unit(low.value, high.value);
  return {fmt::format("{:.1f}", percent),
          phrase("95 % interval of the median: {} to {}, from {} repeats{}{}", value_with_unit(low.value, unit),
                 value_with_unit(high.value, unit), m.time.n, m.time.settled ? "" : tr(", stopped by the time limit"),
                 m.time.drifted ? tr(", drifted") : ""),
          percent, true};
}

BenchCell dram_cell(const Measurement& m, const BenchUnit& unit) {
  const Figure& read = figure(m, "dram_read_bytes");
  const Figure& written = figure(m, "dram_write_bytes");
  if (!read.available()) return missing_cell(read.reason);
  if (!written.available()) return missing_cell(written.reason);
  const double both = read.value + written.value;
  return {figure_text(both * unit.factor),
          phrase("{} read, {} written ({})", value_with_unit(read.value, unit), value_with_unit(written.value, unit),
                 words_of_origin(read)),
          both, true};
}

BenchCell workspace_cell(const Measurement& m, const BenchUnit& unit) {
  const Figure& f = figure(m, "memory_overhead_bytes");
  if (!f.available()) return missing_cell(f.reason);
  return {f.value == 0 ? "0" : figure_text(f.value * unit.factor),
          phrase("{} besides inputs and outputs ({})", format_bytes(static_cast<std::uint64_t>(f.value)),
                 words_of_origin(f)),
          f.value, true};
}

BenchCell error_cell(const Measurement& m) {
  if (!m.verdict && m.time.n == 0) return missing_cell(tr("has not run"));
  if (!m.verdict) return missing_cell(tr("not verified: verification was off"));
  const Verdict& v = *m.verdict;
  if (v.not_judged) return missing_cell(v.reason);
  if (std::isfinite(v.error()) && v.allowed() <= 0) return missing_cell(tr("the allowed error of this problem is 0"));
  const double share = std::isfinite(v.error()) ? v.error() / v.allowed() : v.error();
  return {share < 9.995 ? fmt::format("{:.2f}", share) : figure_text(share),
          phrase("error {}, allowed {}, {}", figure_text(v.error()), figure_text(v.allowed()), v.sample),
          std::isnan(share) ? HUGE_VAL : share, true};
}

BenchCell verdict_cell(const Measurement& m) {
  if (!m.verdict && m.time.n == 0) return missing_cell(tr("has not run"));
  if (!m.verdict)
    return {tr("not checked"), tr("Verification was off, so these values may come from a wrong output."), 1, true};
  const Verdict& v = *m.verdict;
  const std::string left_out = unjudged_words(v);
  switch (outcome_of(v)) {
    case Outcome::pass:
      return {tr("pass"),
              left_out.empty() ? tr("The output is within the allowed error.")
                               : phrase("The output is within the allowed error. Not judged: {}.", left_out),
              0, true};
    case Outcome::not_judged:
      return {tr("not judged"), phrase("None of the output could be judged: {}.", left_out), 1, true};
    case Outcome::wrong:
      break;
  }
  return {tr("wrong"), v.reason, 2, true};
}

BenchCell memory_cell(const Measurement& m, std::string_view metric, const BenchUnit& unit) {
  BenchCell cell = figure_cell(m, metric, unit);
  if (cell.available && cell.sort == 0) cell.text = "0";
  return cell;
}

// Shared memory of a block, laid out by the compiler and asked for by the launch.
BenchCell shared_cell(const Measurement& m) {
  const Figure& fixed = figure(m, "shared_static_bytes");
  const Figure& asked = figure(m, "shared_dynamic_bytes");
  if (!fixed.available()) return missing_cell(fixed.reason);
  if (!asked.available()) return missing_cell(asked.reason);
  const double bytes = fixed.value + asked.value;
  return {bytes == 0 ? "0" : figure_text(bytes / 1024),
          phrase("{:.0f} bytes per block from the compiler ({}), {:.0f} from the launch", fixed.value,
                 words_of_origin(fixed), asked.value),
          bytes, true};
}

// One column of the choice from all metrics. `gpu`: left out where no GPU kernel is shown.
struct Column {
  BenchColumn head;
  std::function<BenchCell(const Measurement&)> cell;
  bool gpu = false;
};

// `pass`: none: rows of several, each with a baseline of its own.
std::vector<Column> summary_columns(const State& state, std::optional<Pass> pass, const Units& u, bool gpu, bool cpu) {
  const auto metric = [](std::string_view id, const BenchUnit& unit) {
    return [id, unit](const Measurement& m) { return figure_cell(m, id, unit); };
  };
  const std::string base =
      (gpu && cpu) || !pass ? tr("baseline") : baseline_shown(state, gpu ? Processor::gpu : Processor::cpu, *pass);
  const std::string dram = u.dram.name.empty() ? "" : " " + u.dram.name;
  return {
      {{"time", phrase("time {}", u.time.name), tr("Median of the repeats.")},
       [unit = u.time](const Measurement& m) { return time_cell(m, unit); }},
      {{"interval", "± %", tr("Half the 95 % interval of the median, as a percentage of the median.")}, interval_cell},
      {{"rate", u.rate.name, tr("2 · pairs · (D + Dv) / time, counting only the pairs that the mask lets through.")},
       metric("tflops", u.rate)},
      {{"speedup", "× " + base,
        tr("The baseline's time divided by this kernel's, on the same device. For a peer: the baseline's "
           "time in the peer's own turns.")},
       ratio_cell("speedup_ratio")},
      {{"against", tr("× ref"), tr("The reference run's time for the same kernel divided by this run's time.")},
       ratio_cell("against_run_ratio")},
      {{"paged", tr("× contiguous"), tr("Time relative to the same kernel with contiguous K and V.")},
       ratio_cell("over_contiguous_ratio", 3)},
      {{"ragged", tr("× even"), tr("Time relative to the same kernel with equal key lengths.")},
       ratio_cell("over_even_ratio", 3)},
      {{"peak", tr("% of peak"), tr("Rate as a fraction of the multiply-add peak measured on this device.")},
       metric("peak_share_pct", {1, "%"})},
      {{"tiles", phrase("tile loads {}", u.bytes.name),
        tr("Predicted: bytes that the tiles would request from memory if nothing were cached.")},
       [unit = u.bytes](const Measurement& m) { return with_tile(figure_cell(m, "tile_load_bytes", unit), m); }},
      {{"dram", "DRAM" + dram, tr("Bytes read from and written to main memory, as counted.")},
       [unit = u.dram](const Measurement& m) { return dram_cell(m, unit); }},
      {{"ratio", tr("÷ minimum"), tr("DRAM bytes relative to the minimum that this order must move.")},
       minimum_cell,
       true},
      {{"bandwidth", "GB/s", tr("DRAM bytes per second.")}, metric("dram_gb_per_s", {1, "GB/s"}), true},
      {{"warps", tr("warps %"), tr("Achieved occupancy: active warps as a fraction of what an SM can hold.")},
       metric("occupancy_achieved_pct", {1, "%"}),
       true},
      {{"possible", tr("possible %"),
        tr("Theoretical occupancy, from registers, shared memory and threads per block.")},
       possible_cell,
       true},
      {{"registers", tr("regs"), tr("Registers per thread, as assigned by the compiler.")},
       [](const Measurement& m) {
         return with_tile(figure_cell(m, "registers_count", {1, ""}), m);
       },
       true},
      {{"shared", tr("smem KiB"), tr("Shared memory per block.")},
       [](const Measurement& m) { return with_tile(shared_cell(m), m); },
       true},
      {{"memory", phrase("peak {}", u.memory.name),
        tr("Memory held while the kernel runs: inputs, outputs and workspace.")},
       [unit = u.memory](const Measurement& m) { return memory_cell(m, "memory_peak_bytes", unit); },
       true},
      {{"workspace", phrase("workspace {}", u.memory.name),
        tr("Memory used in addition to inputs and outputs, such as a stored S.")},
       [unit = u.memory](const Measurement& m) { return workspace_cell(m, unit); }},
      {{"error", tr("error ÷ allowed"),
        tr("Largest difference from the fp64 reference, divided by the allowed error. Values above 1 mean a wrong "
           "output.")},
       error_cell},
      {{"verdict", tr("answer"), tr("Is the output within the allowed error?")}, verdict_cell},
  };
}

// Every metric of one group, as the metric table has them.
std::vector<Column> group_columns(MetricGroup group, std::span<const Measurement* const> rows) {
  std::vector<Column> columns;
  for (const MetricRow& metric : metric_table()) {
    if (metric.group != group) continue;
    const Extent extent = extent_of(rows, metric.id);
    const BenchUnit unit = unit_of(metric, extent.max > 0 ? extent.min : 0, extent.max);
    std::string title(tr_of(metric.label));
    if (!unit.name.empty()) title += " " + unit.name;
    std::string tip(tr_of(metric.help));
    if (!metric.formula.empty()) tip += phrase(" Formula: {}.", tr_of(metric.formula));
    columns.push_back(
        {{std::string(metric.id), std::move(title), std::move(tip)}, [id = metric.id, unit](const Measurement& m) {
           BenchCell cell = figure_cell(m, id, unit);
           if (cell.available && cell.sort == 0) cell.text = "0";
           return cell;
         }});
  }
  return columns;
}

std::vector<Column> columns_of(const State& state, const BenchSlice& slice, std::span<const Measurement* const> rows,
                               const BenchSwitches& switches) {
  const auto on = [&](Processor processor) {
    return std::any_of(rows.begin(), rows.end(), [&](const Measurement* m) { return m->processor == processor; });
  };
  const bool gpu = on(Processor::gpu), cpu = on(Processor::cpu);
  std::optional<Pass> pass = rows.empty() ? state.document.sweep.base.pass : rows.front()->key.problem.pass;
  if (std::ranges::any_of(rows, [&](const Measurement* m) { return m->key.problem.pass != *pass; })) pass.reset();
  std::vector<Column> columns =
      switches.group ? group_columns(*switches.group, rows) : summary_columns(state, pass, units_of(rows), gpu, cpu);
  if (!gpu && !switches.group) std::erase_if(columns, [](const Column& c) { return c.gpu; });
  if (state.document.runs.reference.empty())
    std::erase_if(columns, [](const Column& c) { return c.head.id == "against"; });
  const auto drop = [&](std::string_view id, bool (*has)(const Problem&)) {
    if (std::ranges::none_of(rows, [has](const Measurement* m) { return has(m->key.problem); }))
      std::erase_if(columns, [id](const Column& c) { return c.head.id == id; });
  };
  drop("paged", has_pages);
  drop("ragged", has_uneven_keys);
  if (switches.all_values) {
    const auto at_cell = [&slice](const Measurement& m) {
      const std::int64_t at = axis_value(slice.axis, m);
      return at > 0 ? BenchCell{fmt::format("{}", at), "", static_cast<double>(at), true}
                    : missing_cell(phrase("this kernel has no option {}", axis_letter(slice.axis)));
    };
    columns.insert(columns.begin(), Column{{"value", std::string(axis_letter(slice.axis)), ""}, at_cell});
  }
  return columns;
}

std::string reason_words(const Measurement& m) {
  const std::string_view state = m.state == RowState::cancelled ? tr("cancelled") : name_of(m.state);
  return m.reason.empty() ? std::string(state) : fmt::format("{}: {}", state, m.reason);
}

std::string origin_note(const State& state, const BenchSlices& slices) {
  const BenchSlice& slice = slices.front();
  std::string note;
  if (slice.planned) {
    const bool tuned = std::ranges::any_of(
        slice.rows, [](const Measurement* m) { return m->state == RowState::done && m->tile_from == "tuned"; });
    if (!slice.rows.empty())
      note = phrase("Nothing has run yet: bytes and workspace follow from the shapes and {}.",
                    tuned ? tr("the tuned tiles") : tr("tiles"));
  } else if (!slice.rows.empty()) {
    note = short_source_words(slices);
    if (!slice.driver.empty() && slices.size() == 1) note += phrase(", driver {}", slice.driver);
    if (slice.loaded && slices.size() == 1) note += phrase(", from {}", slice.file);
    note += ".";
  }
  const auto in_turns = std::ranges::find_if(slice.rows, [&](const Measurement* m) {
    if (!m->peer || m->time.n == 0) return false;
    return std::ranges::count(m->peer->beside, baseline_shown(state, *m), &TimedBeside::kernel) > 0;
  });
  if (in_turns != slice.rows.end())
    note += phrase(" For a peer, × {0} uses the time that {0} took in the peer's turns.",
                   baseline_shown(state, **in_turns));
  if (!slice.rows.empty())
    note += for_hands(tr(" –: not available; hover over the dash for the reason."),
                      tr(" –: not available; hold the dash for the reason."));
  std::size_t left_out = 0;
  for (const BenchSlice& each : slices) left_out += each.left_out;
  if (left_out > 0)
    note += plural(left_out, " {} more row belongs to a problem or device that is not shown.",
                   " {} more rows belong to problems or devices that are not shown.");
  return note;
}

// A row without a time may still have what the compiler said of it.
std::vector<BenchCell> cells_of(const Measurement& m, std::span<const Column> columns) {
  const bool done = m.state == RowState::done;
  const bool compiled =
      std::any_of(m.figures.begin(), m.figures.end(), [](const Figure& f) { return f.origin == Origin::compiled; });
  std::vector<BenchCell> cells;
  if (!done && !compiled) return cells;
  for (const Column& c : columns) {
    const bool predicted = c.head.id == "tiles" || c.head.id == "workspace" || c.head.id == "memory";
    cells.push_back(done || !predicted ? c.cell(m) : BenchCell{});
  }
  return cells;
}

}  // namespace

BenchTable bench_table(const State& state, const BenchSlices& slices, std::optional<std::int64_t> chosen,
                       const BenchSwitches& switches) {
  const bool all_values = switches.all_values;
  const BenchSlice& lead = slices.front();
  BenchTable table;
  struct Shown {
    const Measurement* m;
    const BenchSlice* of;
  };
  std::vector<Shown> shown;
  for (const BenchSlice& slice : slices) {
    for (const Measurement* m : slice.rows) {
      const std::int64_t at = axis_value(slice.axis, *m);
      if (all_values || at == 0 || at == chosen) shown.push_back({m, &slice});
    }
  }
  // By kernel, then by value, then by run: what is to be compared stands together.
  std::stable_sort(shown.begin(), shown.end(), [&](const Shown& a, const Shown& b) {
    const auto x = ladder_rank(a.m->key.kernel), y = ladder_rank(b.m->key.kernel);
    const auto u = axis_value(lead.axis, *a.m), v = axis_value(lead.axis, *b.m);
    return x != y ? x < y : u != v ? u < v : a.of->letter < b.of->letter;
  });
  std::vector<const Measurement*> rows;
  rows.reserve(shown.size());
  for (const Shown& each : shown) rows.push_back(each.m);
  const std::vector<Column> columns = columns_of(state, lead, rows, switches);
  table.columns.push_back({tr("kernel"), tr("kernel"), ""});
  for (const Column& c : columns) table.columns.push_back(c.head);
  struct Refused {
    std::string of, reason, values;
  } refused;
  for (const auto& [m, of] : shown) {
    BenchTableRow row;
    row.kernel = m->key.kernel;
    row.id = line_id_of(*of, row.kernel);
    row.name = shown_name(*m);
    row.label = label_of(*of, row.kernel);
    row.problem = m->key.problem;
    row.options = m->key.options;
    row.value = axis_value(lead.axis, *m);
    row.emphasised = m->key.kernel == bench_kernel(state) && !of->beside && (!all_values || row.value == chosen);
    row.cells = cells_of(*m, columns);
    if (m->state == RowState::done) {
      if (m->verdict && !m->verdict->not_judged) row.mark = m->verdict->pass ? BenchMark::pass : BenchMark::fail;
    } else {
      row.reason = all_values && row.value > 0
                       ? fmt::format("{} = {}: {}", axis_letter(lead.axis), row.value, reason_words(*m))
                       : reason_words(*m);
    }
    // What is refused for one reason at several values is said once.
    if (all_values && !row.reason.empty() && row.cells.empty()) {
      const bool again = refused.of == row.id && refused.reason == reason_words(*m) && row.value > 0;
      if (!again) refused = {row.id, reason_words(*m), ""};
      refused.values += (refused.values.empty() ? "" : ", ") + std::to_string(row.value);
      if (again) {
        table.rows.back().reason = fmt::format("{} = {}: {}", axis_letter(lead.axis), refused.values, refused.reason);
        continue;
      }
    } else {
      refused = {};
    }
    table.rows.push_back(std::move(row));
  }
  table.note = origin_note(state, slices);
  return table;
}

}  // namespace attn
