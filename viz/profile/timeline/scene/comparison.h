// What is said of two recordings of one problem: which launch ends sooner and why, and of what the bracket between both
// is a measure.
#pragma once

#include <string>
#include <vector>

#include "viz/profile/timeline/scene/timeline_scene.h"

namespace attn {

// By the headline's rule: 1 the lower launch ends later, -1 sooner, 0 nothing differs.
int later_below(const PipelineScene& above, const PipelineScene& below);

// An SM's time in a launch, on average, µs: together what the launch takes.
struct SmTime {
  double blocks = 0, gaps = 0, tail = 0;
};
SmTime sm_time(const PipelineScene& scene);
// The figures of two launches that differ most, those first that explain which launch ends sooner; each with both
// numbers, as the panel has them. Empty: none differs.
std::vector<std::string> launch_causes(const PipelineScene& above, const PipelineScene& below);
// From one key tile to the next of the consumer whose states are told, ns.
double key_tile_ns(const PipelineScene& scene);
// A block far from the median, of one key tile maybe, says nothing of its launch's key tiles. Empty: they are compared.
std::string why_no_key_tiles(const PipelineScene& above, const PipelineScene& below);
// Sets what is said of both, in the window that is shown: times, a key tile's states, causes, why there is no bracket.
void tell_comparison(PipelineScene& scene);

// How much more the lower one takes in sight for as much work, as a share; below 0: less.
double more_below(const Ahead& ahead);
// What the bracket says, the longest form first; `agrees`: with the headline. Where it does not, each form has the
// cause.
struct AheadWords {
  std::vector<std::string> forms;
  std::string cause;  // empty where it agrees
  bool agrees = true;
};
AheadWords ahead_words(const PipelineScene& scene, const Ahead& ahead);

}  // namespace attn
