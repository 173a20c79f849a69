// What BenchMemory holds: for the files of the Bench workspace alone.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "imgui.h"
#include "viz/bench/fields.h"
#include "viz/bench/held.h"
#include "viz/bench/scene.h"
#include "viz/state/commands.h"
#include "viz/state/model.h"
#include "viz/state/state.h"

namespace attn {

// A field as it is being typed. Kept while it is active and while its text is refused.
struct FieldDraft {
  std::string text, error;
  bool kept = false;
};

struct BenchCache {
  BenchSwitches switches;
  bool labels = true;            // names at the ends of the lines
  std::set<std::string> hidden;  // kernels whose lines are switched off
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
BenchCache& refreshed(BenchHeld& memory, const State& state, const Model& model);

// The parts of the workspace, each drawn into the current window at the cursor.
void draw_sweep_panel(const State& state, const Model& model, BenchCache& cache, Commands& commands);
// `folded`: the sweep panel has no room and opens from a button in the strip.
void draw_bench_strip(const State& state, const Model& model, BenchCache& cache, bool folded, Commands& commands);
void draw_bench_chart(std::size_t index, ImVec2 size, BenchCache& cache, const State& state, Commands& commands);
// The height that the table wants, in pixels.
float bench_table_height(const BenchCache& cache);
void draw_bench_table(BenchCache& cache, ImVec2 size, Commands& commands);

// A card of the workspace: a bordered child with 16 px of padding. End with ImGui::EndChild().
bool begin_bench_card(const char* id, ImVec2 size);
// A small text button that is pressed while `on`. Returns whether it was clicked.
bool bench_toggle(const char* label, bool on, const char* help);

}  // namespace attn
