// The figure that a beat shows beside its card, out of a session. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/base/result.h"
#include "profiling/session/session.h"
#include "viz/learn/desk.h"
#include "viz/learn/lesson.h"

namespace attn {

// Its empty() says why there is none.
StageFigure figure_of(const Session& session, const LessonFigure& figure);

// The text of a figure of the kind lines alone, while its shares are asked for.
SourceScene without_shares(SourceScene scene);

// A line of the text of a figure of the kind lines.
struct NamedLine {
  std::int32_t number = 0;  // from 1
  std::string words;        // of it, by which it was named
  std::uint64_t samples = 0;
};
// One for each of `words`. The error names those that no line holds, or several.
Result<std::vector<NamedLine>> named_lines(const Session& session, const LessonFigure& figure,
                                           std::span<const std::string> words);

}  // namespace attn
