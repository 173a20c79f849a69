// Bench's filter of rows: what its names stand for, what a row without a figure does, and errors in words.
#include "viz/bench/runs/row_filter.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kernels/ladder.h"
#include "kernels/model/kernel.h"
#include "kernels/model/ring.h"
#include "profiling/figures/metrics.h"
#include "tests/viz/bench/rows.h"

namespace attn {
namespace {

using bench_test::sweep_state;
using bench_test::timed_row;

Measurement a_row() {
  const State state = sweep_state();
  Measurement m = timed_row(state.document.sweep, "cpu_flash", 1024, 250);
  m.key.problem.dtype = DType::f16;
  m.key.problem.Hkv = 2;
  m.key.options.bc = 32;
  fill_figures(m);
  return m;
}

TEST(RowFilter, NamesStandForWhatTheRowHas) {
  const Measurement m = a_row();
  const double tflops = figure(m, "tflops").value;
  ASSERT_TRUE(figure(m, "tflops").available());
  for (const char* holds : {"d == 64",
                            "D == 64 and L == 1024",
                            "d = 64",
                            "hkv == 2",
                            "H == 4",
                            "br * bc == 2048",
                            "time_us_median <= 250",
                            "kernel == cpu_flash",
                            "kernel != naive",
                            "dtype == f16",
                            "\"f16\" == dtype",
                            "mask == full",
                            "answer == right",
                            "state == done",
                            "device == \"a CPU\"",
                            "l2 == warm",
                            "not d == 32",
                            "not not d == 64",
                            "d == 32 or d == 64 and bc == 32",
                            "(d == 32 or d == 64) and bc < 64",
                            "-d < 0",
                            " ",
                            ""}) {
    const auto fits = fits_filter(holds, m);
    ASSERT_TRUE(fits) << holds << ": " << fits.error().message;
    EXPECT_TRUE(*fits) << holds;
  }
  for (const char* fails : {"d == 32", "d == 64 and bc == 64", "kernel == naive", "kernel != cpu_flash",
                            "not (d == 64)", "d == 32 or bc == 64", "dtype == f32", "answer == wrong"}) {
    const auto fits = fits_filter(fails, m);
    ASSERT_TRUE(fits) << fails << ": " << fits.error().message;
    EXPECT_FALSE(*fits) << fails;
  }
  EXPECT_TRUE(*fits_filter(fmt::format("tflops > {}", tflops * 0.99), m));
  EXPECT_FALSE(*fits_filter(fmt::format("tflops > {}", tflops * 1.01), m));
}

// Every metric, every axis and every option is a name; none shadows another.
TEST(RowFilter, EveryMetricAndAxisIsAName) {
  const Measurement m = a_row();
  for (const MetricRow& row : metric_table()) {
    const Figure& f = figure(m, row.id);
    const auto fits = fits_filter(fmt::format("{} == {}", row.id, f.available() ? f.value : 0), m);
    ASSERT_TRUE(fits) << fits.error().message;
    EXPECT_EQ(*fits, f.available() && std::isfinite(f.value)) << row.id;
  }
  for (const Axis& axis : all_axes()) EXPECT_TRUE(check_row_filter(fmt::format("{} == 1", axis.name()))) << axis.name();
}

// Rows do not spell out a default, and a filter finds them by it: every option of every kernel that is an axis.
TEST(RowFilter, ADefaultIsFoundByItsValue) {
  std::size_t checked = 0;
  for (const KernelRow* row : ladder()) {
    Measurement m;
    m.key.kernel = row->id;
    for (const OptionSpec& spec : row->options) {
      if (spec.option->is_choice() || spec.default_value < spec.min) continue;
      const auto holds = [&](std::int64_t value) {
        return *fits_filter(fmt::format("{} == {}", spec.option->name, value), m);
      };
      m.key.options = Options();
      EXPECT_TRUE(holds(spec.default_value)) << row->id << ", " << spec.option->name;
      EXPECT_FALSE(holds(spec.default_value + spec.step)) << row->id << ", " << spec.option->name;
      const Axis axis(spec.option->name);
      EXPECT_EQ(axis_value(axis, m), varies(*row, *spec.option) ? spec.default_value : 0) << row->id;
      if (spec.max <= spec.default_value) continue;
      choose(m.key.options, *spec.option, spec.default_value + spec.step);
      EXPECT_TRUE(holds(spec.default_value + spec.step)) << row->id << ", " << spec.option->name;
      EXPECT_FALSE(holds(spec.default_value)) << row->id << ", " << spec.option->name;
      ++checked;
    }
    // What a kernel does not read compares with nothing.
    m.key.options = Options();
    for (const Axis& axis : all_axes()) {
      const Option* option = kind_of(axis).option;
      if (option == nullptr || spec_of(*row, *option) != nullptr) continue;
      EXPECT_FALSE(*fits_filter(fmt::format("{} >= 0", axis.name()), m)) << row->id << ", " << axis.name();
    }
  }
  EXPECT_GT(checked, 10U);
}

TEST(RowFilter, AnOptionThatIsAChoiceIsComparedWithItsChoices) {
  Measurement m = a_row();
  EXPECT_TRUE(*fits_filter("deal == in_order", m)) << "the default";
  EXPECT_TRUE(*fits_filter("deal != zigzag", m));
  choose(m.key.options, kDeal, 1);
  for (const char* holds :
       {"deal = zigzag", "deal == zigzag", "Deal = \"zigzag\"", "zigzag = deal", "d = 64 and deal != in_order"})
    EXPECT_TRUE(fits_filter(holds, m).value_or(false)) << holds;
  EXPECT_FALSE(*fits_filter("deal = in_order", m));
  // What a kernel does not read compares with nothing.
  m.key.kernel = "cpu_sequential";
  for (const char* never : {"deal = zigzag", "deal != zigzag", "deal = in_order"})
    EXPECT_FALSE(fits_filter(never, m).value_or(true)) << never;
  for (const Option* option : declared_options()) {
    for (const std::string_view choice : option->choices)
      EXPECT_TRUE(check_row_filter(fmt::format("{} = {}", option->name, choice))) << option->name << ", " << choice;
  }
}

TEST(RowFilter, AWordIsCompletedByNamesAndAComparisonByValues) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(filter_words("dea").words, Words{"deal"});
  EXPECT_EQ(filter_words("L = 64 and DEA").words, Words{"deal"});
  EXPECT_EQ(filter_words("L = 64 and DEA").begin, 11U);
  EXPECT_EQ(filter_words("deal = ").words, (Words{"in_order", "zigzag"}));
  EXPECT_EQ(filter_words("deal=z").words, Words{"zigzag"});
  EXPECT_EQ(filter_words("deal=z").begin, 5U);
  EXPECT_EQ(filter_words("not (dtype != b").words, Words{"bf16"});
  EXPECT_EQ(filter_words("kernel == torch-cu").words, Words{"torch-cudnn"});
  EXPECT_EQ(filter_words("deal = zigzag").words, Words()) << "it is whole";
  EXPECT_EQ(filter_words("").words, Words());
  EXPECT_EQ(filter_words("d == 6").words, Words());
  const Words time = filter_words("time_us_m").words;
  EXPECT_NE(std::find(time.begin(), time.end(), "time_us_median"), time.end());
}

TEST(RowFilter, WhatARowDoesNotHaveComparesWithNothing) {
  const Measurement m = a_row();
  ASSERT_FALSE(figure(m, "dram_read_bytes").available());
  for (const char* never : {"dram_read_bytes > 0", "dram_read_bytes <= 0", "dram_read_bytes == 0",
                            "dram_read_bytes != 0", "dram_read_bytes + 1 > 0"})
    EXPECT_FALSE(*fits_filter(never, m)) << never;
  EXPECT_TRUE(*fits_filter("not dram_read_bytes > 0", m));
}

TEST(RowFilter, WhatCannotBeReadIsSaidInWords) {
  const std::pair<const char*, const char*> wrong[] = {
      {"tflop > 100", "Unknown name 'tflop'; use tflops"},
      {"nothing == 3", "Unknown name 'nothing'"},
      {"deal == zig", "Unknown deal 'zig'; use a value such as in_order, zigzag"},
      {"deal > zigzag", "'deal' is a string"},
      {"deal = 1", "'deal' is a string"},
      {"d == 64 bc == 32", "Missing 'and' or 'or' before"},
      {"d == 64 and", "Expected a name, a number or '(' at character"},
      {"(d == 64", "')' is missing"},
      {"d", "is not a comparison"},
      {"d + 1", "is not a comparison"},
      {"d and bc == 3", "only with comparisons"},
      {"(d == 64) > 3", "A comparison cannot be used as a number"},
      {"kernel > naive", "'kernel' is a string"},
      {"kernel == 3", "'kernel' is a string"},
      {"kernel + 1 == 3", "'kernel' is a string"},
      {"kernel == cpu_flsh", "Unknown kernel 'cpu_flsh'"},
      {"dtype == f17", "Unknown dtype 'f17'; use a value such as f32, f16, bf16"},
      {"device == \"a CPU", "has no closing"},
      {"d == 6e", "Missing 'and' or 'or' before"},
      {"d == $", "Expected a name, a number or '(' at character"},
  };
  for (const auto& [filter, words] : wrong) {
    const auto read = check_row_filter(filter);
    ASSERT_FALSE(read) << filter;
    EXPECT_NE(read.error().message.find(words), std::string::npos) << filter << ": " << read.error().message;
    // The same for each row: what is typed is right or wrong before anything is measured.
    const auto of_row = fits_filter(filter, a_row());
    ASSERT_FALSE(of_row);
    EXPECT_EQ(of_row.error().message, read.error().message);
  }
  EXPECT_FALSE(check_row_filter(std::string(400, '(') + "d == 64"));
  EXPECT_FALSE(check_row_filter("d == " + std::string(kMaxRowFilter, '6')));
}

class FilteredBench : public ::testing::Test {
 protected:
  State state = sweep_state();
  Model model = [this] {
    std::vector<Measurement> rows;
    for (const std::int64_t l : {512, 1024, 2048})
      for (const char* kernel : {"cpu_multicore", "cpu_flash"})
        rows.push_back(timed_row(state.document.sweep, kernel, l, static_cast<double>(l)));
    return bench_test::model_of(std::move(rows));
  }();
};

TEST_F(FilteredBench, ChartsAndTableHaveTheRowsThatFitAndTheNoteSaysHowMany) {
  state.view.bench.filter = "kernel == cpu_flash and L >= 1024";
  const BenchScene scene = bench_scene(state, model, {{}, true, {}}, "");
  EXPECT_EQ(scene.kernels, std::vector<std::string>{"cpu_flash"});
  EXPECT_EQ(scene.slice.values, (std::vector<std::int64_t>{1024, 2048}));
  EXPECT_EQ(scene.table.rows.size(), 2U);
  EXPECT_TRUE(scene.table.note.starts_with("The filter keeps 2 of 6 rows.")) << scene.table.note;
  // Speed-ups are over the baseline's row all the same.
  bool has_speedup = false;
  for (const BenchLine& line : bench_test::chart_of(scene, "speedup_ratio").lines)
    has_speedup = has_speedup || !line.points.empty();
  EXPECT_TRUE(has_speedup);
}

TEST_F(FilteredBench, WhereNothingFitsItIsSaid) {
  state.view.bench.filter = "d == 128";
  const BenchScene scene = bench_scene(state, model, {}, "");
  EXPECT_TRUE(scene.table.rows.empty());
  EXPECT_EQ(scene.verdict.headline, "No row matches d == 128.");
  EXPECT_TRUE(scene.table.note.starts_with("The filter keeps 0 of 6 rows.")) << scene.table.note;
  for (const BenchChart& chart : scene.charts) EXPECT_EQ(chart.empty, "No row matches the filter.");
}

}  // namespace
}  // namespace attn
