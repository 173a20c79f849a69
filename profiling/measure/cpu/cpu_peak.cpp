#include "profiling/measure/cpu/cpu_peak.h"

#include <algorithm>
#include <barrier>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <memory>
#include <new>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "kernels/base/bytes.h"
#include "kernels/base/clock.h"
#include "profiling/measure/cpu/fma_loop.h"

namespace attn {
namespace {

// Runs work(thread) on all threads at once, each beginning when all are there.
template <class Work>
void on_all(std::int32_t threads, const Work& work) {
  std::barrier start(threads);
  std::vector<std::jthread> team;
  team.reserve(static_cast<std::size_t>(threads));
  for (std::int32_t t = 0; t < threads; ++t) {
    team.emplace_back([&, t] {
      start.arrive_and_wait();
      work(t);
    });
  }
}

// All threads work at once, so that clock and power are those of a busy chip. Each keeps the best of its slices, which
// are shorter than a scheduler's turn: one in which another program had the core does not count.
double fma_peak(std::int32_t threads, double seconds) {
  constexpr double kSlice = 0.002;
  std::vector<double> best(static_cast<std::size_t>(threads));
  on_all(threads, [&](std::int32_t t) {
    double& mine = best[static_cast<std::size_t>(t)];
    const double begin = steady_seconds();
    do {
      mine = std::max(mine, fma_gflops(kSlice));
    } while (steady_seconds() - begin < seconds);
  });
  return std::accumulate(best.begin(), best.end(), 0.0);
}

// Linux tells the size of the last cache as "266240K"; elsewhere a size that few caches exceed.
std::uint64_t last_cache_bytes() {
  for (const char* index : {"index3", "index2"}) {
    std::ifstream file(std::string("/sys/devices/system/cpu/cpu0/cache/") + index + "/size");
    std::uint64_t kib = 0;
    if (file >> kib && kib > 0) return kib << 10;
  }
  return 32ULL << 20;
}

// Bytes of source and destination together: twice the last cache, since a copy that it holds is no copy from memory;
// at most 1 GiB and an eighth of what is free.
std::size_t copy_arrays_bytes() {
  const std::uint64_t wanted = std::clamp<std::uint64_t>(2 * last_cache_bytes(), 128ULL << 20, 1ULL << 30);
  return std::min(wanted, free_memory() / 8) & ~std::uint64_t{4095};
}

double copy_peak(std::int32_t threads, double seconds, std::uint64_t memory_limit) {
  const std::size_t bytes = copy_arrays_bytes();
  if (memory_limit != 0 && bytes > memory_limit) return 0;  // smaller arrays would be a copy within the cache
  const std::size_t piece = bytes / 2 / static_cast<std::size_t>(threads);
  if (piece == 0) return 0;
  std::vector<std::unique_ptr<std::byte[]>> from, to;
  for (std::int32_t t = 0; t < threads; ++t) {
    from.emplace_back(new (std::nothrow) std::byte[piece]);
    to.emplace_back(new (std::nothrow) std::byte[piece]);
    if (!from.back() || !to.back()) return 0;  // no memory for it: not measured
  }
  const auto copy = [&](std::int32_t t) {
    const auto i = static_cast<std::size_t>(t);
    std::memcpy(to[i].get(), from[i].get(), piece);
  };
  // Each thread touches its own first, so that the pages lie in the memory nearest to its core.
  on_all(threads, [&](std::int32_t t) { std::memset(from[static_cast<std::size_t>(t)].get(), 1, piece); });
  on_all(threads, copy);
  double best = 0;
  const double begin = steady_seconds();
  do {
    const double start = steady_seconds();
    on_all(threads, copy);
    const double moved = 2.0 * static_cast<double>(piece) * threads;
    best = std::max(best, moved / (steady_seconds() - start) * 1e-9);
  } while (steady_seconds() - begin < seconds);
  return best;
}

}  // namespace

CpuPeak measure_cpu_peak(std::int32_t threads, double seconds, std::uint64_t memory_limit) {
  CpuPeak peak;
  peak.threads = std::max(1, threads);
  peak.gflops = fma_peak(peak.threads, seconds / 2);
  peak.copy_gb_per_s = copy_peak(peak.threads, seconds / 2, memory_limit);
  return peak;
}

}  // namespace attn
