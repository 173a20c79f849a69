#include "app/window/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "kernels/base/files.h"
#include "kernels/base/printable.h"
#include "kernels/base/text.h"
#include "kernels/model/problem/costs.h"
#include "profiling/figures/baseline.h"
#include "profiling/figures/metrics.h"
#include "profiling/session/trace.h"
#include "viz/bench/scene/bench_scene.h"
#include "viz/bench/sweep/sweep_fields.h"
#include "viz/state/run_words.h"

namespace attn {
namespace {

struct Plot {
  const char* name;
  const char* title;
  std::string_view metric;
};
constexpr Plot kPlots[] = {{"latency.png", "Time", "time_us_median"},
                           {"throughput.png", "Throughput", "tflops"},
                           {"speedup.png", "Speed-up", "speedup_ratio"},
                           {"dram_bytes.png", "DRAM bytes", kDramBytes},
                           {"memory.png", "Memory", "memory_peak_bytes"}};

constexpr const char* kSummary = "summary.md";
constexpr const char* kRows = "rows.csv";
constexpr const char* kTimeline = "timeline.trace.json";

Model model_of(const PictureSpec& picture) {
  Model model;
  model.runs = picture.runs;
  return model;
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c & 0x80) != 0;
}

// Words in a line or a cell of Markdown, as they are: no markup, no HTML. Names of kernels and devices, reasons and
// labels come from a session. An underscore within a word marks up nothing, and a lone < or & neither.
std::string plain(const std::string& words) {
  const std::string text = printable(words);
  std::string out;
  for (std::size_t n = 0; n < text.size(); ++n) {
    const char c = text[n];
    const char next = n + 1 < text.size() ? text[n + 1] : ' ';
    const bool within = n > 0 && is_letter(text[n - 1]) && is_letter(next);
    if (c == '\n' || c == '\t') {
      out += ' ';
    } else if (c == '<' && (is_letter(next) || next == '/' || next == '!' || next == '?')) {
      out += "&lt;";
    } else if (c == '&' && (is_letter(next) || next == '#')) {
      out += "&amp;";
    } else {
      if (std::string_view("|\\`*[]").find(c) != std::string_view::npos || (c == '_' && !within) ||
          (n == 0 && std::string_view("#>+-=~").find(c) != std::string_view::npos))
        out += '\\';
      out += c;
    }
  }
  return out;
}

void add_verdicts(std::string& out, const PictureSpec& picture, const Model& model, BenchSlice slice) {
  slice.of_this_sweep = true;  // a file has no sweep that is planned
  std::set<std::int64_t> values;
  for (const Measurement* m : slice.rows)
    if (const std::int64_t v = axis_value(slice.axis, *m); v > 0 && m->state == RowState::done) values.insert(v);
  out += "## What is faster\n\n";
  if (values.empty()) out += "No point has a time.\n";
  for (const std::int64_t v : values) {
    State state = picture.state;
    state.view.bench.value = v;
    const BenchVerdict verdict = bench_verdict(state, model, slice, v, "");
    const std::string headline =
        slice.letter.empty() ? verdict.headline : phrase("Run {}: {}", slice.letter, verdict.headline);
    out += fmt::format("- **{}** {}\n", plain(headline), plain(verdict.reason));
  }
}

// How the median grows along the axis, and how the work does: the exponents between the last two values. Where B
// follows L, so that B·L stays, attention's own is L^1.
std::string growth_lines(const BenchSlice& slice, const std::string& letter) {
  struct Point {
    double us = 0, flops = 0;
  };
  std::map<std::string, std::map<std::int64_t, Point>> times;
  for (const Measurement* m : slice.rows)
    if (m->state == RowState::done && m->time.median > 0)
      times[m->key.kernel][axis_value(slice.axis, *m)] = {m->time.median, flops_of(m->key.problem)};
  std::string lines;
  for (const auto& [kernel, at] : times) {
    if (at.size() < 2 || at.begin()->first <= 0) continue;
    const auto last = std::prev(at.end()), before = std::prev(last);
    const auto exponent = [&](double Point::*of) {
      return std::log(last->second.*of / before->second.*of) /
             std::log(static_cast<double>(last->first) / static_cast<double>(before->first));
    };
    lines += fmt::format("- {}: time grows {:.2f}× from {} = {} to {}, as {}^{:.2f}. FLOPs grow as {}^{:.2f}{}.\n",
                         plain(label_of(slice, kernel)), last->second.us / before->second.us, letter, before->first,
                         last->first, letter, exponent(&Point::us), letter, exponent(&Point::flops),
                         slice.rule.empty() ? "" : ", since " + slice.rule);
  }
  return lines;
}

void add_growth(std::string& out, const BenchSlices& slices, const std::string& letter) {
  std::string lines;
  for (const BenchSlice& slice : slices) lines += growth_lines(slice, letter);
  if (!lines.empty()) out += "\n## How time grows\n\n" + lines;
}

// What pages and ragged batches cost, where the session has the rows that they are set against.
void add_layouts(std::string& out, const PictureSpec& picture) {
  std::string lines;
  for (const ListedRun& r : picture.runs)
    for (const Measurement& m : r.run.rows)
      if (const std::string words = layout_words(m); !words.empty())
        lines += fmt::format("- {}, {}: {}\n", plain(m.key.kernel), plain(describe(m.key.problem)), plain(words));
  if (!lines.empty()) out += "\n## What the layout of K and V costs\n\n" + lines;
}

// Every device that rows were taken on: two GPUs of one name are two, and told apart.
std::string devices_of(const std::vector<ListedRun>& runs, const std::string& otherwise) {
  std::vector<const MeasurementKey*> devices;
  for (const ListedRun& r : runs)
    for (const Measurement& m : r.run.rows)
      if (!m.key.device.empty() &&
          std::ranges::none_of(devices, [&](const MeasurementKey* known) { return same_device(*known, m.key); }))
        devices.push_back(&m.key);
  std::vector<std::string> words;
  for (const MeasurementKey* d : devices) {
    const bool twin =
        std::ranges::count_if(devices, [&](const MeasurementKey* other) { return other->device == d->device; }) > 1;
    words.push_back(twin ? fmt::format("{} ({})", d->device, d->device_uuid) : d->device);
  }
  return words.empty() ? otherwise : fmt::format("{}", fmt::join(words, " and "));
}

// What the letters mean, and which runs have none: so many that they cannot be told apart in a plot.
void add_runs(std::string& out, const PictureSpec& picture, const BenchSlices& slices) {
  if (picture.runs.size() < 2) return;
  out += "\n## Runs\n\n";
  std::size_t left_out = 0;
  for (const ListedRun& r : picture.runs) {
    const auto at = std::ranges::find(slices, r.run.id, &BenchSlice::run);
    if (at == slices.end()) {
      ++left_out;
      continue;
    }
    out += fmt::format("- {}: {}, {} rows on {}\n", at->letter, plain(words_of(picture.state.document.runs, r.run)),
                       r.run.rows.size(), plain(devices_of({r}, r.run.provenance.device)));
  }
  if (left_out > 0)
    out += fmt::format("\n{} of {} runs are only in rows.csv: the plots and the table show at most {} runs.\n",
                       left_out, picture.runs.size(), kMaxShownRuns);
}

void add_table(std::string& out, const BenchScene& scene) {
  const BenchTable& table = scene.table;
  if (table.columns.empty()) return;
  out += "\n## Table\n\n";
  std::string rule;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    out += fmt::format("| {} ", plain(table.columns[c].title));
    rule += c == 0 ? "|---" : "|---:";
  }
  out += "|\n" + rule + "|\n";
  std::string reasons;
  for (const BenchTableRow& row : table.rows) {
    out += fmt::format("| {} ", plain(row.label));
    for (std::size_t c = 1; c < table.columns.size(); ++c)
      out += fmt::format("| {} ", c - 1 < row.cells.size() ? plain(row.cells[c - 1].text) : "–");
    out += "|\n";
    if (!row.reason.empty())
      reasons +=
          fmt::format("- {} at {} = {}: {}\n", plain(row.kernel), scene.axis_letter, row.value, plain(row.reason));
  }
  if (!reasons.empty()) out += "\nWithout a time:\n\n" + reasons;
}

}  // namespace

std::string report_text(const PictureSpec& picture, const std::vector<std::string>& plots,
                        const std::string& no_plots) {
  const Model model = model_of(picture);
  const Provenance p = picture.runs.empty() ? Provenance{} : picture.runs.back().run.provenance;
  BenchSwitches switches;
  switches.all_values = true;
  BenchScene scene = bench_scene(picture.state, model, switches, "");
  const ShownSlices shown = shown_slices(picture.state, model);
  scene.slice = shown.slices.front();  // a scene keeps no rows
  std::string out = fmt::format("# Attention kernels along {}\n\n", scene.axis_letter);
  if (!scene.slice.rows.empty()) {
    const Measurement& first = *scene.slice.rows.front();
    out += fmt::format("Measured on {}, {}, by AttnScope {} ({}). {} goes from {} to {}. The first row is {}. ",
                       plain(devices_of(picture.runs, p.device)), plain(p.date.substr(0, 10)), plain(p.program_version),
                       plain(p.commit), scene.axis_letter, scene.slice.values.empty() ? 0 : scene.slice.values.front(),
                       scene.slice.values.empty() ? 0 : scene.slice.values.back(), plain(describe(first.key.problem)));
    out += "All values are in rows.csv, with their origins.\n\n";
  }
  add_verdicts(out, picture, model, scene.slice);
  add_growth(out, shown.slices, scene.axis_letter);
  add_layouts(out, picture);
  out += "\n## Plots\n\n";
  if (!no_plots.empty()) out += "No plots: " + plain(no_plots) + "\n";
  for (const Plot& plot : kPlots)
    if (std::find(plots.begin(), plots.end(), plot.name) != plots.end())
      out += fmt::format("![{}]({})\n", plot.title, plot.name);
  add_runs(out, picture, shown.slices);
  add_table(out, scene);
  out += "\nA dash means not available; rows.csv gives the reason.";
  if (scene.slice.left_out > 0)
    out += fmt::format(" {} rows for other problems or devices are only in rows.csv.", scene.slice.left_out);
  out += "\n";
  return out;
}

std::vector<std::string> report_files() {
  std::vector<std::string> names{kSummary, kRows, kTimeline};
  for (const Plot& plot : kPlots) names.emplace_back(plot.name);
  return names;
}

Result<Report> write_report(const PictureSpec& picture, const std::filesystem::path& folder) {
  const InEnglish recorded;
  if (auto made = make_folder(folder); !made) return tl::unexpected(made.error());
  Report report;
  std::vector<std::string> metrics;
  for (const Plot& plot : kPlots) metrics.emplace_back(plot.metric);
  const auto charts = draw_charts(picture, metrics);
  if (!charts && charts.error().kind != ErrorKind::cannot_run) return tl::unexpected(charts.error());
  if (!charts) report.no_plots = charts.error().message;
  for (std::size_t n = 0; charts && n < charts->size(); ++n) {
    if (auto written = write_png(folder / kPlots[n].name, (*charts)[n]); !written)
      return tl::unexpected(written.error());
    report.files.emplace_back(kPlots[n].name);
  }
  const std::string text = report_text(picture, report.files, report.no_plots);
  Session rows;
  for (const ListedRun& r : picture.runs) rows.runs.push_back(r.run);
  std::vector<std::pair<const char*, std::string>> texts{{kSummary, text}, {kRows, to_csv(rows)}};
  if (rows_with_stages(rows) > 0) texts.emplace_back(kTimeline, to_trace(rows));
  for (const auto& [name, content] : texts) {
    if (auto written = write_file_atomically(folder / name, std::as_bytes(std::span(content))); !written)
      return tl::unexpected(written.error());
    report.files.emplace_back(name);
  }
  return report;
}

}  // namespace attn
