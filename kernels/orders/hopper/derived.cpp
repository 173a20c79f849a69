#include "kernels/orders/hopper/derived.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <optional>
#include <span>

#include "kernels/recording/pipeline_replay.h"

namespace attn::orders::hopper {
namespace {

constexpr double kOpenShare = 0.1;         // of all waits of a kind: those that found the door open
constexpr double kSurely = 3, kMore = 64;  // as many open doors and clocks more: a wait that ended when the copy came
constexpr double kMostOfProduct = 1.7;     // of what the tensor cores need

LaneDo what_of(State s) {
  switch (s) {
    case State::wait_slot_k:
    case State::wait_slot_v:
      return LaneDo::wait_slot;
    case State::ask_k:
    case State::ask_v:
      return LaneDo::ask;
    case State::wait_k:
    case State::wait_v:
      return LaneDo::wait_copy;
    case State::wait_turn:
      return LaneDo::wait_turn;
    case State::issue_s:
    case State::issue_o:
      return LaneDo::issue;
    case State::wait_s:
    case State::wait_o:
      return LaneDo::wait_product;
    default:
      return LaneDo::own;
  }
}

bool is_of_v(State s) {
  return s == State::wait_slot_v || s == State::ask_v || s == State::wait_v || s == State::issue_o ||
         s == State::wait_o;
}

// The lane that copies K and V, then the consumers. Another lane asks for Q: it depends on nobody.
struct Lanes {
  std::vector<std::vector<Stamp>> stamps;
  PipelineLanes steps;  // one before the first stamp, then one a stamp
};

double quickest(const PipelineLanes& all, LaneDo what) {
  std::vector<double> took;
  for (const auto& lane : all.lanes)
    for (const LaneStep& step : lane)
      if (step.what == what) took.push_back(step.took);
  if (took.empty()) return 0;
  std::ranges::sort(took);
  return took[static_cast<std::size_t>(kOpenShare * static_cast<double>(took.size()))];
}

Lanes lanes_of(const RecordedBlock& block) {
  Lanes all;
  all.stamps.resize(1 + static_cast<std::size_t>(block.consumers));
  for (const Stamp& s : block.stamps)
    if (s.state != State::ask_q) all.stamps[static_cast<std::size_t>(1 + s.consumer)].push_back(s);
  for (const auto& stamps : all.stamps) {
    auto& steps = all.steps.lanes.emplace_back();
    steps.push_back({LaneDo::own, false, static_cast<double>(stamps.front().at)});
    for (std::size_t n = 0; n < stamps.size(); ++n) {
      const std::int32_t to = stamps[n + (n + 1 < stamps.size() ? 1 : 0)].at;
      steps.push_back({what_of(stamps[n].state), is_of_v(stamps[n].state), static_cast<double>(to - stamps[n].at)});
    }
  }
  all.steps.part_products();
  all.steps.open_copy = quickest(all.steps, LaneDo::wait_copy);
  all.steps.open_slot = quickest(all.steps, LaneDo::wait_slot);
  all.steps.open_turn = quickest(all.steps, LaneDo::wait_turn);
  return all;
}

// Copies that are asked for at once, when all blocks begin: as long as the first that waited surely waited for each.
std::vector<double> first_copies(const RecordedBlock& block, const Lanes& all) {
  std::vector<double> first;
  for (const Stamp& asked : all.stamps[0]) {
    if (what_of(asked.state) != LaneDo::ask) continue;
    if (first.size() == static_cast<std::size_t>(block.slots)) break;
    double took = block.copy;
    std::int32_t landed = block.clocks;
    for (std::size_t c = 1; c < all.stamps.size(); ++c) {
      const auto& lane = all.stamps[c];
      for (std::size_t n = 0; n + 1 < lane.size(); ++n) {
        if (what_of(lane[n].state) != LaneDo::wait_copy || lane[n].visit != asked.visit ||
            is_of_v(lane[n].state) != is_of_v(asked.state) || lane[n + 1].at >= landed)
          continue;
        landed = lane[n + 1].at;
        if (landed - lane[n].at >= kSurely * all.steps.open_copy + kMore) took = landed - asked.at;
      }
    }
    first.push_back(took);
  }
  return first;
}

}  // namespace

Followed followed_by(const Options& o) {
  return static_cast<Followed>(chosen(o, kPipeline).value_or(0));
}

std::vector<Stamp> run_again(const RecordedBlock& block, Followed change) {
  constexpr double kRate = 4096, kRows = 64;  // FLOP a clock of an SM; rows of a consumer
  const Lanes all = lanes_of(block);
  const std::vector<double> first = first_copies(block, all);
  PipelineRules rules;
  rules.slots = block.slots;
  rules.copy = block.copy;
  rules.first = first;
  const double least = 2 * kRows * static_cast<double>(block.keys * block.D) / kRate;
  double length = 0;
  for (const auto& lane : all.stamps) length = std::max(length, static_cast<double>(lane.back().at));
  const auto fitted = with_fitted_product(all.steps, rules, length, least, kMostOfProduct * least);
  if (!fitted) return {};
  rules = *fitted;
  if (change == Followed::one_slot) rules.slots = 2;
  if (change == Followed::late_load) rules.late = 2 * kLateVisit;
  const auto moments = replay_pipeline(all.steps, rules);
  if (!moments) return {};
  std::vector<Stamp> stamps;
  for (std::size_t l = 0; l < all.stamps.size(); ++l) {
    for (std::size_t n = 0; n < all.stamps[l].size(); ++n) {
      Stamp s = all.stamps[l][n];
      s.at = static_cast<std::int32_t>(std::lround((*moments)[l][n + 1]));
      // K and V take turns in the ring.
      if (s.slot >= 0) s.slot = static_cast<std::int8_t>((2 * s.visit + (is_of_v(s.state) ? 1 : 0)) % rules.slots);
      stamps.push_back(s);
    }
  }
  std::ranges::copy_if(block.stamps, std::back_inserter(stamps),
                       [](const Stamp& s) { return s.state == State::ask_q; });
  std::ranges::stable_sort(stamps, {}, &Stamp::at);
  return stamps;
}

namespace {

struct Derived {
  std::vector<Stamp> stamps;
  RecordedBlock block;
};

Derived derived(Followed change) {
  Derived d{run_again(recorded_block(), change), recorded_block()};
  const auto last = [](std::span<const Stamp> stamps) { return stamps.empty() ? 0 : stamps.back().at; };
  d.block.clocks += last(d.stamps) - last(d.block.stamps);
  if (change == Followed::one_slot) d.block.slots = 2;
  return d;
}

}  // namespace

const RecordedBlock& followed_block(const Options& o) {
  static const Derived kOneSlot = derived(Followed::one_slot), kLateLoad = derived(Followed::late_load);
  static const auto with_stamps = [](const Derived& d) {
    RecordedBlock block = d.block;
    block.stamps = d.stamps;
    return block;
  };
  static const RecordedBlock kOne = with_stamps(kOneSlot), kLate = with_stamps(kLateLoad);
  switch (followed_by(o)) {
    case Followed::one_slot:
      return kOne;
    case Followed::late_load:
      return kLate;
    case Followed::no_turns:
      return recorded_without_turns();
    default:
      return recorded_block();
  }
}

}  // namespace attn::orders::hopper
