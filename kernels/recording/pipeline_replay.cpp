#include "kernels/recording/pipeline_replay.h"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace attn {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kHandOver = 30;  // clocks from an arrival to who waits for it

class Replay {
 public:
  Replay(const PipelineLanes& of, const PipelineRules& rules) : of_(of), rules_(rules) {}

  std::optional<LaneMoments> run() {
    lanes_.resize(of_.lanes.size());
    moments_.resize(lanes_.size());
    while (true) {
      std::size_t next = lanes_.size();
      bool left = false;
      for (std::size_t l = 0; l < lanes_.size(); ++l) {
        if (lanes_[l].at == of_.lanes[l].size()) continue;
        left = true;
        if (ready(l) < kNever && (next == lanes_.size() || lanes_[l].now < lanes_[next].now)) next = l;
      }
      if (!left) break;
      if (next == lanes_.size()) return std::nullopt;
      moments_[next].push_back(lanes_[next].now);
      step(next);
    }
    for (std::size_t l = 0; l < lanes_.size(); ++l) moments_[l].push_back(lanes_[l].now);
    return std::move(moments_);
  }

 private:
  struct Lane {
    std::size_t at = 0, uses = 0, tiles = 0, turns = 0;
    double now = 0;
    std::size_t held[2] = {0, 0};  // the uses of K and V that it reads
    double returns[2] = {0, 0};    // S, O
    std::vector<double> let_go{};  // of each use when
    std::vector<double> passed{};  // each of its turns when
  };

  const LaneStep& step_of(std::size_t l) const { return of_.lanes[l][lanes_[l].at]; }

  // When the slot is free that the next copy goes to.
  double free_slot() const {
    if (asked_.size() < static_cast<std::size_t>(rules_.slots)) return 0;
    const std::size_t before = asked_.size() - static_cast<std::size_t>(rules_.slots);
    double last = 0;
    for (std::size_t c = 1; c < lanes_.size(); ++c)
      last = std::max(last, before < lanes_[c].let_go.size() ? lanes_[c].let_go[before] : kNever);
    return last + kHandOver;
  }
  // When the first consumer stands and waits for that use.
  double wanted(std::size_t use) const {
    double first = kNever;
    for (std::size_t c = 1; c < lanes_.size(); ++c) {
      const Lane& lane = lanes_[c];
      if (lane.uses == use && lane.at < of_.lanes[c].size() && step_of(c).what == LaneDo::wait_copy)
        first = std::min(first, lane.now);
    }
    return first + kHandOver;
  }
  double copy_of(std::size_t use) const {
    const bool at_once = use < rules_.first.size() && use < static_cast<std::size_t>(rules_.slots);
    if (at_once) return rules_.first[use];
    return use < rules_.copies.size() ? rules_.copies[use] : rules_.copy;
  }
  // When the consumer before has passed its turn on; the first one's first is its own.
  double turn_of(std::size_t l) const {
    const std::size_t all = lanes_.size() - 1, c = l - 1;
    if (c == 0 && lanes_[l].turns == 0) return 0;
    const Lane& other = lanes_[1 + (c + all - 1) % all];
    const std::size_t nth = c == 0 ? lanes_[l].turns - 1 : lanes_[l].turns;
    return nth < other.passed.size() ? other.passed[nth] + kHandOver : kNever;
  }

  // When what the lane waits for has come; never: not known yet.
  double ready(std::size_t l) const {
    const Lane& lane = lanes_[l];
    switch (step_of(l).what) {
      case LaneDo::wait_slot:
        return rules_.late == asked_.size() ? std::max(free_slot(), wanted(asked_.size())) : free_slot();
      case LaneDo::wait_copy:
        return lane.uses < asked_.size() ? asked_[lane.uses] + copy_of(lane.uses) : kNever;
      case LaneDo::wait_turn:
        return rules_.turns ? turn_of(l) : 0;
      case LaneDo::wait_tile:
        return lane.tiles < given_.size() ? given_[lane.tiles] + kHandOver : kNever;
      default:
        return 0;
    }
  }

  static void release(Lane& lane, std::size_t use, double at) {
    if (lane.let_go.size() <= use) lane.let_go.resize(use + 1, kNever);
    lane.let_go[use] = at;
  }
  // Asking takes its time where nobody has to wait, too.
  static void wait(Lane& lane, double took, double open, double came) {
    lane.now = std::max(lane.now + std::min(took, open), came);
  }

  void step(std::size_t l) {
    Lane& lane = lanes_[l];
    const LaneStep& step = step_of(l);
    const double came = ready(l);
    ++lane.at;
    switch (step.what) {
      case LaneDo::wait_slot:
        return wait(lane, step.took, of_.open_slot, came);
      case LaneDo::ask:
        asked_.push_back(lane.now);
        lane.now += step.took;
        return;
      case LaneDo::wait_copy:
        if (step.of_v && rules_.k_until_p) release(lane, lane.held[0], lane.now);
        wait(lane, step.took, of_.open_copy, came);
        lane.held[step.of_v] = lane.uses++;
        return;
      case LaneDo::wait_turn:
        ++lane.turns;
        return wait(lane, step.took, of_.open_turn, came);
      case LaneDo::issue:
        tensor_ = std::max(tensor_, lane.now) + rules_.product * step.share;
        lane.returns[step.of_v] = tensor_;
        lane.now += step.took;
        if (!step.of_v && !rules_.passed_at_return) lane.passed.push_back(lane.now);
        return;
      case LaneDo::wait_product:
        lane.now =
            rules_.kept_products ? lane.now + step.took : std::max(lane.now + kHandOver, lane.returns[step.of_v]);
        if (step.of_v || !rules_.k_until_p) release(lane, lane.held[step.of_v], lane.now);
        if (!step.of_v && rules_.passed_at_return) lane.passed.push_back(lane.now);
        return;
      case LaneDo::hand_on:
        lane.now += step.took;
        for (const std::size_t use : lane.held) release(lane, use, lane.now);
        lane.passed.push_back(lane.now);
        ++lane.turns;
        return;
      case LaneDo::give_tile:
        lane.now += step.took;
        given_.push_back(lane.now);
        return;
      case LaneDo::wait_tile:
        wait(lane, step.took, of_.open_copy, came);
        ++lane.tiles;
        return;
      case LaneDo::own:
        lane.now += step.took;
        return;
    }
  }

  const PipelineLanes& of_;
  const PipelineRules& rules_;
  double tensor_ = 0;
  std::vector<double> asked_, given_;  // uses of the ring when they were asked for; query tiles
  std::vector<Lane> lanes_;
  LaneMoments moments_;
};

}  // namespace

void PipelineLanes::part_products() {
  for (auto& lane : lanes) {
    std::vector<LaneStep*> parts[2];
    for (LaneStep& step : lane) {
      if (step.what == LaneDo::issue) parts[step.of_v].push_back(&step);
      if (step.what != LaneDo::wait_product) continue;
      for (LaneStep* part : parts[step.of_v]) part->share = 1 / static_cast<double>(parts[step.of_v].size());
      parts[step.of_v].clear();
    }
  }
}

std::optional<LaneMoments> replay_pipeline(const PipelineLanes& lanes, const PipelineRules& rules) {
  return Replay(lanes, rules).run();
}

double end_of(const LaneMoments& moments) {
  double end = 0;
  for (const auto& lane : moments) end = std::max(end, lane.back());
  return end;
}

std::optional<PipelineRules> with_fitted_product(const PipelineLanes& lanes, PipelineRules rules, double length,
                                                 double least, double most) {
  constexpr int kHalvings = 16;
  for (int n = 0; n < kHalvings; ++n) {
    rules.product = (least + most) / 2;
    const auto moments = replay_pipeline(lanes, rules);
    if (!moments) return std::nullopt;
    (end_of(*moments) > length ? most : least) = rules.product;
  }
  return rules;
}

}  // namespace attn
