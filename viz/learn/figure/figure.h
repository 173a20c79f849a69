// The figure that a beat shows beside its card, out of a session. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/base/result.h"
#include "profiling/session/session_data.h"
#include "viz/learn/card/learn_scene.h"
#include "viz/learn/figure/wall.h"
#include "viz/learn/lesson/lesson.h"
#include "viz/profile/heartbeat/heartbeat.h"
#include "viz/profile/occupancy/occupancy.h"
#include "viz/profile/phases/mosaic.h"
#include "viz/profile/roofline/roofline.h"
#include "viz/profile/source/source.h"

namespace attn {

// The scenes of Profile's pictures. The one of the figure's kind is filled; the others are empty.
struct FigureScenes {
  Roofline roof;
  OccupancyScene occupancy;
  HeartbeatScene heartbeat;
  MosaicScene phases;
  SourceScene lines;
  WallScene wall;
};

// Its `empty` says why there is none; it has scenes either way, which say so too.
StageFigure figure_of(const Session& session, const LessonFigure& figure);
// One that cannot be had.
StageFigure no_figure(FigureKind kind, const std::string& why);

// While it is asked for, without what it says of the kernel: the text alone, roofs and other kernels' marks, stairs on
// which it does not stand, a wall without the scores. Of other kinds as it is.
StageFigure without_shares(StageFigure figure);

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
