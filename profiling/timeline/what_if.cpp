#include "profiling/timeline/what_if.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <string_view>
#include <vector>

#include "profiling/figures/statistics.h"

namespace attn {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kHandOver = 30;      // clocks from an arrival to who waits for it
constexpr double kSurelyWaited = 64;  // clocks, beside thrice an open door: a wait that ended when the copy came
constexpr double kLeastOfProduct = 1, kMostOfProduct = 1.7, kMostOff = 0.02;
constexpr std::size_t kLeastWaits = 6;  // copies that were waited for: from fewer nothing is told

enum class Do : std::uint8_t { own, wait_slot, ask, wait_copy, issue, wait_product, give_tile, wait_tile, hand_on };
struct Step {
  Do what = Do::own;
  bool of_v = false;  // else of K, or of S
  double took = 0;
  double share = 1;  // of a product that is handed over in parts
};

double at_share(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return quantile(values, share);
}

// What is replayed: the lane that copies K and V first, then the consumers.
struct Recorded {
  std::vector<std::vector<Step>> lanes;
  double length = 0, open_copy = 0, open_slot = 0, copy = 0;
  double product = 0;  // clocks of the tensor cores at their full rate
  std::size_t tiles = 0;
  bool good = false;
};

class Reading {
 public:
  Reading(const Timeline& t, const Pipeline& p) : t_(t), p_(p) {}

  Recorded read() {
    constexpr double kRate = 4096;  // FLOP a clock of an SM, both 16-bit types
    r_.length = static_cast<double>(p_.length());
    r_.product = 2.0 * 64 * t_.options.bc * static_cast<double>(std::max(t_.problem.D, t_.problem.Dv)) / kRate;
    for (std::size_t l = 0; l < p_.lanes.size(); ++l) {
      const TimelineLane& lane = t_.lanes[p_.lanes[l]];
      const bool copies = lane.kind == LaneKind::producer && lane.index == 0;
      if (!copies && lane.kind != LaneKind::consumer) continue;
      r_.lanes.emplace_back();
      for (const LaneInterval& i : p_.intervals[l]) add(r_.lanes.back(), i);
      part_products(r_.lanes.back());
    }
    find_doors();
    find_copy();
    r_.good = r_.lanes.size() >= 2 && r_.product > 0 && t_.options.stages > 0 && r_.copy > 0;
    return std::move(r_);
  }

 private:
  void add(std::vector<Step>& lane, const LaneInterval& i) {
    const std::string_view tag = t_.tags[static_cast<std::size_t>(i.tag)];
    const LaneState& state = lane_state(tag);
    Step step;
    step.took = static_cast<double>(i.length());
    step.of_v = state.of == StateOf::v || state.of == StateOf::o;
    const bool keys = state.of == StateOf::k || state.of == StateOf::v;
    const bool product = state.of == StateOf::s || state.of == StateOf::o;
    if (tag == "hand on") step.what = Do::hand_on;
    if (tag == "next tile") step.what = Do::give_tile, ++r_.tiles;
    if (tag == "wait tile") step.what = Do::wait_tile;
    if (state.kind == StateKind::wait && keys) step.what = r_.lanes.size() == 1 ? Do::wait_slot : Do::wait_copy;
    if (state.kind == StateKind::wait && product) step.what = Do::wait_product;
    if (state.kind == StateKind::flight && keys) step.what = Do::ask;
    if (state.kind == StateKind::flight && product) step.what = Do::issue;
    lane.push_back(step);
  }

  static void part_products(std::vector<Step>& lane) {
    std::vector<Step*> parts[2];
    for (Step& step : lane) {
      if (step.what == Do::issue) parts[step.of_v].push_back(&step);
      if (step.what != Do::wait_product) continue;
      for (Step* part : parts[step.of_v]) part->share = 1 / static_cast<double>(parts[step.of_v].size());
      parts[step.of_v].clear();
    }
  }

  void find_doors() {
    std::vector<double> copies, slots;
    for (const auto& lane : r_.lanes)
      for (const Step& step : lane) {
        if (step.what == Do::wait_copy) copies.push_back(step.took);
        if (step.what == Do::wait_slot) slots.push_back(step.took);
      }
    r_.open_copy = at_share(copies, 0.1);
    r_.open_slot = at_share(slots, 0.1);
  }

  // A copy's time is known where its first reader waited for it.
  void find_copy() {
    std::vector<double> times;
    for (const SlotUse& use : p_.slots)
      for (const SlotReader& reader : use.readers) {
        if (reader.from != use.landed) continue;
        const auto lane = std::ranges::find(p_.lanes, reader.lane) - p_.lanes.begin();
        const auto& all = p_.intervals[static_cast<std::size_t>(lane)];
        const auto wait = std::ranges::lower_bound(all, use.landed, {}, &LaneInterval::to);
        if (wait == all.end() || static_cast<double>(wait->length()) < 3 * r_.open_copy + kSurelyWaited) continue;
        times.push_back(static_cast<double>(use.landed - use.asked));
        break;
      }
    if (times.size() >= kLeastWaits) r_.copy = at_share(std::move(times), 0.5);
  }

  const Timeline& t_;
  const Pipeline& p_;
  Recorded r_;
};

class Replay {
 public:
  Replay(const Recorded& r, std::int32_t slots, double product) : r_(r), slots_(slots), product_(product) {}

  // When the last lane is done; nothing where they wait for each other for ever.
  std::optional<double> run() {
    lanes_.resize(r_.lanes.size());
    while (true) {
      std::size_t next = lanes_.size();
      bool left = false;
      for (std::size_t l = 0; l < lanes_.size(); ++l) {
        if (lanes_[l].at == r_.lanes[l].size()) continue;
        left = true;
        if (ready(l) < kNever && (next == lanes_.size() || lanes_[l].now < lanes_[next].now)) next = l;
      }
      if (!left) break;
      if (next == lanes_.size()) return std::nullopt;
      step(next);
    }
    return std::ranges::max(lanes_, {}, &Lane::now).now;
  }

 private:
  struct Lane {
    std::size_t at = 0, uses = 0, tiles = 0;
    double now = 0;
    std::size_t held[2] = {0, 0};     // the uses of K and V that it reads
    double returns[2] = {0, 0};       // S, O
    std::vector<double> let_go = {};  // of each use when
  };

  // When what the lane waits for has come; never: not known yet.
  double ready(std::size_t l) const {
    const Lane& lane = lanes_[l];
    switch (r_.lanes[l][lane.at].what) {
      case Do::wait_slot: {
        if (asked_.size() < static_cast<std::size_t>(slots_)) return 0;
        const std::size_t before = asked_.size() - static_cast<std::size_t>(slots_);
        double last = 0;
        for (std::size_t c = 1; c < lanes_.size(); ++c)
          last = std::max(last, before < lanes_[c].let_go.size() ? lanes_[c].let_go[before] : kNever);
        return last + kHandOver;
      }
      case Do::wait_copy:
        return lane.uses < asked_.size() ? asked_[lane.uses] + r_.copy : kNever;
      case Do::wait_tile:
        return lane.tiles < given_.size() ? given_[lane.tiles] + kHandOver : kNever;
      default:
        return 0;
    }
  }

  void release(Lane& lane, std::size_t use, double at) {
    if (lane.let_go.size() <= use) lane.let_go.resize(use + 1, kNever);
    lane.let_go[use] = at;
  }

  void step(std::size_t l) {
    Lane& lane = lanes_[l];
    const Step& step = r_.lanes[l][lane.at];
    const double came = ready(l);
    ++lane.at;
    switch (step.what) {
      case Do::wait_slot:
        lane.now = std::max(lane.now + std::min(step.took, r_.open_slot), came);
        break;
      case Do::ask:
        asked_.push_back(lane.now);
        lane.now += step.took;
        break;
      case Do::wait_copy:
        lane.now = std::max(lane.now + std::min(step.took, r_.open_copy), came);
        lane.held[step.of_v] = lane.uses++;
        break;
      case Do::issue:
        tensor_ = std::max(tensor_, lane.now) + product_ * step.share;
        lane.returns[step.of_v] = tensor_;
        lane.now += step.took;
        break;
      case Do::wait_product:
        lane.now = std::max(lane.now + kHandOver, lane.returns[step.of_v]);
        release(lane, lane.held[step.of_v], lane.now);
        break;
      case Do::hand_on:
        lane.now += step.took;
        for (const std::size_t use : lane.held) release(lane, use, lane.now);
        break;
      case Do::give_tile:
        lane.now += step.took;
        given_.push_back(lane.now);
        break;
      case Do::wait_tile:
        lane.now = std::max(lane.now + std::min(step.took, r_.open_copy), came);
        ++lane.tiles;
        break;
      case Do::own:
        lane.now += step.took;
        break;
    }
  }

  const Recorded& r_;
  const std::int32_t slots_;
  const double product_;
  double tensor_ = 0;
  std::vector<double> asked_, given_;  // uses of the ring when they were asked for; query tiles
  std::vector<Lane> lanes_;
};

}  // namespace

std::optional<double> with_slots(const Timeline& t, const Pipeline& p, std::int32_t slots) {
  const Recorded r = Reading(t, p).read();
  if (!r.good || slots < 2) return std::nullopt;
  double least = kLeastOfProduct * r.product, most = kMostOfProduct * r.product;
  constexpr int kHalvings = 16;
  std::optional<double> base;
  for (int n = 0; n < kHalvings; ++n) {
    const double product = (least + most) / 2;
    base = Replay(r, t.options.stages, product).run();
    if (!base) return std::nullopt;
    (*base > r.length ? most : least) = product;
  }
  if (std::fabs(*base / r.length - 1) > kMostOff) return std::nullopt;
  const auto then = Replay(r, slots, (least + most) / 2).run();
  if (!then) return std::nullopt;
  return *then / *base;
}

std::optional<double> with_blocks_that_stay(const Timeline& t, const Pipeline& p) {
  std::map<std::int32_t, std::vector<const TimedBlock*>> blocks;  // of each SM
  for (const TimedBlock& b : t.blocks) blocks[b.sm].push_back(&b);
  std::int64_t first_copy = p.length();
  for (const auto& lane : p.intervals)
    for (const LaneInterval& i : lane)
      if (lane_state(t.tags[static_cast<std::size_t>(i.tag)]).kind == StateKind::flight)
        first_copy = std::min(first_copy, i.from - p.start);
  double all = 0, saved = 0;
  for (auto& [sm, of] : blocks) {
    std::ranges::sort(of, {}, &TimedBlock::start_clock);
    all += static_cast<double>(of.back()->end_clock - of.front()->start_clock);
    for (std::size_t n = 1; n < of.size(); ++n)
      saved += static_cast<double>(std::max<std::int64_t>(0, of[n]->start_clock - of[n - 1]->end_clock) + first_copy);
  }
  if (saved <= 0 || all <= 0) return std::nullopt;
  return 1 - saved / all;
}

}  // namespace attn
