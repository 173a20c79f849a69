// What hands do at the question of a beat: for pictures of it after an answer, and for tests.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/base/result.h"
#include "viz/learn/lesson/lesson.h"
#include "viz/state/commands.h"

namespace attn {

// `answer`: "right", "wrong" (the first usual mistake), "hint" or "shown". The commands are those of the card; the
// numbers those that a learner gets who has done nothing yet, of an exercise those of `exercise_seed`. The error says
// what the beat does not have.
Result<Commands> lesson_hands(const Lesson& lesson, const Beat& beat, std::string_view answer,
                              std::uint64_t exercise_seed = 0);

}  // namespace attn
