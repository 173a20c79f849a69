// Places of a run as lessons name them. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/base/result.h"
#include "kernels/recording/recording.h"

namespace attn {

// A place of a run as lessons name it: "i0j3", "i0j3.max", "i0.normalise", "b0h1i0j3.max", or "*", all tiles.
struct LessonPlace {
  std::int32_t b = 0, h = 0, i = -1, j = -1;  // -1 where the place names none
  std::optional<Phase> phase;                 // none: the tile's last version
  bool all = false;
  bool operator==(const LessonPlace&) const = default;
};
Result<LessonPlace> parse_place(std::string_view text);
// The event at a place with a phase. Words say why there is none.
Result<EventIndex> event_at(const Recording& rec, const LessonPlace& place);
// "at i0j3.max", "in any tile".
std::string place_words(const LessonPlace& p);

}  // namespace attn
