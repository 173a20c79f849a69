// One thing that the palette finds.
#pragma once

#include <string>
#include <string_view>

#include "imgui.h"
#include "viz/draw/text_runs.h"
#include "viz/state/commands.h"
#include "viz/state/model.h"
#include "viz/state/state.h"

namespace attn {

struct PaletteEntry {
  std::string group;  // "Step", "Kernel", "Metric": what kind of thing it is
  std::string words;  // "late outlier"
  std::string more;   // one sentence; found by its letters too
  std::string also;   // other words that people look for; not shown
  ImGuiKeyChord chord = 0;
  bool on = false;      // it is so already
  std::string why_not;  // why it cannot be done now; empty = it can
  Commands commands;    // what it does
  // A question: Enter shows the answer, with the formula over it, and `commands` are what its door does.
  std::string answer, door;
  TextRuns formula;
};

struct PaletteFacts {
  const State& state;
  const Model& model;
  bool can_undo = false, can_redo = false;
};

}  // namespace attn
