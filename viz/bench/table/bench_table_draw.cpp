// The table under the charts. Widths are measured from the texts; where they do not fit, columns of least use go.
#include "viz/bench/table/bench_table_draw.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/text.h"
#include "viz/bench/table/table_title_draw.h"
#include "viz/draw/canvas.h"
#include "viz/draw/hands.h"
#include "viz/draw/marks.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"

namespace attn {
namespace {

constexpr float kRow = 20, kHead = 24, kTitle = 26, kNote = 20, kPadding = 12, kCellText = 12.5F;  // logical pixels
constexpr int kNoteLines = 3;
constexpr std::size_t kLeastRows = 6;  // of more the table scrolls inside before the page does

// Columns that go next when the table is too wide. With a group chosen the last ones go.
constexpr std::array<std::string_view, 9> kDropped{"tiles",    "bandwidth", "peak",     "workspace", "memory",
                                                   "interval", "shared",    "possible", "dram"};

struct ShownColumn {
  std::size_t index = 0;  // in BenchTable::columns; its cell is index - 1
  float width = 0;        // pixels
};

float width_of(const BenchTable& table, std::size_t column) {
  const Style& s = style();
  float widest = text_width(Face::text, kCellText, table.columns[column].title) + s.px(12);  // room for the sort arrow
  for (const BenchTableRow& row : table.rows) {
    if (column == 0) {
      widest = std::max(widest, s.px(24) + text_width(row.emphasised ? Face::bold : Face::text, kCellText, row.label));
    } else if (!row.cells.empty()) {
      const bool words = table.columns[column].id == "verdict";
      widest = std::max(widest, text_width(words ? Face::text : Face::mono, kCellText, row.cells[column - 1].text) +
                                    (words ? s.px(20) : 0));
    }
  }
  return std::ceil(widest);
}

std::vector<ShownColumn> fitting_columns(const BenchTable& table, float room) {
  std::vector<ShownColumn> columns;
  for (std::size_t i = 0; i < table.columns.size(); ++i) columns.push_back({i, width_of(table, i)});
  const float gap = style().px(2 * 8);
  const auto total = [&] {
    return std::accumulate(columns.begin(), columns.end(), 0.0F,
                           [&](float sum, const ShownColumn& c) { return sum + c.width + gap; });
  };
  const auto empty = [&](const ShownColumn& c) {
    return c.index > 0 && std::ranges::none_of(table.rows, [&](const BenchTableRow& row) {
             return !row.cells.empty() && row.cells[c.index - 1].available;
           });
  };
  // First what holds nothing; the last of it stays, so that no more goes than must.
  while (total() > room) {
    const auto last = std::find_if(columns.rbegin(), columns.rend(), empty);
    if (last == columns.rend()) break;
    columns.erase(std::next(last).base());
  }
  for (const std::string_view id : kDropped) {
    if (total() <= room) break;
    std::erase_if(columns, [&](const ShownColumn& c) { return table.columns[c.index].id == id; });
  }
  while (total() > room && columns.size() > 3) columns.pop_back();
  // What is left over goes between the columns evenly, up to a point: a row must still be read as a row.
  const float spare = std::min(style().px(80), (room - total()) / static_cast<float>(columns.size()));
  if (spare > 0)
    for (ShownColumn& c : columns) c.width += std::floor(spare);
  return columns;
}

std::vector<std::size_t> sorted_rows(const BenchTable& table, const std::vector<ShownColumn>& columns) {
  std::vector<std::size_t> order(table.rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const ImGuiTableSortSpecs* specs = ImGui::TableGetSortSpecs();
  if (specs == nullptr || specs->SpecsCount == 0) return order;
  const ImGuiTableColumnSortSpecs& by = specs->Specs[0];
  const auto at = static_cast<std::size_t>(by.ColumnIndex);
  if (at >= columns.size()) return order;
  const std::size_t column = columns[at].index;
  const bool down = by.SortDirection == ImGuiSortDirection_Descending;
  // Rows without that figure stand last either way.
  const auto has = [&](std::size_t i) {
    const BenchTableRow& row = table.rows[i];
    return column == 0 || (!row.cells.empty() && row.cells[column - 1].available);
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (has(a) != has(b)) return has(a);
    if (!has(a)) return false;
    if (column == 0)
      return down ? table.rows[b].label < table.rows[a].label : table.rows[a].label < table.rows[b].label;
    const double x = table.rows[a].cells[column - 1].sort, y = table.rows[b].cells[column - 1].sort;
    return down ? y < x : x < y;
  });
  return order;
}

void head(const BenchTable& table, const std::vector<ShownColumn>& columns) {
  const Style& s = style();
  ImGui::PushStyleColor(ImGuiCol_Text, colour(s.theme, Token::dim));
  ImGui::PushFont(s.fonts.text, s.px(kCellText));
  ImGui::TableNextRow(ImGuiTableRowFlags_Headers, s.px(kHead));
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const BenchColumn& column = table.columns[columns[i].index];
    ImGui::TableSetColumnIndex(static_cast<int>(i));
    const bool left = column.id == "kernel" || column.id == "verdict";
    if (!left) {
      const bool sorted = (ImGui::TableGetColumnFlags() & ImGuiTableColumnFlags_IsSorted) != 0;
      const float width = text_width(Face::text, kCellText, column.title) + (sorted ? s.px(12) : 0);
      ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::max(0.0F, ImGui::GetContentRegionAvail().x - width));
    }
    ImGui::TableHeader(fmt::format("{}###{}", column.title, column.id).c_str());
    if (!column.tip.empty()) tooltip(column.tip);
  }
  ImGui::PopFont();
  ImGui::PopStyleColor();
}

void draw_tick(ImDrawList& list, ImVec2 at, bool pass, ImU32 ink) {
  const Style& s = style();
  const float r = s.px(4);
  if (pass) {
    const std::array<ImVec2, 3> tick{ImVec2(at.x - r, at.y), ImVec2(at.x - r * 0.25F, at.y + r * 0.8F),
                                     ImVec2(at.x + r, at.y - r * 0.8F)};
    list.AddPolyline(tick.data(), 3, ink, s.px(1.5F));
  } else {
    list.AddLine({at.x - r, at.y - r}, {at.x + r, at.y + r}, ink, s.px(1.75F));
    list.AddLine({at.x - r, at.y + r}, {at.x + r, at.y - r}, ink, s.px(1.75F));
  }
}

void cell(const BenchTableRow& row, const BenchCell& c, const BenchColumn& column, Commands& commands) {
  const Style& s = style();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const Box box{at, {at.x + ImGui::GetContentRegionAvail().x, at.y + s.px(kRow)}};
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImU32 ink = colour(s.theme, c.available ? Token::text : Token::dim);
  if (column.id == "verdict") {
    if (row.mark != BenchMark::none)
      draw_tick(list, {at.x + s.px(6), box.centre().y}, row.mark == BenchMark::pass, ink);
    draw_text_in(&list, {{at.x + s.px(row.mark == BenchMark::none ? 0 : 18), box.min.y}, box.max}, Align::left,
                 row.mark == BenchMark::fail ? Face::bold : Face::text, kCellText,
                 row.mark == BenchMark::pass ? colour(s.theme, Token::dim) : ink, c.text);
  } else {
    draw_text_in(&list, box, Align::right, Face::mono, kCellText, ink, c.text);
  }
  if (c.tip.empty() || !ImGui::IsWindowHovered(ImGuiHoveredFlags_ChildWindows)) return;
  if (!ImGui::IsMouseHoveringRect(box.min, box.max)) return;
  show_tooltip(c.tip, 360);
  if (c.available && !ImGui::GetIO().WantTextInput && ImGui::IsKeyChordPressed(ImGuiMod_Ctrl | ImGuiKey_C))
    commands.push_back(CopyText{c.text});
}

// What can be done with a row: the right button, or the menu key where the keyboard is on it.
void row_menu(const BenchTable& table, std::size_t index, BenchCache& cache, Commands& commands) {
  const BenchTableRow& row = table.rows[index];
  tooltip(by_touch() ? phrase("Tap to choose {}", row.name)
                     : phrase("Click to choose {}; right-click for more", row.name));
  if (!ImGui::BeginPopupContextItem()) return;
  begin_menu_rows();
  if (ImGui::Selectable(tr("Profile it"))) {
    commands.push_back(ChooseBenchKernel{row.kernel});
    if (row.value != 0) commands.push_back(ChooseBenchValue{row.value});
    commands.push_back(ChooseWorkspace{Workspace::profile});
  }
  if (ImGui::Selectable(tr("Step through it"))) commands.push_back(StepThrough{row.kernel, row.problem, row.options});
  if (ImGui::Selectable(phrase("Compare with {}", row.name).c_str()))
    commands.push_back(ChooseBenchBaseline{row.kernel});
  const bool hidden = cache.hidden.contains(row.id);
  if (ImGui::Selectable(hidden ? tr("Show its line") : tr("Hide its line"))) {
    if (hidden)
      cache.hidden.erase(row.id);
    else
      cache.hidden.insert(row.id);
  }
  ImGui::Separator();
  if (ImGui::Selectable(tr("Copy the row"))) commands.push_back(CopyText{row_tsv(table, index)});
  if (ImGui::Selectable(tr("Copy the table"))) commands.push_back(CopyText{table_tsv(table)});
  tooltip(tr("Tab-separated, for a spreadsheet"));
  end_menu();
}

// Choosing a row chooses its kernel and its value; pointing at it shows both in the charts.
void kernel_cell(BenchCache& cache, std::size_t index, const BenchLine* line, Commands& commands) {
  const Style& s = style();
  const BenchScene& scene = cache.scene;
  const BenchTableRow& row = scene.table.rows[index];
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::PushStyleColor(ImGuiCol_Header, 0U);
  const std::string id = fmt::format("##row_{}_{}", row.id, row.value);
  if (ImGui::Selectable(id.c_str(), false, ImGuiSelectableFlags_SpanAllColumns | ImGuiSelectableFlags_AllowOverlap,
                        {0, s.px(kRow)})) {
    commands.push_back(ChooseBenchKernel{row.kernel});
    if (row.value > 0) commands.push_back(ChooseBenchValue{row.value});
  }
  if (ImGui::IsItemHovered()) {
    cache.hovered_next = row.value > 0 ? std::optional(row.value) : scene.chosen;
    cache.pointed_next = {row.id, cache.hovered_next};
  }
  row_menu(scene.table, index, cache, commands);
  ImGui::PopStyleColor();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const MarkFill fill = line == nullptr || line->open ? MarkFill::open : MarkFill::solid;
  const float middle = at.y + s.px(kRow) / 2;
  draw_mark(list, {at.x + s.px(6), middle},
            {look_of(row.kernel).mark, line != nullptr && line->hollow ? MarkFill::hollow : fill,
             kernel_colour(s.theme, row.kernel), colour(s.theme, row.emphasised ? Token::band : Token::card), s.px(4),
             s.px(1.5F)});
  draw_text_in(&list, {{at.x + s.px(20), at.y}, {at.x + s.px(400), at.y + s.px(kRow)}}, Align::left,
               row.emphasised ? Face::bold : Face::text, kCellText,
               colour(s.theme, row.cells.empty() ? Token::dim : Token::text), row.label);
}

const BenchLine* line_of(const BenchScene& scene, const BenchTableRow& row) {
  for (const BenchChart& chart : scene.charts)
    for (const BenchLine& line : chart.lines)
      if (!line.kernel.empty() && line.id == row.id) return &line;
  return nullptr;
}

// A reason runs over all columns: drawn when the table's own clipping is over.
struct Reason {
  ImVec2 at;
  float right = 0;  // where the first figure stands; 0 = the table's end
  std::string words;
};

void draw_reason(ImDrawList& list, const Reason& r, float table_end) {
  const Style& s = style();
  const Box box{r.at, {r.right > 0 ? r.right : table_end, r.at.y + s.px(kRow)}};
  const bool cut = text_width(Face::text, kCellText, r.words) > box.width();
  ImGui::PushClipRect(box.min, box.max, true);
  draw_text_in(&list, box, Align::left, Face::text, kCellText, colour(s.theme, Token::dim), r.words);
  ImGui::PopClipRect();
  if (cut && ImGui::IsWindowHovered(ImGuiHoveredFlags_ChildWindows) && ImGui::IsMouseHoveringRect(box.min, box.max))
    show_tooltip(r.words, 360);
}

// Whether the pointer is on this row's point in a chart.
bool is_pointed_at(const BenchCache& cache, const BenchTableRow& row) {
  return cache.pointed && cache.pointed->line == row.id &&
         (!cache.pointed->value || row.value == 0 || cache.pointed->value == row.value);
}

std::vector<Reason> rows(BenchCache& cache, const std::vector<ShownColumn>& columns, Commands& commands) {
  const Style& s = style();
  const BenchScene& scene = cache.scene;
  std::vector<Reason> reasons;
  for (const std::size_t i : sorted_rows(scene.table, columns)) {
    const BenchTableRow& row = scene.table.rows[i];
    ImGui::TableNextRow(0, s.px(kRow));
    if (row.emphasised) ImGui::TableSetBgColor(ImGuiTableBgTarget_RowBg0, colour(s.theme, Token::band));
    if (is_pointed_at(cache, row))
      ImGui::TableSetBgColor(ImGuiTableBgTarget_RowBg1, faded(colour(s.theme, Token::text), 0.1F));
    for (std::size_t c = 0; c < columns.size(); ++c) {
      ImGui::TableSetColumnIndex(static_cast<int>(c));
      if (c == 0) {
        kernel_cell(cache, i, line_of(scene, row), commands);
      } else {
        if (c == 1 && !row.reason.empty()) reasons.push_back({ImGui::GetCursorScreenPos(), 0, row.reason});
        if (row.cells.empty()) continue;
        const BenchCell& shown = row.cells[columns[c].index - 1];
        if (!row.reason.empty() && !shown.available) continue;  // the reason stands there
        if (!row.reason.empty() && reasons.back().right == 0)
          reasons.back().right = ImGui::GetCursorScreenPos().x - style().px(8);
        cell(row, shown, scene.table.columns[columns[c].index], commands);
      }
    }
  }
  return reasons;
}

// Of this height what holds whole rows under the head.
float whole_rows(float height) {
  const float row = style().px(kRow), head = style().px(kHead);
  return head + row * std::max(1.0F, std::floor((height - head) / row + 0.01F));
}

void draw_rows(BenchCache& cache, float height, Commands& commands) {
  const Style& s = style();
  const BenchScene& scene = cache.scene;
  const float room = height;
  height = std::min(height, whole_rows(height));
  const auto columns = fitting_columns(scene.table, ImGui::GetContentRegionAvail().x);
  ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, ImVec2(s.px(8), 0));
  constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_Sortable | ImGuiTableFlags_SortTristate | ImGuiTableFlags_ScrollY |
                                     ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_NoSavedSettings |
                                     ImGuiTableFlags_NoPadOuterX;
  // The set of columns is part of the identity: the sort order belongs to it.
  const std::string id = fmt::format("rows_{}", columns.size());
  if (ImGui::BeginTable(id.c_str(), static_cast<int>(columns.size()), kFlags, ImVec2(0, height))) {
    ImGui::TableSetupScrollFreeze(0, 1);
    for (const ShownColumn& c : columns) {
      const BenchColumn& column = scene.table.columns[c.index];
      const bool more_is_better = column.id == "rate" || column.id == "speedup" || column.id == "peak";
      ImGui::TableSetupColumn(column.title.c_str(),
                              ImGuiTableColumnFlags_WidthFixed | ImGuiTableColumnFlags_NoResize |
                                  (more_is_better ? ImGuiTableColumnFlags_PreferSortDescending : 0),
                              c.width);
    }
    head(scene.table, columns);
    const auto reasons = rows(cache, columns, commands);
    ImDrawList* list = ImGui::GetWindowDrawList();
    const ImVec2 low = ImGui::GetWindowPos();
    const ImVec2 high(low.x + ImGui::GetWindowSize().x, low.y + ImGui::GetWindowSize().y);
    const float under = std::floor(low.y + s.px(kHead - 4)) + 0.5F;
    ImGui::PushClipRect(low, high, false);
    list->AddLine({low.x, under}, {high.x, under}, colour(s.theme, Token::line), std::max(1.0F, std::floor(s.px(1))));
    ImGui::PopClipRect();
    ImGui::PushClipRect({low.x, low.y + s.px(kHead)}, high, false);
    for (const Reason& r : reasons) draw_reason(*list, r, high.x);
    ImGui::PopClipRect();
    ImGui::EndTable();
  }
  ImGui::PopStyleVar();
  if (room > height) ImGui::Dummy({0, room - height});
}

// The line under the rows, wrapped: pixels.
float note_height(const BenchCache& cache, float width) {
  const TextRuns words{word(cache.scene.table.note)};
  return std::max(style().px(kNote), draw_paragraph(nullptr, {}, width, 12, words, kNoteLines, false));
}

// Why the filter cannot be read, under its field; 0: it can.
float error_height(const BenchCache& cache, float width) {
  if (cache.filter.error.empty()) return 0;
  return draw_paragraph(nullptr, {}, width, 12, {word(cache.filter.error)}, kNoteLines, false) + style().px(4);
}

float table_height(const BenchCache& cache, float width, std::size_t rows) {
  const Style& s = style();
  const float fixed = s.px(2 * kPadding + kTitle + kHead + kRow * static_cast<float>(rows));
  return fixed + note_height(cache, width - s.px(2 * kPadding)) + error_height(cache, width - s.px(2 * kPadding));
}

}  // namespace

float bench_table_height(const BenchCache& cache, float width) {
  return table_height(cache, width, std::max<std::size_t>(1, cache.scene.table.rows.size()));
}

float least_bench_table_height(const BenchCache& cache, float width) {
  return table_height(cache, width, kLeastRows);
}

void draw_bench_table(BenchCache& cache, ImVec2 size, Commands& commands) {
  const Style& s = style();
  const BenchScene& scene = cache.scene;
  if (begin_card("table", size)) {
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(s.px(8), 0));
    draw_table_title(cache, s.px(kTitle), commands);
    if (!cache.filter.error.empty()) {
      const float width = ImGui::GetContentRegionAvail().x;
      draw_paragraph(ImGui::GetWindowDrawList(), ImGui::GetCursorScreenPos(), width, 12, {word(cache.filter.error)},
                     kNoteLines);
      ImGui::Dummy({0, error_height(cache, width)});
    }
    if (scene.table.rows.empty() && !scene.filter.empty()) {
      dim_text(scene.table.note);
    } else if (scene.table.rows.empty()) {
      draw_text(ImGui::GetWindowDrawList(), {ImGui::GetCursorScreenPos().x, ImGui::GetCursorScreenPos().y + s.px(4)},
                Face::text, 13, colour(s.theme, Token::dim), tr("Rows appear here, one per kernel, during the run."));
    } else {
      const float width = ImGui::GetContentRegionAvail().x, note = note_height(cache, width);
      draw_rows(cache, ImGui::GetContentRegionAvail().y - note, commands);
      draw_paragraph(ImGui::GetWindowDrawList(), ImGui::GetCursorScreenPos(), width, 12, {word(scene.table.note)},
                     kNoteLines);
    }
    ImGui::PopStyleVar();
  }
  ImGui::EndChild();
}

}  // namespace attn
