#include "viz/step/ring/ring_rank_draw.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "imgui.h"
#include "kernels/base/text.h"
#include "kernels/model/order_row.h"
#include "viz/draw/theme.h"
#include "viz/step/ring/ring_parts_draw.h"

namespace attn {
namespace {

using namespace rings;

// Logical sizes.
constexpr float kNames = 20, kStatisticCell = 40, kMostGrowth = 1.4F, kInGroup = 6, kTitle = 22, kOver = 18,
                kLetter = 24, kKeyNames = 19, kLowRows = 20, kHighRows = 24, kBelowLine = 10;
constexpr std::int32_t kMostRows = 8;  // more of them, or keys, are those around the step's tile

// One tensor of the rank, with rows of queries or of keys.
struct Part {
  const char* id;
  TextRuns head;
  RingGrid grid;
  bool of_keys = false, statistic = false;
};

struct Group {
  std::string over;  // "this turn"
  std::vector<Part> parts;
};

struct Span {
  std::int32_t first = 0, count = 0;
};

// Those of a sequence around the first that the step's tile has.
Span span_of(const std::vector<std::int32_t>& names, std::int32_t first) {
  const auto all = static_cast<std::int32_t>(names.size()), count = std::min(all, kMostRows);
  const auto at = static_cast<std::int32_t>(std::ranges::find(names, first) - names.begin());
  return {std::clamp(at == all ? 0 : at, 0, all - count), count};
}

std::vector<std::int32_t> cut(const std::vector<std::int32_t>& names, Span span) {
  return {names.begin() + span.first, names.begin() + span.first + span.count};
}

// Of so many from `first` on what lies in the span, counted from that.
Span within(Span span, std::int32_t first, std::int32_t count) {
  const std::int32_t from = std::max(first, span.first), to = std::min(first + count, span.first + span.count);
  return {from - span.first, std::max(0, to - from)};
}

RingGrid cut(const RingGrid& grid, Span rows, Span cols) {
  RingGrid part = grid;
  part.cells.clear();
  part.row_slots.clear();
  part.rows = std::min(rows.count, grid.rows), part.cols = std::min(cols.count, grid.cols);
  const Span made_rows = within(rows, grid.made.row, grid.made.rows),
             made_cols = within(cols, grid.made.col, grid.made.cols);
  part.made = {made_rows.first, made_rows.count, made_cols.first, made_cols.count};
  for (std::int32_t r = 0; r < part.rows; ++r) {
    if (!grid.row_slots.empty()) part.row_slots.push_back(grid.slot_of(rows.first + r));
    for (std::int32_t c = 0; c < part.cols; ++c) part.cells.push_back(grid.cell(rows.first + r, cols.first + c));
  }
  return part;
}

// What is shown of a rank: rows and keys by name, and its tensors in the sequence in which they are made.
struct RankPage {
  RingRankRow of_queries, of_keys, of_sums;  // `rows` of the first, `sum_keys` of the others, name what is drawn
  std::vector<Group> groups;
  std::int32_t rows = 0;  // of the highest tensor
};

class Pages {
 public:
  Pages(const RingScene& scene, const StepFocus& look, const RingRankRow& row)
      : scene_(scene),
        look_(look),
        row_(row),
        rows_(span_of(row.rows, row.live ? scene.at.first_row : -1)),
        keys_(span_of(row.keys, row.live ? scene.at.first_key : -1)),
        sums_(span_of(row.sum_keys, row.live ? scene.at.first_key : -1)) {}

  RankPage made() {
    page_.of_queries.rows = cut(row_.rows, rows_);
    page_.of_queries.keys = cut(row_.keys, keys_);
    page_.of_keys.sum_keys = page_.of_queries.keys;
    page_.of_sums.sum_keys = cut(row_.sum_keys, sums_);
    add_inputs();
    if (scene_.backward)
      add_gradients();
    else
      add_states();
    return std::move(page_);
  }

 private:
  void add(std::string over, std::vector<Part> parts) {
    std::erase_if(parts, [](const Part& part) { return part.grid.rows == 0 || part.grid.cols == 0; });
    for (const Part& part : parts) page_.rows = std::max(page_.rows, part.grid.rows);
    if (!parts.empty()) page_.groups.push_back({std::move(over), std::move(parts)});
  }
  Part queries(const char* id, const char* sign, TensorColour hue, const RingGrid& grid, bool statistic = false) const {
    return {id, {letter(sign, hue)}, cut(grid, rows_, {0, grid.cols}), false, statistic};
  }
  Part keys(const char* id, const char* sign, TensorColour hue, const RingGrid& grid, Span span) const {
    return {id, {letter(sign, hue)}, cut(grid, span, {0, grid.cols}), true};
  }
  void add_inputs() {
    using enum TensorColour;
    if (look_.has(q)) add("", {queries("##ring_q", "Q", q, row_.q)});
    if (scene_.backward) add("", {queries("##ring_do", "dO", o, row_.d_o)});
    const bool here = (look_.has(k) || look_.has(v)) && !row_.home && !row_.k.cells.empty();
    if (here) add("", {keys("##ring_k", "K", k, row_.k, keys_), keys("##ring_v", "V", v, row_.v, keys_)});
    if (look_.has(s) || look_.has(p) || scene_.backward) add_scores();
  }
  void add_scores() {
    const RingGrid grid = cut(row_.scores, rows_, keys_);
    add("", {{"##ring_scores", scores_heading({&grid}, scene_.scores), grid}});
  }
  void add_states() {
    using enum TensorColour;
    const auto state = [&](std::string over, const RingState& of, std::array<const char*, 3> ids) {
      std::vector<Part> parts;
      if (look_.has(m)) parts.push_back(queries(ids[0], "m", m, of.m, true));
      if (look_.has(l)) parts.push_back(queries(ids[1], "ℓ", l, of.l, true));
      if (look_.has(o)) parts.push_back(queries(ids[2], "O", o, of.o));
      add(std::move(over), std::move(parts));
    };
    state(tr("this turn"), row_.turn, {"##ring_turn_m", "##ring_turn_l", "##ring_turn_o"});
    state(tr("so far"), row_.so_far, {"##ring_so_far_m", "##ring_so_far_l", "##ring_so_far_o"});
  }
  void add_gradients() {
    using enum TensorColour;
    add("", {queries("##ring_delta", "δ", alpha, row_.delta, true), queries("##ring_dq", "dQ", q, row_.dq)});
    const auto sums = [&](std::string over, const RingSums& of, std::array<const char*, 2> ids) {
      add(std::move(over), {keys(ids[0], "dK", k, of.dk, sums_), keys(ids[1], "dV", v, of.dv, sums_)});
    };
    if (!look_.has(k) && !look_.has(v)) return;
    sums(tr("this turn"), row_.part, {"##ring_part_dk", "##ring_part_dv"});
    sums(row_.home ? tr("home") : tr("all ranks so far"), row_.sums, {"##ring_sums_dk", "##ring_sums_dv"});
  }

  const RingScene& scene_;
  const StepFocus& look_;
  const RingRankRow& row_;
  Span rows_, keys_, sums_;
  RankPage page_;
};

// Where a tensor stands on its line.
struct Placed {
  const Part* part;
  const std::string* over;  // of its group's first; else null
  float left, cell;
  bool named;  // its rows' names stand before it
};

struct Line {
  std::vector<Placed> parts;
  float width = 0, cells = 0;  // of all, and of that the cells
  bool over = false, keys = false;
};

float least_cell(const Part& part, float room) {
  const float least = style().px(part.statistic ? kStatisticCell : kNumbersFrom);
  return std::min(least, room / static_cast<float>(std::max(part.grid.cols, 1)));
}

class Lines {
 public:
  Lines(const RankPage& page, float width) : width_(width) {
    for (const Group& group : page.groups) {
      const float room = width_ - names();
      const bool whole = extent(group.parts, true) <= width_;
      // A group that no line holds is broken where the page is at its end.
      if (whole) begin_where_needed(extent(group.parts, wants_names(group.parts.front())));
      for (const Part& part : group.parts) {
        if (!whole) begin_where_needed(least_cell(part, room) * static_cast<float>(part.grid.cols) + names());
        put(part, &part == &group.parts.front() ? &group.over : nullptr, room);
      }
    }
    for (Line& line : lines_) grow(line);
  }
  const std::vector<Line>& all() const { return lines_; }

 private:
  static float names() { return style().px(kNames); }
  bool wants_names(const Part& part) const {
    return lines_.empty() || lines_.back().parts.empty() || lines_.back().parts.back().part->of_keys != part.of_keys;
  }
  float extent(const std::vector<Part>& parts, bool named) const {
    float wide = named ? names() : 0;
    for (const Part& part : parts)
      wide += least_cell(part, width_ - names()) * static_cast<float>(part.grid.cols) +
              (&part == &parts.front() ? 0 : style().px(kInGroup));
    return wide;
  }
  void begin_where_needed(float wide) {
    if (lines_.empty() || lines_.back().width + style().px(kGap) + wide > width_) lines_.emplace_back();
  }
  void put(const Part& part, const std::string* over, float room) {
    Line& line = lines_.back();
    const bool named = wants_names(part);
    const float cell = least_cell(part, room), wide = cell * static_cast<float>(part.grid.cols);
    float left = line.parts.empty() ? 0 : line.width + style().px(over != nullptr ? kGap : kInGroup);
    if (named) left += names();
    line.parts.push_back({&part, over, left, cell, named});
    line.width = left + wide;
    line.cells += wide;
    line.over = line.over || (over != nullptr && !over->empty());
    line.keys = line.keys || slot_row(part.grid.slot).columns == SlotColumns::keys;
  }
  // What is left of a line makes its cells wider.
  void grow(Line& line) const {
    const float by = std::clamp((width_ - (line.width - line.cells)) / std::max(line.cells, 1.0F), 1.0F, kMostGrowth);
    float more = 0;
    for (Placed& placed : line.parts) {
      placed.left += more;
      more += placed.cell * (by - 1) * static_cast<float>(placed.part->grid.cols);
      placed.cell *= by;
    }
  }

  float width_;
  std::vector<Line> lines_;
};

// Chunks of a rank stand apart.
constexpr float kBetweenChunks = 4;

float row_height(const RankPage& page) {
  return style().px(page.rows > 4 ? kLowRows : kHighRows);
}

float line_head(const Line& line) {
  return style().px(kLetter + (line.over ? kOver : 0) + (line.keys ? kKeyNames : 0));
}

float line_rows(const RankPage& page, const Line& line) {
  std::int32_t rows = 0;
  for (const Placed& placed : line.parts) rows = std::max(rows, placed.part->grid.rows);
  return row_height(page) * static_cast<float>(rows) + style().px(kBetweenChunks);
}

float hint_height(float width, bool draw, ImVec2 at, Token ink) {
  const TextRuns words{
      {tr("Tap a rank below to see its numbers, or a cell to read all of it."), Face::text, ink, 0, false}};
  return draw_paragraph(ImGui::GetWindowDrawList(), at, width, 12, words, 2, draw);
}

const RingRankRow& shown_rank(const RingScene& scene, const RingUiState& ui) {
  const RingRankRow* shown = &scene.ranks.front();
  for (const RingRankRow& row : scene.ranks)
    if (row.live) shown = &row;
  for (const RingRankRow& row : scene.ranks)
    if (ui.rank == row.rank && ui.step == scene.at.event) shown = &row;
  return *shown;
}

// Beside the first cell of each row.
void draw_names(const std::vector<std::int32_t>& names, const Place& p, float left, float top) {
  for (std::size_t r = 0; r < names.size(); ++r) {
    const std::vector<std::int32_t> upto(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(r) + 1);
    const float low = rows_bottom(p, upto, top, p.row);
    draw_text_in(p.list, {{left - p.s.px(kNames), low - p.row}, {left - p.s.px(4), low}}, Align::right, Face::mono, 11,
                 colour_of(Token::dim), std::to_string(names[r]));
  }
}

// A cell that was pressed, and again to let go.
void take_press(const Place& p, RingUiState& ui, const RingRankRow& row, const Part& part, const Box& box, float cell,
                std::size_t number) {
  ImGui::SetCursorScreenPos(box.min);
  if (!ImGui::InvisibleButton(part.id, {box.width(), box.height()}, ImGuiButtonFlags_EnableNav)) return;
  const ImVec2 at = ImGui::GetMousePos();
  const std::vector<std::int32_t>& names = part.of_keys ? row.sum_keys : row.rows;
  const auto c = static_cast<std::int32_t>((at.x - box.min.x) / cell);
  std::int32_t r = 0;
  while (r + 1 < part.grid.rows && rows_bottom(p, {names.begin(), names.begin() + r + 1}, box.min.y, p.row) < at.y) ++r;
  const RingUiState::Spelled pressed{number, r, std::clamp(c, 0, part.grid.cols - 1)};
  ui.spelled = ui.spelled == pressed ? std::nullopt : std::optional(pressed);
  ui.step = p.panel.scene.at.event;
}

// On a plate above its cell, or below where that would leave the card.
void draw_spelled(const Place& p, const Box& cell, const std::string& words) {
  constexpr float kSize = 14, kPad = 8, kHigh = 26;
  draw_outline(p.list, cell, colour_of(Token::text), 2, 3);
  const float wide = text_width(Face::text, kSize, words) + p.s.px(2 * kPad);
  const float left = std::clamp(cell.centre().x - wide / 2, p.rows.min.x, std::max(p.rows.min.x, p.rows.max.x - wide));
  const bool above = cell.min.y - p.s.px(kHigh + 4) >= p.rows.min.y;
  const float top = above ? cell.min.y - p.s.px(kHigh + 4) : cell.max.y + p.s.px(4);
  const Box plate{{left, top}, {left + wide, top + p.s.px(kHigh)}};
  p.list->AddRectFilled(plate.min, plate.max, colour_of(Token::field), p.s.px(5));
  draw_outline(p.list, plate, colour_of(Token::text), 1, 5);
  draw_text_in(p.list, plate, Align::centre, Face::text, kSize, colour_of(Token::text), words);
}

struct Spelling {
  Box cell;
  std::string words;
};

class RankDrawing {
 public:
  RankDrawing(const RingPanel& panel, const Box& area, const RingRankRow& rank)
      : panel_(panel),
        ui_(*panel.ui),
        page_(Pages(panel.scene, panel.look, rank).made()),
        p_{panel, style(), ImGui::GetWindowDrawList(), {}, area} {
    p_.row = p_.keys = row_height(page_);
    p_.between = p_.s.px(kBetweenChunks);
    p_.answers = false;
  }
  void draw(float top) {
    const Lines lines(page_, p_.rows.width());
    ui_.made = {};
    for (const Line& line : lines.all()) {
      draw_line(line, top);
      top += line_head(line) + line_rows(page_, line) + p_.s.px(kBelowLine);
    }
    if (spelling_) draw_spelled(p_, spelling_->cell, spelling_->words);
  }

 private:
  const RingRankRow& names_of(const Part& part) const {
    const bool sums = slot_row(part.grid.slot).gradient;
    return !part.of_keys ? page_.of_queries : sums ? page_.of_sums : page_.of_keys;
  }
  void draw_line(const Line& line, float top) {
    const float letters = top + p_.s.px(line.over ? kOver : 0), rows = top + line_head(line);
    for (const Placed& placed : line.parts) {
      const Part& part = *placed.part;
      const float left = p_.rows.min.x + placed.left, wide = placed.cell * static_cast<float>(part.grid.cols);
      if (placed.over != nullptr && !placed.over->empty())
        draw_text(p_.list, {left, top}, Face::text, 12.5F, colour_of(Token::dim), *placed.over);
      draw_letters(p_, letters - p_.s.px(18), left, wide, part.head);
      draw_part(placed, left, rows);
      if (!part.grid.made.any()) continue;
      const float low = rows + line_rows(page_, line);
      ui_.made = ui_.made.bottom > 0 ? TilesSpan{ui_.made.top, low} : TilesSpan{top, low};
    }
  }
  void draw_part(const Placed& placed, float left, float top) {
    const Part& part = *placed.part;
    const RingRankRow& row = names_of(part);
    const std::vector<std::int32_t>& names = part.of_keys ? row.sum_keys : row.rows;
    if (placed.named) draw_names(names, p_, left, top);
    draw_key_names(placed, left, top);
    const Box box{{left, top},
                  {left + placed.cell * static_cast<float>(part.grid.cols), rows_bottom(p_, names, top, p_.row)}};
    const std::size_t number = count_++;
    take_press(p_, ui_, row, part, box, placed.cell, number);
    draw_rows(p_, row, part.grid, left, top, placed.cell);
    if (!ui_.spelled || ui_.step != panel_.scene.at.event || ui_.spelled->part != number) return;
    const auto& [_, r, c] = *ui_.spelled;
    const float low = rows_bottom(p_, {names.begin(), names.begin() + r + 1}, top, p_.row);
    const float x = left + placed.cell * static_cast<float>(c);
    spelling_ = {{{x, low - p_.row}, {x + placed.cell, low}}, cell_words(row, part.grid, r, c)};
  }
  // Above the columns of what has one for each key.
  void draw_key_names(const Placed& placed, float left, float top) const {
    if (slot_row(placed.part->grid.slot).columns != SlotColumns::keys || placed.cell < p_.s.px(14)) return;
    for (std::int32_t c = 0; c < placed.part->grid.cols; ++c) {
      const float x = left + placed.cell * static_cast<float>(c);
      draw_text_in(p_.list, {{x, top - p_.s.px(kKeyNames)}, {x + placed.cell, top - p_.s.px(5)}}, Align::centre,
                   Face::mono, 11, colour_of(Token::dim),
                   std::to_string(page_.of_queries.keys[static_cast<std::size_t>(c)]));
    }
  }

  const RingPanel& panel_;
  RingUiState& ui_;
  RankPage page_;
  Place p_;
  std::size_t count_ = 0;
  std::optional<Spelling> spelling_;
};

}  // namespace

float ring_rank_height(const RingScene& scene, const StepFocus& look, const RingUiState& ui, float width) {
  const RankPage page = Pages(scene, look, shown_rank(scene, ui)).made();
  if (page.groups.empty()) return 0;
  const Style& s = style();
  float height = s.px(kTitle) + hint_height(width, false, {}, Token::dim) + s.px(6);
  const Lines lines(page, width);
  for (const Line& line : lines.all()) height += line_head(line) + line_rows(page, line) + s.px(kBelowLine);
  return height;
}

void draw_ring_rank(const RingPanel& panel, const Box& area) {
  const Style& s = style();
  const RingRankRow& rank = shown_rank(panel.scene, *panel.ui);
  ImDrawList* list = ImGui::GetWindowDrawList();
  const std::string title = phrase("{}, {}", rank.name, rank.row_words);
  draw_text(list, area.min, Face::bold, 14, colour_of(Token::text), title);
  const float hint = area.min.y + s.px(kTitle);
  const float high = hint_height(area.width(), true, {area.min.x, hint}, Token::dim);
  RankDrawing(panel, area, rank).draw(hint + high + s.px(6));
}

}  // namespace attn
