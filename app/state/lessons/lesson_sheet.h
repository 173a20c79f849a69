// A lesson on paper: one HTML page to print, with the real tiles, empty slots and room to write, and its key.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/base/result.h"
#include "viz/learn/lesson/lesson.h"

namespace attn {

struct SheetOptions {
  std::uint64_t seed = 0;  // questions that come with other numbers take seeds after this one
  bool key = false;        // with the answers, the usual mistakes and a state string for each step
  std::string language = "en";
};
// The error names the beat and why it cannot be printed.
Result<std::string> lesson_sheet(const Lesson& lesson, const SheetOptions& options);

}  // namespace attn
