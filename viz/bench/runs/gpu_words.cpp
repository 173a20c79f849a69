// What a GPU that is not here is known by: what the sweep's choice says, and what its name does.
#include <charconv>

#include "viz/bench/runs/slice.h"

namespace attn {

Device gpu_device(const SweepSpec& sweep, const GpuView& gpus) {
  Device d;
  d.processor = Processor::gpu;
  for (const GpuChoice& g : gpus.gpus) {
    if (g.index != sweep.gpu) continue;
    d.name = g.name;
    d.arch = g.arch;
    d.memory_bytes = g.memory_bytes;
    d.cores = g.sms;
  }
  return d;
}

std::uint64_t memory_in_name(std::string_view name) {
  const std::size_t end = name.find("GB");
  if (end == std::string_view::npos) return 0;
  std::size_t begin = end;
  while (begin > 0 && name[begin - 1] >= '0' && name[begin - 1] <= '9') --begin;
  constexpr std::uint64_t kGiB = std::uint64_t{1} << 30U;
  std::uint64_t gib = 0;
  std::from_chars(name.data() + begin, name.data() + end, gib);
  return gib < 4096 ? gib * kGiB : 0;
}

}  // namespace attn
