// Pictures of several steps in a page: the canvas shows one after the other, and each is taken as it stands.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "app/control/tasks/log.h"
#include "app/graphics/gif.h"
#include "app/graphics/image.h"
#include "viz/state/commands.h"

namespace attn {

class StepsGif {
 public:
  // Takes SaveSteps out of the frame's commands, where there is one, and begins. `cursor`: where the view goes back to.
  void take(Commands& commands, EventIndex cursor, EventIndex steps, const std::filesystem::path& folder, Log& log);
  bool running() const { return wanted_.has_value(); }
  // Before a frame: shows the step that is to be taken.
  void before(Commands& commands);
  // After it was drawn.
  void after(const std::function<Image()>& read, Commands& commands, Log& log);

 private:
  Result<void> add(const Image& image);
  Result<std::string> finish();
  void end(Commands& commands);

  std::optional<SaveSteps> wanted_;
  std::optional<GifWriter> gif_;
  std::filesystem::path folder_;
  EventIndex now_ = 0, back_ = 0;
  int drawn_ = 0;  // frames of this step
};

}  // namespace attn
