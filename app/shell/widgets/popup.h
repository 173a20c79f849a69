// What the shell's small windows share. Each closes by Esc and by its Close button.
#pragma once

#include <string>

#include "imgui.h"

namespace attn {

bool begin_popup(const char* name);
bool begin_popup(const char* name, ImVec2 at, ImVec2 pivot);
// Of what stands in one: `logical` pixels, less where the window is not so wide.
float popup_width(float logical);
void popup_heading(const std::string& words);
// "Do it" and "Cancel" at the right; whether the first was pressed. Cancel closes.
bool popup_buttons(const char* words, bool enabled);

}  // namespace attn
