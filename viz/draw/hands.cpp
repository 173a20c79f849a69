#include "viz/draw/hands.h"

#include <algorithm>

#include <fmt/format.h>

#include "imgui.h"
#include "viz/draw/theme.h"

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

float for_finger(float side) {
  return by_touch() ? std::max(side, kFinger) : side;
}

float beyond_edge(float side) {
  return (for_finger(side) - side) / 2;
}

// A line of a list takes the space up to the next one; a button has it within its frame.
FingerSized::FingerSized() : pushed_(by_touch()) {
  if (!pushed_) return;
  const float finger = style().px(kFinger), text = ImGui::GetFontSize();
  const ImGuiStyle& g = ImGui::GetStyle();
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {g.ItemSpacing.x, finger - text});
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {g.FramePadding.x, (finger - text) / 2});
  // The first line and the last reach as far beyond their words.
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding,
                      {g.WindowPadding.x, std::max(g.WindowPadding.y, (finger - text) / 2)});
}

FingerSized::~FingerSized() {
  if (pushed_) ImGui::PopStyleVar(3);
}

}  // namespace attn
