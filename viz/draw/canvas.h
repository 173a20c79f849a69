// Drawing helpers over ImDrawList: runs of styled text, cards, dashed rectangles, hatching, arrows. Sizes that a
// caller names are logical; style().px() turns them into pixels here, but positions and rectangles are pixels.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "imgui.h"
#include "viz/draw/text_runs.h"
#include "viz/draw/theme.h"

namespace attn {

ImU32 colour_of(Ink ink);
// The same colour with its opacity multiplied.
ImU32 faded(ImU32 c, float opacity);
// Of what the first of two texts has alone, and the second: vermilion and blue, which every vision tells apart (Okabe
// and Ito 2008); a − and a + beside it say it too.
ImU32 side_colour(std::size_t side, float opacity);

ImFont* font_of(Face face);

// A rectangle in pixels.
struct Box {
  ImVec2 min, max;
  float width() const { return max.x - min.x; }
  float height() const { return max.y - min.y; }
  ImVec2 centre() const { return {(min.x + max.x) / 2, (min.y + max.y) / 2}; }
  bool contains(ImVec2 p) const { return p.x >= min.x && p.x < max.x && p.y >= min.y && p.y < max.y; }
  Box grown(float by) const { return {{min.x - by, min.y - by}, {max.x + by, max.y + by}}; }
};

enum class Align : std::uint8_t { left, centre, right };

// Text of `size` logical pixels.
float text_width(Face face, float size, std::string_view text);
float line_height(float size);  // pixels
// The text as it is where `room` pixels hold it, else as many of its first characters as they do, and an ellipsis.
std::string elided_text(Face face, float size, std::string_view text, float room);
void draw_text(ImDrawList* list, ImVec2 at, Face face, float size, ImU32 c, std::string_view text);
// On a patch of the card's colour, since lines may lie behind it.
void draw_text_over(ImDrawList* list, ImVec2 at, Face face, float size, ImU32 c, std::string_view text);
// Centred vertically in the box; `inset` logical pixels from the side it is aligned to.
void draw_text_in(ImDrawList* list, const Box& box, Align align, Face face, float size, ImU32 c, std::string_view text,
                  float inset = 0);

// Maths letters are set larger than the words around them: their x-height is smaller.
constexpr float kMathsSize = 1.25F;
float runs_width(const TextRuns& runs, float size);
// Draws on one line whose top is at.y; returns the x after the last run.
float draw_runs(ImDrawList* list, ImVec2 at, float size, const TextRuns& runs);
void draw_runs_in(ImDrawList* list, const Box& box, Align align, float size, const TextRuns& runs);
// Breaks at spaces to `width` pixels, at most `max_lines` lines, where the last ends with … if words are left; returns
// the height used. `draw` false measures.
float draw_paragraph(ImDrawList* list, ImVec2 at, float width, float size, const TextRuns& runs, int max_lines,
                     bool draw = true);

void draw_card(ImDrawList* list, const Box& box);
// A stroke down a card's left side, within its round corners.
void draw_card_edge(ImDrawList* list, const Box& card, ImU32 c);
void draw_outline(ImDrawList* list, const Box& box, ImU32 c, float thickness, float rounding = 2);
void draw_dashed(ImDrawList* list, const Box& box, ImU32 c, float dash = 3);
void draw_dashed_line(ImDrawList* list, ImVec2 from, ImVec2 to, ImU32 c, float dash = 3);
// Lines at 45 degrees, clipped to the box.
void draw_hatch(ImDrawList* list, const Box& box, ImU32 c, float step = 6);

enum class Arrow : std::uint8_t { left, right, first, last, down, pause };
void draw_arrow(ImDrawList* list, ImVec2 centre, float size, Arrow arrow, ImU32 c);
// Its point at the lower left.
void draw_pencil(ImDrawList* list, ImVec2 centre, float size, ImU32 c);

}  // namespace attn
