// Any view as a PNG, with no display: the window's own frames, drawn offscreen.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "app/graphics/image.h"
#include "kernels/base/result.h"
#include "kernels/recording/recording.h"
#include "kernels/recording/timeline.h"
#include "viz/state/commands.h"
#include "viz/state/lab_view.h"
#include "viz/state/model.h"
#include "viz/state/state.h"
#include "viz/state/view_step.h"

namespace attn {

// What to draw. Workspace, cursor, theme and scale are in `state` (start from initial_state() or a state string).
struct PictureSpec {
  State state;
  int width = 1440, height = 900;              // pixels, 320 x 240 to 8192 x 8192
  std::shared_ptr<const Recording> recording;  // null: recorded from state.document
  std::vector<ListedRun> runs;                 // that Bench lists; all are shown unless the state names some
  std::vector<ListedRun> only_listed = {};     // that it lists besides, not ticked
  std::vector<Timeline> timelines = {};        // of a file, for Profile
  std::shared_ptr<const LabView> lab = {};     // what stands in the lab; null: what the state's kernel begins with
  bool touch = false;                          // as on a touch screen
  std::optional<StepPanel> panel = {};         // of Step, alone
  Commands commands = {};                      // obeyed before it is drawn, as if of the user's hands
};

// Refuses what is too small or too large to be drawn.
Result<void> check_picture_size(int width, int height);
Result<Image> draw_picture(const PictureSpec& spec);

// Charts of Bench, each alone, without bar and panels: one a metric, in their order, as large as `spec` says.
Result<std::vector<Image>> draw_charts(const PictureSpec& spec, std::span<const std::string> metrics);

// Steps `first` to `last`, both included, of what Step shows.
struct StepSeries {
  EventIndex first = 0, last = 0;
  double seconds_per_step = 1;  // of a GIF or film
};
// Pictures of several steps: one animated GIF where `out` ends in .gif, a film where it ends in .mp4 or .webm
// (app/window/film.h), else a folder of step-0001.png ... In GIF and film the steps move, unless the state's preference
// is less motion. Both are there when they are whole; of the PNGs those that are finished are kept when it is stopped.
// `done` is told how many steps are ready.
Result<void> take_pictures(const PictureSpec& spec, const StepSeries& steps, const std::filesystem::path& out,
                           const std::stop_token& stop, const std::function<void(EventIndex)>& done);
// draw_picture, then write_png. Where libEGL or a driver is missing, the error (cannot_run) names it and the package.
Result<void> take_picture(const PictureSpec& spec, const std::filesystem::path& file);

}  // namespace attn
