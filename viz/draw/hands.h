// Whose hands: at a keyboard, or on a touch screen, where no words name keys and what is pressed has a finger's size.
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

constexpr float kFinger = 44;  // logical: the least side of what a finger presses
// The side of what is pressed, logical: as it is for a pointer, and no less than a finger needs.
float for_finger(float side);
// Where it is drawn smaller: what of a finger's size is missing at each end, logical.
float beyond_edge(float side);

// The room of a phone held upright, or of a window of its shape, logical: narrower than a tablet, and higher than it is
// wide, with the browser's own bars taken off.
constexpr bool is_upright_phone(float width, float height) {
  constexpr float kWidest = 480, kLowest = 440;
  return width < kWidest && height >= kLowest;
}

// Of one that lies on its side: so low that what stands below one another on others stands side by side.
constexpr bool is_lying_phone(float width, float height) {
  constexpr float kNarrowest = 560, kLower = 380;
  return width >= kNarrowest && height < kLower;
}

// Of a tablet, either way up.
constexpr bool is_tablet(float width, float height) {
  constexpr float kNarrowest = 480, kLowest = 560;
  return width >= kNarrowest && height >= kLowest;
}

// While it lives the lines of menus and lists that Dear ImGui lays out, and its buttons, have a finger's size.
class FingerSized {
 public:
  FingerSized();
  ~FingerSized();
  FingerSized(const FingerSized&) = delete;
  FingerSized& operator=(const FingerSized&) = delete;

 private:
  bool pushed_;
};

}  // namespace attn
