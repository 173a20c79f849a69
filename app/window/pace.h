// When the window draws: never while nothing changes, never faster than the display shows. Pure: the loop hands in the
// time, in seconds.
#pragma once

#include <limits>

namespace attn {

class Pace {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  // While tasks run, their news show so often and no more: drawing takes time from the kernels that are being measured.
  static constexpr double kTaskSeconds = 0.1;

  // `rate`: pictures a second of the display; 0 where it does not say.
  explicit Pace(double rate);

  // The user did something, or the window's surface was lost.
  void input();
  // State or model changed.
  void news(bool tasks_run);
  // Something moves by itself at that time: a caret, a tooltip that comes, the end of a toast.
  void at(double when);
  // A frame was drawn. `differs`: its picture is another than the one before.
  void drawn(double begun, double ended, bool differs);

  // After drawn(): a step is on its way, and the frame that began at `begun` took `cpu` seconds of the processor. What
  // moves takes a fifth of a core at most; where drawing is slow it has fewer frames.
  void moving(double begun, double cpu);

  // The time of the next frame; kNever: when something calls for one.
  double next() const { return next_; }

 private:
  double frame_;        // at least so long from the beginning of one frame to that of the next
  double last_ = -1e9;  // when the last began
  double next_ = -1e9;  // the first comes at once
  int settling_ = 3;    // frames still to draw although nothing calls: sizes follow from the frame before
};

}  // namespace attn
