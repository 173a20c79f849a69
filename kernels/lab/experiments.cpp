#include "kernels/lab/experiments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/base/text.h"
#include "kernels/ladder.h"

namespace attn {
std::vector<const Experiment*> experiments() {
  std::vector<const Experiment*> all;
  for (const KernelRow* row : ladder())
    for (const Experiment& e : row->experiments) all.push_back(&e);
  return all;
}

Result<const Experiment*> find_experiment(std::string_view id) {
  std::vector<std::string_view> ids;
  for (const Experiment* e : experiments()) {
    if (e->id == id) return e;
    ids.push_back(e->id);
  }
  return bad_input(phrase("unknown experiment '{}'; use {}", id, fmt::join(ids, ", ")));
}

std::vector<const Patch*> patches_of(const Experiment& experiment) {
  std::vector<const Patch*> patches;
  for (const Patch& patch : experiment_patches())
    if (patch.id == experiment.id) patches.push_back(&patch);
  return patches;
}

Result<std::string> changed_text(const Experiment& experiment, std::string_view text) {
  std::string changed(text);
  for (const Patch* patch : patches_of(experiment)) {
    auto next = patched(*patch, changed);
    if (!next) return next;
    changed = *std::move(next);
  }
  return changed;
}

}  // namespace attn
