#include "profiling/timeline/what_if.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/recording/pipeline_replay.h"
#include "profiling/figures/statistics.h"

namespace attn {
namespace {

constexpr double kSurelyWaited = 64;  // clocks, beside thrice an open door: a wait that ended when the copy came
constexpr double kLeastOfProduct = 1, kMostOfProduct = 1.7, kMostOff = 0.02;
constexpr std::int64_t kLong = 128;     // clocks: longer than two stamps of one moment lie apart
constexpr std::size_t kLeastWaits = 6;  // copies that were waited for: from fewer nothing is told

double at_share(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return quantile(values, share);
}

struct SeenCopy {
  double took = 0;  // from its request to its first reader
  bool waited_for = false;
};

// From the longest on, each that was waited for takes its part of what is left; 0: half is never reached.
double median_of(std::vector<SeenCopy> copies) {
  std::ranges::sort(copies, std::ranges::greater(), &SeenCopy::took);
  double left = 1;
  for (std::size_t n = 0; n < copies.size(); ++n) {
    if (!copies[n].waited_for) continue;
    left *= 1 - 1 / static_cast<double>(copies.size() - n);
    if (left <= 0.5) return copies[n].took;
  }
  return 0;
}

struct Recorded {
  PipelineLanes lanes;
  PipelineRules rules;  // but for the time of a product
  double length = 0;
  double product = 0;   // clocks of the tensor cores at their full rate
  double shortest = 0;  // copy, at most: of all
  bool good = false;    // but for its copies
};

class Reading {
 public:
  Reading(const Timeline& t, const Pipeline& p) : t_(t), p_(p) {}

  Recorded read() {
    constexpr double kRate = 4096;  // FLOP a clock of an SM, both 16-bit types
    r_.length = static_cast<double>(p_.length());
    r_.product = 2.0 * 64 * t_.options.bc * static_cast<double>(std::max(t_.problem.D, t_.problem.Dv)) / kRate;
    auto& lanes = r_.lanes.lanes;
    for (std::size_t l = 0; l < p_.lanes.size(); ++l) {
      const TimelineLane& lane = t_.lanes[p_.lanes[l]];
      const bool copies = lane.kind == LaneKind::producer && lane.index == 0;
      if (!copies && lane.kind != LaneKind::consumer) continue;
      lanes.emplace_back();
      for (const LaneInterval& i : p_.intervals[l]) lanes.back().push_back(step_of(i, copies));
    }
    r_.lanes.part_products();
    find_doors();
    find_copy();
    r_.rules.slots = t_.options.stages;
    r_.rules.passed_at_return = turns_pass_at_return();
    r_.good = lanes.size() >= 2 && r_.product > 0 && t_.options.stages > 0;
    return std::move(r_);
  }

 private:
  std::string_view tag_of(const LaneInterval& i) const { return t_.tags[static_cast<std::size_t>(i.tag)]; }

  LaneStep step_of(const LaneInterval& i, bool copies) const {
    const std::string_view tag = tag_of(i);
    const LaneState& state = lane_state(tag);
    LaneStep step;
    step.took = static_cast<double>(i.length());
    step.of_v = state.of == StateOf::v || state.of == StateOf::o;
    const bool keys = state.of == StateOf::k || state.of == StateOf::v;
    const bool product = state.of == StateOf::s || state.of == StateOf::o;
    if (tag == "hand on") step.what = LaneDo::hand_on;
    if (tag == "next tile") step.what = LaneDo::give_tile;
    if (tag == "wait tile") step.what = LaneDo::wait_tile;
    if (state.kind == StateKind::wait && state.of == StateOf::turn) step.what = LaneDo::wait_turn;
    if (state.kind == StateKind::wait && keys) step.what = copies ? LaneDo::wait_slot : LaneDo::wait_copy;
    if (state.kind == StateKind::wait && product) step.what = LaneDo::wait_product;
    if (state.kind == StateKind::flight && keys) step.what = LaneDo::ask;
    if (state.kind == StateKind::flight && product) step.what = LaneDo::issue;
    return step;
  }

  void find_doors() {
    const auto open = [&](LaneDo what) {
      std::vector<double> took;
      for (const auto& lane : r_.lanes.lanes)
        for (const LaneStep& step : lane)
          if (step.what == what) took.push_back(step.took);
      return at_share(std::move(took), 0.1);
    };
    r_.lanes.open_copy = open(LaneDo::wait_copy);
    r_.lanes.open_slot = open(LaneDo::wait_slot);
    r_.lanes.open_turn = open(LaneDo::wait_turn);
  }

  // A consumer that has its turn long before the S of another has come got it when that was handed over.
  bool turns_pass_at_return() const {
    for (std::size_t l = 0; l < p_.lanes.size(); ++l)
      for (const LaneInterval& i : p_.intervals[l]) {
        if (lane_state(tag_of(i)).of != StateOf::turn) continue;
        for (const Product& x : p_.products)
          if (!x.of_o && x.lane != p_.lanes[l] && x.committed <= i.to && i.to + kLong < x.returned) return false;
      }
    return true;
  }

  // Whether its first reader stood and waited until it came.
  bool was_waited_for(const SlotUse& use) const {
    const auto first = std::ranges::find(use.readers, use.landed, &SlotReader::from);
    if (first == use.readers.end()) return false;
    const auto lane = std::ranges::find(p_.lanes, first->lane) - p_.lanes.begin();
    const auto& all = p_.intervals[static_cast<std::size_t>(lane)];
    const auto wait = std::ranges::lower_bound(all, use.landed, {}, &LaneInterval::to);
    return wait != all.end() && static_cast<double>(wait->length()) >= 3 * r_.lanes.open_copy + kSurelyWaited;
  }

  void find_copy() {
    std::vector<SeenCopy> copies;
    copies.reserve(p_.slots.size());
    for (const SlotUse& use : p_.slots)
      copies.push_back({static_cast<double>(use.landed - use.asked), was_waited_for(use)});
    for (const SeenCopy& copy : copies) r_.shortest = r_.shortest > 0 ? std::min(r_.shortest, copy.took) : copy.took;
    if (static_cast<std::size_t>(std::ranges::count(copies, true, &SeenCopy::waited_for)) >= kLeastWaits)
      r_.rules.copy = median_of(std::move(copies));
  }

  const Timeline& t_;
  const Pipeline& p_;
  Recorded r_;
};

struct Explained {
  PipelineRules rules;
  double end = 0;  // clocks, of the block run again
};

// Empty where no time of a product makes of the rules what was recorded.
std::optional<Explained> explained(const Recorded& r, const PipelineRules& of) {
  const auto rules =
      with_fitted_product(r.lanes, of, r.length, kLeastOfProduct * r.product, kMostOfProduct * r.product);
  if (!rules) return std::nullopt;
  const auto base = replay_pipeline(r.lanes, *rules);
  if (!base || std::fabs(end_of(*base) / r.length - 1) > kMostOff) return std::nullopt;
  return Explained{*rules, end_of(*base)};
}

// One before each S that a consumer hands over, in however many parts.
void add_turns(std::vector<LaneStep>& lane) {
  std::vector<LaneStep> with;
  with.reserve(lane.size());
  bool handed_over = false;
  for (const LaneStep& step : lane) {
    const bool of_s = !step.of_v;
    if (step.what == LaneDo::issue && of_s && !std::exchange(handed_over, true)) with.push_back({LaneDo::wait_turn});
    if (step.what == LaneDo::wait_product && of_s) handed_over = false;
    with.push_back(step);
  }
  lane = std::move(with);
}

}  // namespace

std::optional<double> with_slots(const Timeline& t, const Pipeline& p, std::int32_t slots) {
  const Recorded r = Reading(t, p).read();
  if (!r.good || r.rules.copy <= 0 || slots < 2) return std::nullopt;
  const auto base = explained(r, r.rules);
  if (!base) return std::nullopt;
  PipelineRules rules = base->rules;
  rules.slots = slots;
  const auto then = replay_pipeline(r.lanes, rules);
  if (!then) return std::nullopt;
  return end_of(*then) / base->end;
}

std::optional<double> with_turns(const Timeline& t, const Pipeline& p) {
  Recorded r = Reading(t, p).read();
  if (!r.good || r.lanes.lanes.size() < 3) return std::nullopt;
  for (const auto& lane : r.lanes.lanes)
    if (std::ranges::find(lane, LaneDo::wait_turn, &LaneStep::what) != lane.end()) return std::nullopt;
  // Where nobody waits for copies, they are there in time whatever they take.
  if (r.rules.copy <= 0) r.rules.copy = r.shortest;
  const auto base = explained(r, r.rules);
  if (!base) return std::nullopt;
  PipelineLanes lanes = r.lanes;
  for (auto& lane : lanes.lanes) add_turns(lane);
  const auto then = replay_pipeline(lanes, base->rules);
  if (!then) return std::nullopt;
  return end_of(*then) / base->end;
}

std::optional<double> copy_of(const Timeline& t, const Pipeline& p) {
  const double copy = Reading(t, p).read().rules.copy;
  return copy > 0 ? std::optional(copy) : std::nullopt;
}

std::optional<TurnFacts> turns_of(const Timeline& t, const Pipeline& p) {
  std::int64_t waits = 0, consumers = 0;
  std::vector<std::pair<std::int64_t, int>> edges;  // of exponentials: where one more or one fewer computes them
  bool turns = false;
  for (std::size_t l = 0; l < p.lanes.size(); ++l) {
    if (t.lanes[p.lanes[l]].kind != LaneKind::consumer) continue;
    ++consumers;
    for (const LaneInterval& i : p.intervals[l]) {
      const LaneState& state = lane_state(t.tags[static_cast<std::size_t>(i.tag)]);
      if (state.of == StateOf::turn) turns = true, waits += i.length();
      if (state.of != StateOf::p || i.length() <= 0) continue;
      edges.emplace_back(i.from, 1);
      edges.emplace_back(i.to, -1);
    }
  }
  if (!turns || consumers < 2 || p.length() <= 0) return std::nullopt;
  std::ranges::sort(edges);
  std::int64_t together = 0, since = 0;
  int at_once = 0;
  for (const auto& [at, change] : edges) {
    if (at_once > 1) together += at - since;
    at_once += change;
    since = at;
  }
  const auto length = static_cast<double>(p.length());
  return TurnFacts{static_cast<double>(waits) / (length * static_cast<double>(consumers)),
                   static_cast<double>(together) / length};
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
