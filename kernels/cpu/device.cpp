#include "kernels/cpu/device.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/arithmetic/vector_ops.h"

namespace attn {
namespace {

// What `model name` says in /proc/cpuinfo; "CPU" where it says nothing.
std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    const std::size_t colon = line.find(':');
    if (colon != std::string::npos && colon + 2 < line.size()) return line.substr(colon + 2);
  }
  return "CPU";
}

// What follows "key:" in a file of the kernel's; empty where it says nothing.
std::string value_of(const char* file, std::string_view key) {
  std::ifstream text(file);
  for (std::string line; std::getline(text, line);)
    if (line.starts_with(key)) return line.substr(key.size());
  return {};
}

// "0-3,8" as ranges, both ends included.
std::vector<std::pair<long, long>> ranges_of(const std::string& list) {
  std::vector<std::pair<long, long>> ranges;
  const char* at = list.c_str();
  while (*at != '\0') {
    char* end = nullptr;
    const long first = std::strtol(at, &end, 10);
    if (end == at) {
      ++at;  // a blank, a comma
      continue;
    }
    long last = first;
    if (*end == '-') last = std::strtol(end + 1, &end, 10);
    ranges.emplace_back(first, last);
    at = end;
  }
  return ranges;
}

// Logical processors this process may use; containers often allow fewer than there are. The system's own words are
// read, for standard C++ counts them beside its threads.
std::int32_t usable_cores() {
  const auto allowed = ranges_of(value_of("/proc/self/status", "Cpus_allowed_list:"));
  const auto online = ranges_of(value_of("/sys/devices/system/cpu/online", ""));
  long count = 0;
  for (const auto& [first, last] : allowed)
    for (const auto& [from, to] : online) count += std::max(0L, std::min(last, to) - std::max(first, from) + 1);
  if (online.empty())
    for (const auto& [first, last] : allowed) count += last - first + 1;
  return static_cast<std::int32_t>(std::clamp(count, 1L, 65536L));
}

std::uint64_t physical_memory() {
  std::ifstream info("/proc/meminfo");
  std::string key;
  std::uint64_t kib = 0;
  while (info >> key >> kib) {
    if (key == "MemTotal:") return kib * 1024;
    info.ignore(64, '\n');
  }
  return 0;
}

}  // namespace

// What stays while the program runs is read once: a frame asks for it several times.
Device cpu_device() {
  static const std::string kName = cpu_name();
  static const std::uint64_t kMemory = physical_memory();
  Device d;
  d.processor = Processor::cpu;
  d.name = kName;
  d.arch = cpu::target_name();
  d.cores = usable_cores();
  d.memory_bytes = kMemory;
  return d;
}

std::vector<CacheLevel> cpu_caches() {
  std::vector<CacheLevel> caches;
  constexpr int kMost = 8;
  for (int n = 0; n < kMost; ++n) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(n) + "/";
    const std::string size = value_of((folder + "size").c_str(), "");
    if (size.empty() || value_of((folder + "type").c_str(), "") == "Instruction") continue;
    CacheLevel cache;
    cache.level = static_cast<std::int32_t>(std::strtol(value_of((folder + "level").c_str(), "").c_str(), nullptr, 10));
    cache.bytes = std::strtoull(size.c_str(), nullptr, 10) * (size.ends_with('M')   ? 1U << 20
                                                              : size.ends_with('K') ? 1U << 10
                                                                                    : 1U);
    long sharers = 0;
    for (const auto& [first, last] : ranges_of(value_of((folder + "shared_cpu_list").c_str(), "")))
      sharers += last - first + 1;
    constexpr long kOfOneCore = 2;  // its two threads
    cache.shared = sharers > kOfOneCore;
    if (cache.bytes > 0) caches.push_back(cache);
  }
  std::ranges::sort(caches, {}, &CacheLevel::level);
  return caches;
}

}  // namespace attn
