// The exercises of a lesson, out of its JSON.
#pragma once

#include <cstddef>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "viz/learn/lesson/lesson.h"
#include "viz/learn/lesson/lesson_object.h"

namespace attn {

constexpr std::size_t kMaxExercises = 8;

// The exercise of this place in the list, as a beat: its document is that of the lesson's first.
Beat read_exercise(const nlohmann::json& j, std::size_t index, const Beat& first, LessonObject& parent);
FigurePlan read_figure_plan(const nlohmann::json& j, const std::string& where, LessonObject& parent);

}  // namespace attn
