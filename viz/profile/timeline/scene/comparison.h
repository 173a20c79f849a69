// What is said of two recordings of one problem: which launch ends sooner and why, and of what the bracket between both
// is a measure.
#pragma once

#include <string>
#include <vector>

#include "viz/profile/timeline/scene/timeline_scene.h"

namespace attn {

// By the headline's rule: 1 the lower launch ends later, -1 sooner, 0 nothing differs.
int later_below(const PipelineScene& above, const PipelineScene& below);
// By how much, as a share of the upper one; below 0: sooner.
double later_share(const PipelineScene& above, const PipelineScene& below);
// Of such a share: 1, -1, or 0 where it is less than what the quartiles leave open.
int sign_against_spread(const PipelineScene& above, const PipelineScene& below, double more);

// An SM's time in a launch, on average, µs: together what the launch takes.
struct SmTime {
  double blocks = 0, gaps = 0, tail = 0;
};
SmTime sm_time(const PipelineScene& scene);
// The figures of two launches that differ most, those first that explain which launch ends sooner; each with both
// numbers, as the panel has them. Empty: none differs.
std::vector<std::string> launch_causes(const PipelineScene& above, const PipelineScene& below);
// Of these figures the one that differs most in this direction, as above and brief; empty: none does.
std::vector<std::string> launch_cause_towards(const PipelineScene& above, const PipelineScene& below, double way);
// That only some consumers of one block have rows, where that makes it take more (`way` > 0: the lower one) for each
// row than the launches say; empty: it does not.
std::string few_consumers_cause(const PipelineScene& scene, double way);
// How many key tiles the blocks have, where that makes the launches differ; empty: it does not.
std::string key_tiles_cause(const PipelineScene& scene);
// From one key tile to the next of the consumer whose states are told, ns.
double key_tile_ns(const PipelineScene& scene);
// Which block is far from the median of its launch: it says nothing of that one's key tiles. Empty: neither is.
std::string not_typical(const PipelineScene& above, const PipelineScene& below);
// Instead of the bracket, and briefly. Empty: there is one.
std::vector<std::string> why_no_bracket(const PipelineScene& scene);
// Sets what is said of both, in the window that is shown: times, a key tile's states, causes.
void tell_comparison(PipelineScene& scene);

// How much more the lower one takes in sight for as much work, as a share; below 0: less.
double more_below(const Ahead& ahead);
// What the bracket says, the longest form first; `agrees`: with the headline, about in size too, and of typical blocks.
// Where it does not, each form has the cause.
struct AheadForm {
  std::string measured, cause;  // no cause where it agrees
  std::string all() const { return cause.empty() ? measured : measured + "; " + cause; }
};
struct AheadWords {
  std::vector<AheadForm> forms;
  bool agrees = true;
};
AheadWords ahead_words(const PipelineScene& scene, const Ahead& ahead);

}  // namespace attn
