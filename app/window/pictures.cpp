#include "app/window/pictures.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "app/control/controller.h"
#include "app/graphics/film_name.h"
#include "app/graphics/gif.h"
#include "app/graphics/gui_context.h"
#include "app/graphics/offscreen.h"
#include "app/shell/shell.h"
#include "app/system/assets.h"
#include "app/window/film.h"
#include "app/worker/disassemble.h"
#include "imgui.h"
#include "imgui_impl_opengl3.h"
#include "kernels/base/files.h"
#include "kernels/base/text.h"
#include "profiling/tune/store.h"

namespace attn {
namespace {

// Windows and docks take two frames to find their sizes, texts that depend on them a third; then one for the picture.
constexpr int kFrames = 5;

// Dear ImGui's OpenGL renderer, for as long as the object lives.
class Renderer {
 public:
  static Result<std::unique_ptr<Renderer>> create() {
    if (!ImGui_ImplOpenGL3_Init("#version 330")) {
      return fail(ErrorKind::cannot_run, tr("Cannot start the renderer: it needs OpenGL 3.3, which is missing here."));
    }
    return std::unique_ptr<Renderer>(new Renderer);
  }
  ~Renderer() { ImGui_ImplOpenGL3_Shutdown(); }
  Renderer(const Renderer&) = delete;
  Renderer& operator=(const Renderer&) = delete;

 private:
  Renderer() = default;
};

State still(State state, bool moves) {
  state.preferences.reduced_motion = !moves;
  state.view.step.playing = false;
  return state;
}

// The window's frame without a window. Members die in reverse order.
class OffscreenWindow {
 public:
  // `moves`: steps do, frame by frame.
  static Result<std::unique_ptr<OffscreenWindow>> open(const PictureSpec& spec, bool moves = false) {
    if (auto good = check_picture_size(spec.width, spec.height); !good) return tl::unexpected(good.error());
    const auto assets = find_assets();
    if (!assets) return tl::unexpected(assets.error());
    auto offscreen = Offscreen::create(spec.width, spec.height);
    if (!offscreen) return tl::unexpected(offscreen.error());
    auto offscreen_window = std::unique_ptr<OffscreenWindow>(new OffscreenWindow(*std::move(offscreen)));
    auto renderer = Renderer::create();
    if (!renderer) return tl::unexpected(renderer.error());
    offscreen_window->renderer_ = *std::move(renderer);
    if (auto ready = offscreen_window->shell_.set_up(*assets); !ready) return tl::unexpected(ready.error());
    offscreen_window->show(spec, moves);
    return offscreen_window;
  }
  Controller& controller() { return *controller_; }
  Shell& shell() { return shell_; }

  Image draw(Commands commands, int frames = kFrames) {
    for (int frame = 0; frame < frames; ++frame) {
      controller_->update(std::exchange(commands, {}));
      if (controller_->tasks_run()) controller_->wait();  // what a panel asked for belongs to the picture
      shell_.follow(controller_->state(), 1);
      ImGui_ImplOpenGL3_NewFrame();
      ImGui::NewFrame();
      shell_.draw(*controller_, commands);
      ImGui::Render();
      // Glyphs that a frame asks for are there in the next; the frames before the last are not drawn.
      for (ImTextureData* texture : ImGui::GetPlatformIO().Textures) {
        if (texture->Status != ImTextureStatus_OK) ImGui_ImplOpenGL3_UpdateTexture(texture);
      }
    }
    offscreen_.clear(colour(controller_->state().preferences.theme, Token::ground));
    ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
    return offscreen_.read_pixels();
  }

 private:
  explicit OffscreenWindow(Offscreen offscreen) : offscreen_(std::move(offscreen)) {}
  void show(const PictureSpec& spec, bool moves) {
    shell_.show_toasts(false);
    ControllerOptions options;
    options.state = still(spec.state, moves);
    options.lister = list_kernel_here;
    options.sweeps.tiles = tuned_folder();
    // Pictures show the lessons as they are to who has not begun.
    if (const auto assets = find_assets()) options.lessons.folder = *assets / "lessons";
    controller_ = std::make_unique<Controller>(std::move(options));
    controller_->show(spec.runs, spec.recording);
    controller_->list(spec.only_listed);
    controller_->show(spec.timelines);
    if (spec.lab != nullptr) controller_->show_lab(*spec.lab);
    controller_->wait();
    ImGuiIO& io = ImGui::GetIO();
    io.DisplaySize = {static_cast<float>(spec.width), static_cast<float>(spec.height)};
    io.DeltaTime = 1.0F / 60;
    if (spec.panel) shell_.show_alone(*spec.panel);
    if (spec.touch) io.ConfigFlags |= ImGuiConfigFlags_IsTouchScreen;
  }

  Offscreen offscreen_;
  GuiContext gui_;
  std::unique_ptr<Renderer> renderer_;
  Shell shell_;
  std::unique_ptr<Controller> controller_;
};

tl::unexpected<Error> stopped(EventIndex ready) {
  return fail(ErrorKind::cancelled, phrase("Cancelled after {} pictures.", ready));
}

// A GIF's pictures of a step on its way: each has colours of its own, so there are fewer of them than in a film.
constexpr double kGifMotion = 0.06;  // seconds
constexpr int kSettled = 3;          // frames after which sizes that follow from the last one are settled

Result<void> take_gif(OffscreenWindow& offscreen_window, const StepSeries& steps, bool moves,
                      const std::filesystem::path& out, const std::stop_token& stop,
                      const std::function<void(EventIndex)>& done) {
  ImGui::GetIO().DeltaTime = static_cast<float>(kGifMotion);
  std::optional<GifWriter> gif;
  for (EventIndex e = steps.first; e <= steps.last; ++e) {
    if (stop.stop_requested()) return stopped(e - steps.first);
    Image image = offscreen_window.draw({GoToEvent{e}}, moves && e != steps.first ? 1 : kFrames);
    if (!gif) {
      auto made = GifWriter::create(image.width, image.height);
      if (!made) return tl::unexpected(made.error());
      gif = *std::move(made);
    }
    double left = steps.seconds_per_step;
    for (; moves && offscreen_window.shell().moves(); left -= kGifMotion) {
      if (auto added = gif->add(image, kGifMotion); !added) return added;
      image = offscreen_window.draw({}, 1);
    }
    if (moves) image = offscreen_window.draw({}, kSettled);
    if (auto added = gif->add(image, left); !added) return added;
    done(e - steps.first + 1);
  }
  if (!gif)
    return bad_input(
        phrase("A GIF needs at least one step, but the range {} to {} is empty.", steps.first + 1, steps.last + 1));
  const auto bytes = gif->finish();
  if (!bytes) return tl::unexpected(bytes.error());
  return write_file_atomically(out, *bytes);
}

Result<void> take_pngs(OffscreenWindow& offscreen_window, const StepSeries& steps, const std::filesystem::path& out,
                       const std::stop_token& stop, const std::function<void(EventIndex)>& done) {
  if (auto made = make_folder(out); !made) return made;
  for (EventIndex e = steps.first; e <= steps.last; ++e) {
    if (stop.stop_requested()) return stopped(e - steps.first);
    const Image image = offscreen_window.draw({GoToEvent{e}});
    if (auto written = write_png(out / picture_of_step(std::size_t{e} + 1), image); !written) return written;
    done(e - steps.first + 1);
  }
  return ok();
}

// Each frame of a step that moves, then the step at rest until the next one is due.
Result<void> take_film(OffscreenWindow& offscreen_window, const StepSeries& steps, const std::filesystem::path& out,
                       const std::stop_token& stop, const std::function<void(EventIndex)>& done) {
  ImGui::GetIO().DeltaTime = 1.0F / kFilmRate;
  std::optional<FilmWriter> film;
  int shown = 0;
  for (EventIndex e = steps.first; e <= steps.last; ++e) {
    if (stop.stop_requested()) return stopped(e - steps.first);
    const EventIndex ready = e - steps.first + 1;
    const int until = std::max(shown + 1, static_cast<int>(std::lround(steps.seconds_per_step * ready * kFilmRate)));
    Image image = offscreen_window.draw({GoToEvent{e}}, e == steps.first ? kFrames : 1);
    if (!film) {
      auto made = FilmWriter::create(out, image.width, image.height);
      if (!made) return tl::unexpected(made.error());
      film.emplace(*std::move(made));
    }
    for (; shown + 1 < until && offscreen_window.shell().moves(); ++shown) {
      if (auto added = film->add(image, 1, stop); !added) return added;
      image = offscreen_window.draw({}, 1);
    }
    if (auto added = film->add(image, until - shown, stop); !added) return added;
    shown = until;
    done(ready);
  }
  return film->finish(stop);
}

}  // namespace

Result<void> check_picture_size(int width, int height) {
  if (width >= 320 && width <= 8192 && height >= 240 && height <= 8192) return ok();
  return bad_input(phrase("Cannot draw a picture of {} x {}; use 320 x 240 to 8192 x 8192 pixels.", width, height));
}

Result<Image> draw_picture(const PictureSpec& spec) {
  auto offscreen_window = OffscreenWindow::open(spec);
  if (!offscreen_window) return tl::unexpected(offscreen_window.error());
  return (*offscreen_window)->draw(spec.commands);
}

Result<std::vector<Image>> draw_charts(const PictureSpec& spec, std::span<const std::string> metrics) {
  PictureSpec whole = spec;
  whole.state.view.workspace = Workspace::bench;
  // The bar over the chart is cut off.
  const int bar = static_cast<int>(std::ceil(kTopBarHeight * spec.state.preferences.scale));
  whole.height += bar;
  auto offscreen_window = OffscreenWindow::open(whole);
  if (!offscreen_window) return tl::unexpected(offscreen_window.error());
  std::vector<Image> images;
  for (const std::string& metric : metrics) {
    (*offscreen_window)->shell().show_one_chart(0);
    Image image = (*offscreen_window)->draw({ChooseBenchMetric{metric, 0}});
    const auto cut = static_cast<std::ptrdiff_t>(bar) * image.width * 4;
    image.rgba.erase(image.rgba.begin(), image.rgba.begin() + cut);
    image.height -= bar;
    images.push_back(std::move(image));
  }
  return images;
}

Result<void> take_pictures(const PictureSpec& spec, const StepSeries& steps, const std::filesystem::path& out,
                           const std::stop_token& stop, const std::function<void(EventIndex)>& done) {
  // A step that is gone before it has arrived would only flicker.
  constexpr double kLeastToMove = 0.45;
  // A GIF has several pictures for each step that moves: of a long series it would be too large to send.
  constexpr EventIndex kMostMoving = 120;
  const bool film = names_film(out), gif = names_gif(out);
  const bool moves = !spec.state.preferences.reduced_motion && steps.seconds_per_step >= kLeastToMove &&
                     (film || (gif && steps.last - steps.first < kMostMoving));
  auto offscreen_window = OffscreenWindow::open(spec, moves);
  if (!offscreen_window) return tl::unexpected(offscreen_window.error());
  const Model& model = (*offscreen_window)->controller().model();
  const std::size_t events = model.recording == nullptr ? 0 : model.recording->events.size();
  if (steps.first > steps.last || steps.last >= events) {
    return bad_input(
        phrase("Invalid steps {} to {}: this run has steps 1 to {}.", steps.first + 1, steps.last + 1, events));
  }
  (*offscreen_window)->draw({});  // windows and docks find their sizes
  if (film) return take_film(**offscreen_window, steps, out, stop, done);
  return gif ? take_gif(**offscreen_window, steps, moves, out, stop, done)
             : take_pngs(**offscreen_window, steps, out, stop, done);
}

Result<void> take_picture(const PictureSpec& spec, const std::filesystem::path& file) {
  const auto image = draw_picture(spec);
  if (!image) return tl::unexpected(image.error());
  return write_png(file, *image);
}

}  // namespace attn
