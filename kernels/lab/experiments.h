// The prepared experiments of the ladder's rungs, which their rows declare. A change is patches on the shipped source,
// each of which must match exactly once, or other options of the launch; the lab of Profile opens it as if somebody had
// typed it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/model/experiment.h"
#include "kernels/museum/patches.h"

namespace attn {

// Of every rung, in the ladder's order.
std::vector<const Experiment*> experiments();
// The error lists the ids there are.
Result<const Experiment*> find_experiment(std::string_view id);

// In the order in which they are applied; empty where the options alone are changed. Made by CMake from the files
// ID.patch.txt in the rungs' folders.
std::span<const Patch> experiment_patches();
std::vector<const Patch*> patches_of(const Experiment& experiment);
// The rung's text with all of its patches.
Result<std::string> changed_text(const Experiment& experiment, std::string_view text);

}  // namespace attn
