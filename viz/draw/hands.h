// Whose hands: at a keyboard, or on a touch screen, where no words name keys.
#pragma once

#include <string>
#include <string_view>

namespace attn {

// The window says so by ImGuiConfigFlags_IsTouchScreen.
bool by_touch();
// The words for a hand at the keyboard, or for a finger.
const char* for_hands(const char* keyboard, const char* touch);
// A tip, and for a hand at the keyboard the key that does the same: "First step (Home)".
std::string with_key(std::string_view tip, std::string_view key);

}  // namespace attn
