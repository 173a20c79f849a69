// What the lesson's card is written with: lines one below the other, its buttons and its keys.
#pragma once

#include <string_view>

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
constexpr float kCardButton = 34, kFootButton = 30;  // heights, logical; a finger's are for_finger of them

// Writes down the card, line after line.
struct Pen {
  ImDrawList* list;
  float x, y, width;
  CardSizes sizes = kLearnerSizes;

  void words(const TextRuns& runs, float size, float gap);
  void small_words(std::string_view words);
  Box line(float height);
  void gap(float logical);
};

// A window of the card for what is written with a pen; `height`: of all of it.
void begin_text(const char* name, ImVec2 at, ImVec2 size);
void end_text(ImVec2 origin, float height);

bool key_pressed(ImGuiKeyChord chord);
// A letter that stands for itself, and with Alt while a number is typed.
bool letter_pressed(ImGuiKey key);
// A button with the cap of its key at its right.
bool key_button(const Box& box, const char* id, const char* words, const char* cap);
// The one that is next to press.
bool accent_button(const Box& box, const char* id, const char* words, bool enabled, const char* cap = "Enter");

}  // namespace attn
