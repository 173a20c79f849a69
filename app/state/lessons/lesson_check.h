// Whether a lesson is true: every beat played on the recordings of its runs, every question answered with the truth and
// with each usual mistake, every number of every text computed.
#pragma once

#include <string>
#include <vector>

#include "viz/learn/lesson/lesson.h"

namespace attn {

// What is wrong, a line each: "FILE, beat 'ID', field 'F': REASON". Empty where all holds.
std::vector<std::string> check_lesson(const Lesson& lesson);

}  // namespace attn
