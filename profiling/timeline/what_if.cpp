#include "profiling/timeline/what_if.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
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
constexpr double kMostForQ = 0.03;                    // of the consumers' time: it is kept, and would change
constexpr std::int64_t kLong = 128;                   // clocks: longer than two stamps of one moment lie apart
constexpr double kAsking = 64, kLongestAsking = 320;  // clocks: where every one was a wait; above, one surely was
constexpr std::size_t kLeastWaits = 6;                // copies that were waited for: from fewer nothing is told

double at_share(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return quantile(values, share);
}

struct SeenCopy {
  double took = 0;  // from its request to its first reader
  bool waited_for = false;
};

// The share of copies that take no longer: from the longest on, each that was waited for takes its part of the rest.
class CopyTimes {
 public:
  explicit CopyTimes(std::vector<SeenCopy> copies) {
    std::ranges::sort(copies, std::ranges::greater(), &SeenCopy::took);
    double left = 1;
    for (std::size_t n = 0; n < copies.size(); ++n) {
      if (!copies[n].waited_for) continue;
      steps_.emplace_back(copies[n].took, left);
      left *= 1 - 1 / static_cast<double>(copies.size() - n);
    }
    shortest_ = copies.empty() ? 0 : copies.back().took;
    below_ = left;
  }
  // That so large a share takes no longer than; 0: no copy that short was waited for.
  double at(double share) const {
    double took = 0;
    for (const auto& [of, up_to] : steps_)
      if (share < up_to) took = of;
    return share >= below_ ? took : 0;
  }
  // One of those that take no longer than `most`, by a number between 0 and 1.
  double within(double most, double number) const {
    double share = below_;
    for (const auto& [took, up_to] : steps_)
      if (took <= most) {
        share = up_to;
        break;
      }
    const double took = at(number * share);
    return std::min(most, took > 0 ? took : shortest_);
  }

 private:
  std::vector<std::pair<double, double>> steps_;  // the longest first: what it took, the share that takes no longer
  double below_ = 1, shortest_ = 0;               // the share that is shorter than all that were waited for
};

struct Recorded {
  PipelineLanes lanes;
  PipelineRules rules;  // but for the time of a product
  double length = 0;
  double product = 0;          // clocks of the tensor cores at their full rate
  double shortest = 0;         // copy, at most: of all
  std::vector<double> copies;  // of each use of the ring
  double waits_for_q = 0;      // of the consumers' time
  bool good = false;           // but for its copies
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
    open_copy_ = quick_copy();
    find_asking();
    find_copy();
    r_.waits_for_q = waits_for_q();
    r_.rules.k_until_p = p_.k_until_p;
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

  // What a wait costs where nobody has to wait: by what it is for, since other instructions stand around each. Waits of
  // up to twice the quickest are none, and keep what they took; a longer one would have cost the median of those. Where
  // K is held until P is there, the stamp of "issue S" comes before its turn does: the same goes for it.
  void find_asking() {
    for (const LaneDo what : {LaneDo::wait_copy, LaneDo::wait_slot, LaneDo::wait_turn, LaneDo::issue})
      for (const bool of_v : {false, true}) {
        if (what == LaneDo::issue && (of_v || !p_.k_until_p)) continue;
        take_waits_out(what, of_v);
      }
    r_.lanes.open_copy = r_.lanes.open_slot = r_.lanes.open_turn = std::numeric_limits<double>::max();
  }

  void take_waits_out(LaneDo what, bool of_v) {
    std::vector<LaneStep*> waits;
    for (auto& lane : r_.lanes.lanes)
      for (LaneStep& step : lane)
        if (step.what == what && step.of_v == of_v) waits.push_back(&step);
    if (waits.empty()) return;
    const double most = std::min(2 * (*std::ranges::min_element(waits, {}, &LaneStep::took))->took, kLongestAsking);
    std::vector<double> none;
    for (const LaneStep* step : waits)
      if (step->took <= most) none.push_back(step->took);
    const double usual = none.empty() ? kAsking : at_share(std::move(none), 0.5);
    for (LaneStep* step : waits)
      if (step->took > most) step->took = usual;
  }

  double quick_copy() const {
    std::vector<double> took;
    for (const auto& lane : r_.lanes.lanes)
      for (const LaneStep& step : lane)
        if (step.what == LaneDo::wait_copy) took.push_back(step.took);
    return at_share(std::move(took), 0.1);
  }

  // Of the consumers' time.
  double waits_for_q() const {
    std::int64_t all = 0, waits = 0;
    for (std::size_t l = 0; l < p_.lanes.size(); ++l) {
      if (t_.lanes[p_.lanes[l]].kind != LaneKind::consumer) continue;
      for (const LaneInterval& i : p_.intervals[l]) {
        const LaneState& state = lane_state(tag_of(i));
        all += i.length();
        if (state.kind == StateKind::wait && state.of == StateOf::q) waits += i.length();
      }
    }
    return all > 0 ? static_cast<double>(waits) / static_cast<double>(all) : 0;
  }

  // A consumer that has its turn long before the S of another has come got it when that was handed over. Where S is
  // multiplied once more, the turn has gone on before it returns; that is seldom.
  bool turns_pass_at_return() const {
    std::size_t all = 0, before = 0;
    for (std::size_t l = 0; l < p_.lanes.size(); ++l)
      for (const LaneInterval& i : p_.intervals[l]) {
        if (lane_state(tag_of(i)).of != StateOf::turn) continue;
        ++all;
        before += std::ranges::any_of(p_.products, [&](const Product& x) {
          return !x.of_o && x.lane != p_.lanes[l] && x.committed <= i.to && i.to + kLong < x.returned;
        });
      }
    return 2 * before <= all;
  }

  // Whether its first reader stood and waited until it came.
  bool was_waited_for(const SlotUse& use) const {
    const auto first = std::ranges::find(use.readers, use.landed, &SlotReader::from);
    if (first == use.readers.end()) return false;
    const auto lane = std::ranges::find(p_.lanes, first->lane) - p_.lanes.begin();
    const auto& all = p_.intervals[static_cast<std::size_t>(lane)];
    const auto wait = std::ranges::lower_bound(all, use.landed, {}, &LaneInterval::to);
    return wait != all.end() && static_cast<double>(wait->length()) >= 3 * open_copy_ + kSurelyWaited;
  }

  void find_copy() {
    std::vector<SeenCopy> copies;
    copies.reserve(p_.slots.size());
    for (const SlotUse& use : p_.slots)
      copies.push_back({static_cast<double>(use.landed - use.asked), was_waited_for(use)});
    for (const SeenCopy& copy : copies) r_.shortest = r_.shortest > 0 ? std::min(r_.shortest, copy.took) : copy.took;
    if (static_cast<std::size_t>(std::ranges::count(copies, true, &SeenCopy::waited_for)) < kLeastWaits) return;
    const CopyTimes times(copies);
    r_.rules.copy = times.at(0.5);
    // What is known of a copy stays; one that nobody waited for is one of those that take no longer than was seen. The
    // golden ratio's multiples spread over the shares evenly, and the same at each run.
    constexpr double kGolden = 0.6180339887498949;
    double number = 0;
    for (const SeenCopy& copy : copies) {
      number = std::fmod(number + kGolden, 1);
      r_.copies.push_back(copy.waited_for ? copy.took : times.within(copy.took, number));
    }
  }

  const Timeline& t_;
  const Pipeline& p_;
  Recorded r_;
  double open_copy_ = 0;  // clocks: asking for a copy that is there
};

struct Explained {
  PipelineRules rules;
  double end = 0;  // clocks, of the block run again
};

bool lands(const Recorded& r, double end) {
  return std::fabs(end / r.length - 1) <= kMostOff;
}

// Products wait for each other, each takes one time. Empty where no such time makes of the rules what was recorded.
std::optional<Explained> explained_by_queue(const Recorded& r) {
  const auto rules =
      with_fitted_product(r.lanes, r.rules, r.length, kLeastOfProduct * r.product, kMostOfProduct * r.product);
  if (!rules) return std::nullopt;
  const auto base = replay_pipeline(r.lanes, *rules);
  return base && lands(r, end_of(*base)) ? std::optional(Explained{*rules, end_of(*base)}) : std::nullopt;
}

// Products take what they took. Nothing is fitted.
std::optional<Explained> explained_as_recorded(const Recorded& r) {
  PipelineRules rules = r.rules;
  rules.kept_products = true;
  const auto base = replay_pipeline(r.lanes, rules);
  return base && lands(r, end_of(*base)) ? std::optional(Explained{rules, end_of(*base)}) : std::nullopt;
}

// The block's time by each rule that counts once `change` has been made, as a share of what it takes by that rule
// without.
template <class Change>
std::optional<DerivedShare> share_with(const Recorded& r, Change change) {
  std::vector<double> shares;
  for (const auto& base : {explained_as_recorded(r), explained_by_queue(r)}) {
    if (!base) continue;
    PipelineLanes lanes = r.lanes;
    PipelineRules rules = base->rules;
    change(lanes, rules);
    if (const auto then = replay_pipeline(lanes, rules)) shares.push_back(end_of(*then) / base->end);
  }
  if (shares.empty()) return std::nullopt;
  return DerivedShare{(shares.front() + shares.back()) / 2, std::fabs(shares.front() - shares.back()) / 2};
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

std::optional<DerivedShare> with_slots(const Timeline& t, const Pipeline& p, std::int32_t slots) {
  Recorded r = Reading(t, p).read();
  if (!r.good || r.rules.copy <= 0 || slots < 2 || r.waits_for_q > kMostForQ) return std::nullopt;
  r.rules.copies = r.copies;
  return share_with(r, [&](PipelineLanes&, PipelineRules& rules) { rules.slots = slots; });
}

std::optional<DerivedShare> with_turns(const Timeline& t, const Pipeline& p) {
  Recorded r = Reading(t, p).read();
  if (!r.good || r.lanes.lanes.size() < 3) return std::nullopt;
  for (const auto& lane : r.lanes.lanes)
    if (std::ranges::find(lane, LaneDo::wait_turn, &LaneStep::what) != lane.end()) return std::nullopt;
  // Where nobody waits for copies, they are there in time whatever they take.
  if (r.rules.copy <= 0) r.rules.copy = r.shortest;
  r.rules.copies = r.copies;
  return share_with(r, [](PipelineLanes& lanes, PipelineRules&) {
    for (auto& lane : lanes.lanes) add_turns(lane);
  });
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
