// Commands that change what Step shows, and what the program does for Step beside its state.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <variant>

#include "kernels/gpu/compile/phases.h"
#include "kernels/model/inputs/input_spec.h"
#include "viz/state/state.h"

namespace attn {

// Document: undoable. A drag sends many of these with the same `gesture` > 0: they are one undo entry.
struct ChoosePreset {
  std::string id;
  bool forward = false;  // also where the pass before was backward
};
struct SetProblem {
  Problem problem;
  int gesture = 0;
};
struct SetOptions {
  Options options;
  int gesture = 0;
};
struct SetInputs {
  InputSpec inputs;
  int gesture = 0;
};
struct ChooseKernel {
  std::string id;
};
struct Select {
  Selection selection;
};
// From a row of Bench to Step, at a size that Step can show.
struct StepThrough {
  std::string kernel;
  Problem problem;
  Options options;
  // Other than `none`: to its first step that shows this phase; a run of this kernel that Step already shows stays.
  gpu::CodePhase phase = gpu::CodePhase::none;
};

// An exhibit of the museum (kernels/museum/museum.h), on the problem that shows it.
struct ShowPiece {
  std::string id;
};

// A piece of the museum or the healthy patient, and its numbers, as the seed has it; its name waits. 0: any.
struct ShowRandomPiece {
  std::uint64_t seed = 0;
};
struct RevealPiece {};

// View: not undoable.
enum class StepUnit : std::uint8_t { phase, key_tile, query_tile };
struct StepBy {
  StepUnit unit = StepUnit::phase;
  int direction = 1;
};
struct GoToEvent {
  EventIndex event = 0;
};
struct GoToEnd {
  bool last = true;
};
struct Play {
  bool on = true;
};
struct SetPlaySpeed {
  float steps_per_second = 2;
};
// Marks a step, or takes its mark away. kNoEvent: the cursor's.
struct ToggleBookmark {
  EventIndex event = kNoEvent;
};
struct ClearBookmarks {};
// The next or previous step of its kind, seen from the cursor. m_change: where m of the pinned row grows.
enum class Landmark : std::uint8_t { m_change, bookmark };
struct GoToLandmark {
  Landmark landmark = Landmark::m_change;
  int direction = 1;
};
struct SetReading {
  OutputReading reading = OutputReading::as_summed;
};
struct ChooseStepChart {
  StepChart chart = StepChart::row;
};
struct ChooseFragment {
  std::string kernel;  // whose row has fragments
  FragmentTile tile = FragmentTile::q;
};
// A GPU's run: the tiles show what its kernel holds, not what the formulas name.
struct ShowRaw {
  bool on = true;
};
// Whether the bar over a run that is wrong says where it first goes wrong.
struct SeekFirstWrong {
  bool on = true;
};
using StepCommand =
    std::variant<ChoosePreset, SetProblem, SetOptions, SetInputs, ChooseKernel, Select, StepThrough, ShowPiece,
                 ShowRandomPiece, RevealPiece, StepBy, GoToEvent, GoToEnd, Play, SetPlaySpeed, ToggleBookmark,
                 ClearBookmarks, GoToLandmark, SetReading, ChooseStepChart, ChooseFragment, ShowRaw, SeekFirstWrong>;

// Q, K, V and the bias out of .npy files, "" = generated (the bias: none). The problem takes the files' shapes.
struct SetInputFiles {
  std::array<std::string, 4> paths;
};
// Steps `first` to `last`, both included: a GIF (.gif), a film (.mp4, .webm), or PNGs in a folder.
struct SaveSteps {
  std::string path;
  EventIndex first = 0, last = 0;
  float seconds_per_step = 1;  // of the GIF
};
// Opens the field over the first cell of the inputs on screen, as a double click on it does.
struct TypeNumbers {};
using StepEffect = std::variant<SetInputFiles, SaveSteps, TypeNumbers>;

}  // namespace attn
