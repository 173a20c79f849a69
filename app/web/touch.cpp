#include "app/web/touch.h"

#include <array>
#include <cfloat>

#include "imgui_internal.h"  // what lies under the finger

namespace attn {
namespace {

// Of the page's pixels, around what is drawn, the nearest first: 14 and twice 9 are 32.
constexpr std::array kReaches{0.0F, 3.0F, 6.0F, 9.0F};

}  // namespace

void Touch::press(float x, float y) {
  if (stage_ == Stage::held) release();
  ImGuiIO& io = ImGui::GetIO();
  io.AddMouseSourceEvent(ImGuiMouseSource_TouchScreen);
  io.AddMousePosEvent(x, y);
  stage_ = Stage::seeking;
  reach_ = 0;
  moved_ = released_ = false;
}

void Touch::move(float x, float y) {
  if (stage_ == Stage::none || stage_ == Stage::letting_go) return;
  if (stage_ == Stage::held) return ImGui::GetIO().AddMousePosEvent(x, y);
  now_ = {x, y};
  moved_ = true;
}

void Touch::release() {
  if (stage_ == Stage::seeking) {
    released_ = true;
  } else if (stage_ == Stage::held) {
    ImGui::GetIO().AddMouseButtonEvent(ImGuiMouseButton_Left, false);
    stage_ = Stage::letting_go;
  }
}

void Touch::leave() {
  ImGui::GetIO().AddMousePosEvent(-FLT_MAX, -FLT_MAX);
}

void Touch::take() {
  ImGuiIO& io = ImGui::GetIO();
  io.AddMouseButtonEvent(ImGuiMouseButton_Left, true);
  stage_ = Stage::held;
  if (moved_) io.AddMousePosEvent(now_.x, now_.y);
  if (released_) release();
}

void Touch::before_frame(float ratio) {
  const float reach = stage_ == Stage::none ? 0 : kReaches.at(reach_) * ratio;
  ImGui::GetStyle().TouchExtraPadding = {reach, reach};
}

void Touch::after_frame() {
  const ImGuiContext& g = *ImGui::GetCurrentContext();
  if (g.InputEventsQueue.Size > 0) return;  // the frame did not have all of it
  if (stage_ == Stage::letting_go) {
    stage_ = Stage::none;
    leave();
  } else if (stage_ == Stage::seeking) {
    // Beside what cannot be pressed there may be what can.
    const bool found = g.HoveredId != 0 && (reach_ == 0 || !g.HoveredIdIsDisabled);
    if (!found && reach_ + 1 < kReaches.size()) {
      ++reach_;
      return;
    }
    if (!found) reach_ = 0;
    take();
  }
}

}  // namespace attn
