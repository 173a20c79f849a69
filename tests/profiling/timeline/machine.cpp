#include "tests/profiling/timeline/machine.h"

#include <algorithm>
#include <string>
#include <vector>

#include "profiling/timeline/lane_states.h"

namespace attn::test {
namespace {

constexpr std::int64_t kUnknown = -1, kBegin = 1000, kSetUp = 40;

struct Lane {
  std::int64_t now = kBegin + kSetUp;
  int tile = 0, part = 0;
  bool done = false;
  std::vector<TimelineEvent> events;
};

class Run {
 public:
  explicit Run(const Machine& m)
      : m_(m),
        landed_(static_cast<std::size_t>(2 * m.tiles), kUnknown),
        freed_(static_cast<std::size_t>(2 * m.tiles), 0),
        readers_(static_cast<std::size_t>(2 * m.tiles), 0),
        consumers_(static_cast<std::size_t>(m.consumers)) {
    for (const LaneState& state : lane_states()) t_.tags.emplace_back(state.tag);
  }

  Timeline take() {
    mark(producer_, kBegin, "set-up", -1, -1);
    for (Lane& lane : consumers_) mark(lane, kBegin, "set-up", -1, -1);
    while (step()) {
    }
    finish();
    return t_;
  }

 private:
  std::int32_t tag(std::string_view name) const {
    return static_cast<std::int32_t>(std::ranges::find(t_.tags, name) - t_.tags.begin());
  }
  void mark(Lane& lane, std::int64_t at, std::string_view name, int tile, int slot) {
    lane.events.push_back({at, tag(name), tile, slot});
  }
  int slot_of(int use) const { return use % m_.slots; }

  // The lane that goes on first among those that can: one that waits hands nothing over yet.
  bool step() {
    if (ask()) return true;
    Lane* next = nullptr;
    for (Lane& lane : consumers_)
      if (!lane.done && can_go(lane) && (next == nullptr || ready(lane) < ready(*next))) next = &lane;
    if (next == nullptr) return false;
    consume(*next);
    return true;
  }

  bool ask() {
    const int use = producer_.tile;
    if (use == 2 * m_.tiles) return false;
    const int before = use - m_.slots;
    const auto at = static_cast<std::size_t>(std::max(before, 0));
    if (before >= 0 && readers_[at] < m_.consumers) return false;
    const bool v = use % 2 == 1;
    mark(producer_, producer_.now, v ? "wait slot V" : "wait slot K", use / 2, slot_of(use));
    if (before >= 0) producer_.now = std::max(producer_.now, freed_[at]);
    mark(producer_, producer_.now, v ? "ask V" : "ask K", use / 2, slot_of(use));
    landed_[static_cast<std::size_t>(use)] = producer_.now + m_.copy + (use % 3 == 2 ? m_.late : 0);
    producer_.now += m_.issue;
    ++producer_.tile;
    return true;
  }

  bool can_go(const Lane& lane) const {
    if (lane.tile == m_.tiles) return true;
    return landed_[static_cast<std::size_t>(2 * lane.tile + (lane.part == 0 ? 0 : 1))] != kUnknown;
  }

  std::int64_t ready(const Lane& lane) const {
    if (lane.tile == m_.tiles) return lane.now;
    return std::max(lane.now, landed_[static_cast<std::size_t>(2 * lane.tile + lane.part)]);
  }

  std::int64_t multiply(std::int64_t committed) {
    tensor_ = std::max(tensor_, committed) + m_.product;
    return tensor_;
  }
  void free(int use, std::int64_t at) {
    freed_[static_cast<std::size_t>(use)] = std::max(freed_[static_cast<std::size_t>(use)], at);
    ++readers_[static_cast<std::size_t>(use)];
  }

  // Half a key tile: up to P, then P V.
  void consume(Lane& lane) {
    if (lane.tile == m_.tiles) {
      mark(lane, lane.now, "store", -1, -1);
      lane.now += m_.store;
      lane.done = true;
      return;
    }
    const int use = 2 * lane.tile + lane.part, slot = slot_of(use);
    mark(lane, lane.now, lane.part == 0 ? "wait K" : "wait V", lane.tile, slot);
    lane.now = std::max(lane.now, landed_[static_cast<std::size_t>(use)]);
    mark(lane, lane.now, lane.part == 0 ? "issue S" : "issue O", lane.tile, slot);
    lane.now += m_.issue;
    mark(lane, lane.now, lane.part == 0 ? "wait S" : "wait O", lane.tile, slot);
    lane.now = multiply(lane.now);
    free(use, lane.now);
    if (lane.part == 0) {
      mark(lane, lane.now, "maximum", lane.tile, slot);
      mark(lane, lane.now + m_.maximum, "P", lane.tile, -1);
      lane.now += m_.maximum + m_.exponentials;
      lane.part = 1;
    } else {
      lane.part = 0;
      ++lane.tile;
    }
  }

  void add(LaneKind kind, int index, Lane& lane) {
    mark(lane, lane.now, kDoneTag, -1, -1);
    TimelineLane out;
    out.kind = kind;
    out.index = index;
    out.block = 0;
    out.first = static_cast<std::int64_t>(t_.events.size());
    out.count = static_cast<std::int64_t>(lane.events.size());
    t_.lanes.push_back(out);
    t_.events.insert(t_.events.end(), lane.events.begin(), lane.events.end());
  }

  void finish() {
    t_.kernel = "flash_hopper";
    t_.source_hash = "made by hand";
    t_.device = "a machine by its rules";
    t_.problem.Lq = t_.problem.Lk = std::int64_t{128} * m_.tiles;
    t_.problem.D = t_.problem.Dv = 128;
    t_.problem.dtype = DType::f16;
    std::int64_t end = producer_.now;
    for (const Lane& lane : consumers_) end = std::max(end, lane.now);
    const auto ns = [&](std::int64_t clock) {
      return static_cast<std::int64_t>(static_cast<double>(clock - kBegin) * m_.ns_per_clock);
    };
    t_.grid_blocks = 2;
    t_.sms = {{3, kBegin, 0, m_.ns_per_clock, 40}, {5, kBegin, 0, m_.ns_per_clock, 48}};
    t_.blocks = {{0, 3, 0, ns(end), kBegin, end}, {1, 5, 0, ns(end - 100), kBegin, end - 100}};
    add(LaneKind::producer, 0, producer_);
    for (std::size_t n = 0; n < consumers_.size(); ++n) add(LaneKind::consumer, static_cast<int>(n), consumers_[n]);
    Lane other;
    mark(other, kBegin, "set-up", -1, -1);
    mark(other, kBegin + kSetUp, "tile", 1, -1);
    other.now = end - 200;
    add(LaneKind::consumer, 0, other);
    t_.lanes.back().block = 1;
    t_.plain_us = static_cast<double>(ns(end)) * 1e-3;
    t_.traced_us = t_.plain_us * 1.03;
    t_.launch_us = t_.plain_us;
  }

  const Machine m_;
  Timeline t_;
  Lane producer_;
  std::vector<std::int64_t> landed_, freed_;
  std::vector<int> readers_;
  std::vector<Lane> consumers_;
  std::int64_t tensor_ = 0;
};

}  // namespace

Timeline run(const Machine& m) {
  return Run(m).take();
}

}  // namespace attn::test
