// The name of a recording, and which one is shown.
#include <memory>
#include <string>

#include <fmt/format.h>

#include "kernels/base/hash.h"
#include "viz/profile/timeline/timeline_scene.h"

namespace attn {

std::string id_of(const Timeline& t) {
  std::string of = t.kernel + describe(t.problem);
  for (const Option* option : common_options()) of += fmt::format("|{}={}", option->name, option->get(t.options));
  for (const auto& [name, value] : t.options.further) of += fmt::format("|{}={}", name, value);
  return hash_of(of).substr(0, 8);
}

std::shared_ptr<const Timeline> timeline_shown(const ProfileView& view, const TimelinesView& timelines,
                                               const std::string& kernel, const Problem& problem) {
  std::shared_ptr<const Timeline> of_kernel;
  for (const auto& t : timelines.all) {
    if (!view.timeline.empty() && id_of(*t) == view.timeline) return t;
    if (t->kernel == kernel && (of_kernel == nullptr || (t->problem == problem && !(of_kernel->problem == problem))))
      of_kernel = t;
  }
  return of_kernel != nullptr || timelines.all.empty() ? of_kernel : timelines.all.front();
}

}  // namespace attn
