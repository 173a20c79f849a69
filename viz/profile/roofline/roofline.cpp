#include "viz/profile/roofline/roofline.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/base/text.h"
#include "kernels/ladder.h"
#include "profiling/figures/metrics.h"
#include "viz/bench/scene/bench_scene.h"
#include "viz/draw/figure_text.h"

namespace attn {
namespace {

// Where the products of the chosen kernel run. Of a peer, whose text is not ours, 16 bits alone are known: what the
// tensor cores could do in its type is the roof that it is to be set against.
enum class RunsOn : std::uint8_t { multiply_add, tensor, perhaps_tensor };

// On tensor cores: by which instruction, where that is known. Each has a peak of its own.
enum class TensorBy : std::uint8_t { unknown, warps, warpgroups };

TensorBy tensor_by(const Measurement& m) {
  const auto row = find_kernel(m.key.kernel);
  if (!row) return TensorBy::unknown;
  switch (products_of(**row, m.key.problem.dtype).pipe) {
    case Pipe::multiply_add:
      return TensorBy::unknown;
    case Pipe::tensor_half:
    case Pipe::tensor_tf32:
      return TensorBy::warps;
    case Pipe::warpgroup_half:
      return TensorBy::warpgroups;
  }
  return TensorBy::unknown;
}

double tensor_busy(const Measurement& m) {
  const Figure& busy = figure(m, "tensor_pipe_pct");
  return busy.available() ? busy.value : 0;
}

RunsOn runs_on(const Measurement& m) {
  if (m.peaks.tensor_gflops > 0 || tensor_busy(m) >= kTensorWorks) return RunsOn::tensor;
  if (const auto row = find_kernel(m.key.kernel); row)
    return products_of(**row, m.key.problem.dtype).pipe == Pipe::multiply_add ? RunsOn::multiply_add : RunsOn::tensor;
  return m.peer && m.key.problem.dtype != DType::f32 ? RunsOn::perhaps_tensor : RunsOn::multiply_add;
}

RoofDot dot_of(const Measurement& m, const Measurement& chosen) {
  RoofDot dot;
  dot.kernel = m.key.kernel;
  dot.name = shown_name(m);
  dot.chosen = m.key.kernel == chosen.key.kernel;
  const RunsOn pipe = runs_on(m), own = runs_on(chosen);
  dot.elsewhere = pipe != own && pipe != RunsOn::perhaps_tensor && own != RunsOn::perhaps_tensor;
  if (dot.elsewhere) dot.pipe = pipe == RunsOn::tensor ? tr("tensor cores") : tr("fp32 pipes");
  const TensorBy by = tensor_by(m), own_by = tensor_by(chosen);
  if (pipe == RunsOn::tensor && own == RunsOn::tensor && by != own_by && by != TensorBy::unknown &&
      own_by != TensorBy::unknown) {
    dot.elsewhere = true;
    dot.pipe = by == TensorBy::warpgroups ? "wgmma" : "mma.sync";
  }
  dot.tflops = figure(m, "tflops").value;
  const double flop = useful_flop(m);
  if (const auto bytes = dram_bytes(m); bytes && *bytes > 0) dot.measured = flop / *bytes;
  if (const Figure& least = figure(m, "compulsory_bytes"); least.available() && least.value > 0)
    dot.predicted = flop / least.value;
  dot.tip = fmt::format("{}: {}", dot.kernel, value_with_unit(dot.tflops, rate_unit(dot.tflops)));
  if (dot.measured) dot.tip += phrase(", {} FLOP per counted DRAM byte", figure_text(*dot.measured));
  if (dot.predicted) dot.tip += phrase(", {} with the minimum bytes", figure_text(*dot.predicted));
  return dot;
}

std::string peak_words(const Roofline& r, const RoofDot& dot, const Measurement& m) {
  const double tensor = tensor_busy(m);
  const std::string busy = tensor >= kTensorWorks ? phrase(", busy in {} of 100 cycles", figure_text(tensor)) : "";
  if (r.tensor_tflops > 0)
    return phrase("{} of the measured peak of {} on the tensor cores{}.",
                  percent_text(100 * dot.tflops / r.tensor_tflops), r.by_warpgroups ? "wgmma" : "mma.sync", busy);
  switch (runs_on(m)) {
    case RunsOn::tensor:
      return phrase(
          "The products run on the tensor cores{}, so the fp32 roof does not apply, and the tensor-core peak was not "
          "measured.",
          busy);
    case RunsOn::perhaps_tensor:
      return phrase("The tensor-core peak in {} was not measured in the same session.", name_of(m.key.problem.dtype));
    case RunsOn::multiply_add:
      break;
  }
  if (r.peak_tflops <= 0) return tr("The arithmetic peak was not measured.");
  const double share = 100 * dot.tflops / r.peak_tflops;
  if (share > 100)
    return phrase("{} % of the fp32 multiply-add peak: impossible on the fp32 pipes, so the work is done elsewhere.",
                  figure_text(share));
  return phrase("{} of the fp32 multiply-add peak.", percent_text(share));
}

std::string bytes_words(const Roofline& r, const RoofDot& dot) {
  if (r.copy_gb_per_s <= 0) return tr("The copy rate was not measured.");
  if (!dot.measured && !dot.predicted)
    return tr("There is no mark, because neither DRAM bytes nor minimum bytes are known.");
  if (!dot.measured) return tr("DRAM bytes were not counted, so the hollow mark is at the minimum bytes.");
  const double allowed = *dot.measured * r.copy_gb_per_s * 1e-3;
  const double share = 100 * dot.tflops / allowed;
  constexpr double kFarOff = 10;  // %: below it the copy rate is no limit worth a number
  if (share < kFarOff)
    return phrase("DRAM is not the limit: at the copy rate, the DRAM bytes take {} of the time.", percent_text(share));
  return phrase("Limited by the copy rate, the kernel could reach {}, of which it achieves {}.",
                value_with_unit(allowed, rate_unit(allowed)), percent_text(share));
}

void set_tensor_roof(Roofline& r, const Measurement& m) {
  const Peaks& peaks = m.peaks;
  if (peaks.tensor_gflops <= 0) return;
  const auto row = find_kernel(m.key.kernel);
  r.by_warpgroups = row && (*row)->products.pipe == Pipe::warpgroup_half;
  r.tensor_tflops = peaks.tensor_gflops / peaks.products_each * 1e-3;
  r.tensor_name = peaks.products_each > 1 ? phrase("mma.sync peak / {} products", peaks.products_each)
                  : r.by_warpgroups       ? tr("wgmma peak")
                                          : tr("mma.sync peak");
}

// A peer's: the highest that was measured beside kernels of ours with its type, and of which.
void borrow_tensor_roof(Roofline& r, const Measurement& mine, std::span<const Measurement* const> rows) {
  const Measurement* highest = nullptr;
  for (const Measurement* m : rows) {
    if (m->peaks.products_each != 1 || m->key.problem.dtype != mine.key.problem.dtype) continue;
    if (highest == nullptr || m->peaks.tensor_gflops > highest->peaks.tensor_gflops) highest = m;
  }
  if (highest == nullptr || highest->peaks.tensor_gflops <= 0) return;
  set_tensor_roof(r, *highest);
  r.tensor_name += fmt::format(" ({})", highest->key.kernel);
}

constexpr double kSectorBytes = 32, kTurnBytes = 128;  // of the L2, of the shared memory

void add_level(Roofline& r, const Measurement& m, const char* name, double gb_per_s, std::optional<double> bytes) {
  if (gb_per_s <= 0 || !bytes || *bytes <= 0) return;
  const double intensity = useful_flop(m) / *bytes;
  r.levels.push_back({name, gb_per_s, intensity, intensity * gb_per_s * 1e-3});
}

constexpr const char* kNobodyTried = marked("not measured in this session");

// Why a level has no roof or no point under it.
std::string why_no_level(const Measurement& m, const char* peak, double gb_per_s, const char* metric) {
  if (const auto why = m.peaks.why_not.find(peak); why != m.peaks.why_not.end()) return why->second;
  if (gb_per_s <= 0) return tr_of(kNobodyTried);
  const Figure& count = figure(m, metric);
  if (!count.available()) return phrase("its accesses were not counted: {}", tr_of(count.reason));
  return count.value > 0 ? "" : tr("the kernel requests nothing at this level");
}

void add_missing(Roofline& r, std::string name, std::string reason, bool inner) {
  // A text of others may end in a full stop, and ours comes behind it.
  while (!reason.empty() && reason.back() == '.') reason.pop_back();
  if (!reason.empty()) r.missing.push_back({std::move(name), std::move(reason), inner});
}

void find_missing(Roofline& r, const Measurement& m) {
  const auto why = [&](const char* peak, double rate) {
    const auto said = m.peaks.why_not.find(peak);
    if (rate > 0) return std::string();
    return said == m.peaks.why_not.end() ? std::string(tr_of(kNobodyTried)) : said->second;
  };
  add_missing(r, tr("the copy rate"), why(kCopyPeak, r.copy_gb_per_s), false);
  add_missing(r, tr("fp32 multiply-adds"), why(kMultiplyAddPeak, r.peak_tflops), false);
  if (m.processor == Processor::cpu) return;
  if (runs_on(m) != RunsOn::multiply_add)
    add_missing(r, phrase("the tensor cores in {}", name_of(m.key.problem.dtype)), why(kTensorPeak, r.tensor_tflops),
                false);
  add_missing(r, "L2", why_no_level(m, kL2Peak, m.peaks.l2_gb_per_s, "l2_sectors_count"), true);
  add_missing(r, tr("shared memory"), why_no_level(m, kSharedPeak, m.peaks.shared_gb_per_s, "shared_wavefronts_count"),
              true);
}

// "No roof of L2 and shared memory: not measured in this session." A reason is said once for all that it keeps away.
std::string missing_words(const Roofline& r, bool inner) {
  std::vector<std::pair<std::string, std::vector<std::string>>> by_reason;
  for (const MissingRoof& roof : r.missing) {
    if (roof.inner != inner) continue;
    const auto known = std::ranges::find(by_reason, roof.reason, [](const auto& group) { return group.first; });
    if (known == by_reason.end()) {
      by_reason.push_back({roof.reason, {roof.name}});
    } else {
      known->second.push_back(roof.name);
    }
  }
  std::string words;
  for (const auto& [reason, names] : by_reason)
    words += phrase("{}No roof for {}: {}.", words.empty() ? "" : " ", fmt::join(names, tr(" and ")), reason);
  return words;
}

std::string roofs_words(const Roofline& r) {
  std::vector<std::string_view> names;
  if (r.copy_gb_per_s > 0) names.emplace_back(tr("copy rate"));
  if (r.peak_tflops > 0) names.emplace_back(tr("fp32 multiply-add peak"));
  if (r.tensor_tflops > 0) names.emplace_back(r.by_warpgroups ? tr("wgmma peak") : tr("mma.sync peak"));
  std::string words;
  for (std::size_t n = 0; n < names.size(); ++n)
    words += fmt::format("{}{}", n == 0 ? "" : n + 1 == names.size() ? tr(" and ") : ", ", names[n]);
  return words.empty() ? words : phrase("Roofs: {}, measured on this device.", words);
}

std::string joined(const std::string& a, const std::string& b) {
  return a.empty() || b.empty() ? a + b : a + " " + b;
}

std::optional<double> counted_bytes(const Measurement& m, const char* metric, double each) {
  const Figure& count = figure(m, metric);
  return count.available() ? std::optional(count.value * each) : std::nullopt;
}

void add_levels(Roofline& r, const Measurement& m) {
  add_level(r, m, "DRAM", m.peaks.copy_gb_per_s, dram_bytes(m));
  add_level(r, m, "L2", m.peaks.l2_gb_per_s, counted_bytes(m, "l2_sectors_count", kSectorBytes));
  add_level(r, m, tr("shared memory"), m.peaks.shared_gb_per_s,
            counted_bytes(m, "shared_wavefronts_count", kTurnBytes));
}

std::string level_words(const Roofline& r, double tflops) {
  if (r.levels.size() < 2) return {};
  std::vector<std::string> shares;
  shares.reserve(r.levels.size());
  for (const RoofLevel& level : r.levels)
    shares.push_back(fmt::format("{} {}", level.name, percent_text(100 * tflops / level.allowed_tflops)));
  const auto nearest = std::ranges::min_element(r.levels, {}, &RoofLevel::allowed_tflops);
  double roof = nearest->allowed_tflops;
  std::string name = nearest->name,
              words = phrase("Fraction of the speed that each level's measured rate allows for its bytes: {}",
                             fmt::join(shares, ", "));
  if (r.top_tflops > 0) {
    const std::string arithmetic = r.top_tflops == r.tensor_tflops ? tr("the tensor cores") : tr("the multiply-adds");
    words += phrase("; of the peak of {}: {}", arithmetic, percent_text(100 * tflops / r.top_tflops));
    if (r.top_tflops < roof) name = arithmetic;
    roof = std::min(roof, r.top_tflops);
  }
  constexpr double kNear = 0.4;  // of a roof: below it there is more than twice as much left
  return fmt::format("{}. {} {}.", words,
                     tflops < kNear * roof ? tr("No roof is near. The nearest roof is") : tr("The nearest roof is"),
                     name);
}

void fit(Roofline& r) {
  double x_min = 1e300, x_max = 0, y_min = 1e300;
  double y_max = std::max(r.peak_tflops, r.tensor_tflops);
  for (const double roof : {r.peak_tflops, r.tensor_tflops})
    if (roof > 0) y_min = std::min(y_min, roof);  // a roof under the dots is seen too
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
  // A ridge that lies far from every mark would leave half of the plot to a slope.
  constexpr double kFar = 40;
  const double first = x_min, last = x_max;
  for (const double roof : {r.peak_tflops, r.tensor_tflops})
    if (const double x = ridge(r, roof); x > first / kFar && x < last * kFar) see(x);
  r.x_min = x_min / 2;
  r.x_max = x_max * 2;
  r.y_min = y_min / 2;
  r.y_max = y_max * 1.6;
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

std::vector<double> roof_ticks(double from, double to) {
  const int first = static_cast<int>(std::floor(std::log10(from))), last = static_cast<int>(std::ceil(std::log10(to)));
  std::vector<double> decades, all;
  for (int p = first; p <= last; ++p) {
    const double decade = std::pow(10.0, p);
    decades.push_back(decade);
    for (const double step : {1.0, 2.0, 5.0}) all.push_back(step * decade);
  }
  const auto seen = std::ranges::count_if(decades, [&](double x) { return x >= from && x <= to; });
  return seen >= 2 ? decades : all;
}

Roofline roofline(std::span<const Measurement* const> rows, const std::string& chosen) {
  Roofline r;
  std::vector<const Measurement*> timed;
  const Measurement* my_row = nullptr;
  for (const Measurement* m : rows) {
    if (m->state != RowState::done || m->time.n == 0 || figure(*m, "tflops").value <= 0) continue;
    timed.push_back(m);
    if (m->key.kernel == chosen) my_row = m;
    r.peak_tflops = std::max(r.peak_tflops, m->peaks.peak_gflops * 1e-3);
    r.copy_gb_per_s = std::max(r.copy_gb_per_s, m->peaks.copy_gb_per_s);
  }
  if (my_row == nullptr) {
    r.empty = phrase("{} was not timed on this problem, so there is no rate to draw.", chosen);
    return r;
  }
  // The chosen row's own, so that its shares are those of its figures.
  if (my_row->peaks.peak_gflops > 0) r.peak_tflops = my_row->peaks.peak_gflops * 1e-3;
  if (my_row->peaks.copy_gb_per_s > 0) r.copy_gb_per_s = my_row->peaks.copy_gb_per_s;
  for (const Measurement* m : timed) r.dots.push_back(dot_of(*m, *my_row));
  const RoofDot& mine = r.dots[static_cast<std::size_t>(std::ranges::find(timed, my_row) - timed.begin())];
  set_tensor_roof(r, *my_row);
  if (r.tensor_tflops <= 0 && runs_on(*my_row) == RunsOn::perhaps_tensor) borrow_tensor_roof(r, *my_row, rows);
  r.peak_name = tr("multiply-add peak");
  if (r.tensor_tflops > 0) r.peak_name += fmt::format(" ({})", tr("fp32 pipes"));
  r.top_tflops = runs_on(*my_row) == RunsOn::multiply_add ? std::max(r.peak_tflops, r.tensor_tflops) : r.tensor_tflops;
  add_levels(r, *my_row);
  find_missing(r, *my_row);
  r.words = peak_words(r, mine, *my_row) + " " + bytes_words(r, mine);
  if (my_row->processor == Processor::gpu) r.level_words = joined(level_words(r, mine.tflops), missing_words(r, true));
  r.note = joined(roofs_words(r), missing_words(r, false));
  fit(r);
  return r;
}

}  // namespace attn
