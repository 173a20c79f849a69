#include "app/shell/motion.h"

#include <algorithm>
#include <cmath>

#include "imgui.h"
#include "imgui_internal.h"

namespace attn {
namespace {

constexpr double kAtOnce = 0, kJustAfter = 0.005;

// Shown for 0.8 s of each 1.2 s (imgui_widgets.cpp, InputTextEx); just typed in, for 0.3 s more.
double caret(ImGuiContext& g) {
  const ImGuiInputTextState* text = ImGui::GetInputTextState(g.ActiveId);
  if (text == nullptr || !g.IO.ConfigInputTextCursorBlink) return kNothingMoves;
  constexpr double kShown = 0.8, kCycle = 1.2;
  const auto now = static_cast<double>(text->CursorAnim);
  if (now <= 0) return kShown - now + kJustAfter;
  const double at = std::fmod(now, kCycle);
  return (at <= kShown ? kShown - at : kCycle - at) + kJustAfter;
}

// The pointer rests on something that has words to say.
double tooltip(const ImGuiContext& g) {
  if (g.HoverItemDelayId == 0) return kNothingMoves;
  const ImGuiStyle& s = g.Style;
  if (g.MouseStationaryTimer < s.HoverStationaryDelay)
    return static_cast<double>(s.HoverStationaryDelay - g.MouseStationaryTimer) + kJustAfter;
  if (g.HoverItemUnlockedStationaryId != g.HoverItemDelayId) return kAtOnce;
  for (const float delay : {s.HoverDelayShort, s.HoverDelayNormal}) {
    if (g.HoverItemDelayTimer < delay) return static_cast<double>(delay - g.HoverItemDelayTimer) + kJustAfter;
  }
  return kNothingMoves;
}

bool is_held(ImGuiKey key) {
  const bool modifier = key >= ImGuiKey_LeftCtrl && key <= ImGuiKey_RightSuper;
  return !modifier && ImGui::IsKeyDown(key);
}

bool something_is_held() {
  if (ImGui::IsAnyMouseDown()) return true;
  for (int key = ImGuiKey_Keyboard_BEGIN; key < ImGuiKey_Keyboard_END; ++key) {
    if (is_held(static_cast<ImGuiKey>(key))) return true;
  }
  return false;
}

// The first frame of a window is not shown: it is measured.
bool a_window_is_measured(const ImGuiContext& g) {
  return std::any_of(g.Windows.begin(), g.Windows.end(), [](const ImGuiWindow* w) {
    return w->Active && (w->HiddenFramesCanSkipItems > 0 || w->HiddenFramesCannotSkipItems > 0 ||
                         w->HiddenFramesForRenderOnly > 0 || w->AutoFitFramesX > 0 || w->AutoFitFramesY > 0);
  });
}

bool fades(const ImGuiContext& g) {
  const auto between = [](float x) { return x > 0 && x < 1; };
  return between(g.DimBgRatio) || between(g.NavWindowingHighlightAlpha) || g.NavWindowingTarget != nullptr;
}

}  // namespace

double seconds_to_motion() {
  ImGuiContext& g = *ImGui::GetCurrentContext();
  if (a_window_is_measured(g) || something_is_held() || fades(g) || g.NavMoveSubmitted || g.NavInitRequest)
    return kAtOnce;
  double seconds = std::min(caret(g), tooltip(g));
  // The layout is written some seconds after it changed.
  if (g.SettingsDirtyTimer > 0) seconds = std::min(seconds, static_cast<double>(g.SettingsDirtyTimer) + kJustAfter);
  return seconds;
}

}  // namespace attn
