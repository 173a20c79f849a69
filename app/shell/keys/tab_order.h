// Tab goes through every control of a window and then on to the next window, which Dear ImGui does not do by itself: it
// turns round in each.
#pragma once

#include <span>

struct ImGuiWindow;

namespace attn {

// After all is drawn: Tab found nothing more in the window that has the keyboard.
bool tab_left_its_window();
// The keyboard goes to the window's first control. Before the windows of the frame are drawn.
void focus_first_control(ImGuiWindow* window);
// The window after the one that has the keyboard, of those that are shown; `after_last` where there is none.
const char* next_window(std::span<const char* const> names, const char* after_last);

}  // namespace attn
