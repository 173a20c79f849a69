// Tables as text for a spreadsheet: cells with tabs between, lines with line ends.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "viz/bench/scene/bench_scene.h"
#include "viz/draw/figure_text.h"

namespace attn {
namespace {

std::string line_of(const std::vector<std::string>& cells) {
  std::string line;
  for (const std::string& cell : cells) {
    if (&cell != &cells.front()) line += '\t';
    // A tab or a line end within a cell would make two of it.
    for (const char c : cell) line += c == '\t' || c == '\n' || c == '\r' ? ' ' : c;
  }
  return line + "\n";
}

std::string heads(const BenchTable& table) {
  std::vector<std::string> cells;
  cells.reserve(table.columns.size());
  for (const BenchColumn& c : table.columns) cells.push_back(c.title);
  return line_of(cells);
}

std::string cells_of(const BenchTable& table, const BenchTableRow& row) {
  std::vector<std::string> cells{row.label};
  for (std::size_t i = 1; i < table.columns.size(); ++i) {
    const bool there = i - 1 < row.cells.size() && row.cells[i - 1].available;
    cells.push_back(there ? row.cells[i - 1].text : "");
  }
  if (!row.reason.empty()) cells.push_back(row.reason);
  return line_of(cells);
}

}  // namespace

std::string table_tsv(const BenchTable& table) {
  std::string text = heads(table);
  for (const BenchTableRow& row : table.rows) text += cells_of(table, row);
  return text;
}

std::string row_tsv(const BenchTable& table, std::size_t row) {
  return row < table.rows.size() ? heads(table) + cells_of(table, table.rows[row]) : std::string();
}

std::string chart_tsv(const BenchScene& scene, const BenchChart& chart, const std::set<std::string>& hidden) {
  std::vector<const BenchLine*> lines;
  std::vector<std::string> cells{scene.axis_letter};
  for (const BenchLine& line : chart.lines) {
    if (hidden.contains(line.id)) continue;
    lines.push_back(&line);
    cells.push_back(chart.unit.empty() ? line.label : fmt::format("{}, {}", line.label, chart.unit));
  }
  std::string text = line_of(cells);
  for (const BenchTick& tick : scene.ticks) {
    cells = {fmt::format("{}", tick.at)};
    for (const BenchLine* line : lines) {
      const auto p =
          std::find_if(line->points.begin(), line->points.end(), [&](const auto& q) { return q.x == tick.at; });
      cells.push_back(p == line->points.end() ? "" : figure_text(p->y));
    }
    text += line_of(cells);
  }
  return text;
}

}  // namespace attn
