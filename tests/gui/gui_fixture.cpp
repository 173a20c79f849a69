#include "tests/gui/gui_fixture.h"

#include <gtest/gtest.h>

#include <utility>

#include "app/shell/frame.h"
#include "app/state/apply/apply.h"
#include "app/state/string/state_string.h"
#include "app/system/assets.h"
#include "imgui_impl_null.h"

namespace attn {

void DestroyEngine::operator()(ImGuiTestEngine* engine) const {
  ImGuiTestEngine_DestroyContext(engine);
}

TestWindow::TestWindow(int width, int height, const std::string& layout, bool greet, KernelLister lister,
                       std::shared_ptr<GpuBench> gpu, std::shared_ptr<RingBench> rings, const std::string& state)
    : width_(width), height_(height), gui_(std::make_unique<GuiContext>()) {
  engine_.reset(ImGuiTestEngine_CreateContext());
  ImGuiTestEngineIO& io = ImGuiTestEngine_GetIO(engine_.get());
  io.ConfigRunSpeed = ImGuiTestRunSpeed_Fast;
  io.ConfigNoThrottle = true;
  io.ConfigSavedSettings = false;
  io.ConfigLogToTTY = true;
  io.ConfigVerboseLevel = ImGuiTestVerboseLevel_Error;
  io.ConfigVerboseLevelOnError = ImGuiTestVerboseLevel_Info;
  ImGuiTestEngine_Start(engine_.get(), ImGui::GetCurrentContext());
  ImGui_ImplNull_Init();
  const auto assets = find_assets();
  EXPECT_TRUE(assets) << (assets ? "" : assets.error().message);
  const auto ready = shell_.set_up(*assets);
  EXPECT_TRUE(ready) << (ready ? "" : ready.error().message);
  shell_.load_layout(layout);
  ControllerOptions options;
  const auto opened = open_state_string(state);
  EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
  options.state = opened.value_or(initial_state());
  options.state.preferences.reduced_motion = true;
  options.state.preferences.greet = greet;
  options.program = "/bin/false";  // not this test program again
  options.save_folder = folder_.path();
  options.lister = std::move(lister);
  options.sweeps.gpu = std::move(gpu);
  options.sweeps.rings = std::move(rings);
  options.drafts = folder_.path() / "drafts";
  options.lessons = {*assets / "lessons", folder_.path() / "state" / "lessons.json"};
  controller_ = std::make_unique<Controller>(std::move(options));
  draw_frames(4);
}

TestWindow::~TestWindow() {
  ImGuiTestEngine_Stop(engine_.get());
  ImGui_ImplNull_Shutdown();
  gui_.reset();
}

void TestWindow::draw_frame() {
  controller_->update(std::exchange(commands_, {}));
  shell_.follow(controller_->state(), 1);
  ImGui_ImplNull_NewFrame();
  ImGui::GetIO().DisplaySize = {static_cast<float>(width_), static_cast<float>(height_)};
  begin_frame();
  shell_.draw(*controller_, commands_);
  ImGui::Render();
  ImGui_ImplNullRender_RenderDrawData(ImGui::GetDrawData());
  if (WindowRequests now = controller_->take_requests(); now.clipboard || now.picture || now.quit)
    requests = std::move(now);
  ImGuiTestEngine_PostSwap(engine_.get());
}

void TestWindow::draw_frames(int n) {
  for (int i = 0; i < n; ++i) draw_frame();
}

bool TestWindow::run(const std::function<void(ImGuiTestContext*)>& test) {
  ImGuiTest* registered = IM_REGISTER_TEST(engine_.get(), "window", "test");
  registered->TestFunc = test;
  ImGuiTestEngine_QueueTest(engine_.get(), registered);
  while (!ImGuiTestEngine_IsTestQueueEmpty(engine_.get())) draw_frame();
  draw_frames(3);
  const bool good = registered->Output.Status == ImGuiTestStatus_Success;
  ImGuiTestEngine_UnregisterTest(engine_.get(), registered);
  return good;
}

}  // namespace attn
