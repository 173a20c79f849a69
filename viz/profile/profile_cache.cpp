#include "viz/profile/profile_cache.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "kernels/base/hash.h"

#include "kernels/gpu/compile/listing/listing.h"
#include "kernels/gpu/own_kernel/build_line.h"
#include "viz/bench/scene/bench_scene.h"
#include "viz/bench/sweep/planned.h"
#include "viz/bench/sweep/sweep_fields.h"
#include "viz/profile/timeline/scene/shown_part.h"

namespace attn {

ProfileCache& refreshed(ProfileUiState& ui, const State& state, const Model& model) {
  if (!ui.cache) ui.cache = std::make_shared<ProfileCache>();
  ProfileCache& cache = *ui.cache;
  const SweepSpec& sweep = state.document.sweep;
  std::string key = fmt::format("{}|{}|{}|{}|{}", sweep_key(sweep), model.compiled_for, model.compiled.size(),
                                model.kept.of, model.kept.times);
  if (key != cache.planned_key) {
    cache.planned_key = std::move(key);
    cache.planned = planned_rows(sweep, model.kept);
    if (model.compiled_for == sweep_key(sweep)) add_compiled(cache.planned, model.compiled);
  }
  key = fmt::format("{}|{:x}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", cache.planned_key, rows_fingerprint(state, model),
                    state.view.bench.kernel, bench_kernel(state), state.view.bench.value ? *state.view.bench.value : 0,
                    state.view.bench.baseline, state.view.profile.against, state.view.profile.beat_from_us,
                    state.view.profile.beat_to_us, model.runs.size(), model.gpu.looked, model.gpu.gpus.size(),
                    model.listing.of, fmt::ptr(model.listing.listing.get()));
  if (key != cache.scene_key) {
    cache.scene_key = std::move(key);
    cache.scene = profile_scene(state, model, cache.planned, &cache.scene);
  }
  return cache;
}

void refresh_lab(ProfileCache& cache, const Model& model) {
  const LabView& lab = model.lab;
  const Options& o = lab.now.options;
  std::string key = fmt::format("{}|{}|{}|{}|{}|{} {} {} {}|{}|{}|{}|{}|{}|{}|{}|{}", lab.kernel, lab.error,
                                describe(lab.problem), lab.arch, hash_of(lab.now.text), o.br, o.bc, o.threads, o.stages,
                                gpu::words_of(lab.now.build), lab.experiment, lab.building, fmt::ptr(lab.before.get()),
                                lab.tries.size(), fmt::ptr(lab.tries.empty() ? nullptr : lab.tries.back().row.get()),
                                lab.draft.has_value(), lab.marks.size());
  // The scene's key stands for its row: another one may come to lie at the same address.
  key +=
      fmt::format("|{}|{}|{}|{}|{}", lab.sampling, lab.put, model.gpu.looked, model.gpu.gpus.size(), cache.scene_key);
  if (key == cache.lab_key) return;
  cache.lab_key = std::move(key);
  cache.lab = lab_scene(lab, model.gpu, cache.scene.row.get());
}

void refresh_timeline(ProfileCache& cache, const ProfileView& view, const Model& model) {
  const Measurement* row = cache.scene.row.get();
  const std::string& kernel = row != nullptr ? row->key.kernel : cache.scene.kernel;
  auto shown = timeline_shown(view, model.timelines, kernel, row != nullptr ? row->key.problem : Problem());
  std::string key = fmt::format("{}|{}|{}|{}|{}", kernel, fmt::ptr(shown.get()), model.timelines.all.size(),
                                model.timelines.looked, model.timelines.error);
  key += fmt::format("|{}|{}", view.time_beside, view.time_block);
  const std::string part = fmt::format("{}|{}|{}|{}|{}|{}", key, view.time_from_ns, view.time_to_ns, view.key_tile,
                                       view.time_path, view.time_sms);
  if (part == cache.timeline_part) return;
  cache.timeline_part = part;
  // A recording is walked through once, whatever part of it is looked at.
  if (key != cache.timeline_key) {
    cache.timeline_key = std::move(key);
    cache.timeline = timeline_scene(std::move(shown), model.timelines, kernel, view.time_block);
    put_beside(cache.timeline, view.time_beside, model.timelines);
  }
  show_part(cache.timeline, view);
}

DiffSide shown_side(const ProfileScene& scene, const Model& model) {
  return {scene.row, scene.subject, scene.kernel, &model.listing};
}

DiffSide other_side(const ProfileScene& scene, const Model& model) {
  return {scene.other, scene.other_subject, scene.against, &model.listing_against};
}

void refresh_source(ProfileCache& cache, const State& state, const Model& model) {
  const ProfileView& view = state.view.profile;
  const ListingView& listing = model.listing;
  const std::string subject = cache.scene.subject ? gpu::key_of(*cache.scene.subject) : cache.scene.why_no_source;
  const Measurement* row = cache.scene.row.get();
  const TakenOfRow taken =
      row == nullptr ? TakenOfRow() : TakenOfRow{row->samples.get(), row->counts.get(), row->no_counts};
  std::string key =
      fmt::format("{}|{}|{}|{}|{}|{}|{}|{}", subject, listing.of, listing.running, fmt::ptr(listing.listing.get()),
                  view.file, fmt::ptr(taken.samples), fmt::ptr(taken.counts), taken.why_no_counts);
  if (key != cache.source_key) {
    cache.source_key = std::move(key);
    cache.source = cache.scene.subject ? source_scene(listing, subject, view, taken) : SourceScene();
    if (!cache.scene.subject) cache.source.empty = cache.scene.why_no_source;
  }
  const std::int32_t line = line_shown(cache.source, view);
  key = fmt::format("{}|{}|{}", cache.source_key, line, name_of(view.code));
  if (view.code == CodeKind::diff) {
    const ListingView& other = model.listing_against;
    key = fmt::format("diff|{}|{}|{}|{}|{}", cache.scene_key, listing.running, other.of, other.running,
                      fmt::ptr(other.listing.get()));
  }
  if (key == cache.code_key) return;
  cache.code_key = std::move(key);
  if (view.code == CodeKind::diff) {
    cache.code = code_diff_scene(shown_side(cache.scene, model), other_side(cache.scene, model));
    return;
  }
  cache.code = cache.source.empty.empty() ? code_scene(*listing.listing, cache.source, line, view.code, taken.samples)
                                          : CodeScene();
}

}  // namespace attn
