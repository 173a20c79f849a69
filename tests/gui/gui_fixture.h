// The real frame under the Dear ImGui test engine, with no display: input is simulated, pictures are thrown away.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "app/control/controller.h"
#include "app/graphics/gui_context.h"
#include "app/shell/shell.h"
#include "imgui_internal.h"
#include "imgui_test_engine/imgui_te_context.h"
#include "imgui_test_engine/imgui_te_engine.h"
#include "tests/kernels/temp_folder.h"

namespace attn {

struct DestroyEngine {
  void operator()(ImGuiTestEngine* engine) const;
};

class TestWindow {
 public:
  // `lister`: what compiles a kernel for Profile's source, `gpu`: what builds and measures, `rings`: what runs
  // rings, where a test wants them. `state`: the string that it opens with.
  explicit TestWindow(int width = 1440, int height = 900, const std::string& layout = "", bool greet = false,
                      KernelLister lister = {}, std::shared_ptr<GpuBench> gpu = {},
                      std::shared_ptr<RingBench> rings = {}, const std::string& state = "attn1");
  ~TestWindow();
  TestWindow(const TestWindow&) = delete;
  TestWindow& operator=(const TestWindow&) = delete;

  // Runs `test` while frames are drawn; whether all its checks held. IM_CHECK inside.
  bool run(const std::function<void(ImGuiTestContext*)>& test);
  void draw_frames(int n);

  Controller& controller() { return *controller_; }
  const State& state() const { return controller_->state(); }
  Shell& shell() { return shell_; }
  const TempFolder& folder() const { return folder_; }  // where it saves
  WindowRequests requests;                              // of the frames so far, newest wins

 private:
  void draw_frame();

  TempFolder folder_;
  int width_, height_;
  std::unique_ptr<ImGuiTestEngine, DestroyEngine> engine_;  // before the context: it must outlive it
  std::unique_ptr<GuiContext> gui_;
  Shell shell_;
  std::unique_ptr<Controller> controller_;
  Commands commands_;
};

constexpr const char* kStep = "//###workspace/step";  // where the items of Step are found

constexpr const char* kLearn = "//###workspace/learn";

// The child window "setup", "time", "table" ... of the workspace that was drawn last; its full name holds hashes.
inline ImGuiWindow* child_window(const std::string& name) {
  for (ImGuiWindow* window : ImGui::GetCurrentContext()->Windows) {
    if (window->WasActive && std::string(window->Name).find("/" + name + "_") != std::string::npos &&
        std::string(window->Name).find('/', std::string(window->Name).find("/" + name + "_") + 1) == std::string::npos)
      return window;
  }
  return nullptr;
}

// What is found first for these words, by the keyboard alone.
inline void choose_in_palette(ImGuiTestContext* ctx, const char* query) {
  ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_P);
  ctx->Yield(3);
  ctx->KeyChars(query);
  ctx->Yield(3);
  ctx->KeyPress(ImGuiKey_Enter);
  ctx->Yield(3);
}

// What Step shows.
inline const Recording& recording(TestWindow& w) {
  return *w.controller().model().recording;
}

}  // namespace attn
