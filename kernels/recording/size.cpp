#include "kernels/recording/size.h"

#include <algorithm>
#include <limits>
#include <string>

#include "kernels/base/bytes.h"
#include "kernels/base/text.h"
#include "kernels/model/options.h"
#include "kernels/model/order_row.h"
#include "kernels/model/ring.h"
#include "kernels/recording/recording.h"

namespace attn {
namespace {

// What a recording is made of. doubles: exact below 2^53, far above the cap, and no overflow for absurd problems.
struct Count {
  double events = 0, versions = 0, floats = 0;
  void add(double e, double v, double f) {
    events += e;
    versions += v;
    floats += f;
  }
};

struct Extents {
  double rows = 0, cols = 0, D = 0, Dv = 0;
  bool narrow = false;  // 16-bit: O gets a rounded version
  // Floats of one version.
  double of(Slot slot) const {
    const SlotRow& row = slot_row(slot);
    const double columns[] = {1, D, Dv, cols};  // SlotColumns
    return (row.rows == SlotRows::keys ? cols : rows) * columns[static_cast<std::size_t>(row.columns)];
  }
};

void count_step(const WalkStep& step, const Extents& x, Count& n) {
  n.add(1, 0, 0);
  for (const Slot slot : step.creates) n.add(0, 1, x.of(slot));
  if (step.rounds && x.narrow) n.add(0, 1, x.of(*step.rounds));
}

// One (i, j) tile of the given cover.
void count_tile(const OrderRow& order, const Extents& x, bool masked, bool skipped, Count& n) {
  for (const WalkStep& step : order.walk) {
    if (step.once != Once::tile) continue;
    const bool there = step.tiles == Tiles::all || (step.tiles == Tiles::hidden && skipped) ||
                       (step.tiles == Tiles::seen && !skipped) || (step.tiles == Tiles::masked && !skipped && masked);
    if (there) count_step(step, x, n);
  }
}

// How often a step is done of a query tile or, where key tiles are outside, of a key tile, in so many parts.
std::int64_t times_of_parts(const WalkStep& step, std::int64_t parts) {
  return step.once == Once::part ? parts : step.once == Once::merge ? parts - 1 : 0;
}

// Once a query tile, and for each of the parts that its keys are cut into.
void count_row_tile(const OrderRow& order, const Extents& x, std::int64_t parts, Count& n) {
  const bool cut = order.abreast == Abreast::parts || (order.abreast == Abreast::ranks && !order.keys_outside);
  const std::int64_t lanes = cut ? parts : 1;
  for (const Slot slot : order.starts) n.add(0, static_cast<double>(lanes), x.of(slot) * static_cast<double>(lanes));
  for (const WalkStep& step : order.walk) {
    const std::int64_t times = step.once == Once::query_tile ? 1 : cut ? times_of_parts(step, lanes) : 0;
    for (std::int64_t k = 0; k < times; ++k) count_step(step, x, n);
  }
}

// Once a key tile; `hidden`: no query sees it.
void count_key_tile(const OrderRow& order, const Extents& x, bool hidden, std::int64_t parts, Count& n) {
  for (const WalkStep& step : order.walk) {
    if (hidden && step.tiles != Tiles::all) continue;
    const std::int64_t times = step.once == Once::key_tile ? 1 : order.keys_outside ? times_of_parts(step, parts) : 0;
    for (std::int64_t k = 0; k < times; ++k) count_step(step, x, n);
  }
}

Extents extents_of(const Problem& p, double rows, double cols) {
  return {rows, cols, static_cast<double>(p.D), static_cast<double>(p.Dv), p.dtype != DType::f32};
}

// Beyond this many tiles no recording fits, and every tile counts as whole and visible.
constexpr double kTilesWorthAWalk = 600000;

Count count_heads(const OrderRow& order, const Problem& p, const Options& o, std::int64_t br, std::int64_t bc,
                  std::int64_t ti, std::int64_t tj) {
  Count n;
  for (std::int64_t b = 0; b < p.B; ++b) {
    Count head;
    for (std::int64_t i = 0; i < ti; ++i) {
      const std::int64_t r0 = i * br;
      const std::int64_t r1 = std::min(p.Lq, r0 + br);
      count_row_tile(order, extents_of(p, static_cast<double>(r1 - r0), 0), key_pieces(order, o), head);
      for (std::int64_t j = 0; j < tj; ++j) {
        const std::int64_t c0 = j * bc;
        const std::int64_t c1 = std::min(p.Lk, c0 + bc);
        const TileCover cover = p.cover(b, r0, r1, c0, c1);
        count_tile(order, extents_of(p, static_cast<double>(r1 - r0), static_cast<double>(c1 - c0)),
                   p.changes_scores() || cover != TileCover::full, cover == TileCover::skipped && order.skips_hidden,
                   head);
      }
    }
    n.add(head.events * static_cast<double>(p.Hq), head.versions * static_cast<double>(p.Hq),
          head.floats * static_cast<double>(p.Hq));
    const auto heads = static_cast<double>(order.heads_share_keys ? p.Hkv : p.Hq);
    Count keys;
    for (std::int64_t j = 0; j < tj; ++j) {
      const std::int64_t c0 = j * bc, c1 = std::min(p.Lk, c0 + bc);
      const bool hidden = order.heads_share_keys && p.cover(b, 0, p.Lq, c0, c1) == TileCover::skipped;
      count_key_tile(order, extents_of(p, 0, static_cast<double>(c1 - c0)), hidden, key_pieces(order, o), keys);
    }
    n.add(keys.events * heads, keys.versions * heads, keys.floats * heads);
  }
  return n;
}

Count count_whole(const OrderRow& order, const Problem& p, const Options& o, std::int64_t br, std::int64_t bc,
                  std::int64_t ti, std::int64_t tj) {
  Count tile;
  Count row;
  const auto rows = static_cast<double>(br);
  const auto cols = static_cast<double>(bc);
  count_tile(order, extents_of(p, rows, cols), p.changes_scores(), false, tile);
  count_row_tile(order, extents_of(p, rows, 0), key_pieces(order, o), row);
  const double heads = static_cast<double>(p.B) * static_cast<double>(p.Hq);
  const double row_tiles = heads * static_cast<double>(ti);
  const double tiles = row_tiles * static_cast<double>(tj);
  return {tile.events * tiles + row.events * row_tiles, tile.versions * tiles + row.versions * row_tiles,
          tile.floats * tiles + row.floats * row_tiles};
}

double elements(double a, double b, double c, double d) {
  return a * b * c * d;
}

Count count_all(Order order, const Problem& p, const Options& resolved) {
  const auto [br, bc, ti, tj] = tiling_of(p, resolved);
  const OrderRow& row = order_row(order);
  const double tiles =
      static_cast<double>(p.B) * static_cast<double>(p.Hq) * static_cast<double>(ti) * static_cast<double>(tj);
  Count n = tiles <= kTilesWorthAWalk ? count_heads(row, p, resolved, br, bc, ti, tj)
                                      : count_whole(row, p, resolved, br, bc, ti, tj);
  // K and V tiles, shared by all query tiles and heads.
  const double heads = static_cast<double>(p.B) * static_cast<double>(p.Hkv);
  n.add(0, 2 * heads * static_cast<double>(tj),
        elements(heads, 1, static_cast<double>(p.Lk), static_cast<double>(p.D + p.Dv)));
  return n;
}

}  // namespace

RecordingSize recording_size(Order order, const Problem& p, const Options& resolved) {
  const Count n = count_all(order, p, resolved);
  return {static_cast<std::size_t>(n.events), static_cast<std::size_t>(n.versions), static_cast<std::size_t>(n.floats)};
}

std::uint64_t recording_bytes(Order order, const Problem& p, const Options& resolved) {
  const auto [br, bc, ti, tj] = tiling_of(p, resolved);
  const auto heads = static_cast<double>(p.B) * static_cast<double>(p.Hq);
  const OrderRow& row = order_row(order);
  const Count n = count_all(order, p, resolved);
  const auto B = static_cast<double>(p.B);
  const auto D = static_cast<double>(p.D);
  const auto Dv = static_cast<double>(p.Dv);
  const auto Lq = static_cast<double>(p.Lq);
  const auto Lk = static_cast<double>(p.Lk);
  const auto Hq = static_cast<double>(p.Hq);
  const auto Hkv = static_cast<double>(p.Hkv);
  const auto e = static_cast<double>(size_of(p.dtype));
  const bool paged = p.storage.kind() == Storage::paged;
  const double keys = paged ? static_cast<double>(p.storage.pages) * static_cast<double>(p.storage.page) : B * Lk;
  double arrays = e * (elements(B, Hq, Lq, D + Dv) + keys * Hkv * (D + Dv)) + 4 * B * Hq * Lq;
  // Q, O, K, V and LSE; of a backward their gradients too, and delta.
  if (p.pass == Pass::backward) arrays *= 2;
  if (p.has_bias()) {
    arrays += 4 * elements(static_cast<double>(p.bias_shape[0]), static_cast<double>(p.bias_shape[1]),
                           static_cast<double>(p.bias_shape[2]), static_cast<double>(p.bias_shape[3]));
  }
  const double index = heads * (static_cast<double>(ti) + 1) * (static_cast<double>(tj) + 1) *
                       static_cast<double>(Recording::index_columns(order)) * 4;
  const double lanes = row.abreast != Abreast::none ? n.events * sizeof(EventIndex) : 0;
  const double total = lanes + sizeof(Recording) + n.floats * sizeof(float) +
                       n.events * static_cast<double>(sizeof(Event) + row.own_slots.size() * sizeof(VersionId)) +
                       n.versions * sizeof(Version) + arrays + index;
  constexpr double kMax = 9.2e18;
  return total > kMax ? static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())
                      : static_cast<std::uint64_t>(total);
}

Result<void> check_recordable(Order order, const Problem& p, const Options& resolved) {
  const std::uint64_t bytes = recording_bytes(order, p, resolved);
  if (bytes <= kRecordingLimit) return ok();
  // The largest L with Lq = Lk and the rest as it is.
  std::int64_t low = 0;
  std::int64_t high = std::max(p.Lq, p.Lk);
  while (low < high) {
    const std::int64_t middle = low + (high - low + 1) / 2;
    Problem q = p;
    q.Lq = q.Lk = middle;
    q.mask.key_lengths.clear();
    q.bias_shape.clear();
    if (recording_bytes(order, q, resolved) <= kRecordingLimit) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return bad_input(
      phrase("a recording of {} with tile {}x{} would take {}, more than the limit of {}; {}", describe(p), resolved.br,
             resolved.bc, format_bytes(bytes), format_bytes(kRecordingLimit),
             low > 0 ? phrase("use L = {} or less with these heads and this tile, or choose a larger tile", low)
                     : std::string(tr("use fewer batches or heads, a smaller D or a larger tile"))));
}

}  // namespace attn
