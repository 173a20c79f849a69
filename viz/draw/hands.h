// Whose hands: at a keyboard, or on a touch screen, where no words name keys.
#pragma once

namespace attn {

// The window says so by ImGuiConfigFlags_IsTouchScreen.
bool by_touch();
// The words for a hand at the keyboard, or for a finger.
const char* for_hands(const char* keyboard, const char* touch);

}  // namespace attn
