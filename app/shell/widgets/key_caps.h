// Keys as they are drawn: a cap each.
#pragma once

#include "imgui.h"

namespace attn {

float chord_width(ImGuiKeyChord chord);  // pixels
// From x on, centred vertically; returns the x after it, with the gap to what follows.
float draw_chord(ImDrawList* list, float x, float centre_y, ImGuiKeyChord chord);
// The last cap alone: the end of a range.
float draw_last_cap(ImDrawList* list, float x, float centre_y, ImGuiKeyChord chord);

}  // namespace attn
