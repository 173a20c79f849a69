// What the Step workspace remembers between frames and what is no part of the state: its words, the scales of the
// recording that it shows, what the pointer is over. The shell owns one for as long as it owns the ImGui context.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "viz/state/view_step.h"
#include "viz/step/bars/page.h"
#include "viz/step/charts/row.h"
#include "viz/step/facts/focus.h"
#include "viz/step/facts/hidden_answers.h"
#include "viz/step/facts/texts.h"
#include "viz/step/tiles/tiles_ui_state.h"

namespace attn {

struct StepCache;  // viz/step/step_cache.h

// Where a finger drags what lies there, rather than the page, pixels.
struct DragPlace {
  float left = 0, top = 0, right = 0, bottom = 0;
};

struct StepUiState {
  StepTexts texts;  // set by the shell from assets/step_texts.json
  TilesUiState tiles;
  RingUiState ring;
  std::shared_ptr<StepCache> cache;
  HiddenAnswers hidden;               // set by Learn before it draws Step
  StepFocus look;                     // likewise
  std::optional<AskedBar> asked_bar;  // likewise
  PageMemory page;                    // of what is scrolled
  std::vector<DragPlace> dragged;     // of this frame
  bool alone = false;                 // likewise: the run without the Problem panel, for a class
  std::optional<StepPanel> only;      // set by the shell
};

}  // namespace attn
