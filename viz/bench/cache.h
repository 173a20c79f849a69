// What BenchHeld holds: for the files of the Bench workspace alone.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "viz/bench/fields.h"
#include "viz/bench/held.h"
#include "viz/bench/scene.h"
#include "viz/draw/field_draft.h"
#include "viz/state/commands.h"
#include "viz/state/model.h"
#include "viz/state/state.h"

namespace attn {

struct BenchCache {
  BenchSwitches switches;
  bool labels = true;            // names at the ends of the lines
  std::set<std::string> hidden;  // ids of lines that are switched off
  bool all_runs = false;         // the list of runs is open
  std::string run_name;          // as it is being typed
  std::map<SweepField, FieldDraft> drafts;
  std::string drafts_for;  // sweep_key() that the drafts were typed against
  float foot_height = 0;   // of Run and what stands around it, pixels, from the frame before

  BenchScene scene;  // its slice holds no rows: those belong to the model of the frame that made it
  std::string scene_key;
  std::uint64_t scene_number = 0;  // counts scenes: a chart fits its axes when this changes

  SweepEstimate estimate;
  bool valid = false;  // may the sweep run?
  SweepCount count;    // how much of it the rows hold already
  std::string estimate_key;
  std::vector<Measurement> planned;  // of the sweep that the estimate is for

  std::array<std::uint64_t, 4> fitted{};  // scene_number that each chart's axes were fitted to
  std::optional<std::int64_t> hovered;    // the value under the pointer, in every chart
  std::optional<std::int64_t> hovered_next;
};

// Brings scene and estimate up to date; both are made anew only when what they show has changed.
BenchCache& refreshed(BenchHeld& held, const State& state, const Model& model);

}  // namespace attn
