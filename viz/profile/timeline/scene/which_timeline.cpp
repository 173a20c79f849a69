// The name of a recording, and which one is shown.
#include <cstddef>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "kernels/base/hash.h"
#include "kernels/base/text.h"
#include "kernels/gpu/rungs/hopper/hopper_tile.h"
#include "viz/profile/timeline/scene/timeline_scene.h"

namespace attn {

namespace {

constexpr std::size_t kHashed = 8;  // letters of the part that kernel, problem and options decide

// Two launches differ in their clocks.
std::string take_of(const Timeline& t) {
  std::string of = t.device_uuid;
  if (!t.blocks.empty()) of += fmt::format("|{}|{}", t.blocks.front().start_clock, t.blocks.back().end_clock);
  if (!t.events.empty()) of += fmt::format("|{}|{}", t.events.front().at, t.events.back().at);
  return hash_of(of).substr(0, 4);
}

}  // namespace

std::string id_of(const Timeline& t) {
  std::string of = t.kernel + describe(t.problem);
  for (const Option* option : common_options()) of += fmt::format("|{}={}", option->name, option->get(t.options));
  for (const auto& [name, value] : t.options.further) of += fmt::format("|{}={}", name, value);
  return hash_of(of).substr(0, kHashed) + "-" + take_of(t);
}

std::string recording_words(const Timeline& t, bool with_kernel) {
  std::string words = with_kernel ? t.kernel + " " : "";
  words += phrase("L {} D {}{}", t.problem.Lk, t.problem.D, t.problem.mask.causal ? tr(" causal") : "");
  for (const auto& [name, value] : t.options.further)
    if (name == "step" && value != gpu::kLastStep) words += phrase(", step {}", value);
  return words + phrase(", {} slots", t.options.stages);
}

std::string without_take(const std::string& id) {
  return id.substr(0, kHashed);
}

bool is_named(const std::string& id, const std::string& name) {
  return id == name || without_take(id) == name;
}

std::shared_ptr<const Timeline> timeline_shown(const ProfileView& view, const TimelinesView& timelines,
                                               const std::string& kernel, const Problem& problem) {
  std::shared_ptr<const Timeline> of_kernel;
  for (const auto& t : timelines.all) {
    if (!view.timeline.empty() && is_named(id_of(*t), view.timeline)) return t;
    if (t->kernel == kernel && (of_kernel == nullptr || (t->problem == problem && !(of_kernel->problem == problem))))
      of_kernel = t;
  }
  return of_kernel != nullptr || timelines.all.empty() ? of_kernel : timelines.all.front();
}

}  // namespace attn
