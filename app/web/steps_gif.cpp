#include "app/web/steps_gif.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "app/graphics/film_name.h"
#include "kernels/base/files.h"
#include "kernels/base/text.h"

namespace attn {
namespace {

// Sizes that follow from the frame before are settled in the third.
constexpr int kFrames = 3;

}  // namespace

void StepsGif::take(Commands& commands, EventIndex cursor, EventIndex steps, const std::filesystem::path& folder,
                    Log& log) {
  const auto it = std::find_if(commands.begin(), commands.end(),
                               [](const Command& c) { return command_as<SaveSteps>(c) != nullptr; });
  if (it == commands.end()) return;
  const SaveSteps what = *command_as<SaveSteps>(*it);
  commands.erase(it);
  if (names_film(what.path)) return log.error(tr("The browser page cannot create videos; use a name ending in .gif."));
  if (running()) return log.warn(tr("Pictures are being drawn; wait until they are saved."));
  if (what.first > what.last || what.last >= steps)
    return log.error(
        phrase("Invalid steps {} to {}: this run has steps 1 to {}.", what.first + 1, what.last + 1, steps));
  wanted_ = what;
  folder_ = folder;
  now_ = what.first;
  back_ = cursor;
  drawn_ = 0;
}

void StepsGif::before(Commands& commands) {
  if (running() && drawn_ == 0) commands.emplace_back(GoToEvent{now_});
}

void StepsGif::after(const std::function<Image()>& read, Commands& commands, Log& log) {
  if (!running() || ++drawn_ < kFrames) return;
  drawn_ = 0;
  if (const auto added = add(read()); !added) {
    log.error(added.error().message);
    return end(commands);
  }
  if (now_++ < wanted_->last) return;
  const auto saved = finish();
  saved ? log.note(phrase("Pictures of steps saved as {}", *saved)) : log.error(saved.error().message);
  end(commands);
}

Result<void> StepsGif::add(const Image& image) {
  if (!names_gif(wanted_->path)) return write_png(folder_ / picture_of_step(std::size_t{now_} + 1), image);
  if (!gif_) {
    auto made = GifWriter::create(image.width, image.height);
    if (!made) return tl::unexpected(made.error());
    gif_ = *std::move(made);
  }
  return gif_->add(image, wanted_->seconds_per_step);
}

Result<std::string> StepsGif::finish() {
  const std::filesystem::path name = std::filesystem::path(wanted_->path).filename();
  if (!gif_) return std::string("step-*.png");
  const auto bytes = gif_->finish();
  if (!bytes) return tl::unexpected(bytes.error());
  if (const auto written = write_file_atomically(folder_ / name, *bytes); !written)
    return tl::unexpected(written.error());
  return name.string();
}

void StepsGif::end(Commands& commands) {
  commands.emplace_back(GoToEvent{back_});
  wanted_.reset();
  gif_.reset();
}

}  // namespace attn
