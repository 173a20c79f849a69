#include "profiling/session/contradictions.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "kernels/ladder.h"
#include "profiling/figures/baseline.h"
#include "profiling/figures/metrics.h"

namespace attn {
namespace {

bool differ(const Figure& said, const Figure& computed) {
  if (!said.available()) return false;
  if (!computed.available()) return true;
  if (said.value == computed.value || (std::isnan(said.value) && std::isnan(computed.value))) return false;
  constexpr double kRounding = 1e-9;  // another version may add in another order
  return !(std::fabs(said.value - computed.value) <=
           kRounding * std::max(std::fabs(said.value), std::fabs(computed.value)));
}

// Versions before set kernels on tensor cores against the multiply-add peak: no fault of the file.
bool is_of_another_peak(std::string_view id, const Figure& computed) {
  return id == "peak_share_pct" && !computed.available();
}

std::string words(const Figure& f) {
  return f.available() ? fmt::format("{:.6g}", f.value) : phrase("not available: {}", f.reason);
}

// The baseline that the row names, where its processor has it. A backward that names none was set against none: the
// baseline of its own pass is younger than some files.
std::string baseline_named_by(const Measurement& m) {
  const auto named = find_kernel(m.peaks.baseline);
  if (m.peaks.baseline.empty() && m.key.problem.pass != Pass::forward) return {};
  return named && (*named)->processor == m.processor ? m.peaks.baseline
                                                     : std::string(baseline_of(m.processor, m.key.problem.pass));
}

}  // namespace

void Contradictions::judge(Measurement& m, std::size_t number) {
  if (!m.verdict || !m.verdict->pass) return;
  Verdict& v = *m.verdict;
  const auto off = std::ranges::find_if(v.outputs, [](const OutputVerdict& j) { return !j.within(); });
  if (off == v.outputs.end()) return;
  v.pass = false;
  v.reason = phrase("the file says that the output passes, but {} off by {:.3g}, and only {:.3g} is allowed",
                    off->tensor == Tensor::o ? tr("it is") : phrase("its {} is", words_of(off->tensor)), off->error,
                    off->allowed);
  if (verdicts_++ == 0) first_verdict_ = phrase("measurement {}: {}", number, v.reason);
}

void Contradictions::compute(Measurement& m, std::span<const Measurement> rows, std::size_t number) {
  const std::vector<Figure> said = m.figures;
  relate_to_baseline(m, rows, baseline_named_by(m));
  const auto table = metric_table();
  const bool known = find_kernel(m.key.kernel).has_value();
  for (std::size_t i = 0; i < table.size() && i < said.size(); ++i) {
    if (!known && table[i].group == MetricGroup::prediction) m.figures[i] = said[i];
    if (!differ(said[i], m.figures[i]) || is_of_another_peak(table[i].id, m.figures[i])) continue;
    if (figures_++ == 0)
      first_figure_ =
          phrase("measurement {}: {} was {} and is now {}", number, table[i].id, words(said[i]), words(m.figures[i]));
  }
}

void Contradictions::add_notes(std::vector<std::string>& notes) const {
  if (verdicts_ > 0)
    notes.push_back(plural(verdicts_, "{} row in the file cannot pass and is shown as wrong ({})",
                           "{} rows in the file cannot pass and are shown as wrong ({})", first_verdict_));
  if (figures_ > 0)
    notes.push_back(plural(
        figures_, "{} figure did not match the file's own times, shapes and counters and was recomputed ({})",
        "{} figures did not match the file's own times, shapes and counters and were recomputed ({})", first_figure_));
}

}  // namespace attn
