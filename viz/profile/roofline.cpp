#include "viz/profile/roofline.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "profiling/figures/metrics.h"
#include "viz/bench/scene.h"

namespace attn {
namespace {

RoofDot dot_of(const Measurement& m, bool chosen) {
  RoofDot dot;
  dot.kernel = m.key.kernel;
  dot.chosen = chosen;
  dot.tflops = figure(m, "tflops").value;
  const double flop = useful_flop(m);
  if (const auto bytes = dram_bytes(m); bytes && *bytes > 0) dot.measured = flop / *bytes;
  if (const Figure& least = figure(m, "compulsory_bytes"); least.available() && least.value > 0)
    dot.predicted = flop / least.value;
  dot.tip = fmt::format("{}: {}", dot.kernel, value_with_unit(dot.tflops, rate_unit(dot.tflops)));
  if (dot.measured) dot.tip += fmt::format(", {} FLOP a byte of DRAM counted", figure_text(*dot.measured));
  if (dot.predicted)
    dot.tip += fmt::format(", {} with the bytes that it must move at least", figure_text(*dot.predicted));
  return dot;
}

// `tensor`: percent of the cycles in which the tensor cores worked; 0 = not counted.
std::string peak_words(const Roofline& r, const RoofDot& dot, double tensor) {
  const std::string busy = tensor >= kTensorWorks ? fmt::format(", busy in {} of 100 cycles", figure_text(tensor)) : "";
  if (r.tensor_tflops > 0)
    return fmt::format("{} % of the tensor cores' measured peak{}.", figure_text(100 * dot.tflops / r.tensor_tflops),
                       busy);
  if (!busy.empty())
    return fmt::format(
        "Its products run on the tensor cores{}: the fp32 roof is not theirs, and theirs was not measured.", busy);
  if (r.peak_tflops <= 0) return "The arithmetic peak was not measured.";
  const double share = 100 * dot.tflops / r.peak_tflops;
  if (share > 100)
    return fmt::format(
        "{} % of the fp32 multiply-add peak: more than it allows, so the work runs elsewhere than on "
        "the fp32 pipes.",
        figure_text(share));
  return fmt::format("{} % of the fp32 multiply-add peak.", figure_text(share));
}

std::string bytes_words(const Roofline& r, const RoofDot& dot) {
  if (r.copy_gb_per_s <= 0) return "The copy rate was not measured.";
  if (!dot.measured) return "Its DRAM bytes were not counted: the hollow mark stands at the least that it must move.";
  const double allowed = *dot.measured * r.copy_gb_per_s * 1e-3;
  const double share = 100 * dot.tflops / allowed;
  return fmt::format("Its bytes at the copy rate would allow {}; it does {} % of that.",
                     value_with_unit(allowed, rate_unit(allowed)), figure_text(share));
}

void set_tensor_roof(Roofline& r, const Peaks& peaks) {
  if (peaks.tensor_gflops <= 0) return;
  r.tensor_tflops = peaks.tensor_gflops / peaks.products_each * 1e-3;
  r.tensor_name = peaks.products_each > 1 ? fmt::format("tensor-core peak over {} products each", peaks.products_each)
                                          : "tensor-core peak";
}

constexpr double kSectorBytes = 32, kTurnBytes = 128;  // of the L2, of the shared memory

void add_level(Roofline& r, const Measurement& m, const char* name, double gb_per_s, std::optional<double> bytes) {
  if (gb_per_s <= 0 || !bytes || *bytes <= 0) return;
  const double intensity = useful_flop(m) / *bytes;
  r.levels.push_back({name, gb_per_s, intensity, intensity * gb_per_s * 1e-3});
}

std::optional<double> counted_bytes(const Measurement& m, const char* metric, double each) {
  const Figure& count = figure(m, metric);
  return count.available() ? std::optional(count.value * each) : std::nullopt;
}

void add_levels(Roofline& r, const Measurement& m) {
  add_level(r, m, "DRAM", m.peaks.copy_gb_per_s, dram_bytes(m));
  add_level(r, m, "L2", m.peaks.l2_gb_per_s, counted_bytes(m, "l2_sectors_count", kSectorBytes));
  add_level(r, m, "shared memory", m.peaks.shared_gb_per_s, counted_bytes(m, "shared_wavefronts_count", kTurnBytes));
}

std::string level_words(const Roofline& r, double tflops) {
  if (r.levels.size() < 2) return {};
  std::vector<std::string> shares;
  shares.reserve(r.levels.size());
  for (const RoofLevel& level : r.levels)
    shares.push_back(fmt::format("{} {} %", level.name, figure_text(100 * tflops / level.allowed_tflops)));
  const auto nearest = std::ranges::min_element(r.levels, {}, &RoofLevel::allowed_tflops);
  return fmt::format("Of what each level's rate allows its bytes: {}. The nearest of these roofs is {}.",
                     fmt::join(shares, ", "), nearest->name);
}

void fit(Roofline& r) {
  double x_min = 1e300, x_max = 0, y_min = 1e300;
  double y_max = std::max(r.peak_tflops, r.tensor_tflops);
  const auto see = [&](double x) {
    x_min = std::min(x_min, x);
    x_max = std::max(x_max, x);
  };
  for (const RoofDot& d : r.dots) {
    if (d.measured) see(*d.measured);
    if (d.predicted) see(*d.predicted);
    y_min = std::min(y_min, d.tflops);
    y_max = std::max(y_max, d.tflops);
  }
  for (const RoofLevel& level : r.levels) see(level.intensity);
  for (const double roof : {r.peak_tflops, r.tensor_tflops})
    if (const double x = ridge(r, roof); x > 0) see(x);
  r.x_min = x_min / 3;
  r.x_max = x_max * 3;
  r.y_min = y_min / 3;
  r.y_max = y_max * 2;
}

}  // namespace

double ridge(const Roofline& roof, double tflops) {
  return tflops > 0 && roof.copy_gb_per_s > 0 ? tflops * 1e3 / roof.copy_gb_per_s : 0;
}

double useful_flop(const Measurement& m) {
  const Figure& rate = figure(m, "tflops");
  return rate.available() ? rate.value * 1e6 * m.time.median : 0;
}

std::optional<double> dram_bytes(const Measurement& m) {
  const Figure& read = figure(m, "dram_read_bytes");
  const Figure& written = figure(m, "dram_write_bytes");
  if (!read.available() || !written.available()) return std::nullopt;
  return read.value + written.value;
}

Roofline roofline(std::span<const Measurement* const> rows, const std::string& chosen) {
  Roofline r;
  const RoofDot* mine = nullptr;
  double tensor = 0;
  r.dots.reserve(rows.size());
  for (const Measurement* m : rows) {
    if (m->state != RowState::done || m->time.n == 0 || figure(*m, "tflops").value <= 0) continue;
    r.dots.push_back(dot_of(*m, m->key.kernel == chosen));
    if (r.dots.back().chosen) {
      mine = &r.dots.back();
      if (const Figure& busy = figure(*m, "tensor_pipe_pct"); busy.available()) tensor = busy.value;
      set_tensor_roof(r, m->peaks);
      add_levels(r, *m);
    }
    r.peak_tflops = std::max(r.peak_tflops, m->peaks.peak_gflops * 1e-3);
    r.copy_gb_per_s = std::max(r.copy_gb_per_s, m->peaks.copy_gb_per_s);
  }
  if (mine == nullptr) {
    r.empty = chosen + " was not timed on this problem: there is no rate to draw.";
    r.dots.clear();
    return r;
  }
  r.words = peak_words(r, *mine, tensor) + " " + bytes_words(r, *mine);
  r.level_words = level_words(r, mine->tflops);
  r.note = r.tensor_tflops > 0 ? "Roofs: copy rate, fp32 multiply-add peak and mma.sync peak, measured on this device."
                               : "Roofs: copy rate and fp32 multiply-add peak, measured on this device.";
  fit(r);
  return r;
}

}  // namespace attn
