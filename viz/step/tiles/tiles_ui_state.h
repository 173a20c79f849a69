// What the tiles remember between frames and what is no part of the state: the cells that the pointer and the keyboard
// are on, the cell that is being typed, and what of this step is still on its way.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/recording/recording.h"
#include "viz/step/facts/scales.h"

namespace attn {

class PixelImages;  // viz/draw/pixel_image.h
struct TilesScene;  // viz/step/tiles/tiles_scene.h

// The cell whose number a lesson asks for. Its field stands in the tile and shares its text with that of the card.
struct AskedCell {
  CellRef cell;
  std::string typed;
  bool hidden = false;   // what a class says is dots until it is revealed
  bool missed = false;   // it was checked and is not right
  bool entered = false;  // out: Enter in the field
};

// A tile on its way, in pixels.
struct InFlight {
  Slot slot = Slot::q;
  float left = 0, top = 0, right = 0, bottom = 0;
};

// Where a title ends beside which a pencil stands, pixels.
struct PencilPlace {
  Slot slot = Slot::q;
  float left = 0, middle = 0;
};

// From where to where something reaches, pixels; empty: it is not there.
struct TilesSpan {
  float top = 0, bottom = 0;
};

// Of a ring, which stands in place of tiles, where there is little room: whose numbers are shown, and which cell is
// spelled.
struct RingUiState {
  struct Spelled {
    std::size_t part = 0;
    std::int32_t row = 0, col = 0;  // among the cells that are drawn
    bool operator==(const Spelled&) const = default;
  };
  EventIndex step = 0;               // what is chosen is of this step
  std::optional<std::int64_t> rank;  // none: the step's own
  std::optional<Spelled> spelled;
  TilesSpan made;  // of this frame
};

// How long a step moves, in seconds: a look's time, less where play goes on before it is over.
double motion_seconds(bool playing, double steps_per_second);

// What was typed as it stands in a cell of `room` characters that is not being typed in: rounded to what fits.
std::string at_rest(const std::string& typed, int room);

struct TilesUiState {
  bool focused = false;        // Tab entered the tiles: arrows move between cells, so the shell must not step with them
  bool tab_elsewhere = false;  // Tab goes through the controls: the shell says so
  std::optional<CellRef> hovered;    // this frame's, by mouse
  bool pointer_rests = false;        // it lies where it was left for something else: nothing is hovered until it moves
  std::optional<CellRef> keyboard;   // the cell that arrows move
  std::optional<CellRef> editing;    // the input cell that is being typed
  std::array<char, 32> typed{};      // its text so far
  bool editing_starts = false;       // the field takes the keyboard in this frame
  bool type_next = false;            // a number is to be typed: into the first cell of the inputs that there is
  std::vector<PencilPlace> pencils;  // in this frame
  std::optional<AskedCell> asked;    // set by Learn before it draws Step
  bool asked_starts = false;         // its field takes the keyboard, in this frame or the next
  bool asked_catches = false;        // it comes to have it; what is typed meanwhile is caught
  bool asked_to_end = false;         // with the caret behind what was typed
  std::shared_ptr<PixelImages> images;  // heat maps of the tiles, by slot; the drawing makes it

  // Forgets the cells of another recording.
  void follow(const std::shared_ptr<const Recording>& rec);
  // How far what this step moves is on its way at `now` (seconds): 0 to 1, 1 = at rest. It takes `takes` seconds after
  // one step forwards; 0: nothing moves. A jump, a step back and a new recording stand still; the next step ends it.
  float motion(EventIndex e, double takes, double now);
  void begin_frame() { shown_ = false; }  // the shell's, whatever it draws
  void rest();                            // nothing of this step moves
  bool moving() const { return moves_ && shown_; }
  TilesSpan made, pinned;    // of this frame: what this step made with what it is made of, and the pinned cell
  bool less_motion = false;  // the system asks for it: the shell says so
  std::shared_ptr<TilesScene> before;  // the step before, as long as this one moves
  std::vector<InFlight> flying;        // what is on its way in this frame
  std::vector<InFlight> sources;       // at rest: where in HBM it brought its tiles from, or stored them
  std::vector<InFlight> ways;          // the upright legs of their lines
  std::vector<InFlight> titles;        // of this frame, and the captions: no line crosses them

 private:
  std::shared_ptr<const Recording> recording_;
  std::optional<EventIndex> seen_;  // step of the last frame
  double moves_since_ = 0, takes_ = 0;
  bool moves_ = false, shown_ = false;
};

}  // namespace attn
