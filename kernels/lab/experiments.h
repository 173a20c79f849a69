// Prepared experiments on rungs of the ladder: a question, what is changed to ask it, and what answered it. A change is
// patches on the shipped source, each of which must match exactly once, or other options of the launch; the lab of
// Profile opens it as if somebody had typed it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/model/options.h"
#include "kernels/museum/patches.h"

namespace attn {

struct Experiment {
  std::string_view id;        // "pad_away"
  std::string_view title;     // "Pad the shared tile away"
  std::string_view rung;      // id of the kernel that it is made on
  std::string_view question;  // one sentence
  std::string_view change;    // one sentence: what is changed
  std::string_view answer;    // what the figures said, and where they were taken
  Options options;            // 0 = as it ships
};
std::span<const Experiment> experiments();
// The error lists the ids there are.
Result<const Experiment*> find_experiment(std::string_view id);

// In the order in which they are applied; empty where the options alone are changed. Made by CMake from
// kernels/lab/patches.
std::span<const Patch> experiment_patches();
std::vector<const Patch*> patches_of(const Experiment& experiment);
// The rung's text with all of its patches.
Result<std::string> changed_text(const Experiment& experiment, std::string_view text);

}  // namespace attn
