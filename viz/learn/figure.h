// The figure that a beat shows beside its card, out of the lesson's session. Pure.
#pragma once

#include "profiling/session/session.h"
#include "viz/learn/desk.h"
#include "viz/learn/lesson.h"

namespace attn {

// Its empty() says why there is none.
StageFigure figure_of(const Session& session, const LessonFigure& figure);

}  // namespace attn
