// What ProfileUiState holds: for the files of the Profile workspace alone.
#pragma once

#include <string>
#include <vector>

#include "profiling/figures/measurement.h"
#include "viz/profile/figures/profile_scene.h"
#include "viz/profile/lab/lab.h"
#include "viz/profile/profile_ui_state.h"
#include "viz/profile/source/code_diff.h"
#include "viz/profile/source/source.h"
#include "viz/profile/timeline/scene/timeline_scene.h"
#include "viz/state/model.h"
#include "viz/state/state.h"

namespace attn {

struct ProfileCache {
  ProfileScene scene;
  std::string scene_key;
  std::vector<Measurement> planned;
  std::string planned_key;
  SourceScene source;
  std::string source_key;
  CodeScene code;
  std::string code_key;
  SourceUiState source_ui;
  PipelineScene timeline;
  std::string timeline_key, timeline_part;
  LabScene lab;
  std::string lab_key;
  LabUiState lab_ui;
};

// Brings the scene up to date; it is made anew only when what it shows has changed.
ProfileCache& refreshed(ProfileUiState& ui, const State& state, const Model& model);
// The same for the lab.
void refresh_lab(ProfileCache& cache, const Model& model);
// The same for the timeline that fits the scene's row.
void refresh_timeline(ProfileCache& cache, const ProfileView& view, const Model& model);
// The two whose machine code is compared.
DiffSide shown_side(const ProfileScene& scene, const Model& model);
DiffSide other_side(const ProfileScene& scene, const Model& model);
// The same for the source of the scene's subject.
void refresh_source(ProfileCache& cache, const State& state, const Model& model);

}  // namespace attn
