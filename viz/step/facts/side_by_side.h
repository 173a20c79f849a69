// What an order that runs things side by side shows in Step in place of tiles, charts and track, and what it says of a
// step: a row for each way to do so (Abreast), in viz/step/side_by_side_draw.cpp. What a row leaves out is drawn and
// said as of any order.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/recording/recording.h"
#include "viz/draw/text_runs.h"
#include "viz/state/commands.h"

namespace attn {

struct Box;          // viz/draw/canvas.h
struct State;        // viz/state/state.h
struct StepCache;    // viz/step/step_cache.h
struct StepPlace;    // viz/step/place/place.h
struct StepUiState;  // viz/step/step_ui_state.h

struct SideBySideView {
  const Recording& rec;
  const StepPlace& at;
  const State& state;
  StepUiState& ui;
  StepCache& cache;
  Commands& commands;
};

struct SideBySide {
  void (*tiles)(const SideBySideView& view,
                const Box& box) = nullptr;  // in place of the tiles; in the charts' room too
  float (*tiles_height)(const SideBySideView& view, float width) = nullptr;  // pixels; what they like on a phone
  void (*card)(const SideBySideView& view, const Box& box) = nullptr;        // in place of charts and HBM traffic
  // Of a card so wide that may have `most`; logical.
  float (*card_height)(const Recording& rec, float width, float most) = nullptr;
  float low_card = 0;  // logical: where it has less than that; 0: then it is behind a chip
  void (*track)(const SideBySideView& view, const Box& box) = nullptr;  // in place of the timeline's map and track
  // Whose the times are, of numbers that are computed here; null: no times are shown.
  std::string (*times)(const Recording& rec) = nullptr;
  // The strip's words of where a step is: ", 512 ns: consumer 1, key tile 2, P".
  std::string (*position)(const Recording& rec, const StepPlace& at) = nullptr;
  // What one of those that run side by side does after a step: "waits for K 2".
  TextRuns (*lane_words)(const Recording& rec, EventIndex e) = nullptr;
  // What the others do while something is in flight; empty at other steps.
  TextRuns (*meanwhile)(const Recording& rec, EventIndex e) = nullptr;
  // The step whose state the tiles show.
  EventIndex (*tiles_step)(const Recording& rec, EventIndex e, std::int32_t row) = nullptr;
  // K or V of a key tile is on its way.
  bool (*on_its_way)(const Recording& rec, EventIndex e, bool of_v, std::int32_t j) = nullptr;
  // It lies in its slot, for all that read it.
  bool (*lies_in_slot)(const Recording& rec, EventIndex e, bool of_v, std::int32_t j) = nullptr;
};

const SideBySide& side_by_side_of(const Recording& rec);

}  // namespace attn
