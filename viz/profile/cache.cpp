#include "viz/profile/cache.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "viz/bench/fields.h"
#include "viz/bench/planned.h"
#include "viz/bench/scene.h"

namespace attn {

ProfileCache& refreshed(ProfileHeld& held, const State& state, const Model& model) {
  if (!held.cache) held.cache = std::make_shared<ProfileCache>();
  ProfileCache& cache = *held.cache;
  const SweepSpec& sweep = state.document.sweep;
  std::string key = fmt::format("{}|{}|{}", sweep_key(sweep), model.compiled_for, model.compiled.size());
  if (key != cache.planned_key) {
    cache.planned_key = std::move(key);
    cache.planned = planned_rows(sweep);
    if (model.compiled_for == sweep_key(sweep)) add_compiled(cache.planned, model.compiled);
  }
  key = fmt::format("{}|{:x}|{}|{}|{}", cache.planned_key, rows_fingerprint(state, model), bench_kernel(state),
                    state.view.bench.value ? *state.view.bench.value : 0, state.view.bench.baseline);
  if (key != cache.scene_key) {
    cache.scene_key = std::move(key);
    cache.scene = profile_scene(state, model, cache.planned);
  }
  return cache;
}

}  // namespace attn
