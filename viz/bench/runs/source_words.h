// Where and when the figures that are shown were taken, where there is little room to say it.
#pragma once

#include <string>

#include "viz/bench/runs/slice.h"

namespace attn {

// source_words(), and of more than three runs how many, on what and when.
std::string short_source_words(const BenchSlices& slices);

}  // namespace attn
