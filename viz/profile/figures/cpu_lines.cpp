#include "viz/profile/figures/cpu_lines.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "kernels/base/bytes.h"
#include "kernels/base/text.h"
#include "kernels/model/traffic_parts.h"
#include "profiling/figures/metrics.h"
#include "viz/draw/figure_text.h"

namespace attn {
namespace {

// What one thread works on at a time; 0 where the kernel has no tiles.
std::uint64_t bytes_of_tiles(const Measurement& m) {
  const Problem& p = m.key.problem;
  const Options& o = m.key.options;
  if (o.br <= 0 || o.bc <= 0) return 0;
  const TileBytes each = tile_bytes(p, std::min<std::int64_t>(o.br, p.Lq), std::min<std::int64_t>(o.bc, p.Lk));
  return each.q + each.k + each.v + each.bias + each.s + each.o_state;
}

BytesLine threads_line(const Measurement& m) {
  const std::int32_t threads = std::max(1, m.key.options.threads);
  return {tr("Threads"), fmt::format("{}", threads),
          threads == 1 ? tr("The thread processes the tiles one after another.")
                       : tr("Each thread takes the next remaining tile."),
          true};
}

BytesLine tile_line(const Measurement& m, std::uint64_t tiles) {
  return {tr("Tiles per thread"), format_bytes(tiles),
          phrase("Q, K, V, scores and O of {} x {}.", m.key.options.br, m.key.options.bc), true};
}

BytesLine cache_line(const CacheLevel& cache, std::uint64_t tiles) {
  BytesLine line{phrase("L{} cache", cache.level), format_bytes(cache.bytes), "", true};
  const std::string whose = cache.shared ? tr("Shared by cores") : tr("Private to a core");
  if (tiles == 0) {
    line.words = phrase("{}.", whose);
  } else if (tiles <= cache.bytes) {
    line.words = phrase("{}: a thread's tiles fill {} of this cache.", whose,
                        percent_text(100 * static_cast<double>(tiles) / static_cast<double>(cache.bytes)));
  } else {
    line.words = phrase("{}: a thread's tiles need {} times the size of this cache.", whose,
                        times_text(static_cast<double>(tiles) / static_cast<double>(cache.bytes)));
  }
  return line;
}

// At least so fast: more bytes than the least may have moved.
BytesLine least_rate(const Measurement& m) {
  const Figure& least = figure(m, "compulsory_bytes");
  if (!least.available() || m.time.median <= 0) return {};
  const double rate = least.value / (m.time.median * 1e-6);
  BytesLine line{tr("Minimum rate"), value_with_unit(rate, {1e-9, "GB/s"}),
                 tr("The minimum bytes divided by the kernel's time."), true};
  if (m.peaks.copy_gb_per_s > 0)
    line.words = phrase("The minimum bytes divided by the kernel's time: {} of a plain copy's rate on this machine.",
                        percent_text(100 * rate * 1e-9 / m.peaks.copy_gb_per_s));
  return line;
}

}  // namespace

std::vector<BytesLine> cpu_lines(const Measurement& m, std::span<const CacheLevel> caches) {
  const std::uint64_t tiles = bytes_of_tiles(m);
  std::vector<BytesLine> lines{threads_line(m)};
  if (tiles > 0) lines.push_back(tile_line(m, tiles));
  for (const CacheLevel& cache : caches) lines.push_back(cache_line(cache, tiles));
  if (const BytesLine rate = least_rate(m); rate.available) lines.push_back(rate);
  return lines;
}

}  // namespace attn
