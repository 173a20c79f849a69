// What the strip says of why: the bytes that a kernel moves, and what holds it back.
#pragma once

#include <string>

#include "profiling/figures/measurement.h"

namespace attn {

// Whether its order stores S.
bool is_plain(const Measurement& m);
// Bytes against the baseline, with their lead: measured where they are, with the prediction beside; else predicted, and
// said so. Empty where nothing is known.
std::string bytes_words(const Measurement& subject, const Measurement& baseline);
// What holds the subject back, as far as the peaks of its device are known; empty where none is.
std::string limit_words(const Measurement& subject);

}  // namespace attn
