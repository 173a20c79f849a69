#include "kernels/recording/recording.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "kernels/base/pieces.h"
#include "kernels/model/options.h"
#include "kernels/model/order_row.h"
#include "kernels/model/problem/tensors.h"
#include "kernels/model/ring.h"

namespace attn {
namespace {

// What an event costs in a table, in multiply-adds.
constexpr std::int64_t kPerEvent = 64, kPerLane = 1024;
constexpr double kLog2E = 1.4426950408889634, kLn2 = 0.6931471805599453;

// Beyond the phases that order.h names.
bool is_own(Phase phase) {
  return static_cast<std::size_t>(phase) >= kPhases;
}

}  // namespace

std::vector<EventIndex> Recording::events_of(std::int32_t b, std::int32_t h, std::int32_t i) const {
  std::vector<EventIndex> found;
  for (std::int32_t j = -1; j < key_tiles(); ++j) {
    for (const OrderPhase& phase : order_row(order).phases) {
      if (const auto e = find({b, h, i, j, phase.phase})) found.push_back(*e);
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
  if (e < previous_.size()) return previous_[e] == kNoEvent ? kNoVersion : after(previous_[e], s);
  return e == 0 ? kNoVersion : after(e - 1, s);
}

std::optional<std::int64_t> Recording::lane_of(EventIndex e) const {
  const EventId& id = events[e].id;
  const auto phase = static_cast<std::size_t>(id.phase);
  const OrderRow& row = order_row(order);
  if (row.abreast == Abreast::ranks && (id.i >= 0 || id.j >= 0)) {
    const Ring ring = ring_of(options, query_tiles(), key_tiles());
    return id.i >= 0 ? ring.rank_of_queries(id.i) : ring.rank_of_chunk(ring.keys().of_tile(id.j));
  }
  if (phase >= row.in_lane.size() || !row.in_lane[phase]) return std::nullopt;
  if (row.abreast == Abreast::rows) return id.i;
  if (row.abreast != Abreast::parts || id.j < 0 || id.j >= key_tiles()) return std::nullopt;
  return KeyParts{key_tiles(), splits_of(options)}.of_tile(id.j);
}

void Recording::build_lanes() {
  WalkMark mark;
  mark.go_on([&] { build_lanes(mark); }, {});
}

void Recording::build_lanes(WalkMark& mark) {
  using Lane = std::tuple<std::int32_t, std::int32_t, std::int32_t, std::int64_t>;
  mark.once([&] { previous_.clear(); });
  if (order_row(order).abreast == Abreast::none) return;
  auto& last = mark.kept<std::map<Lane, EventIndex>>();
  // Key tile outside: a rank's sums pass from query tile to query tile, of all heads that share the keys.
  const bool of_keys = order_row(order).keys_outside;
  const auto count = static_cast<std::int64_t>(events.size());
  mark.blocks(count, kPerLane, [&](std::int64_t first, std::int64_t n) {
    previous_.reserve(events.size());
    for (auto e = static_cast<EventIndex>(first); e < first + n; ++e) {
      const auto lane = lane_of(e);
      previous_.push_back(e == 0 ? kNoEvent : e - 1);
      if (!lane) continue;
      const EventId& id = events[e].id;
      const auto head = of_keys ? static_cast<std::int32_t>(problem.kv_head(id.h)) : id.h;
      const auto [at, is_first] = last.try_emplace({id.b, head, of_keys ? -1 : id.i, *lane}, e);
      previous_[e] = is_first ? kNoEvent : at->second;
      at->second = e;
    }
  });
}

VersionId Recording::own_slot_after(EventIndex e, Slot s) const {
  const OrderRow& row = order_row(order);
  const auto column = row.own(s);
  const std::size_t at = e * row.own_slots.size() + column.value_or(0);
  return column && at < own_after.size() ? own_after[at] : kNoVersion;
}

std::size_t Recording::index_columns(Order order) {
  return kPhases + 1 + order_row(order).own_phases.size();
}

std::size_t Recording::index_of(const EventId& id, std::int32_t pass) const {
  const auto ti = static_cast<std::size_t>(query_tiles()) + 1;
  const auto tj = static_cast<std::size_t>(key_tiles()) + 1;
  const auto head =
      static_cast<std::size_t>(id.b) * static_cast<std::size_t>(problem.Hq) + static_cast<std::size_t>(id.h);
  std::size_t column = id.phase == Phase::skipped && pass == 2 ? kPhases : static_cast<std::size_t>(id.phase);
  if (is_own(id.phase)) column = kPhases + 1 + order_row(order).own(id.phase).value_or(0);
  return ((head * ti + static_cast<std::size_t>(id.i + 1)) * tj + static_cast<std::size_t>(id.j + 1)) * index_columns_ +
         column;
}

void Recording::build_index() {
  WalkMark mark;
  mark.go_on([&] { build_index(mark); }, {});
}

void Recording::build_index(WalkMark& mark) {
  build_lanes(mark);
  const auto tiles = (static_cast<std::int64_t>(query_tiles()) + 1) * (static_cast<std::int64_t>(key_tiles()) + 1);
  mark.once([&] {
    index_columns_ = index_columns(order);
    index_.clear();
    index_.reserve(static_cast<std::size_t>(problem.B * problem.Hq * tiles) * index_columns_);
  });
  mark.blocks(problem.B * problem.Hq * tiles, static_cast<std::int64_t>(index_columns_), [&](std::int64_t, auto n) {
    index_.resize(index_.size() + static_cast<std::size_t>(n) * index_columns_, kNoEvent);
  });
  mark.blocks(static_cast<std::int64_t>(events.size()), kPerEvent, [&](std::int64_t first, std::int64_t n) {
    for (auto e = static_cast<EventIndex>(first); e < first + n; ++e)
      index_[index_of(events[e].id, events[e].pass)] = e;
  });
}

std::optional<EventIndex> Recording::find(const EventId& id, std::int32_t pass) const {
  const bool inside = id.b >= 0 && id.b < problem.B && id.h >= 0 && id.h < problem.Hq && id.i >= -1 &&
                      id.i < query_tiles() && id.j >= -1 && id.j < key_tiles() &&
                      (!is_own(id.phase) || order_row(order).own(id.phase));
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
  for (const Phase phase : order_row(order).makers[static_cast<std::size_t>(s)]) {
    if (const VersionId v = made(phase); v != kNoVersion) return v;
  }
  return kNoVersion;
}

std::vector<VersionId> Recording::scores_read(EventIndex e) const {
  const VersionId now = after(e, Slot::s) != kNoVersion ? after(e, Slot::s) : before(e, Slot::s);
  if (!gpu || !gpu->cut) return {now};
  const EventId& id = events[e].id;
  std::vector<VersionId> all;
  all.reserve(static_cast<std::size_t>(key_tiles()));
  for (std::int32_t j = 0; j < key_tiles(); ++j) all.push_back(tile_version(Slot::s, id.b, id.h, id.i, j, e));
  std::erase(all, kNoVersion);
  return all;
}

std::vector<std::pair<VersionId, VersionId>> Recording::factors_read(EventIndex e) const {
  if (!gpu || !gpu->cut) {
    const auto live = [&](Slot s) { return after(e, s) != kNoVersion ? after(e, s) : before(e, s); };
    return {{live(Slot::p), live(Slot::v)}};
  }
  const EventId& id = events[e].id;
  std::vector<std::pair<VersionId, VersionId>> all;
  for (std::int32_t j = 0; j < key_tiles(); ++j) {
    const auto loaded = find({id.b, id.h, id.i, j, Phase::load_v});
    if (loaded && *loaded <= e) all.emplace_back(after(*loaded, Slot::p), after(*loaded, Slot::v));
  }
  return all;
}

double Recording::factor_of_product(const Holds& holds) const {
  const double scale = problem.effective_scale(), unit = holds.base2 ? kLog2E : 1;
  if (holds.scaled) return scale * unit;
  if (!gpu || !gpu->sign_in_q) return unit;
  return scale == 0 ? 0 : std::copysign(unit, scale);
}

double Recording::factor_to_formula(const Holds& holds) const {
  const double scale = problem.effective_scale(), unit = holds.base2 ? kLn2 : 1;
  if (holds.scaled) return unit;
  if (!gpu || !gpu->sign_in_q) return scale * unit;
  return scale == 0 ? unit : std::fabs(scale) * unit;
}

std::uint64_t Recording::bytes() const {
  std::uint64_t total = sizeof(Recording) + arena.size() * sizeof(float) + events.size() * sizeof(Event) +
                        versions.size() * sizeof(Version) + index_.size() * sizeof(EventIndex) +
                        own_after.size() * sizeof(VersionId) + previous_.size() * sizeof(EventIndex);
  const ByTensor<const Array*> given = arrays_of(inputs), made = arrays_of(outputs);
  for (std::size_t n = 0; n < kTensors; ++n) {
    for (const Array* a : {given[static_cast<Tensor>(n)], made[static_cast<Tensor>(n)]})
      total += a != nullptr ? a->bytes() : 0;
  }
  return total + (gpu ? gpu->makers.size() * sizeof(Maker) : 0);
}

namespace {

// The event of a stand-in at the same tile; orders differ in whether a load has a query or a key tile.
std::optional<EventIndex> find_stand_in(const Recording& to, const EventId& want, std::int32_t pass) {
  const std::int32_t some_i = std::max(want.i, 0), some_j = std::max(want.j, 0);
  for (const Phase phase : phase_name(want.phase).elsewhere) {
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
  const auto phases = static_cast<std::int64_t>(phase_count());
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
