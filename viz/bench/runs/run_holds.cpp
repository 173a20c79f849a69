#include "viz/bench/runs/run_holds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <set>

#include "kernels/base/text.h"
#include "viz/bench/runs/slice.h"
#include "viz/bench/runs/subject.h"
#include "viz/state/run_words.h"

namespace attn {

std::vector<std::string> run_holds(const SweepRun& run) {
  if (run.rows.empty()) return {};
  std::set<std::string> kernels, devices;
  std::set<Pass> passes;
  for (const Measurement& m : run.rows) {
    kernels.insert(shown_name(m));
    passes.insert(m.key.problem.pass);
    devices.insert(m.processor == Processor::cpu ? tr("CPU") : short_device(m.key.device));
  }
  std::string words = kernels.size() == 1 ? *kernels.begin() : plural(kernels.size(), "{} kernel", "{} kernels");
  if (const std::optional<Axis> axis = varied_axis(run.rows)) words += fmt::format(", {}", name_of(*axis));
  if (passes.size() > 1) {
    words += phrase(", {} passes", passes.size());
  } else if (*passes.begin() != Pass::forward) {
    words += fmt::format(", {}", name_of(*passes.begin()));
  }
  devices.erase("");
  if (devices.empty()) return {words};
  return {fmt::format("{}, {}", words, fmt::join(devices, ", ")), words};
}

std::set<std::string> kernels_in(const SweepRun& run) {
  std::set<std::string> kernels;
  for (const Measurement& m : run.rows)
    if (!is_of_a_peer(m)) kernels.insert(m.key.kernel);
  return kernels;
}

std::set<std::string> timed_kernels(const SweepRun& run) {
  std::set<std::string> kernels;
  for (const Measurement& m : run.rows)
    if (!is_of_a_peer(m) && has_time(m)) kernels.insert(m.key.kernel);
  return kernels;
}

}  // namespace attn
