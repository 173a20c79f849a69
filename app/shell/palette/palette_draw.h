// The command palette as it is drawn: a field, and the entries that its letters find.
#pragma once

#include "app/control/controller.h"
#include "app/shell/palette/palette.h"
#include "viz/state/commands.h"

namespace attn {

void open_palette(const Controller& controller, PaletteUiState& ui);
void draw_palette(PaletteUiState& ui, Commands& commands);
// Of the question that was asked in it.
void draw_answer(PaletteUiState& ui, Commands& commands);

}  // namespace attn
