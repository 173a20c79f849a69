// Texts in places that may be too small for them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "viz/draw/text_runs.h"

namespace attn {

// The first `bytes` of the words, or fewer where they end within a word: back to the word before, unless that leaves
// less than half. Blanks and commas at the end go, and
// so does a name whose value was cut.
std::string_view cut_at_word(std::string_view words, std::size_t bytes);
// As much of the words as `room` pixels hold, with … for what does not; empty where not even that fits.
std::string fitted_text(Face face, float size, std::string_view words, float room);

// The words, with line breaks where Dear ImGui, wrapping them to `width` pixels in its current font, would otherwise
// break within a name: it does behind the points of "libcuda.so.1". Only a word that is wider still breaks there.
std::string lines_at_spaces(const std::string& words, float width);

}  // namespace attn
