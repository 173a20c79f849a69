// What Learn shows: in the state string, not undoable.
#pragma once

#include <cstdint>
#include <string>

namespace attn {

struct LearnView {
  std::string lesson;               // id of the one that is open; empty: the chapters
  std::string beat;                 // where it stands, by its id
  bool teach = false;               // for a class at a projector
  bool figure = false;              // a figure stands in the place of Step's panels; the beat says so, no state string
  std::uint64_t exercise_seed = 0;  // whose numbers the exercises have
};

}  // namespace attn
