// What the window shows, as plain values. Panels read it; it changes only through commands (viz/state/commands.h) that
// the controller applies between frames: undo, the state string, scripts and tests all come from that one mechanism.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kernels/model/inputs/input_spec.h"
#include "kernels/recording/recording.h"
#include "profiling/spec/sweep_spec.h"
#include "viz/state/bench_runs.h"
#include "viz/state/view_bench.h"
#include "viz/state/view_learn.h"
#include "viz/state/view_profile.h"
#include "viz/state/view_step.h"

namespace attn {

enum class Workspace : std::uint8_t { step, bench, profile, learn };
std::string_view name_of(Workspace w);   // "step", ...
std::string_view title_of(Workspace w);  // "Step", ...

enum class Theme : std::uint8_t { dark, light };

// The pinned place: batch, query head, query row; column of the pinned cell in its tensor, -1 = the row alone.
struct Selection {
  std::int32_t b = 0, h = 0;
  std::int32_t row = 0;
  Slot slot = Slot::s;
  std::int32_t col = -1;
  bool operator==(const Selection&) const = default;
};

// What undo covers: problem, inputs, kernel, selection, the sweep, the list of runs.
// A run of the museum whose name is kept back: which mistake it has, or that it has none, is for the user to find.
enum class Exhibit : std::uint8_t { none, sealed, revealed };

struct Document {
  std::string preset = "blackboard";  // empty once the problem was changed by hand
  Problem problem;
  InputSpec inputs;
  std::string kernel = "cpu_flash";  // whose recording Step shows
  Exhibit exhibit = Exhibit::none;   // whether it was drawn at random, and is told
  Options options;                   // 0 = the kernel's default; presets set br and bc
  Selection selection;
  SweepSpec sweep;  // what Bench will run
  BenchRuns runs;   // and what it shows
  bool operator==(const Document&) const;
};

// What undo leaves alone: each workspace's own, and what belongs to none.
struct View {
  Workspace workspace = Workspace::step;
  StepView step;
  BenchView bench;
  ProfileView profile;
  LearnView learn;
  bool keys_sheet = false;  // the `?` sheet
  bool log_panel = false;
};

// The user's own, kept in the settings file, not in the state string.
struct Preferences {
  Theme theme = Theme::dark;
  float scale = 1;  // 1 to 3
  bool reduced_motion = false;
  bool greet = false;           // the line for who is new here, until it is closed
  std::string language = "en";  // of the lessons
  std::string python;           // the python3 that runs peers; empty = the first in PATH
  bool card_right = false;      // the side that a lesson's card is docked to
};

struct State {
  Document document;
  View view;
  Preferences preferences;
};

// Whether Step's panels are on screen: in Step, and in Learn beside the card of a lesson.
bool shows_step(const View& view);

// Whether Learn is shown to a class: card and run alone, larger, nothing kept of it.
bool teaches(const View& view);

// The kernel that Bench puts first.
const std::string& bench_kernel(const State& state);

}  // namespace attn
