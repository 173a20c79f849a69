#include "viz/draw/hands.h"

#include <fmt/format.h>

#include "imgui.h"

namespace attn {

bool by_touch() {
  return ImGui::GetCurrentContext() != nullptr && (ImGui::GetIO().ConfigFlags & ImGuiConfigFlags_IsTouchScreen) != 0;
}

const char* for_hands(const char* keyboard, const char* touch) {
  return by_touch() ? touch : keyboard;
}

std::string with_key(std::string_view tip, std::string_view key) {
  return by_touch() ? std::string(tip) : fmt::format("{} ({})", tip, key);
}

}  // namespace attn
