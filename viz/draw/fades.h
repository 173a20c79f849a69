// What is cut because it goes on goes pale there. The fades of pages and cards are those of widgets.h.
#pragma once

#include "imgui.h"

namespace attn {

// Lines of text on a card that go on beyond `right`.
void fade_before(ImDrawList* list, float right, float top, float bottom);
// The ends of the list or menu that is open, behind which it goes on. Called behind its content.
void fade_list_ends();

}  // namespace attn
