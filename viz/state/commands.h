// Everything a user can do to the state. Panels append commands; the shell applies them between frames
// (app/state/apply.h), so one frame never sees two states.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "kernels/model/inputs.h"
#include "viz/state/state.h"

namespace attn {

// Document: undoable. A drag sends many of these with the same `gesture` > 0: they are one undo entry.
struct ChoosePreset {
  std::string id;
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
struct SetSweep {
  SweepSpec sweep;
  int gesture = 0;
};
// From a row of Bench to Step, at a size that Step can show; and the problem of Step as the sweep's.
struct StepThrough {
  std::string kernel;
  Problem problem;
  Options options;
};
struct MeasureInBench {};

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
struct ChooseWorkspace {
  Workspace workspace = Workspace::step;
};
struct ShowKeys {
  bool on = true;
};
struct ShowLog {
  bool on = true;
};
struct ChooseBenchMetric {
  std::string id;
};
struct ChooseBenchValue {
  std::int64_t value = 0;
};
struct ChooseBenchBaseline {
  std::string id;  // empty = the usual one
};

// Preferences.
struct SetTheme {
  Theme theme = Theme::dark;
};
struct SetScale {
  float scale = 1;
};
struct SetReducedMotion {
  bool on = false;
};

// Small windows of the shell that ask for something.
enum class Popup : std::uint8_t { none, go_to, open_file, save_as, input_files, save_steps, bookmarks };
struct Ask {
  Popup popup = Popup::none;
};

// Effects: the shell starts a task or opens a file; the state itself does not change.
struct Undo {};
struct Redo {};
// Goes on from the rows there are where some of the sweep's points are finished and others not; `anew` measures all.
struct RunSweep {
  bool restart = false;
};
struct CancelTask {};
struct ExportCsv {};
struct ExportJson {};
struct SavePicture {};
// Steps `first` to `last`, both included, as one animated GIF (a path that ends in .gif) or a folder of PNGs.
struct SaveSteps {
  std::string path;
  EventIndex first = 0, last = 0;
  float seconds_per_step = 1;  // of the GIF
};
struct SaveSession {};
struct SaveSessionAs {
  std::string path;
};
// Q, K, V and the bias out of .npy files, "" = generated (the bias: none). The problem takes the files' shapes.
struct SetInputFiles {
  std::array<std::string, 4> paths;
};
struct OpenFile {
  std::string path;
};
struct CopyState {};
struct CopyText {
  std::string text;
};
struct Quit {};

using Command =
    std::variant<ChoosePreset, SetProblem, SetOptions, SetInputs, ChooseKernel, Select, SetSweep, StepThrough,
                 MeasureInBench, StepBy, GoToEvent, GoToEnd, Play, SetPlaySpeed, ToggleBookmark, ClearBookmarks,
                 GoToLandmark, SetReading, ChooseStepChart, ChooseWorkspace, ShowKeys, ShowLog, ChooseBenchMetric,
                 ChooseBenchValue, ChooseBenchBaseline, SetTheme, SetScale, SetReducedMotion, Undo, Redo, RunSweep,
                 CancelTask, ExportCsv, ExportJson, SavePicture, SaveSteps, SaveSession, SaveSessionAs, SetInputFiles,
                 OpenFile, Ask, CopyState, CopyText, Quit>;

using Commands = std::vector<Command>;

}  // namespace attn
