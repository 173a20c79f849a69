// Fields and buttons where a finger needs others than a pointer. A field that a finger opened has what accepts and what
// cancels beside it, for a phone's keyboard has no Escape.
#pragma once

#include <cstdint>
#include <span>

#include "imgui.h"

namespace attn {

enum class FieldEnd : std::uint8_t { none, accepted, cancelled };

ImVec2 finger_field_size();  // with its buttons, pixels
// A number in the field `id`, over whatever lies there; its buttons are "##field_accept" and "##field_cancel". A tap
// elsewhere accepts too. `starts`: it has the keyboard from the next frame on.
FieldEnd finger_field(const char* id, ImVec2 at, std::span<char> text, bool starts);

// A toggle (viz/draw/widgets.h) that is pressed, and has a finger's height under one; `height`: for a pointer, pixels,
// beside what is higher.
bool finger_button(const char* label, const char* help, float height = 0);
// What pads a line of such buttons and of fields of the same text above and below, pixels. `usual`: for a pointer.
float finger_padding(float usual);

}  // namespace attn
