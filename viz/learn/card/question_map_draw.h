// The map of a run's tiles, of which a question wants all of a kind: rows are query tiles, columns key tiles. By mouse
// and by keyboard.
#pragma once

#include <cstddef>
#include <optional>

#include "viz/learn/card/card_ui_state.h"
#include "viz/learn/card/learn_scene.h"
#include "viz/learn/card/pen_draw.h"
#include "viz/state/commands.h"

namespace attn {

// `on`: the tile that arrows have come to.
void draw_map_of_tiles(const CardScene& card, std::optional<std::size_t> on, Pen& pen, Commands& commands);

// Tab comes to the map, arrows go over it, Space ticks a tile or takes the tick back; Tab goes on, Escape or a click
// anywhere leaves. `others_have_it`: the keyboard is with tiles or controls. Returns whether it took Tab, which the
// run's tiles, drawn after it, must not take too.
bool take_map_keys(const CardScene& card, bool others_have_it, CardUiState& ui, Commands& commands);

}  // namespace attn
