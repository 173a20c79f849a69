// A recording as text and as JSON: every step with its place, its sentence and the numbers that it made.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "kernels/base/result.h"
#include "kernels/recording/recording.h"
#include "kernels/recording/replay/exact.h"
#include "viz/step/facts/texts.h"

namespace attn::cli {

// Walks a recording from step to step; the fp64 bounds of a query tile are worked out once for all its steps.
class StepWriter {
 public:
  static constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
  // `texts` may be empty: steps are then named by their phase alone.
  StepWriter(const Recording& rec, StepTexts texts) : rec_(rec), texts_(std::move(texts)) {}

  std::string heading() const;
  // The step as the window words it, then each tensor that it made, correctly rounded to the digits that its error
  // bound allows; of each at most the first rows that are so many numbers together, one at least.
  std::string text(EventIndex e, std::size_t most = kAll);
  // What all of it asked of HBM, and the answer.
  std::string summary() const;

  // The same as JSON. Values are exact; non-finite ones are strings.
  std::string json_heading() const;  // members of the outer object, without braces
  std::string json(EventIndex e);
  std::string json_summary() const;

 private:
  std::string gradients_text() const;
  void follow(EventIndex e);
  std::string tile_text(VersionId version, std::size_t most) const;

  const Recording& rec_;
  StepTexts texts_;
  std::optional<ExactTile> exact_;
};

}  // namespace attn::cli
