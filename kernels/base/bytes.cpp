#include "kernels/base/bytes.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "kernels/base/text.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t kUnknown = kMost;
constexpr std::string_view kUnits = "KMGT";

std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

// The first number of the line that begins with `key`; cgroup files hold one bare number ("max" = none).
std::optional<std::uint64_t> read_number(const fs::path& file, std::string_view key = "") {
  std::ifstream in(file);
  std::string line;
  while (std::getline(in, line)) {
    std::string_view rest = line;
    if (!rest.starts_with(key)) continue;
    rest.remove_prefix(key.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
    return number_in(rest);
  }
  return std::nullopt;
}

// Names of one control group version's files.
struct GroupFiles {
  const char* limit;
  const char* used;
  const char* reclaimable;  // in memory.stat: file pages that the kernel gives up first
};
constexpr GroupFiles kVersion2{"memory.max", "memory.current", "inactive_file "};
constexpr GroupFiles kVersion1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file "};

std::uint64_t free_in_group(const fs::path& folder, const GroupFiles& files) {
  const auto limit = read_number(folder / files.limit);
  if (!limit) return kUnknown;
  const std::uint64_t used = read_number(folder / files.used).value_or(0);
  const std::uint64_t reclaimable = read_number(folder / "memory.stat", files.reclaimable).value_or(0);
  const std::uint64_t held = used > reclaimable ? used - reclaimable : 0;
  return *limit > held ? *limit - held : 0;
}

// A limit of any group above this process' own holds too.
std::uint64_t free_up_the_tree(const fs::path& mount, fs::path group, const GroupFiles& files) {
  std::uint64_t min = free_in_group(mount, files);
  for (group = group.relative_path(); !group.empty(); group = group.parent_path()) {
    min = std::min(min, free_in_group(mount / group, files));
  }
  return min;
}

// Lines of /proc/self/cgroup: "0::/user.slice" (version 2), "4:memory:/docker/1f" (version 1).
std::uint64_t free_in_groups(const fs::path& root) {
  std::uint64_t min = kUnknown;
  std::ifstream in(root / "proc/self/cgroup");
  std::string line;
  while (std::getline(in, line)) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const fs::path group = line.substr(second + 1);
    if (controllers.empty()) min = std::min(min, free_up_the_tree(root / "sys/fs/cgroup", group, kVersion2));
    if (controllers == "memory") {
      min = std::min(min, free_up_the_tree(root / "sys/fs/cgroup/memory", group, kVersion1));
    }
  }
  return min;
}

tl::unexpected<Error> not_a_size(std::string_view text) {
  return bad_input(phrase("Invalid size '{}'; use bytes or a number with K, M, G or T, such as 512M or 80G.", text));
}

}  // namespace

std::uint64_t free_memory_under(const fs::path& root) {
  const auto kibibytes = read_number(root / "proc/meminfo", "MemAvailable:");
  const std::uint64_t machine = kibibytes ? *kibibytes * 1024 : kUnknown;
  return std::min(machine, free_in_groups(root));
}

std::uint64_t free_memory() {
  return free_memory_under("/");
}

Result<std::uint64_t> parse_bytes(std::string_view text) {
  double number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number, std::chars_format::fixed);
  if (error != std::errc() || !std::isfinite(number) || number < 0) return not_a_size(text);
  std::string unit(end, last);
  std::ranges::transform(unit, unit.begin(), [](char c) { return c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c; });
  if (unit.ends_with("IB") && unit.size() == 3) unit.resize(1);
  if (unit.ends_with("B")) unit.resize(unit.size() - 1);
  std::size_t power = 0;
  if (!unit.empty()) {
    power = kUnits.find(unit) + 1;  // npos + 1 is 0: an unknown unit
    if (power == 0 || unit.size() != 1) return not_a_size(text);
  }
  const double bytes = std::ldexp(number, static_cast<int>(10 * power));
  if (bytes >= 0x1p63) {
    return bad_input(phrase("Size '{}' is too large; use less than 8388608T.", text));
  }
  return static_cast<std::uint64_t>(bytes);
}

std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) {
  return a > kMost - std::min(b, kMost) ? kMost : a + b;
}

std::uint64_t saturating_product(std::span<const std::int64_t> factors) {
  if (std::ranges::any_of(factors, [](std::int64_t factor) { return factor <= 0; })) return 0;
  std::uint64_t product = 1;
  for (const std::int64_t factor : factors) {
    const auto f = static_cast<std::uint64_t>(factor);
    product = product > kMost / f ? kMost : product * f;
  }
  return product;
}

std::string format_bytes(std::uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  static constexpr std::array<const char*, 6> kNames{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  // 1023.5 and more would be shown as 1024.
  while (value >= 1023.5 && unit + 1 < kNames.size()) {
    value /= 1024;
    ++unit;
  }
  const int digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f} {}", value, digits, kNames[unit]);
}

}  // namespace attn
