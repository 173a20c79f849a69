// What Learn remembers between frames and what is no part of the state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace attn {

struct MapRoads;  // viz/learn/map_roads.h

struct CardUiState {
  std::string typed;           // the answer as it is typed
  std::uint64_t showing = 0;   // the showing of a beat that it belongs to
  bool fresh = false;          // this is its first frame
  bool take_keyboard = false;  // the field gets it in this frame
  bool catching = false;       // it comes to have it; what is typed meanwhile is caught
  bool to_end = false;         // with the caret behind what was typed
  bool in_cell = false;        // the field in the tile comes to have the keyboard, not that of the card
  bool proof_open = false;     // the formal text is unfolded
  bool all_known = false;      // what the card has no room for is unfolded
  std::string news;            // hint and feedback that the card has shown
  std::string field_place;     // of the field in the card, and the card's height, when it was last brought into sight
  float headline = 0;          // where it ends, pixels from the top of the card's text
  float text_height = 0;       // of all of it
  std::vector<float> breaks;   // between its lines, likewise
  std::vector<float> answers;  // where each that is offered ends, likewise
  std::optional<float> right_answer;  // where the right one begins in this frame, once it is told
  float scrolled_to = 0;              // for what was said last, likewise
  bool go_on = false;                 // the text is scrolled on by what is in sight
  float too_long_for = 0;             // the card's height, where what is before its buttons has no room in it
  float tight_for = 0;                // likewise: where what is asked has no room at the usual size
  bool pointer_moved = false;         // since the beat is shown: where it was left it asks for no words
  bool dragged = false;               // the card's head is being dragged
  bool alone = false;                 // there is no room for the run beside it
  bool beside = false;                // the question has a column of its own, beside the words
  bool run_shown = false;             // where card and run have no room beside one another: which of them is there
  std::shared_ptr<MapRoads> roads;    // of the map of chapters, while it is there
  std::optional<std::size_t> on_map;  // the tile of a question's map that arrows have come to; none: they step
};

}  // namespace attn
