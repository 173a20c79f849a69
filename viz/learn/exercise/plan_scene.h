// The picture of what an exercise gives, or of a printed chapter: a table, bars on one scale, the tiles of a causal
// square. First with its numbers (plan_scene), then laid out in lines and words that a window or a page can draw
// (laid_out). Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/model/problem/problem.h"
#include "viz/draw/text_runs.h"
#include "viz/learn/lesson/lesson.h"
#include "viz/learn/lesson/lesson_expression.h"

namespace attn {

struct SceneRow {
  TextRuns label;
  std::vector<std::string> cells;
  bool empty = false;  // slots to write in
  double value = 0;    // of a bar
};
struct SceneTiles {
  std::int64_t length = 0, br = 1, bc = 1;
  std::int32_t rows = 0, cols = 0;
  std::vector<TileCover> covers;  // row by row; empty until it is answered
};
struct PlanScene {
  TextRuns heads, caption;
  std::vector<SceneRow> rows, bars;
  SceneTiles tiles;  // rows 0: there are none
};
// `prefix`: of the keys of its words. `answered`: nothing is empty.
Result<PlanScene> plan_scene(const FigurePlan& plan, std::string_view prefix, const Lesson& lesson,
                             std::string_view language, ExpressionScope& scope, bool answered);

// How a rectangle is drawn.
enum class PlanFill : std::uint8_t { none, light, strong, hatched };
enum class PlanAlign : std::uint8_t { left, centre, right };
struct PlanRect {
  float x = 0, y = 0, width = 0, height = 0;
  PlanFill fill = PlanFill::none;
  bool dashed = false;  // its edge
};
// Words on one line, in the middle of the rectangle's height.
struct PlanWords {
  float x = 0, y = 0, width = 0, height = 0, size = 0;
  PlanAlign align = PlanAlign::left;
  TextRuns words;
};
struct LaidOut {
  float width = 0, height = 0;
  std::vector<PlanRect> rects;
  std::vector<PlanWords> words;
};
// In units of the caller's, in which text of `size` is measured by `measure`.
using MeasureRuns = std::function<float(float size, const TextRuns& words)>;
LaidOut laid_out(const PlanScene& scene, float width, float size, const MeasureRuns& measure);

}  // namespace attn
