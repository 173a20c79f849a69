// How large a window begins.
#pragma once

#include <algorithm>

namespace attn {

struct WindowSize {
  int width = 0, height = 0;
  bool operator==(const WindowSize&) const = default;
};

// What was wanted, and no more than the screen leaves beside its bars and the window's own frame. `room` of 0: the
// system does not say.
inline WindowSize first_size(WindowSize wanted, WindowSize room) {
  constexpr int kFrame = 16, kTitle = 48;  // pixels, of most desktops
  if (room.width <= 0 || room.height <= 0) return wanted;
  return {std::min(wanted.width, std::max(1, room.width - kFrame)),
          std::min(wanted.height, std::max(1, room.height - kTitle))};
}

}  // namespace attn
