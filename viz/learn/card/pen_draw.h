// What the lesson's card is written with: lines one below the other, its buttons and its keys.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "imgui.h"
#include "viz/draw/canvas.h"
#include "viz/draw/text_runs.h"

namespace attn {

// Sizes of the card's words: those of a class are read from the last row.
struct CardSizes {
  float headline = 18, text = 14.5F, small = 13;
};
constexpr CardSizes kLearnerSizes, kClassSizes{23, 17.5F, 14};
constexpr CardSizes kLowSizes{16, 13.5F, 12.5F};     // of a low card, so that the answer is in sight with the question
constexpr CardSizes kTightSizes{17, 13.5F, 12.5F};   // where the answer has no room at the size that is usual
constexpr float kCardButton = 34, kFootButton = 30;  // heights, logical; a finger's are for_finger of them

// Writes down the card, line after line.
struct Pen {
  ImDrawList* list;
  float x, y, width;
  CardSizes sizes = kLearnerSizes;
  std::vector<float>* breaks = nullptr;  // between its lines: where a cut slices nothing

  void words(const TextRuns& runs, float size, float gap);
  void small_words(std::string_view words);
  Box line(float height);
  void gap(float logical);
  // What was written since `from` is cut nowhere.
  void keep_whole(float from);
};

// A window of the card, for what is written with a pen; ends by EndChild.
void begin_text(const char* name, const Box& box);

// What is in sight of a card's text, from its top: cut between lines.
struct CardSight {
  float top = 0, bottom = 0;
};
CardSight sight_of(std::span<const float> breaks, float scroll, float height);
// Says below the text that it goes on, and how many answers are there; whether it was pressed.
constexpr float kMoreBelow = 20;  // logical
bool draw_more_below(const Box& box, std::size_t answers);

bool key_pressed(ImGuiKeyChord chord);
// A letter that stands for itself, and with Alt while a number is typed.
bool letter_pressed(ImGuiKey key);
// A button with the cap of its key at its right.
bool key_button(const Box& box, const char* id, const char* words, const char* cap);
// The one that is next to press.
bool accent_button(const Box& box, const char* id, const char* words, bool enabled, const char* cap = "Enter");

}  // namespace attn
