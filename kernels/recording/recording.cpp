#include "kernels/recording/recording.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "kernels/model/fits.h"

namespace attn {

std::string_view name_of(Order o) {
  switch (o) {
    case Order::naive:
      return "naive";
    case Order::tiled:
      return "tiled";
    case Order::flash:
      return "flash";
    case Order::flash1:
      return "flash-1";
  }
  return "";
}

std::string_view name_of(Phase p) {
  static constexpr std::array<std::string_view, kPhases> kNames = {
      "load_q",  "load_kv", "load_k", "load_v", "load_state", "scores",  "mask",        "store_s", "max",
      "rescale", "weights", "sum",    "output", "normalise",  "store_o", "store_state", "skipped"};
  return kNames[static_cast<std::size_t>(p)];
}

std::string_view name_of(Slot s) {
  static constexpr std::array<std::string_view, kSlots> kNames = {
      "q", "k", "v", "s", "p", "m_old", "m_new", "alpha", "l_old", "l_new", "o_old", "o_new", "lse"};
  return kNames[static_cast<std::size_t>(s)];
}

std::vector<EventIndex> Recording::events_of(std::int32_t b, std::int32_t h, std::int32_t i) const {
  std::vector<EventIndex> found;
  for (std::int32_t j = -1; j < key_tiles(); ++j) {
    for (std::size_t phase = 0; phase < kPhases; ++phase) {
      if (const auto e = find({b, h, i, j, static_cast<Phase>(phase)})) found.push_back(*e);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::int32_t Recording::query_tiles() const {
  const auto br = std::min<std::int64_t>(options.br, problem.Lq);
  return static_cast<std::int32_t>((problem.Lq + br - 1) / br);
}

std::int32_t Recording::key_tiles() const {
  const auto bc = std::min<std::int64_t>(options.bc, problem.Lk);
  return static_cast<std::int32_t>((problem.Lk + bc - 1) / bc);
}

std::span<const float> Recording::values(VersionId v) const {
  const Version& x = versions[v];
  return std::span<const float>(arena).subspan(x.offset,
                                               static_cast<std::size_t>(x.rows) * static_cast<std::size_t>(x.cols));
}

VersionId Recording::before(EventIndex e, Slot s) const {
  return e == 0 ? kNoVersion : after(e - 1, s);
}

namespace {
// One column a phase, and one more for `skipped` of pass 2.
constexpr std::size_t kColumns = kPhases + 1;
}  // namespace

std::size_t Recording::index_of(const EventId& id, std::int32_t pass) const {
  const auto ti = static_cast<std::size_t>(query_tiles()) + 1;
  const auto tj = static_cast<std::size_t>(key_tiles()) + 1;
  const auto head =
      static_cast<std::size_t>(id.b) * static_cast<std::size_t>(problem.Hq) + static_cast<std::size_t>(id.h);
  const std::size_t column = id.phase == Phase::skipped && pass == 2 ? kPhases : static_cast<std::size_t>(id.phase);
  return ((head * ti + static_cast<std::size_t>(id.i + 1)) * tj + static_cast<std::size_t>(id.j + 1)) * kColumns +
         column;
}

void Recording::build_index() {
  const auto tiles = (static_cast<std::size_t>(query_tiles()) + 1) * (static_cast<std::size_t>(key_tiles()) + 1);
  index_.assign(static_cast<std::size_t>(problem.B * problem.Hq) * tiles * kColumns, kNoEvent);
  for (EventIndex e = 0; e < events.size(); ++e) index_[index_of(events[e].id, events[e].pass)] = e;
}

std::optional<EventIndex> Recording::find(const EventId& id, std::int32_t pass) const {
  const bool inside = id.b >= 0 && id.b < problem.B && id.h >= 0 && id.h < problem.Hq && id.i >= -1 &&
                      id.i < query_tiles() && id.j >= -1 && id.j < key_tiles();
  if (!inside) return std::nullopt;
  const EventIndex e = index_[index_of(id, pass)];
  if (e == kNoEvent) return std::nullopt;
  return e;
}

VersionId Recording::tile_version(Slot s, std::int32_t b, std::int32_t h, std::int32_t i, std::int32_t j,
                                  EventIndex e) const {
  const auto made = [&](Phase phase) -> VersionId {
    const std::optional<EventIndex> at = find({b, h, i, j, phase});
    return at && *at <= e ? after(*at, s) : kNoVersion;
  };
  switch (s) {
    case Slot::s: {
      const VersionId masked = made(Phase::mask);
      if (masked != kNoVersion) return masked;
      const VersionId scores = made(Phase::scores);
      return scores != kNoVersion ? scores : made(Phase::skipped);
    }
    case Slot::p:
      return made(Phase::weights);
    case Slot::m_new:
      return made(Phase::max);
    case Slot::alpha:
      return made(Phase::rescale);
    case Slot::l_new:
      return made(Phase::sum);
    case Slot::o_new:
      return made(Phase::output);
    default:
      return kNoVersion;
  }
}

std::uint64_t Recording::bytes() const {
  std::uint64_t total = sizeof(Recording) + arena.size() * sizeof(float) + events.size() * sizeof(Event) +
                        versions.size() * sizeof(Version) + index_.size() * sizeof(EventIndex);
  for (const Array* a : {&inputs.q, &inputs.k, &inputs.v, &outputs.out, &outputs.lse}) total += a->bytes();
  return total + (inputs.bias ? inputs.bias->bytes() : 0);
}

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
};

// One (i, j) tile of the given cover.
void count_tile(Order order, const Extents& x, bool masked, bool skipped, Count& n) {
  const double s = x.rows * x.cols;
  const double o = x.rows * x.Dv;
  const double mask = masked ? 1 : 0;
  switch (order) {
    case Order::flash:
    case Order::flash1: {
      if (skipped) return n.add(1, 0, 0);
      const double around = order == Order::flash ? 1 : 2;  // load_kv; load_state and store_state
      return n.add(6 + mask + around, 6 + mask, s * (2 + mask) + 3 * x.rows + o);
    }
    case Order::naive:
    case Order::tiled: {
      const double softmax_floats = 2 * x.rows + s;
      if (skipped) return n.add(2 + 3, 1 + 3, s + softmax_floats);
      const double load_q = order == Order::tiled ? 1 : 0;
      return n.add(load_q + 3 + mask + 3 + 2, 1 + mask + 3 + 1, s * (1 + mask) + softmax_floats + o);
    }
  }
}

// Once a query tile.
void count_row_tile(Order order, const Extents& x, Count& n) {
  const double o = x.rows * x.Dv;
  const double start = x.rows * x.D + 2 * x.rows + o;  // Q, m, l, O before the first key tile
  const double end = x.rows + (x.narrow ? o : 0);      // LSE, O in the dtype
  const double rounded = x.narrow ? 1 : 0;
  switch (order) {
    case Order::flash:
      return n.add(3, 4 + 2 + rounded, start + end + o);
    case Order::flash1:
      return n.add(1, 4 + 1 + rounded, start + end);
    case Order::naive:
      return n.add(2, 4 + 1 + rounded, start + end);
    case Order::tiled:
      return n.add(1, 4 + 1 + rounded, start + end);
  }
}

Extents extents_of(const Problem& p, double rows, double cols) {
  return {rows, cols, static_cast<double>(p.D), static_cast<double>(p.Dv), p.dtype != DType::f32};
}

// Beyond this many tiles no recording fits, and every tile counts as whole and visible.
constexpr double kTilesWorthAWalk = 600000;

Count count_heads(Order order, const Problem& p, std::int64_t br, std::int64_t bc, std::int64_t ti, std::int64_t tj) {
  Count n;
  for (std::int64_t b = 0; b < p.B; ++b) {
    Count head;
    for (std::int64_t i = 0; i < ti; ++i) {
      const std::int64_t r0 = i * br;
      const std::int64_t r1 = std::min(p.Lq, r0 + br);
      count_row_tile(order, extents_of(p, static_cast<double>(r1 - r0), 0), head);
      for (std::int64_t j = 0; j < tj; ++j) {
        const std::int64_t c0 = j * bc;
        const std::int64_t c1 = std::min(p.Lk, c0 + bc);
        const TileCover cover = p.cover(b, r0, r1, c0, c1);
        count_tile(order, extents_of(p, static_cast<double>(r1 - r0), static_cast<double>(c1 - c0)),
                   p.has_bias() || cover != TileCover::full, cover == TileCover::skipped && order != Order::naive,
                   head);
      }
    }
    if (order == Order::flash1) head.add(static_cast<double>(tj), 0, 0);
    n.add(head.events * static_cast<double>(p.Hq), head.versions * static_cast<double>(p.Hq),
          head.floats * static_cast<double>(p.Hq));
  }
  return n;
}

Count count_whole(Order order, const Problem& p, std::int64_t br, std::int64_t bc, std::int64_t ti, std::int64_t tj) {
  Count tile;
  Count row;
  const auto rows = static_cast<double>(br);
  const auto cols = static_cast<double>(bc);
  count_tile(order, extents_of(p, rows, cols), p.has_bias(), false, tile);
  count_row_tile(order, extents_of(p, rows, 0), row);
  const double heads = static_cast<double>(p.B) * static_cast<double>(p.Hq);
  const double row_tiles = heads * static_cast<double>(ti);
  const double tiles = row_tiles * static_cast<double>(tj);
  return {tile.events * tiles + row.events * row_tiles, tile.versions * tiles + row.versions * row_tiles,
          tile.floats * tiles + row.floats * row_tiles};
}

double elements(double a, double b, double c, double d) {
  return a * b * c * d;
}

}  // namespace

std::uint64_t recording_bytes(Order order, const Problem& p, const Options& resolved) {
  const auto br = std::min<std::int64_t>(resolved.br, p.Lq);
  const auto bc = std::min<std::int64_t>(resolved.bc, p.Lk);
  const std::int64_t ti = (p.Lq - 1) / br + 1;
  const std::int64_t tj = (p.Lk - 1) / bc + 1;
  const auto heads = static_cast<double>(p.B) * static_cast<double>(p.Hq);
  const double tiles = heads * static_cast<double>(ti) * static_cast<double>(tj);
  Count n = tiles <= kTilesWorthAWalk ? count_heads(order, p, br, bc, ti, tj) : count_whole(order, p, br, bc, ti, tj);
  const auto B = static_cast<double>(p.B);
  const auto D = static_cast<double>(p.D);
  const auto Dv = static_cast<double>(p.Dv);
  const auto Lq = static_cast<double>(p.Lq);
  const auto Lk = static_cast<double>(p.Lk);
  const auto Hq = static_cast<double>(p.Hq);
  const auto Hkv = static_cast<double>(p.Hkv);
  // K and V tiles, shared by all query tiles and heads.
  n.add(0, 2 * B * Hkv * static_cast<double>(tj), elements(B, Hkv, Lk, D + Dv));
  const auto e = static_cast<double>(size_of(p.dtype));
  double arrays = e * (elements(B, Hq, Lq, D + Dv) + elements(B, Hkv, Lk, D + Dv)) + 4 * B * Hq * Lq;
  if (p.has_bias()) {
    arrays += 4 * elements(static_cast<double>(p.bias_shape[0]), static_cast<double>(p.bias_shape[1]),
                           static_cast<double>(p.bias_shape[2]), static_cast<double>(p.bias_shape[3]));
  }
  const double index =
      heads * (static_cast<double>(ti) + 1) * (static_cast<double>(tj) + 1) * static_cast<double>(kColumns) * 4;
  const double total = sizeof(Recording) + n.floats * sizeof(float) + n.events * sizeof(Event) +
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
      fmt::format("a recording of {} with tile {}x{} would take {}, above the cap of {}; {}", describe(p), resolved.br,
                  resolved.bc, format_bytes(bytes), format_bytes(kRecordingLimit),
                  low > 0 ? fmt::format("L = {} fits with these heads and this tile, or choose a larger tile", low)
                          : std::string("fewer batches or heads, a smaller D or a larger tile would fit")));
}

namespace {

// What stands for a phase in an order that lacks it: the phases that bring or make the same tensor, best first.
std::span<const Phase> stand_ins(Phase phase) {
  using enum Phase;
  static constexpr Phase kLoadQ[] = {load_q, load_state};
  static constexpr Phase kLoadK[] = {load_kv, load_k};
  static constexpr Phase kLoadV[] = {load_v, load_kv};
  static constexpr Phase kLoadState[] = {load_state, load_q};
  static constexpr Phase kScores[] = {mask, scores};
  static constexpr Phase kRescale[] = {rescale, max};
  static constexpr Phase kEnd[] = {store_state, output};
  static constexpr Phase kNormalise[] = {normalise, store_o, output};
  static constexpr Phase kSkipped[] = {skipped, mask, scores};
  switch (phase) {
    case load_q:
      return kLoadQ;
    case load_k:
    case load_kv:
      return kLoadK;
    case load_v:
      return kLoadV;
    case load_state:
      return kLoadState;
    case mask:
    case store_s:
      return kScores;
    case rescale:
      return kRescale;
    case store_state:
      return kEnd;
    case normalise:
      return kNormalise;
    case skipped:
      return kSkipped;
    default:
      return {};
  }
}

// The event of a stand-in at the same tile; orders differ in whether a load has a query or a key tile.
std::optional<EventIndex> find_stand_in(const Recording& to, const EventId& want, std::int32_t pass) {
  const std::int32_t some_i = std::max(want.i, 0), some_j = std::max(want.j, 0);
  for (const Phase phase : stand_ins(want.phase)) {
    for (const auto& [i, j] : {std::pair{want.i, want.j}, {want.i, -1}, {-1, want.j}, {some_i, some_j}}) {
      if (const auto e = to.find({want.b, want.h, i, j, phase})) return e;
    }
    // K and V of a tile that the first query tiles skip: where they are first wanted.
    for (std::int32_t i = 0; want.i < 0 && i < to.query_tiles(); ++i) {
      if (const auto e = to.find({want.b, want.h, i, want.j, phase})) return e;
    }
  }
  // An order that skips the tile has nothing else of it.
  const EventId skipped{want.b, want.h, want.i, want.j, Phase::skipped};
  const auto e = to.find(skipped, pass);
  return e ? e : to.find(skipped);
}

}  // namespace

EventIndex nearest_event(const Recording& from, EventIndex e, const Recording& to) {
  const Event& here = from.events[e];
  EventId want = here.id;
  want.b = std::min<std::int32_t>(want.b, static_cast<std::int32_t>(to.problem.B) - 1);
  want.h = std::min<std::int32_t>(want.h, static_cast<std::int32_t>(to.problem.Hq) - 1);
  const auto tile_in = [](std::int32_t index, std::int64_t from_extent, std::int64_t to_extent, std::int32_t tiles) {
    if (index < 0) return index;
    const std::int64_t at = index * from_extent / std::max<std::int64_t>(1, to_extent);
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(at, 0, tiles - 1));
  };
  want.i = tile_in(here.id.i, from.options.br, to.options.br, to.query_tiles());
  want.j = tile_in(here.id.j, from.options.bc, to.options.bc, to.key_tiles());
  if (const auto same = to.find(want, here.pass)) return *same;
  if (const auto stand_in = find_stand_in(to, want, here.pass)) return *stand_in;
  // Else the event nearest in tile, then in phase.
  EventIndex best = 0;
  std::int64_t min = std::numeric_limits<std::int64_t>::max();
  const auto phases = static_cast<std::int64_t>(kPhases);
  for (EventIndex x = 0; x < to.events.size(); ++x) {
    const EventId& id = to.events[x].id;
    const std::int64_t head = std::abs(id.b - want.b) + std::abs(id.h - want.h);
    const std::int64_t tile = std::abs(id.i - want.i) + std::abs(id.j - want.j);
    const std::int64_t phase = std::abs(static_cast<std::int64_t>(id.phase) - static_cast<std::int64_t>(want.phase));
    const std::int64_t distance = (head * 4096 + tile) * phases * 2 + phase;
    if (distance < min) {
      min = distance;
      best = x;
    }
  }
  return best;
}

}  // namespace attn
