// The words of a lesson with its numbers in them. Pure.
#pragma once

#include <string>
#include <string_view>

#include "kernels/base/result.h"
#include "viz/draw/text_runs.h"
#include "viz/learn/lesson/lesson.h"
#include "viz/learn/lesson/lesson_expression.h"

namespace attn {

// Five significant digits, or fewer where they say the same fp32 number.
std::string short_number(double value);
// A number of a sentence: short_number(), or as `format` says: "3" significant digits, "d2" decimals,
// "i" the nearest whole number with its thousands apart.
Result<std::string> lesson_number(double value, std::string_view format);

// The words with [letters] and the values of {expressions}, as `{m[0]@i0j2}` or `{bytes():i}`.
Result<TextRuns> filled(std::string_view words, ExpressionScope& scope, Face face, Ink ink);

// What the beat takes as given and whose figures it reads, in words; empty where it rests on its runs alone.
TextRuns origins_of(const Lesson& lesson, const Beat& beat, ExpressionScope scope, std::string_view language);

}  // namespace attn
