// What Step computes once per recording or query tile, and what its panels remember between frames. Owned by
// StepUiState; the scenes get parts of it as plain data.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/recording/recording.h"
#include "kernels/recording/replay/exact.h"
#include "viz/step/bars/cpu_comparison.h"
#include "viz/step/charts/error.h"
#include "viz/step/charts/traffic.h"
#include "viz/step/facts/hidden_answers.h"
#include "viz/step/facts/scales.h"
#include "viz/step/place/place.h"
#include "viz/step/problem/problem_fields.h"
#include "viz/step/timeline/attention.h"
#include "viz/step/timeline/heads.h"
#include "viz/step/timeline/timeline.h"

namespace attn {

class PixelImages;  // viz/draw/pixel_image.h

struct StepCache {
  std::shared_ptr<const Recording> recording;
  TensorScales scales;
  TrafficTotals traffic;
  HeadsScene heads;
  std::vector<ScrubberMark> marks;
  std::optional<ExactTile> exact;
  // What was held, as the formulas have it (kernels/recording/reading.h); while a lesson asks without what comes after
  // it.
  std::shared_ptr<const Recording> shown(const std::shared_ptr<const Recording>& held, const HiddenAnswers& hidden);
  // Scales of a GPU's run as it was recorded.
  const TensorScales& held_scales(const std::shared_ptr<const Recording>& held);
  // A GPU's run beside the CPU's (viz/step/bars/cpu_comparison.h), recorded when it is first asked for.
  const CpuComparison& cpu_comparison();
  // Refreshes what belongs to another recording or query tile.
  void follow(const std::shared_ptr<const Recording>& rec, EventIndex e);
  // The run of the same problem in the other order (viz/step/charts/passes.h), recorded when it is first asked for.
  const Recording* companion();
  std::string companion_error;  // why there is none
  // The live head against fp64 (viz/step/charts/error.h), some rows further at each call.
  const ErrorScan& error_scan(std::int32_t b, std::int32_t h);
  // The attention map at this step, of at most `side` rows and columns; made again when one of them changes.
  const AttentionScene& attention(const StepPlace& at, std::int32_t side);
  std::shared_ptr<PixelImages> images;  // of the charts; the drawing makes it
  const ExactTile* bounds() const { return exact ? &*exact : nullptr; }
  // Of all query tiles of the step's head, for a ring that shows them at once; none where they are too many for cells
  // that have room for numbers.
  const std::vector<ExactTile>& bounds_of_head(EventIndex e);

  ProblemEditing editing;
  bool scanning = false;  // error_scan() was asked in this frame and has rows left

 private:
  std::shared_ptr<const Recording> companion_, until_, until_of_, read_, read_of_;
  EventIndex until_event_ = 0;
  bool companion_asked_ = false;
  std::optional<CpuComparison> cpu_comparison_;
  std::optional<TensorScales> held_scales_;
  std::shared_ptr<const Recording> held_scales_of_;
  std::optional<ErrorScan> error_;
  std::optional<AttentionScene> attention_;
  std::vector<ExactTile> head_bounds_;
  std::vector<AttentionRows> attention_rows_;
  // What attention_ was made for; an event of one recording has one head.
  EventIndex attention_event_ = kNoEvent;
  std::int32_t attention_row_ = 0, attention_side_ = 0;
};

}  // namespace attn
