#include "viz/draw/hands.h"

#include "imgui.h"

namespace attn {

bool by_touch() {
  return ImGui::GetCurrentContext() != nullptr && (ImGui::GetIO().ConfigFlags & ImGuiConfigFlags_IsTouchScreen) != 0;
}

const char* for_hands(const char* keyboard, const char* touch) {
  return by_touch() ? touch : keyboard;
}

}  // namespace attn
