#include "viz/draw/figure_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>

#include "kernels/base/text.h"
#include "viz/draw/number_text.h"

namespace attn {

BenchUnit time_unit(double min_us, double max_us) {
  if (max_us >= 1e7 && min_us >= 1e4) return {1e-6, "s"};
  if (max_us >= 1e3) return {1e-3, "ms"};
  return {1, "µs"};
}

BenchUnit rate_unit(double max_tflops) {
  if (max_tflops >= 1) return {1, "TFLOP/s"};
  return {1e3, "GFLOP/s"};
}

BenchUnit bytes_unit(double max_bytes) {
  if (max_bytes >= 1e12) return {1e-12, "TB"};
  if (max_bytes >= 1e9) return {1e-9, "GB"};
  if (max_bytes >= 1e6) return {1e-6, "MB"};
  return {1e-3, "kB"};
}

BenchUnit memory_unit(double max_bytes) {
  constexpr double kMany = 1e6 * (1 << 20);
  return max_bytes < kMany ? BenchUnit{1.0 / (1 << 20), "MiB"} : BenchUnit{1.0 / (1 << 30), "GiB"};
}

BenchUnit unit_of(const MetricRow& metric, double min, double max) {
  if (metric.unit == "us") return time_unit(min, max);
  if (metric.unit == "B") return metric.id.starts_with("memory_") ? memory_unit(max) : bytes_unit(max);
  if (metric.unit == "TFLOP/s") return rate_unit(max);
  if (metric.unit == "1") return {1, ""};
  if (metric.unit == "C") return {1, "°C"};
  return {1, std::string(metric.unit)};
}

std::string figure_text(double value) {
  return significant_text(value, 3);
}

std::string tick_text(double value) {
  constexpr int kDigits = 6;
  std::array<char, 32> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.*g", kDigits, value);
  const std::string_view raw(buffer.data());
  const std::size_t e = raw.find('e');
  const bool minus = raw.starts_with('-');
  std::string text = (minus ? "−" : "") + std::string(raw.substr(minus ? 1 : 0, e - (minus ? 1 : 0)));
  if (e == std::string_view::npos) return text;
  const int power = std::atoi(raw.data() + e + 1);
  return fmt::format("{}e{}{}", text, power < 0 ? "−" : "", std::abs(power));
}

std::string percent_text(double percent) {
  constexpr double kLeast = 0.01;
  if (percent == 0) return "0 %";
  if (std::abs(percent) < kLeast) return percent > 0 ? "< 0.01 %" : "> −0.01 %";
  return figure_text(percent) + " %";
}

std::string range_text(double low, double high, const BenchUnit& unit) {
  constexpr int kFew = 3, kMost = 6;
  const auto text = [&](double x, int digits) { return significant_text(x * unit.factor, digits); };
  int digits = kFew;
  while (digits < kMost && text(low, digits) == text(high, digits)) ++digits;
  const std::string name = unit.name.empty() ? "" : " " + unit.name;
  if (text(low, digits) == text(high, digits)) return text(low, kFew) + name;
  return fmt::format("{} – {}{}", text(low, digits), text(high, digits), name);
}

std::string value_with_unit(double value, const BenchUnit& unit) {
  if (unit.name == "%") return percent_text(value * unit.factor);
  // A count that needs no power of ten.
  constexpr double kMany = 1e6;
  if (unit.name.empty() && std::abs(value * unit.factor) >= kMany)
    return brief_count(std::llround(value * unit.factor));
  return unit.name.empty() ? figure_text(value * unit.factor)
                           : fmt::format("{} {}", figure_text(value * unit.factor), unit.name);
}

std::string sentence(const std::string& words) {
  // A row keeps its reasons in English; of those that are always the same the catalogue has what another language says.
  std::string said(tr_of(std::string_view(words)));
  if (said.empty() || said.back() != '.') said += '.';
  return said;
}

std::string grouped_count(std::int64_t n) {
  std::string digits = fmt::format("{}", n);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, "\u00a0");
  return digits;
}

std::string bytes_text(double bytes) {
  if (bytes < 1e3) return fmt::format("{:.0f} B", bytes);
  return value_with_unit(bytes, bytes_unit(bytes));
}

std::string times_text(double ratio) {
  if (ratio >= 9.95) return fmt::format("{:.0f}", ratio);
  if (ratio >= 1.95) return fmt::format("{:.1f}", ratio);
  return fmt::format("{:.2f}", ratio);
}

namespace {

// Labels that touch move as one block, centred on the mean of what its members wish.
struct Block {
  std::size_t first = 0, count = 0;
  double wish_sum = 0;  // of each member's wish less its place in the block
  double height = 0;
  double top(double low, double high) const {
    const double wanted = wish_sum / static_cast<double>(count) - height / 2;
    return std::max(low, std::min(wanted, high - height * static_cast<double>(count)));
  }
};

}  // namespace

std::vector<double> spread_labels(std::vector<double> wishes, double height, double top, double bottom) {
  std::vector<std::size_t> order(wishes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return wishes[a] < wishes[b]; });
  const double room = bottom - top;
  if (!wishes.empty() && height * static_cast<double>(wishes.size()) > room)
    height = room / static_cast<double>(wishes.size());
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < order.size(); ++i) {
    blocks.push_back({i, 1, wishes[order[i]], height});
    while (blocks.size() > 1) {
      Block& above = blocks[blocks.size() - 2];
      const Block& last = blocks.back();
      if (above.top(top, bottom) + height * static_cast<double>(above.count) <= last.top(top, bottom)) break;
      above.wish_sum += last.wish_sum - static_cast<double>(above.count * last.count) * height;
      above.count += last.count;
      blocks.pop_back();
    }
  }
  for (const Block& block : blocks) {
    for (std::size_t k = 0; k < block.count; ++k)
      wishes[order[block.first + k]] = block.top(top, bottom) + height * (static_cast<double>(k) + 0.5);
  }
  return wishes;
}

}  // namespace attn
