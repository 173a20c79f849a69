#include "viz/learn/exercise/plan_scene.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "viz/draw/text_runs.h"
#include "viz/learn/lesson/lesson_words.h"

namespace attn {
namespace {

constexpr std::size_t kMostCells = 16;
constexpr std::int32_t kMostTiles = 24;  // along a side

// Reads what a plan names, the words of a lesson among them.
struct PlanReader {
  std::string_view prefix;
  const Lesson& lesson;
  std::string_view language;
  ExpressionScope& scope;
  bool answered;

  Result<TextRuns> words(const std::string& key, Ink ink) {
    if (key.empty()) return TextRuns();
    return filled(lesson.words(fmt::format("{}.{}", prefix, key), language), scope, Face::text, ink);
  }
  Result<SceneRow> row(const FigureRow& plan) {
    auto label = words(plan.label, Token::text);
    if (!label) return tl::unexpected(label.error());
    const auto values = evaluate(plan.values, scope);
    if (!values) return tl::unexpected(values.error());
    if (values->size() > kMostCells)
      return bad_input(phrase("'{}' gives more than {} numbers", plan.values, kMostCells));
    SceneRow row{*std::move(label), {}, plan.later && !answered, values->front()};
    for (const double value : *values) {
      auto text = lesson_number(value, plan.format);
      if (!text) return tl::unexpected(text.error());
      row.cells.push_back(row.empty ? std::string() : *std::move(text));
    }
    return row;
  }
  Result<std::int64_t> size(const std::string& expression) {
    const auto value = evaluate_number(expression, scope);
    if (!value) return tl::unexpected(value.error());
    if (!(*value >= 1 && *value <= 1 << 20) || *value != std::floor(*value))
      return bad_input(phrase("'{}' is {}; a size must be an integer from 1 to 1 048 576", expression, *value));
    return static_cast<std::int64_t>(*value);
  }
  Result<SceneTiles> tiles(const TilesPlan& plan) {
    const auto length = size(plan.length), br = size(plan.br), bc = size(plan.bc);
    for (const auto* one : {&length, &br, &bc})
      if (!*one) return tl::unexpected(one->error());
    SceneTiles t{*length, *br, *bc, 0, 0, {}};
    t.rows = static_cast<std::int32_t>((t.length + t.br - 1) / t.br);
    t.cols = static_cast<std::int32_t>((t.length + t.bc - 1) / t.bc);
    if (t.rows > kMostTiles || t.cols > kMostTiles)
      return bad_input(phrase("{} x {} tiles are too many to draw", t.rows, t.cols));
    Problem p;
    p.Lq = p.Lk = t.length;
    p.mask.causal = true;
    for (std::int64_t r = 0; answered && r < t.length; r += t.br)
      for (std::int64_t c = 0; c < t.length; c += t.bc)
        t.covers.push_back(p.cover(0, r, std::min(r + t.br, t.length), c, std::min(c + t.bc, t.length)));
    return t;
  }
};

// Puts one part of the picture below the other.
class Layout {
 public:
  Layout(float width, float size, const MeasureRuns& measure) : width_(width), size_(size), measure_(measure) {}

  void table(const PlanScene& scene) {
    const float label = label_width(scene.rows), high = size_ * 1.9F;
    float cell = size_ * 3.4F;
    std::size_t most = 0;
    for (const SceneRow& row : scene.rows) {
      most = std::max(most, row.cells.size());
      for (const std::string& text : row.cells) cell = std::max(cell, measure_(size_, {number(text)}) + size_);
    }
    if (most == 0) return;
    cell = std::min(cell, (width_ - label) / static_cast<float>(most));
    if (!scene.heads.empty()) {
      add_words(0, label, high, size_ * 0.9F, PlanAlign::left, scene.heads);
      for (std::size_t n = 0; n < most; ++n)
        add_words(label + cell * static_cast<float>(n), cell, high, size_ * 0.9F, PlanAlign::centre,
                  {number(std::to_string(n), Token::dim)});
      y_ += high;
    }
    for (const SceneRow& row : scene.rows) {
      add_words(0, label, high, size_, PlanAlign::left, row.label);
      for (std::size_t n = 0; n < row.cells.size(); ++n) {
        const float x = label + cell * static_cast<float>(n);
        add_rect(x, cell, high, row.empty ? PlanFill::none : PlanFill::light, row.empty);
        add_words(x, cell, high, size_, PlanAlign::centre, {number(row.cells[n])});
      }
      out_.width = std::max(out_.width, label + cell * static_cast<float>(row.cells.size()));
      y_ += high;
    }
    y_ += size_;
  }

  void bars(const std::vector<SceneRow>& bars) {
    if (bars.empty()) return;
    const float label = label_width(bars), high = size_ * 1.9F;
    double most = 0;
    float figure = size_ * 3;  // the widest
    for (const SceneRow& bar : bars) {
      // A bar that is asked for gives no scale: the others would tell its length.
      if (!bar.empty) most = std::max(most, std::abs(bar.value));
      if (!bar.cells.empty()) figure = std::max(figure, measure_(size_, {number(bar.cells.front())}) + size_);
    }
    const float whole = std::max(width_ - label - figure - size_, size_ * 4);
    for (const SceneRow& bar : bars) {
      const float share = most > 0 ? static_cast<float>(std::abs(bar.value) / most) : 0;
      const float length = bar.empty ? whole : std::max(whole * share, size_ * 0.1F);
      add_words(0, label, high, size_, PlanAlign::left, bar.label);
      out_.rects.push_back(
          {label, y_ + high * 0.2F, length, high * 0.6F, bar.empty ? PlanFill::none : PlanFill::strong, bar.empty});
      if (!bar.empty)
        add_words(label + length + size_ * 0.5F, figure, high, size_, PlanAlign::left, {number(bar.cells.front())});
      y_ += high;
    }
    out_.width = std::max(out_.width, label + whole + figure);
    y_ += size_;
  }

  void tiles(const SceneTiles& t) {
    if (t.rows == 0) return;
    const float left = size_ * 3, top = size_ * 1.6F;
    // As wide as its keys are many: one key has the same width as one query has height.
    const float most = std::min({width_ - left, size_ * 16, size_ * 3 * static_cast<float>(std::max(t.rows, t.cols))});
    const float unit = most / static_cast<float>(t.length);
    add_words(left, most, top, size_ * 0.9F, PlanAlign::left, {word(tr("keys, by tile"))});
    y_ += top;
    for (std::int32_t i = 0; i < t.rows; ++i) {
      const std::int64_t r = i * t.br, rows = std::min(t.br, t.length - r);
      const float high = unit * static_cast<float>(rows);
      add_words(0, left - size_ * 0.5F, high, size_ * 0.9F, PlanAlign::right, {word(phrase("Q {}", i))});
      for (std::int32_t j = 0; j < t.cols; ++j) {
        const std::int64_t c = j * t.bc, cols = std::min(t.bc, t.length - c);
        const bool open = t.covers.empty();
        const TileCover cover = open ? TileCover::full
                                     : t.covers[static_cast<std::size_t>(i) * static_cast<std::size_t>(t.cols) +
                                                static_cast<std::size_t>(j)];
        const PlanFill fill = open || cover == TileCover::skipped ? PlanFill::none
                              : cover == TileCover::full          ? PlanFill::strong
                                                                  : PlanFill::hatched;
        out_.rects.push_back({left + unit * static_cast<float>(c), y_, unit * static_cast<float>(cols), high, fill,
                              !open && cover == TileCover::skipped});
      }
      y_ += high;
    }
    out_.width = std::max(out_.width, left + most);
    if (!t.covers.empty()) {
      y_ += size_ * 0.4F;
      add_words(left, width_ - left, size_ * 1.4F, size_ * 0.9F, PlanAlign::left,
                {word(tr("Solid: full. Hatched: cut by the mask. Dashed: skipped."))});
      y_ += size_ * 1.4F;
    }
    y_ += size_ * 0.6F;
  }

  LaidOut done() {
    out_.height = std::max(0.0F, y_ - size_ * 0.5F);
    return std::move(out_);
  }

 private:
  float label_width(const std::vector<SceneRow>& rows) const {
    float most = 0;
    for (const SceneRow& row : rows) most = std::max(most, measure_(size_, row.label));
    return std::min(most + size_, width_ * 0.6F);
  }
  void add_words(float x, float width, float height, float size, PlanAlign align, TextRuns words) {
    out_.words.push_back({x, y_, width, height, size, align, std::move(words)});
  }
  void add_rect(float x, float width, float height, PlanFill fill, bool dashed) {
    out_.rects.push_back({x, y_, width, height, fill, dashed});
  }

  float width_, size_, y_ = 0;
  const MeasureRuns& measure_;
  LaidOut out_;
};

}  // namespace

Result<PlanScene> plan_scene(const FigurePlan& plan, std::string_view prefix, const Lesson& lesson,
                             std::string_view language, ExpressionScope& scope, bool answered) {
  PlanReader reader{prefix, lesson, language, scope, answered};
  PlanScene scene;
  for (const auto& [key, runs] : {std::pair(&plan.heads, &scene.heads), std::pair(&plan.caption, &scene.caption)}) {
    auto words = reader.words(*key, Token::dim);
    if (!words) return tl::unexpected(words.error());
    *runs = *std::move(words);
  }
  for (const auto& [rows, to] : {std::pair(&plan.rows, &scene.rows), std::pair(&plan.bars, &scene.bars)}) {
    for (const FigureRow& planned : *rows) {
      auto row = reader.row(planned);
      if (!row) return tl::unexpected(row.error());
      to->push_back(*std::move(row));
    }
  }
  if (plan.tiles) {
    auto tiles = reader.tiles(*plan.tiles);
    if (!tiles) return tl::unexpected(tiles.error());
    scene.tiles = *std::move(tiles);
  }
  return scene;
}

LaidOut laid_out(const PlanScene& scene, float width, float size, const MeasureRuns& measure) {
  Layout layout(width, size, measure);
  layout.table(scene);
  layout.bars(scene.bars);
  layout.tiles(scene.tiles);
  return layout.done();
}

}  // namespace attn
