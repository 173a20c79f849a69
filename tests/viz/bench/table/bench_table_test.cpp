// Bench's table: what a cell, a row and what is copied of them say.
#include "viz/bench/scene/bench_scene.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kernels/model/problem/pages.h"
#include "profiling/figures/metrics.h"
#include "tests/viz/bench/scene_fixture.h"
#include "viz/bench/runs/slice.h"
#include "viz/draw/figure_text.h"

namespace attn {
namespace {

using namespace bench_test;

using BenchTableTest = BenchSceneTest;

TEST_F(BenchTableTest, CellsShowThreeDigitsInTheUnitOfTheColumn) {
  state.view.bench.value = 1024;
  const BenchTable t = scene(three_kernels()).table;
  EXPECT_EQ(cell(t, "cpu_flash", "time"), "2.05");
  EXPECT_EQ(cell(t, "cpu_sequential", "time"), "30.7");
  EXPECT_EQ(cell(t, "cpu_flash", "interval"), "1.0");
  EXPECT_EQ(cell(t, "cpu_flash", "speedup"), "5.00");
  EXPECT_EQ(cell(t, "cpu_flash", "error"), "0.10");
  EXPECT_EQ(t.columns[1].title, "time ms");
}

TEST_F(BenchTableTest, TheTimeOfAKernelOfSeveralLaunchesTellsWhatEachTook) {
  Model model = three_kernels();
  for (Measurement& m : rows_of(model)) {
    if (m.key.kernel != "cpu_flash") continue;
    m.launches.resize(2);
    m.launches[0].name = "scores";
    m.launches[1].name = "output";
    m.launch_us = {0.75 * m.time.median, 0.25 * m.time.median};
  }
  const BenchTable t = scene(model).table;
  EXPECT_EQ(t.columns[1].id, "time");
  const std::string tip = row_of(t, "cpu_flash").cells[0].tip;
  EXPECT_NE(tip.find("; of that, scores "), std::string::npos) << tip;
  EXPECT_NE(tip.find(", output "), std::string::npos) << tip;
  EXPECT_EQ(row_of(t, "cpu_multicore").cells[0].tip.find("; of that"), std::string::npos);
}

// A column for pages where a row has them, over the row without; a number where both are there, else the words.
TEST_F(BenchTableTest, PagesAndRaggedBatchesAreSetAgainstTheirOtherLayout) {
  state.document.sweep.base.B = 3;
  Measurement plain = timed_row(sweep, "cpu_flash", 512, 200), paged = timed_row(sweep, "cpu_flash", 512, 205);
  paged.key.problem = with_pages(paged.key.problem, 16);
  const auto cells = [&](const BenchTable& t, std::string_view column) {
    std::vector<BenchCell> found;
    for (std::size_t i = 1; i < t.columns.size(); ++i)
      for (const BenchTableRow& row : t.rows)
        if (t.columns[i].id == column) found.push_back(row.cells.at(i - 1));
    return found;
  };
  EXPECT_TRUE(cells(scene(model_of({plain})).table, "paged").empty());
  state.document.sweep.base = paged.key.problem;
  const BenchTable alone = scene(model_of({paged})).table;
  ASSERT_EQ(cells(alone, "paged").size(), 1U);
  EXPECT_EQ(cells(alone, "paged")[0].text, "–");
  EXPECT_NE(cells(alone, "paged")[0].tip.find("measure this point with --page 0"), std::string::npos);
  EXPECT_TRUE(cells(alone, "ragged").empty());
  const auto both = cells(scene(model_of({paged, plain})).table, "paged");  // the other row comes after it
  ASSERT_FALSE(both.empty());
  EXPECT_EQ(both[0].text, "1.025");
  EXPECT_TRUE(both[0].tip.starts_with("1.02")) << both[0].tip;

  Measurement zipf = plain;
  zipf.key.problem.mask.key_lengths = {512, 256, 170};
  state.document.sweep.base = zipf.key.problem;
  Model model = model_of({zipf});
  Measurement even = plain;
  even.key.problem.mask.key_lengths = {313, 313, 312};
  even.time.median = 160;
  const auto ragged = cells(scene(model).table, "ragged");
  ASSERT_EQ(ragged.size(), 1U);
  EXPECT_FALSE(ragged[0].available);
  model.runs.push_back(listed_run("00000000000000bb", {even}));  // measured in another run that is shown
  state.document.runs.shown = {"00000000000000bb", kRun};
  const auto shown = cells(scene(model).table, "ragged");
  EXPECT_EQ(std::ranges::count(shown, "1.250", &BenchCell::text), 1);
}

// The pool grows with L: its size makes no other problem of a point.
TEST_F(BenchTableTest, PagedRowsOfEveryLengthStandOnOneAxis) {
  state.document.sweep.base = with_pages(state.document.sweep.base, 16);
  const Measurement first = timed_row(sweep, "cpu_flash", 512, 200), second = timed_row(sweep, "cpu_flash", 1024, 400);
  ASSERT_NE(first.key.problem.storage.pages, second.key.problem.storage.pages);
  const auto s = scene(model_of({first, second}), true);
  EXPECT_EQ(s.ticks.size(), 2U);
  EXPECT_EQ(s.table.rows.size(), 2U);
}

// A kernel is not set against itself: contiguous rows stand across the axis of pages where it has no others there.
TEST_F(BenchTableTest, ARowWithoutPagesIsTheRatioOfThoseOnTheAxisOfPages) {
  state.document.sweep.axis = *axis_from_name("page");
  state.document.sweep.values = {16, 64};
  Measurement plain = timed_row(sweep, "cpu_flash", 16, 100), other = plain;
  plain.key.problem = without_pages(plain.key.problem);
  other.key.kernel = "cpu_multicore";
  other.key.problem = plain.key.problem;
  const auto s = scene(
      model_of({timed_row(sweep, "cpu_flash", 16, 110), timed_row(sweep, "cpu_flash", 64, 120), plain, other}), true);
  std::vector<std::string> ratios;
  for (const BenchTableRow& row : s.table.rows)
    for (std::size_t i = 1; i < s.table.columns.size(); ++i)
      if (s.table.columns[i].id == "paged") ratios.push_back(row.kernel + " " + row.cells[i - 1].text);
  EXPECT_EQ(ratios, (std::vector<std::string>{"cpu_multicore –", "cpu_flash 1.100", "cpu_flash 1.200"}));
  const BenchLine* line = line_of(time_of(s), "cpu_flash");
  ASSERT_NE(line, nullptr);
  EXPECT_EQ(line->points.size(), 2U);
  EXPECT_EQ(s.verdict.headline.find("cpu_flash cannot be distinguished from cpu_flash"), std::string::npos);
}

TEST_F(BenchTableTest, WhatIsNotAvailableIsADashWithItsReason) {
  const BenchTable t = scene(three_kernels()).table;
  const BenchTableRow& row = row_of(t, "cpu_flash");
  for (std::size_t i = 1; i < t.columns.size(); ++i) {
    if (t.columns[i].id != "dram") continue;
    EXPECT_EQ(row.cells[i - 1].text, "–");
    EXPECT_FALSE(row.cells[i - 1].available);
    EXPECT_TRUE(row.cells[i - 1].tip.starts_with("Not available: this version does not read a CPU's memory"))
        << row.cells[i - 1].tip;
  }
}

TEST_F(BenchTableTest, ARefusedRowShowsItsReasonInsteadOfCells) {
  Model m = three_kernels();
  rows_of(m).push_back(refused_row(sweep, "cpu_tiled", 2048, "needs 4.00 GiB"));
  const BenchTable t = scene(m).table;
  EXPECT_TRUE(row_of(t, "cpu_tiled").cells.empty());
  EXPECT_EQ(row_of(t, "cpu_tiled").reason, "refused: needs 4.00 GiB");
}

TEST_F(BenchTableTest, AnUnverifiedRowIsNotCalledRight) {
  Model m = three_kernels();
  for (Measurement& row : rows_of(m)) row.verdict.reset();
  relate_to_baseline(rows_of(m));
  const auto s = scene(m);
  EXPECT_EQ(cell(s.table, "cpu_flash", "verdict"), "not checked");
  EXPECT_EQ(row_of(s.table, "cpu_flash").mark, BenchMark::none);
  EXPECT_NE(s.verdict.reason.find("not checked"), std::string::npos);
}

std::vector<std::vector<std::string>> cells_of(const std::string& tsv) {
  std::vector<std::vector<std::string>> lines(1);
  std::string cell;
  for (const char c : tsv) {
    if (c != '\t' && c != '\n') {
      cell += c;
      continue;
    }
    lines.back().push_back(std::exchange(cell, ""));
    if (c == '\n') lines.emplace_back();
  }
  EXPECT_TRUE(cell.empty()) << "the last line has no end";
  lines.pop_back();
  return lines;
}

// Numbers as the table shows them, under its heads; a dash is an empty cell.
TEST_F(BenchTableTest, ARowOrTheTableIsCopiedWithTabsBetween) {
  Model m = three_kernels();
  rows_of(m).push_back(refused_row(sweep, "cpu_tiled", 2048, "needs\t4.00 GiB"));
  const BenchTable t = scene(m).table;
  const auto lines = cells_of(table_tsv(t));
  ASSERT_EQ(lines.size(), t.rows.size() + 1);
  for (std::size_t c = 0; c < t.columns.size(); ++c) EXPECT_EQ(lines[0].at(c), t.columns[c].title);
  for (std::size_t r = 0; r < t.rows.size(); ++r) {
    const BenchTableRow& row = t.rows[r];
    const auto& line = lines[r + 1];
    ASSERT_EQ(line.size(), t.columns.size() + (row.reason.empty() ? 0 : 1)) << row.label;
    EXPECT_EQ(line[0], row.label);
    for (std::size_t c = 1; c < t.columns.size(); ++c) {
      const bool there = c - 1 < row.cells.size() && row.cells[c - 1].available;
      EXPECT_EQ(line[c], there ? row.cells[c - 1].text : "") << row.label << ", " << t.columns[c].title;
    }
    if (!row.reason.empty()) {
      EXPECT_EQ(line.back(), "refused: needs 4.00 GiB");  // a tab within would make two cells
    }
    const auto alone = cells_of(row_tsv(t, r));
    ASSERT_EQ(alone.size(), 2U);
    EXPECT_EQ(alone[0], lines[0]);
    EXPECT_EQ(alone[1], line);
  }
}

TEST_F(BenchTableTest, TheNumbersOfAChartAreCopiedWithoutHiddenLines) {
  const auto s = scene(three_kernels());
  const auto lines = cells_of(chart_tsv(s, time_of(s), {"cpu_sequential"}));
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0], (std::vector<std::string>{"L", "cpu_multicore, ms", "cpu_flash, ms"}));
  EXPECT_EQ(lines[2], (std::vector<std::string>{"1024", "10.2", "2.05"}));
}

TEST_F(BenchTableTest, EveryRowHasACellForEveryColumn) {
  for (const bool all : {false, true}) {
    const BenchTable t = scene(three_kernels(), all).table;
    EXPECT_EQ(t.rows.size(), all ? 9U : 3U);
    for (const BenchTableRow& row : t.rows) EXPECT_EQ(row.cells.size() + 1, t.columns.size());
  }
}

TEST_F(BenchTableTest, NoMemoryHasSevenDigits) {
  state.document.sweep.kernels = {"naive"};
  const auto title = [&](double bytes) {
    Model m = model_of({timed_row(sweep, "naive", 512, 100)});
    rows_of(m)[0].processor = Processor::gpu;
    rows_of(m)[0].figures[find_metric("memory_peak_bytes").value()] = {Origin::derived, bytes, "", ""};
    const BenchTable t = scene(m).table;
    for (const BenchColumn& c : t.columns)
      if (c.id == "memory") return c.title + " " + cell(t, "naive", "memory");
    return std::string();
  };
  EXPECT_EQ(title(8.0 * (1 << 30)), "peak MiB 8192");
  EXPECT_EQ(title(8200.0 * (1 << 30)), "peak GiB 8200");
}

// Whatever the number of values: one line a kernel and reason, which names them all.
TEST_F(BenchSceneTest, WhatIsRefusedForOneReasonIsSaidOnce) {
  for (std::size_t values = 1; values <= 6; ++values) {
    std::vector<Measurement> rows;
    std::string named;
    for (std::size_t n = 0; n < values; ++n) {
      const std::int64_t value = std::int64_t{512} << n;
      rows.push_back(timed_row(sweep, "cpu_multicore", value, 100));
      rows.push_back(refused_row(sweep, "cpu_flash", value, "it does not take this"));
      named += (n == 0 ? "" : ", ") + std::to_string(value);
    }
    rows.push_back(refused_row(sweep, "cpu_tiled", 512, "of another reason"));
    const BenchTable table = scene(model_of(rows), true).table;
    std::vector<std::string> reasons;
    for (const BenchTableRow& row : table.rows)
      if (!row.reason.empty()) reasons.push_back(row.reason);
    ASSERT_EQ(reasons.size(), 2U);
    const std::string wanted = "L = " + named + ": refused: it does not take this";
    EXPECT_EQ(std::ranges::count(reasons, wanted), 1) << reasons[0] << " | " << reasons[1];
  }
}

}  // namespace
}  // namespace attn
