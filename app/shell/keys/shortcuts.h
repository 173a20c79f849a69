// The one table of keys: it drives them, and the `?` sheet lists it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "imgui.h"
#include "viz/state/commands.h"
#include "viz/state/model.h"
#include "viz/state/state.h"

namespace attn {

struct KeyRow {
  std::string_view group;  // heading of the sheet
  std::string_view what;   // "next key tile"
  ImGuiKeyChord chord = 0;
  ImGuiKeyChord other = 0;   // a second chord for the same, or 0
  bool step_only = false;    // belongs to Step's recording: elsewhere the key is free
  bool repeats = false;      // held down, it goes on
  bool plain_arrow = false;  // left to tiles and map while arrows move there
  // Null: listed only; who handles it stands in `what`.
  void (*act)(const State&, Commands&) = nullptr;
};

std::span<const KeyRow> key_table();

// The caps of a chord in drawing order; arrows are "left" and "right", which the sheet draws.
std::vector<std::string> caps_of(ImGuiKeyChord chord);

// Where arrows go.
enum class ArrowKeys : std::uint8_t {
  steps,
  cells,  // of the tiles; Space still steps: it moves no cell
  map,    // of a lesson's question, whose tiles Space ticks
};
// Reads this frame's keys. Nothing while a text field is active or `popup_open`.
Commands read_keys(const State& state, ArrowKeys arrows, bool popup_open);

}  // namespace attn
