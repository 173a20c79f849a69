// What the window shows, as plain values. Panels read it; it changes only through commands (viz/state/commands.h) that the
// shell applies between frames: undo, the state string, scripts and tests all come from that one mechanism.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/model/inputs.h"
#include "kernels/recording/recording.h"
#include "profiling/sweep/sweep.h"

namespace attn {

enum class Workspace : std::uint8_t { step, bench, profile, learn };
std::string_view name_of(Workspace w);  // "step", ...

enum class Theme : std::uint8_t { dark, light };

// O as the accumulator stands, or divided by l.
enum class OutputReading : std::uint8_t { as_summed, divided };

// What Step's chart card shows of the pinned row or the run.
enum class StepChart : std::uint8_t {
  row,        // scores, weights, m and l along the keys, nothing of the future
  hindsight,  // how far O/l stands from the final O after each key tile
  passes,     // the same element in naive and in flash order
  error,      // |O - fp64| over the output, and the first cell that differs
};
std::string_view name_of(StepChart c);  // "row", ...

// The pinned place: batch, query head, query row; column of the pinned cell in its tensor, -1 = the row alone.
struct Selection {
  std::int32_t b = 0, h = 0;
  std::int32_t row = 0;
  Slot slot = Slot::s;
  std::int32_t col = -1;
  bool operator==(const Selection&) const = default;
};

// What undo covers: problem, inputs, kernel, selection, the sweep.
struct Document {
  std::string preset = "blackboard";  // empty once the problem was changed by hand
  Problem problem;
  InputSpec inputs;
  std::string kernel = "cpu_flash";  // whose recording Step shows
  Options options;                   // 0 = the kernel's default; presets set br and bc
  Selection selection;
  SweepSpec sweep;  // what Bench will run
  bool operator==(const Document&) const;
};

// A place of the run that the user marked. It names the place, not the step's number, so that it means the same in the
// run of another shape or tile, and waits where a run has no such place.
struct Bookmark {
  EventId id;
  std::int32_t pass = 0;  // see Event::pass
  bool operator==(const Bookmark&) const = default;
};
constexpr std::size_t kMaxBookmarks = 64;

// What undo leaves alone.
struct View {
  Workspace workspace = Workspace::step;
  EventIndex cursor = 0;
  OutputReading reading = OutputReading::as_summed;
  StepChart chart = StepChart::row;
  bool playing = false;
  float play_steps_per_second = 2;
  std::vector<Bookmark> bookmarks;  // as they were set, each once
  bool keys_sheet = false;          // the `?` sheet
  bool log_panel = false;
  std::string bench_metric = "time_us_median";
  std::string bench_kernel;                 // chosen in Bench where Step cannot show it; empty = the document's
  std::string bench_baseline;               // what speed-ups are over; empty = the usual one of each device
  std::optional<std::int64_t> bench_value;  // axis value that the Bench table and verdict look at
};

// The user's own, kept in the settings file, not in the state string.
struct Preferences {
  Theme theme = Theme::dark;
  float scale = 1;  // 1 to 3
  bool reduced_motion = false;
};

struct State {
  Document document;
  View view;
  Preferences preferences;
};

// The kernel that Bench puts first.
const std::string& bench_kernel(const State& state);

}  // namespace attn
