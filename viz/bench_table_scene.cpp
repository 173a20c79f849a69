// The table under the charts: one row a kernel at the chosen value, or at every value.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/kernel.h"
#include "kernels/memory.h"
#include "viz/bench_scene.h"
#include "viz/bench_spec.h"

namespace attn {
namespace {

// Units hold for a whole column, so that its numbers can be compared at a glance.
struct Units {
  BenchUnit time, rate, bytes, dram;
};

struct Extent {
  double least = std::numeric_limits<double>::infinity(), most = 0;
};

Extent extent_of(std::span<const Measurement* const> rows, std::string_view metric) {
  Extent e;
  for (const Measurement* m : rows) {
    const Figure& f = figure(*m, metric);
    if (!f.available() || f.value <= 0) continue;
    e.least = std::min(e.least, f.value);
    e.most = std::max(e.most, f.value);
  }
  return e;
}

Units units_of(std::span<const Measurement* const> rows) {
  const Extent time = extent_of(rows, "time_us_median");
  const double dram = extent_of(rows, "dram_read_bytes").most;
  return {time_unit(time.least, time.most), rate_unit(extent_of(rows, "tflops").most),
          bytes_unit(extent_of(rows, "tile_load_bytes").most), dram > 0 ? bytes_unit(dram) : BenchUnit{}};
}

BenchCell missing(std::string reason) {
  BenchCell cell;
  cell.tip = reason.empty() ? "Not available." : "Not available: " + std::move(reason) + ".";
  return cell;
}

std::string origin_words(const Figure& f) {
  std::string words(name_of(f.origin));
  if (!f.method.empty()) words += ": " + f.method;
  return words;
}

BenchCell cell_of(const Measurement& m, std::string_view metric, const BenchUnit& unit) {
  const Figure& f = figure(m, metric);
  if (!f.available()) return missing(f.reason);
  return {figure_text(f.value * unit.factor), fmt::format("{} ({})", value_with_unit(f.value, unit), origin_words(f)),
          f.value, true};
}

// Two decimals up to ten, so that the baseline's 1.00 stands among its like.
BenchCell ratio_cell(const Measurement& m) {
  BenchCell cell = cell_of(m, "speedup_ratio", {1, ""});
  if (cell.available && cell.sort >= 0.01) cell.text = fmt::format("{:.{}f}", cell.sort, cell.sort < 9.995 ? 2 : 1);
  return cell;
}

// Half the 95 % interval of the median, in percent of it.
BenchCell interval_cell(const Measurement& m) {
  const Figure& low = figure(m, "time_us_ci_low");
  const Figure& high = figure(m, "time_us_ci_high");
  if (!low.available()) return missing(low.reason);
  if (!high.available() || m.time.median <= 0) return missing(high.reason);
  const double percent = 50 * (high.value - low.value) / m.time.median;
  const BenchUnit unit = time_unit(low.value, high.value);
  return {fmt::format("{:.1f}", percent),
          fmt::format("95 % interval of the median: {} to {}, {} repeats{}{}", value_with_unit(low.value, unit),
                      value_with_unit(high.value, unit), m.time.n, m.time.settled ? "" : ", stopped by the time limit",
                      m.time.drifted ? ", drifted" : ""),
          percent, true};
}

BenchCell dram_cell(const Measurement& m, const BenchUnit& unit) {
  const Figure& read = figure(m, "dram_read_bytes");
  const Figure& written = figure(m, "dram_write_bytes");
  if (!read.available()) return missing(read.reason);
  if (!written.available()) return missing(written.reason);
  const double both = read.value + written.value;
  return {figure_text(both * unit.factor),
          fmt::format("{} read, {} written ({})", value_with_unit(read.value, unit),
                      value_with_unit(written.value, unit), origin_words(read)),
          both, true};
}

BenchCell workspace_cell(const Measurement& m) {
  const Figure& f = figure(m, "memory_overhead_bytes");
  if (!f.available()) return missing(f.reason);
  const double mib = f.value / (1 << 20);
  return {f.value == 0 ? "0" : figure_text(mib),
          fmt::format("{} beside inputs and outputs ({})", format_bytes(static_cast<std::uint64_t>(f.value)),
                      origin_words(f)),
          f.value, true};
}

BenchCell error_cell(const Measurement& m) {
  if (!m.verdict && m.time.n == 0) return missing("it has not run");
  if (!m.verdict) return missing("not verified: verification was off");
  const Verdict& v = *m.verdict;
  if (v.allowed <= 0) return missing("no error is allowed on this problem");
  const double share = v.error / v.allowed;
  return {share < 9.995 ? fmt::format("{:.2f}", share) : figure_text(share),
          fmt::format("error {}, allowed {}, {}", figure_text(v.error), figure_text(v.allowed), v.sample),
          v.error / v.allowed, true};
}

BenchCell verdict_cell(const Measurement& m) {
  if (!m.verdict && m.time.n == 0) return missing("it has not run");
  if (!m.verdict) return {"not checked", "Verification was off: the figures may be those of a wrong answer.", 1, true};
  if (m.verdict->pass) return {"pass", "The answer is within the allowed error.", 0, true};
  return {"wrong", m.verdict->reason, 2, true};
}

std::vector<BenchColumn> columns_of(const BenchSlice& slice, const Units& u, bool all_values) {
  const Place place = slice.rows.empty() ? Place::cpu : slice.rows.back()->place;
  std::vector<BenchColumn> c{{"kernel", "kernel", ""}};
  if (all_values) c.push_back({"value", std::string(axis_letter(slice.axis)), ""});
  c.push_back({"time", "time " + u.time.name, "Median of the repeats."});
  c.push_back({"interval", "± %", "Half the 95 % interval of the median, in percent of it."});
  c.push_back({"rate", u.rate.name, "2 pairs (D + Dv) / time, counting the pairs that the mask lets see."});
  c.push_back({"speedup", fmt::format("× {}", baseline_of(place)), "Its time divided by this kernel's."});
  c.push_back({"peak", "% of peak", "The rate as a share of the multiply-add peak measured on this device."});
  c.push_back({"tiles", "predicted " + u.bytes.name, "Bytes that the tiles ask of memory if nothing were cached."});
  c.push_back({"dram", u.dram.name.empty() ? "DRAM" : "DRAM " + u.dram.name,
               "Bytes that main memory moved, read and written, counted."});
  c.push_back({"workspace", "workspace MiB", "Memory beside inputs and outputs, such as a stored S."});
  c.push_back({"error", "error ÷ allowed", "Largest difference from the fp64 reference; above 1 the answer is wrong."});
  c.push_back({"verdict", "answer", "Is the answer within the allowed error?"});
  return c;
}

std::vector<BenchCell> cells_of(const Measurement& m, const Units& u, const BenchSlice& slice, bool all_values) {
  std::vector<BenchCell> cells;
  if (all_values) {
    const std::int64_t at = axis_value(slice.axis, m);
    cells.push_back(at > 0 ? BenchCell{fmt::format("{}", at), "", static_cast<double>(at), true}
                           : missing(fmt::format("this kernel has no {} to choose", axis_letter(slice.axis))));
  }
  cells.push_back(cell_of(m, "time_us_median", u.time));
  cells.push_back(interval_cell(m));
  cells.push_back(cell_of(m, "tflops", u.rate));
  cells.push_back(ratio_cell(m));
  cells.push_back(cell_of(m, "peak_share_pct", {1, "%"}));
  cells.push_back(cell_of(m, "tile_load_bytes", u.bytes));
  cells.push_back(dram_cell(m, u.dram));
  cells.push_back(workspace_cell(m));
  cells.push_back(error_cell(m));
  cells.push_back(verdict_cell(m));
  return cells;
}

std::string reason_words(const Measurement& m) {
  const std::string_view state = m.state == RowState::cancelled ? "cancelled" : name_of(m.state);
  return m.reason.empty() ? std::string(state) : fmt::format("{}: {}", state, m.reason);
}

std::string origin_note(const Model& model, const BenchSlice& slice) {
  const Provenance& p = model.provenance;
  const std::string device = slice.rows.empty() ? p.device : slice.rows.back()->key.device;
  std::string note;
  if (slice.planned) {
    note = slice.rows.empty() ? "" : "Nothing has run: bytes and workspace follow from shapes and tiles.";
  } else if (slice.loaded) {
    note = fmt::format("Loaded from {}: {}{}{}.", p.file, device, p.date.empty() ? "" : ", ", p.date);
  } else if (!slice.rows.empty()) {
    note = fmt::format("Measured here, on {}.", device);
  }
  if (!slice.rows.empty()) note += " – not available: point at it for the reason.";
  if (slice.left_out > 0)
    note +=
        fmt::format(" {} row{} of other problems not shown.", slice.left_out, slice.left_out == 1 ? " is" : "s are");
  return note;
}

std::ptrdiff_t rank_of(std::string_view id) {
  const auto table = kernel_table();
  return std::find_if(table.begin(), table.end(), [&](const KernelRow& row) { return row.id == id; }) - table.begin();
}

}  // namespace

BenchTable bench_table(const State& state, const Model& model, const BenchSlice& slice,
                       std::optional<std::int64_t> chosen, bool all_values) {
  BenchTable table;
  std::vector<const Measurement*> shown;
  for (const Measurement* m : slice.rows) {
    const std::int64_t at = axis_value(slice.axis, *m);
    if (all_values || at == 0 || at == chosen) shown.push_back(m);
  }
  std::stable_sort(shown.begin(), shown.end(), [&](const Measurement* a, const Measurement* b) {
    const auto x = rank_of(a->key.kernel), y = rank_of(b->key.kernel);
    return x != y ? x < y : axis_value(slice.axis, *a) < axis_value(slice.axis, *b);
  });
  const Units units = units_of(shown);
  table.columns = columns_of(slice, units, all_values);
  for (const Measurement* m : shown) {
    BenchTableRow row;
    row.kernel = m->key.kernel;
    row.value = axis_value(slice.axis, *m);
    row.emphasised = m->key.kernel == state.document.kernel && (!all_values || row.value == chosen);
    if (m->state == RowState::done) {
      row.cells = cells_of(*m, units, slice, all_values);
      if (m->verdict) row.mark = m->verdict->pass ? BenchMark::pass : BenchMark::fail;
    } else {
      row.reason = all_values && row.value > 0
                       ? fmt::format("{} = {}: {}", axis_letter(slice.axis), row.value, reason_words(*m))
                       : reason_words(*m);
    }
    table.rows.push_back(std::move(row));
  }
  table.note = origin_note(model, slice);
  return table;
}

}  // namespace attn
