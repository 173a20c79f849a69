#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <random>
#include <set>

#include "kernels/ladder.h"
#include "kernels/model/kernel.h"
#include "profiling/figures/metrics.h"
#include "profiling/figures/statistics.h"
#include "profiling/session/session.h"
#include "tests/profiling/strict_csv.h"

namespace attn {
namespace {

using test::StrictCsv;

Measurement timed() {
  Measurement m;
  m.key.kernel = "cpu_flash";
  m.key.device = "Some CPU, 2.0 GHz";
  m.key.options.br = 32;
  m.key.options.bc = 48;
  m.key.options.threads = 2;
  m.key.problem.Hq = 4;
  m.key.problem.Lq = 113;
  m.key.problem.Lk = 203;
  m.key.problem.D = m.key.problem.Dv = 64;
  m.key.problem.mask.causal = true;
  m.clock = "steady_clock";
  m.samples_us = {1.0 / 3, 0.1, 0.7, 0.2, 0.3, 0.4};
  m.time = statistics_of(m.samples_us);
  fill_figures(m);
  return m;
}

Session session_of(std::vector<Measurement> rows) {
  Provenance p;
  p.device = "Some CPU, 2.0 GHz";
  p.program_version = "0.1.0";
  p.commit = "abc";
  p.date = "2026-01-02T03:04:05Z";
  return session_of(std::move(p), std::move(rows));
}

TEST(Csv, HasOneHeaderAndOneRowAMeasurement) {
  const StrictCsv csv(to_csv(session_of({timed(), timed(), timed()})));
  EXPECT_EQ(csv.rows.size(), 3U);
  EXPECT_EQ(std::set<std::string>(csv.header.begin(), csv.header.end()).size(), csv.header.size());
}

// Rows do not spell out a default; whoever groups a table by ranks wants to read 1.
TEST(Csv, AnOptionOfSingleKernelsThatNobodyChoseIsTheKernelsDefault) {
  std::size_t checked = 0;
  for (const KernelRow* row : ladder()) {
    Measurement m = timed();
    m.key.kernel = row->id;
    m.key.options = Options();
    const StrictCsv csv(to_csv(session_of({m})));
    for (const OptionSpec& spec : row->options) {
      if (spec.option->get != nullptr) continue;
      const bool hangs_on_device = spec.default_value < spec.min;
      EXPECT_EQ(csv.rows.at(0).at(std::string(spec.option->name)),
                hangs_on_device ? "" : value_text(*spec.option, spec.default_value))
          << row->id;
      ++checked;
    }
  }
  EXPECT_GT(checked, 3U);
}

TEST(Csv, AnEmptySessionIsTheHeaderAlone) {
  const StrictCsv csv(to_csv(session_of({})));
  EXPECT_TRUE(csv.rows.empty());
  EXPECT_FALSE(csv.header.empty());
}

// A device's name and a reason come from outside; what begins with = + - or @ would be computed.
TEST(Csv, NoCellOfWordsIsAFormula) {
  Measurement m = timed();
  m.state = RowState::failed;
  m.reason = "=HYPERLINK(\"http://a\",\"b\")";
  m.key.device = "@device";
  m.key.problem.scale = -0.5;
  const StrictCsv csv(to_csv(session_of({m})));
  const auto cell = [&](const char* name) { return csv.rows[0].at(name); };
  EXPECT_EQ(cell("reason"), "'=HYPERLINK(\"http://a\",\"b\")");
  EXPECT_EQ(cell("device"), "'@device");
  EXPECT_EQ(cell("scale"), "-0.5");  // a number stays a number
  EXPECT_EQ(cell("window_left"), "-1");
}

TEST(Csv, SaysThatAnAnswerWasNotJudged) {
  Measurement m = timed();
  m.verdict = Verdict{};
  m.verdict->not_judged = true;
  m.verdict->at(Tensor::o).unjudged.overflow = 7;
  m.verdict->reason = "not judged: " + unjudged_words(*m.verdict);
  fill_figures(m);
  const StrictCsv csv(to_csv(session_of({m})));
  const auto cell = [&](const char* name) { return csv.rows[0].at(name); };
  EXPECT_EQ(cell("verdict"), "not judged");
  EXPECT_EQ(cell("verdict_reason"), "not judged: 7 elements of O, which are outside the range of the dtype");
  EXPECT_EQ(cell("error_abs"), "");
}

TEST(Csv, HasEachMetricBesideItsSource) {
  const StrictCsv csv(to_csv(session_of({timed()})));
  for (const MetricRow& metric : metric_table()) {
    const auto column = std::find(csv.header.begin(), csv.header.end(), metric.id);
    ASSERT_NE(column, csv.header.end()) << metric.id;
    ASSERT_NE(column + 1, csv.header.end());
    EXPECT_EQ(*(column + 1), std::string(metric.id) + "_source");
  }
}

TEST(Csv, NamesProblemOptionsAndProvenance) {
  const StrictCsv csv(to_csv(session_of({timed()})));
  const auto& row = csv.rows.at(0);
  const std::map<std::string, std::string> expected{
      {"kernel", "cpu_flash"},
      {"rung", "2"},
      {"order", "flash"},
      {"dtype", "f32"},
      {"B", "1"},
      {"Hq", "4"},
      {"Hkv", "1"},
      {"Lq", "113"},
      {"Lk", "203"},
      {"D", "64"},
      {"Dv", "64"},
      {"causal", "true"},
      {"window_left", "-1"},
      {"window_right", "-1"},
      {"scale", "0.125"},
      {"br", "32"},
      {"bc", "48"},
      {"threads", "2"},
      {"stages", ""},
      {"subtract_max", "true"},
      {"key_order", "left_to_right"},
      {"accumulate", "f32"},
      {"l2", "warm"},
      {"state", "done"},
      {"reason", ""},
      {"verdict", "unverified"},
      {"place", "live"},
      {"device", "Some CPU, 2.0 GHz"},
      {"driver", ""},
      {"cuda", ""},
      {"program_version", "0.1.0"},
      {"commit", "cabc"},
      {"date", "2026-01-02T03:04:05Z"},
  };
  for (const auto& [name, value] : expected) {
    ASSERT_TRUE(row.contains(name)) << name;
    EXPECT_EQ(row.at(name), value) << name;
  }
}

// The id is the ladder's for both.
TEST(Csv, AnEditedCopyIsToldByItsHash) {
  Measurement shipped = timed(), edited = timed();
  shipped.key.source_hash = "00112233445566778899aabbccddeeff";
  edited.key.source_hash = "ffeeddccbbaa99887766554433221100";
  const StrictCsv csv(to_csv(session_of({shipped, edited})));
  EXPECT_EQ(csv.rows.at(0).at("kernel"), csv.rows.at(1).at("kernel"));
  EXPECT_EQ(csv.rows.at(0).at("source_hash"), "h" + shipped.key.source_hash);
  EXPECT_EQ(csv.rows.at(1).at("source_hash"), "h" + edited.key.source_hash);
}

TEST(Csv, NumbersReadBackTheSame) {
  const Measurement m = timed();
  const StrictCsv csv(to_csv(session_of({m})));
  for (const MetricRow& metric : metric_table()) {
    const std::string& text = csv.rows.at(0).at(std::string(metric.id));
    const Figure& f = figure(m, metric.id);
    ASSERT_EQ(text.empty(), !f.available()) << metric.id;
    if (text.empty()) continue;
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    EXPECT_TRUE(error == std::errc() && end == text.data() + text.size()) << metric.id << " " << text;
    EXPECT_EQ(value, f.value) << metric.id;
  }
}

TEST(Csv, WhatIsNotAvailableIsAnEmptyCellWithItsReason) {
  const StrictCsv csv(to_csv(session_of({timed()})));
  EXPECT_EQ(csv.rows.at(0).at("occupancy_achieved_pct"), "");
  EXPECT_TRUE(csv.rows.at(0).at("occupancy_achieved_pct_source").starts_with("not available: "));
  EXPECT_EQ(csv.rows.at(0).at("time_us_median_source"), "measured");
  EXPECT_EQ(csv.rows.at(0).at("tflops_source"), "derived");
}

TEST(Csv, QuotesCommasQuotesAndLineEnds) {
  Measurement m;
  m.state = RowState::failed;
  m.reason = "it said \"no\",\nand then\tnothing";
  fill_figures(m);
  const StrictCsv csv(to_csv(session_of({m})));
  ASSERT_EQ(csv.rows.size(), 1U);
  EXPECT_EQ(csv.rows[0].at("reason"), m.reason);
  EXPECT_EQ(csv.rows[0].at("state"), "failed");
  EXPECT_EQ(csv.rows[0].at("time_us_median"), "");
}

TEST(Csv, ALineEndOrAQuoteAloneIsQuotedToo) {
  for (const char* reason : {"one\ntwo", "\"one", "one,two"}) {
    Measurement m;
    m.state = RowState::failed;
    m.reason = reason;
    fill_figures(m);
    const StrictCsv csv(to_csv(session_of({m, timed()})));
    ASSERT_EQ(csv.rows.size(), 2U) << reason;
    EXPECT_EQ(csv.rows[0].at("reason"), reason);
    EXPECT_EQ(csv.rows[1].at("kernel"), "cpu_flash");
  }
}

// A carriage return would write over what stands before it where the file is shown.
TEST(Csv, WhatMovesATerminalsCursorIsReplaced) {
  Measurement m;
  m.state = RowState::failed;
  m.reason = "one\rtwo\x1b[2J";
  fill_figures(m);
  const StrictCsv csv(to_csv(session_of({m, timed()})));
  ASSERT_EQ(csv.rows.size(), 2U);
  EXPECT_EQ(csv.rows[0].at("reason"), "one\xEF\xBF\xBDtwo\xEF\xBF\xBD[2J");
}

TEST(Csv, NonFiniteErrorsStandAsWords) {
  Measurement m = timed();
  m.verdict.emplace();
  m.verdict->at(Tensor::o).error = std::numeric_limits<double>::quiet_NaN();
  m.verdict->at(Tensor::o).allowed = std::numeric_limits<double>::infinity();
  fill_figures(m);
  const StrictCsv csv(to_csv(session_of({m})));
  EXPECT_EQ(csv.rows.at(0).at("error_abs"), "nan");
  EXPECT_EQ(csv.rows.at(0).at("error_allowed_abs"), "inf");
  EXPECT_EQ(csv.rows.at(0).at("verdict"), "fail");
}

TEST(Csv, ThePageHasAColumnWhereARowHasOne) {
  Measurement paged = timed();
  paged.key.problem.storage = {16, 64};
  const StrictCsv with(to_csv(session_of({timed(), paged}))), without(to_csv(session_of({timed()})));
  EXPECT_EQ(std::ranges::count(without.header, "page"), 0);
  ASSERT_EQ(with.rows.size(), 2U);
  EXPECT_EQ(with.rows[0].at("page"), "0");
  EXPECT_EQ(with.rows[1].at("page"), "16");
}

TEST(Csv, TheTypeOfOHasAColumnWhereARowStoresSums) {
  Measurement sums = timed();
  sums.key.problem.dtype = DType::f16;
  sums.key.problem.output = OutputType::f32;
  const StrictCsv with(to_csv(session_of({timed(), sums}))), without(to_csv(session_of({timed()})));
  EXPECT_EQ(std::ranges::count(without.header, "o_dtype"), 0);
  ASSERT_EQ(with.rows.size(), 2U);
  EXPECT_EQ(with.rows[0].at("o_dtype"), name_of(timed().key.problem.dtype));
  EXPECT_EQ(with.rows[1].at("o_dtype"), "f32");
}

TEST(Csv, ThePassAndItsVerdictsHaveColumnsWhereARowHasGradients) {
  Measurement step = timed();
  step.key.problem.pass = Pass::training;
  step.verdict.emplace().pass = true;
  const auto judged = [&](Tensor t, double error, double allowed) {
    step.verdict->at(t).error = error;
    step.verdict->at(t).allowed = allowed;
  };
  judged(Tensor::o, 0.25, 0.5);
  judged(Tensor::d_k, 0.125, 2);
  const StrictCsv with(to_csv(session_of({timed(), step}))), without(to_csv(session_of({timed()})));
  EXPECT_EQ(std::ranges::count(without.header, "pass"), 0);
  ASSERT_EQ(with.rows.size(), 2U);
  EXPECT_EQ(with.rows[0].at("pass"), "forward");
  EXPECT_EQ(with.rows[1].at("pass"), "training");
  EXPECT_EQ(with.rows[1].at("o_error_abs"), "0.25");
  EXPECT_EQ(with.rows[1].at("o_allowed_abs"), "0.5");
  EXPECT_EQ(with.rows[1].at("dk_error_abs"), "0.125");
  EXPECT_EQ(with.rows[1].at("dk_allowed_abs"), "2");
  EXPECT_EQ(with.rows[1].at("dv_error_abs"), "");
}

// Whatever digits an id or a hash has, no reader of tables takes it for a number.
TEST(Csv, NoIdReadsAsANumber) {
  std::mt19937_64 random(7);
  for (int n = 0; n < 300; ++n) {
    std::string digits;
    for (int d = 0; d < 16; ++d) digits += "0123456789abcdef"[random() % (n % 3 == 0 ? 10 : 16)];
    if (n % 2 == 0) digits[random() % 14 + 1] = 'e';
    Measurement m = timed();
    m.key.source_hash = digits;
    Session session = session_of({m});
    session.runs.at(0).id = session.runs.at(0).provenance.commit = digits;
    const StrictCsv csv(to_csv(session));
    for (const char* column : {"run", "commit", "source_hash"}) {
      const std::string& cell = csv.rows.at(0).at(column);
      char* end = nullptr;
      std::strtod(cell.c_str(), &end);
      EXPECT_EQ(end, cell.c_str()) << column << " is " << cell;
      EXPECT_EQ(cell.substr(1), digits);
    }
  }
}

}  // namespace
}  // namespace attn
