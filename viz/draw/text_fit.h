// Texts in places that may be too small for them.
#pragma once

#include <string>
#include <string_view>

#include "viz/draw/text_runs.h"

namespace attn {

// As much of the words as `room` pixels hold, with … for what does not; empty where not even that fits.
std::string fitted_text(Face face, float size, std::string_view words, float room);

}  // namespace attn
