// What the canvas shows of a step or a lesson, as text that can be read aloud, selected and copied.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "app/cli/step/step_text.h"
#include "viz/state/model.h"
#include "viz/state/state.h"
#include "viz/step/facts/texts.h"

namespace attn {

struct MirroredText {
  std::string title, sentence, values;
  bool operator==(const MirroredText&) const = default;
};

class Mirror {
 public:
  // What is to be said, once whenever it is another text. While a lesson asks, nothing of the run is.
  std::optional<MirroredText> follow(const State& state, const Model& model, const StepTexts& texts);
  // The steps from `first` to `last` as `attnscope step --json` has them; "" without a recording.
  std::string json(const Model& model, const StepTexts& texts, std::uint32_t first, std::uint32_t last);

 private:
  cli::StepWriter& writer(const Model& model, const StepTexts& texts);

  std::shared_ptr<const Recording> recording_;
  std::optional<cli::StepWriter> writer_;
  std::optional<EventIndex> step_;  // of recording_, which said_ is of; none: it is of something else
  MirroredText said_;
};

}  // namespace attn
