#include "viz/bench/runs/run_holds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <set>
#include <string_view>

#include "kernels/base/text.h"
#include "viz/bench/runs/slice.h"

namespace attn {
namespace {

// "NVIDIA H100 80GB HBM3" -> "H100"
std::string short_device(const Measurement& m) {
  if (m.processor == Processor::cpu) return tr("CPU");
  std::string_view name = m.key.device;
  constexpr std::string_view kMaker = "NVIDIA ";
  if (name.starts_with(kMaker)) name.remove_prefix(kMaker.size());
  return std::string(name.substr(0, name.find(' ')));
}

}  // namespace

std::vector<std::string> run_holds(const SweepRun& run) {
  if (run.rows.empty()) return {};
  std::set<std::string> kernels, devices;
  std::set<Pass> passes;
  for (const Measurement& m : run.rows) {
    kernels.insert(shown_name(m));
    passes.insert(m.key.problem.pass);
    if (const std::string device = short_device(m); !device.empty()) devices.insert(device);
  }
  std::string words = kernels.size() == 1 ? *kernels.begin() : plural(kernels.size(), "{} kernel", "{} kernels");
  if (const std::optional<Axis> axis = varied_axis(run.rows)) words += fmt::format(", {}", name_of(*axis));
  if (passes.size() > 1) {
    words += phrase(", {} passes", passes.size());
  } else if (*passes.begin() != Pass::forward) {
    words += fmt::format(", {}", name_of(*passes.begin()));
  }
  if (devices.empty()) return {words};
  return {fmt::format("{}, {}", words, fmt::join(devices, ", ")), words};
}

}  // namespace attn
