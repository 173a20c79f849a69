// What Step shows of its document, in the state string but not undoable.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/model/fragments.h"
#include "kernels/recording/recording.h"

namespace attn {

// O as the accumulator stands, or divided by l.
enum class OutputReading : std::uint8_t { as_summed, divided };

// What Step's chart card shows of the pinned row or the run.
enum class StepChart : std::uint8_t {
  row,        // scores, weights, m and l along the keys, nothing of the future
  hindsight,  // how far O/l stands from the final O after each key tile
  passes,     // the same element in naive and in flash order
  error,      // |O - fp64| over the output, and the first cell that differs
  attention,  // the weights of the live head, every query row by every key, and how sharp each row is
  fragments,  // which lane and register of a warp holds an element on tensor cores, and which banks its tile lies in
  sentence,   // words of rows and columns: which word attends to which, in every head, tile by tile
  pages,      // K and V in pages: the pool, the table, and what of both the key tile at hand gathers
};
// All of them, in the order of the tabs.
inline constexpr std::array kStepCharts{StepChart::row,      StepChart::hindsight, StepChart::passes,
                                        StepChart::error,    StepChart::attention, StepChart::fragments,
                                        StepChart::sentence, StepChart::pages};
std::string_view name_of(StepChart c);  // "row", ...

// A panel that is shown alone, for a figure in another page. run: strip, tiles, timeline.
enum class StepPanel : std::uint8_t { run, tiles, chart, traffic, timeline };
std::optional<StepPanel> panel_named(std::string_view name);

std::string_view name_of(FragmentTile t);  // "q", ...
// Whose fragments are shown before anybody chooses.
inline constexpr std::string_view kFirstFragments = "flash_mma";

// How fast the run plays: faster and slower go through these, in steps a second.
inline constexpr float kSpeeds[] = {0.5F, 1, 2, 4, 8, 16, 32};
float next_speed(float now, int direction);
std::string speed_text(float steps_per_second);  // "2/s"

// A place of the run that the user marked. It names the place, not the step's number, so that it means the same in the
// run of another shape or tile, and waits where a run has no such place.
struct Bookmark {
  EventId id;
  std::int32_t pass = 0;  // see Event::pass
  bool operator==(const Bookmark&) const = default;
};
constexpr std::size_t kMaxBookmarks = 64;

struct StepView {
  EventIndex cursor = 0;
  OutputReading reading = OutputReading::as_summed;
  StepChart chart = StepChart::row;
  std::string fragment_kernel = std::string(kFirstFragments);  // a kernel whose row has fragments
  FragmentTile fragment_tile = FragmentTile::q;
  bool raw = false;               // of a GPU's run: the numbers as its kernel holds them, not as the formulas have them
  bool seek_first_wrong = false;  // the first wrong step of a wrong run is shown
  bool playing = false;
  float play_steps_per_second = 2;
  std::vector<Bookmark> bookmarks;  // as they were set, each once
};

}  // namespace attn
