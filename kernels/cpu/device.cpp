#include "kernels/cpu/device.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <thread>

#include <sched.h>

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

// Logical processors this process may use; containers often allow fewer than there are.
std::int32_t usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) return CPU_COUNT(&set);
  return static_cast<std::int32_t>(std::max(1U, std::thread::hardware_concurrency()));
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

Device cpu_device() {
  Device d;
  d.processor = Processor::cpu;
  d.name = cpu_name();
  d.arch = cpu::target_name();
  d.cores = usable_cores();
  d.memory_bytes = physical_memory();
  return d;
}

}  // namespace attn
