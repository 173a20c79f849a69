#include "profiling/session/fairness.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "kernels/base/text.h"
#include "profiling/figures/metrics.h"

namespace attn {
namespace {

// Clocks that are nearer to each other than this move a time by less than repeats do.
constexpr double kAlike = 0.03;

bool apart(double a, double b) {
  return std::abs(a - b) > kAlike * std::max(a, b);
}

// "CUDA events" of "CUDA events (CUPTI is not there)".
std::string_view timer_of(const Measurement& m) {
  return std::string_view(m.clock).substr(0, m.clock.find(" ("));
}

void add_device(std::vector<std::string>& out, const Measurement& a, const Measurement& b) {
  if (a.key.device != b.key.device)
    out.push_back(phrase("{} against {}", a.key.device, b.key.device));
  else if (!same_device(a.key, b.key))
    out.push_back(phrase("two devices named {}", a.key.device));
}

void add_figure(std::vector<std::string>& out, std::string_view metric, std::string_view what, const Measurement& a,
                const Measurement& b) {
  const Figure &of_a = figure(a, metric), &of_b = figure(b, metric);
  if (of_a.available() && of_b.available() && apart(of_a.value, of_b.value))
    out.push_back(phrase("{} {:.0f} against {:.0f}", what, of_a.value, of_b.value));
}

// Where one of them was held down much more than the other.
void add_held_down(std::vector<std::string>& out, const Measurement& a, const Measurement& b) {
  constexpr double kPoints = 20;
  const Figure &of_a = figure(a, "held_down_pct"), &of_b = figure(b, "held_down_pct");
  if (!of_a.available() || !of_b.available() || std::abs(of_a.value - of_b.value) < kPoints) return;
  const std::string& by = of_a.value > of_b.value ? of_a.limiter : of_b.limiter;
  out.push_back(
      phrase("clocks throttled ({}) in {:.0f} % of the readings, compared with {:.0f} %", by, of_a.value, of_b.value));
}

}  // namespace

std::vector<std::string> unfair(const Measurement& a, const Provenance& of_a, const Measurement& b,
                                const Provenance& of_b) {
  std::vector<std::string> out;
  add_device(out, a, b);
  const bool drivers = a.processor == Processor::gpu && !of_a.driver.empty() && !of_b.driver.empty();
  if (drivers && of_a.driver != of_b.driver) out.push_back(phrase("driver {} against {}", of_a.driver, of_b.driver));
  if (a.key.l2 != b.key.l2) out.push_back(phrase("{} against {} caches", name_of(a.key.l2), name_of(b.key.l2)));
  add_figure(out, "sm_clock_mhz", tr("SM clock in MHz"), a, b);
  add_figure(out, "memory_clock_mhz", tr("memory clock in MHz"), a, b);
  add_figure(out, "power_limit_w", tr("power limit in W"), a, b);
  add_held_down(out, a, b);
  if (!a.clock.empty() && !b.clock.empty() && timer_of(a) != timer_of(b))
    out.push_back(phrase("timed by {} against {}", timer_of(a), timer_of(b)));
  return out;
}

}  // namespace attn
