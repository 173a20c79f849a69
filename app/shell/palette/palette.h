// The command palette: whatever can be done, chosen or set, found by a few letters. Its entries come from the tables
// that drive the rest: keys, presets, kernels, metrics, menus, runs, files. Pure; palette_draw.cpp draws them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/shell/palette/palette_entry.h"
#include "viz/state/commands.h"
#include "viz/state/state.h"

namespace attn {

std::vector<PaletteEntry> palette_entries(const PaletteFacts& facts);

// The questions that no picture answers at one glance, and what is meant by a name: formula, scale, memory, tile,
// versions, the names of stalls.
std::vector<PaletteEntry> palette_answers(const PaletteFacts& facts);

// What S, m, α, P, ℓ, O, LSE, dP, δ and dS mean, each with its formula; the door is the beat that shows it.
std::vector<PaletteEntry> palette_letters();
// What HBM, tile, warp and other words mean.
std::vector<PaletteEntry> palette_terms();
// One of either, that Learn shows.
PaletteEntry explained(std::string group, std::string words, std::string more, std::string also, StartLesson shown_by);

// Gives each entry whose command cannot be done now its `why_not`.
void find_reasons(const PaletteFacts& facts, std::vector<PaletteEntry>& entries);

// An entry that a query finds, and which bytes of its words it found.
struct PaletteHit {
  std::size_t entry = 0;
  int score = 0;
  std::vector<std::size_t> at;
  // The query's words stand in it, or begin words of it. Not so: its letters alone do, which may be chance.
  bool sure = false;
};
// Sure ones first, of these the ones that can be done; the best first; of equals those of fewer words, then in the
// order of the entries.
std::vector<PaletteHit> palette_hits(const std::vector<PaletteEntry>& entries, std::string_view query);

// What the palette remembers while it is open.
struct PaletteUiState {
  std::string query;
  std::vector<PaletteEntry> entries;
  std::vector<PaletteHit> hits;       // of the query
  std::optional<std::size_t> chosen;  // of the hits; none: they are near the query at best, and Enter takes nothing
  bool take_keyboard = false;         // the field, in the next frame
  PaletteEntry asked;                 // the question whose answer is shown
  bool answer_opens = false;          // in the next frame
  bool answer_shown = false;
};

// From Bench to Step: the chosen kernel and problem.
StepThrough step_through_of(const State& state);

}  // namespace attn
