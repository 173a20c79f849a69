// A finger's press. Where it lies on nothing it takes the nearest thing within reach, so that what is small has 32 of
// the page's pixels for a finger, where it is drawn as for a mouse.
#pragma once

#include <cstddef>

#include "imgui.h"

namespace attn {

class Touch {
 public:
  void press(float x, float y);
  void move(float x, float y);
  void release();
  // A finger that was lifted lies on nothing: no tooltip stays behind.
  void leave();
  // Frames are to be drawn: what lies there is known when one was.
  bool busy() const { return stage_ != Stage::none; }
  // Around each frame; `ratio`: pixels of one of the page's.
  void before_frame(float ratio);
  void after_frame();

 private:
  enum class Stage : unsigned char { none, seeking, held, letting_go };
  void take();

  Stage stage_ = Stage::none;
  std::size_t reach_ = 0;
  ImVec2 now_;
  bool moved_ = false, released_ = false;  // while it sought
};

}  // namespace attn
