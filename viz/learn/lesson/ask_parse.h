// What a beat or an exercise asks, out of a lesson's JSON.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "viz/learn/lesson/lesson.h"
#include "viz/learn/lesson/lesson_object.h"

namespace attn {

// `where`: the place for errors, which are kept in `parent`.
LessonAsk read_ask(const nlohmann::json& j, const std::string& where, LessonObject& parent);

}  // namespace attn
