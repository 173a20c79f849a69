// A recorded pipeline run again by its rules: one lane that copies K and V, a ring of slots, consumers, and tensor
// cores that take one product after the other. What comes out is derived, never recorded.
//
// What a lane's own instructions took, they take again. A slot is asked for once all consumers have let its tile go;
// one that is handed on is let go at the end of that, the latest that the stamps around it allow. A copy is there when
// its time is over. Products wait for each other in the order in which they were handed over, and each takes one time;
// or each takes what it took. Exponentials take what they took, whoever else computes them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace attn {

enum class LaneDo : std::uint8_t {
  own,
  wait_slot,
  ask,
  wait_copy,
  wait_turn,
  issue,
  wait_product,
  give_tile,
  wait_tile,
  hand_on,
};

struct LaneStep {
  LaneDo what = LaneDo::own;
  bool of_v = false;  // else of K, or of S
  double took = 0;    // clocks
  double share = 1;   // of a product that is handed over in parts
};

struct PipelineLanes {
  std::vector<std::vector<LaneStep>> lanes;            // the lane that copies first, then the consumers
  double open_copy = 0, open_slot = 0, open_turn = 0;  // what asking takes where nobody has to wait
  void part_products();                                // sets the shares of what is handed over before one wait
};

struct PipelineRules {
  std::int32_t slots = 0;
  double product = 0, copy = 0;       // clocks
  std::span<const double> first{};    // copies into slots that are free from the beginning: what each took
  std::span<const double> copies{};   // what the copy of each use of the ring takes; empty: all take `copy`
  bool turns = true;                  // kept; else a consumer never waits for one
  bool passed_at_return = false;      // the turn, when S has come; else when it was handed over
  bool kept_products = false;         // each takes from handing over to return what it took, whoever else has one
  bool k_until_p = false;             // K is let go when V is waited for; else when S has come
  std::optional<std::size_t> late{};  // use of the ring that is asked for only when a consumer waits for it
};

// When each step of each lane begins, and behind them when the lane is done. Nothing where lanes wait for each other
// for ever.
using LaneMoments = std::vector<std::vector<double>>;
std::optional<LaneMoments> replay_pipeline(const PipelineLanes& lanes, const PipelineRules& rules);
double end_of(const LaneMoments& moments);

// The rules with the time of a product between `least` and `most` by which the lanes take `length`, as near as can be.
std::optional<PipelineRules> with_fitted_product(const PipelineLanes& lanes, PipelineRules rules, double length,
                                                 double least, double most);

}  // namespace attn
