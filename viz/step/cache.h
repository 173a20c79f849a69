// What Step computes once per recording or query tile, and what its panels remember between frames. Owned by
// StepMemory; the scenes get parts of it as plain data.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/recording/recording.h"
#include "kernels/recording/replay.h"
#include "viz/draw/pixel_image.h"
#include "viz/draw/theme.h"
#include "viz/state/state.h"
#include "viz/step/charts/error.h"
#include "viz/step/charts/traffic.h"
#include "viz/step/timeline/heads.h"
#include "viz/step/timeline/timeline.h"

namespace attn {

// Shade of a tensor's cells: its smallest and largest finite value over the whole recording, so that a number never
// changes its shade from step to step. P, alpha and l start at 0.
struct TensorScale {
  float min = 0, max = 0;
  int natural = -1;                // decimals that print every value exactly (inputs), or -1
  float shade(float value) const;  // -1 .. 1
};
using TensorScales = std::array<TensorScale, kTensorColourCount>;
TensorScales scales_of(const Recording& rec);

// A cell that the pointer or the keyboard is on. Row and column as in Selection; `slot` tells the tensor.
struct CellRef {
  Slot slot = Slot::s;
  std::int32_t row = 0, col = 0;  // indices in the whole tensor: query row or key, and column
  bool operator==(const CellRef&) const = default;
};

struct StepCache {
  std::shared_ptr<const Recording> recording;
  TensorScales scales;
  TrafficTotals memory;
  HeadsScene heads;
  std::vector<ScrubberMark> marks;
  std::optional<ExactTile> exact;
  PixelImages images;  // heat maps of the tiles, by slot
  // Refreshes what belongs to another recording or query tile.
  void follow(const std::shared_ptr<const Recording>& rec, EventIndex e);
  // The run of the same problem in the other order (step_passes.h), recorded when it is first asked for.
  const Recording* companion();
  std::string companion_error;  // why there is none
  // The live head against fp64 (step_error.h), some rows further at each call.
  const ErrorScan& error_scan(std::int32_t b, std::int32_t h);
  // How far what this step made has come in at `now` (seconds): 0 to 1, 1 = at rest. It moves after one step forwards,
  // where `allowed`; a jump, a step back and a new recording stand still.
  float arrival(EventIndex e, bool allowed, double now);
  const ExactTile* bounds() const { return exact ? &*exact : nullptr; }

  std::optional<CellRef> hovered;   // this frame's, by mouse
  std::optional<CellRef> keyboard;  // the cell that arrows move
  std::optional<CellRef> editing;   // the input cell that is being typed
  std::array<char, 32> typed{};     // its text so far
  bool editing_starts = false;      // the field takes the keyboard in this frame
  std::string problem_error;        // why the last edit was refused
  int gesture = 0;                  // number of the current drag; 0 between drags
  int last_gesture = 0;
  int dragged = 0;  // steps that the current drag has made

 private:
  std::shared_ptr<const Recording> companion_;
  bool companion_asked_ = false;
  std::optional<ErrorScan> error_;
  std::optional<EventIndex> seen_;  // step of the last frame
  double moves_since_ = 0;
  bool moves_ = false;
};

}  // namespace attn
