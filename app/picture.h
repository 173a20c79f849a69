// Any view as a PNG, with no display: the window's own frames, drawn offscreen.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "kernels/recording.h"
#include "kernels/result.h"
#include "profiling/measurement.h"
#include "viz/state.h"

namespace attn {

// Row 0 on top, RGBA, 8 bits each, not premultiplied.
struct Image {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgba;
};

// What to draw. Workspace, cursor, theme and scale are in `state` (start from initial_state() or a state string).
struct PictureSpec {
  State state;
  int width = 1440, height = 900;              // pixels, 320 x 240 to 8192 x 8192
  std::shared_ptr<const Recording> recording;  // null: recorded from state.document
  std::vector<Measurement> measurements;       // rows that Bench shows
  Provenance provenance;
};

Result<Image> draw_picture(const PictureSpec& spec);
Result<void> write_png(const std::filesystem::path& file, const Image& image);
// draw_picture, then write_png. Where libEGL or a driver is missing, the error (cannot_run) names it and the package.
Result<void> take_picture(const PictureSpec& spec, const std::filesystem::path& file);

}  // namespace attn
