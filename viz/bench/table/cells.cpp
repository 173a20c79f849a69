#include "viz/bench/table/cells.h"

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "profiling/figures/metrics.h"
#include "viz/bench/runs/results_in_cache.h"

namespace attn {

BenchCell missing_cell(const std::string& reason) {
  BenchCell cell;
  cell.tip =
      reason.empty() ? tr("Not available.") : sentence(phrase("Not available: {}", tr_of(std::string_view(reason))));
  return cell;
}

std::string words_of_origin(const Figure& f) {
  std::string words(name_of(f.origin));
  if (!f.method.empty()) words += ": " + f.method;
  return words;
}

BenchCell figure_cell(const Measurement& m, std::string_view metric, const BenchUnit& unit) {
  const Figure& f = figure(m, metric);
  if (!f.available()) return missing_cell(f.reason);
  if (metric.ends_with("_count") && f.value < 1e5)  // counts are whole
    return {fmt::format("{:.0f}", f.value), fmt::format("{:.0f} ({})", f.value, words_of_origin(f)), f.value, true};
  return {figure_text(f.value * unit.factor),
          fmt::format("{} ({})", value_with_unit(f.value, unit), words_of_origin(f)), f.value, true};
}

BenchCell minimum_cell(const Measurement& m) {
  BenchCell cell = figure_cell(m, "dram_over_compulsory_ratio", {1, ""});
  if (cell.available && cell.sort < 1) {
    const double least = figure(m, "compulsory_bytes").value;
    cell.tip += "." + results_in_cache(m, cell.sort * least, least);
  }
  return cell;
}

}  // namespace attn
