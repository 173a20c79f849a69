// The Problem panel: what is computed and how it is shown. A field commits on Enter, on leaving it, or while its label
// is dragged; a value that will not do shows why and changes nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "viz/draw/canvas.h"
#include "viz/state/commands.h"
#include "viz/state/model.h"
#include "viz/step/cache.h"

namespace attn {

struct ProblemPanel {
  const State& state;
  const Model& model;
  StepCache& cache;
  Commands& commands;
};

// Draws into `box`, a card where `card`, else the popup of the chip. Legends are left out where they do not fit.
void draw_problem_panel(const ProblemPanel& panel, const Box& box, bool card);
// Height in pixels of the fields alone: what a popup needs.
float problem_panel_height(const State& state);
// "late outlier: 16 × 8, tile 4 × 4, causal": the chip that the panel folds into.
std::string problem_words(const State& state);

// The words why the recording of `document` cannot be made; none where it can.
std::optional<std::string> why_not_recordable(const Document& document);
// The whole numbers in a text, signs included: "2 x 4/2" gives 2, 4, 2. None where something else is in it.
std::optional<std::vector<std::int64_t>> whole_numbers(std::string_view text);
// Document with the text of one field put in; the error says what is wrong with it.
enum class ProblemField : std::uint8_t { heads, length, dim, tile, window, key_lengths, scale, seed };
Result<Document> with_field(Document document, ProblemField field, std::string_view text);
std::string field_text(const Document& document, ProblemField field);

}  // namespace attn
