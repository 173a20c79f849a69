// The Problem panel: what is computed and how it is shown. A field commits on Enter, on leaving it, or while its label
// is dragged; a value that will not do shows why and changes nothing.
#pragma once

#include <optional>

#include "viz/draw/canvas.h"
#include "viz/state/commands.h"
#include "viz/state/model.h"
#include "viz/state/state.h"
#include "viz/step/problem/problem_fields.h"

namespace attn {

struct ProblemPanel {
  const State& state;
  const Model& model;
  ProblemEditing& editing;
  Commands& commands;
  std::optional<WhatIfOutcome> outcome = std::nullopt;
};

// Draws into `box`, a card where `card`, else the popup of the chip. Legends are left out where they do not fit.
void draw_problem_panel(const ProblemPanel& panel, const Box& box, bool card);
// Takes what was being typed when the panel was closed over it.
void keep_typed(const ProblemPanel& panel);
// Height in pixels of the fields alone: what a popup needs.
float problem_panel_height(const State& state);

}  // namespace attn
