#include "app/picture.h"

#include <utility>

#include <fmt/format.h>

#include "app/assets.h"
#include "app/controller.h"
#include "app/gui_context.h"
#include "app/offscreen.h"
#include "app/shell.h"
#include "imgui.h"
#include "imgui_impl_opengl3.h"

namespace attn {
namespace {

// Windows and docks take two frames to find their sizes, texts that depend on them a third; then one for the picture.
constexpr int kFrames = 5;

// Dear ImGui's OpenGL renderer, for as long as the object lives.
class Renderer {
 public:
  static Result<std::unique_ptr<Renderer>> create() {
    if (!ImGui_ImplOpenGL3_Init("#version 330")) {
      return fail(ErrorKind::cannot_run, "The renderer cannot start: this OpenGL lacks what version 3.3 has.");
    }
    return std::unique_ptr<Renderer>(new Renderer);
  }
  ~Renderer() { ImGui_ImplOpenGL3_Shutdown(); }
  Renderer(const Renderer&) = delete;
  Renderer& operator=(const Renderer&) = delete;

 private:
  Renderer() = default;
};

Result<void> check_size(int width, int height) {
  if (width >= 320 && width <= 8192 && height >= 240 && height <= 8192) return ok();
  return bad_input(
      fmt::format("A picture of {} x {} cannot be drawn; 320 x 240 to 8192 x 8192 pixels can.", width, height));
}

State still(State state) {
  state.preferences.reduced_motion = true;
  state.view.playing = false;
  return state;
}

}  // namespace

Result<Image> draw_picture(const PictureSpec& spec) {
  if (auto good = check_size(spec.width, spec.height); !good) return tl::unexpected(good.error());
  const auto assets = find_assets();
  if (!assets) return tl::unexpected(assets.error());
  const auto offscreen = Offscreen::create(spec.width, spec.height);
  if (!offscreen) return tl::unexpected(offscreen.error());
  GuiContext gui;
  const auto renderer = Renderer::create();
  if (!renderer) return tl::unexpected(renderer.error());
  Shell shell;
  if (auto ready = shell.set_up(*assets); !ready) return tl::unexpected(ready.error());
  shell.show_toasts(false);

  ControllerOptions options;
  options.state = still(spec.state);
  Controller controller(std::move(options));
  controller.show(spec.measurements, spec.provenance, spec.recording);
  controller.wait();
  ImGuiIO& io = ImGui::GetIO();
  io.DisplaySize = {static_cast<float>(spec.width), static_cast<float>(spec.height)};
  io.DeltaTime = 1.0F / 60;
  Commands commands;
  for (int frame = 0; frame < kFrames; ++frame) {
    controller.update(std::exchange(commands, {}));
    shell.follow(controller.state().preferences, 1);
    ImGui_ImplOpenGL3_NewFrame();
    ImGui::NewFrame();
    shell.draw(controller, commands);
    ImGui::Render();
    offscreen->clear(colour(controller.state().preferences.theme, Token::ground));
    ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  }
  return offscreen->read_pixels();
}

Result<void> take_picture(const PictureSpec& spec, const std::filesystem::path& file) {
  const auto image = draw_picture(spec);
  if (!image) return tl::unexpected(image.error());
  return write_png(file, *image);
}

}  // namespace attn
