// The chips at the right of Profile's strip: its pages, and what else can be done there.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "imgui.h"
#include "viz/state/commands.h"

namespace attn {

struct Chip {
  const char *label, *help;  // outlive the chip
  bool on;
  Command command;
  bool enabled = true;
  bool action = true;                  // it does something; a page is a place
  std::optional<Command> before = {};  // obeyed before the command
};

// Figures, Source, Heartbeat, Lab: the one that is shown is on.
std::vector<Chip> page_chips(ProfilePage shown);

struct ChipRow {
  float width = 0;  // of all in one line, pixels
  int lines = 1;    // within the room
};
constexpr float kChipLine = 26;  // logical pixels from line to line

// One beside the other from `from` on, in lines that end at `right` (pixels in the window). `draw` false measures.
ChipRow draw_chips(std::span<const Chip> chips, ImVec2 from, float right, bool draw, Commands& commands);

}  // namespace attn
