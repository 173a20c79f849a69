// What the summary of a report says of runs, devices and growth.
#include "app/window/report.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/viz/bench/rows.h"

namespace attn {
namespace {

using bench_test::timed_row;

std::string id_of(std::size_t n) {
  return fmt::format("{:016x}", n + 1);
}

// `count` runs of a sweep over L, B·L = 4096, each on the GPU of `uuid_of`; their time is that of the work.
PictureSpec picture_of(std::size_t count, std::int64_t tokens, const std::vector<std::string>& uuids) {
  PictureSpec picture;
  picture.state = bench_test::sweep_state();
  picture.state.document.runs.shown.clear();
  SweepSpec& sweep = picture.state.document.sweep;
  sweep.tokens = tokens;
  for (std::size_t n = 0; n < count; ++n) {
    std::vector<Measurement> rows;
    for (const std::int64_t value : sweep.values) {
      Measurement m =
          timed_row(sweep, "cpu_flash", value, static_cast<double>(value * value) / (tokens > 0 ? value : 1));
      m.key.device = "NVIDIA H100";
      m.key.device_uuid = uuids[n % uuids.size()];
      rows.push_back(std::move(m));
    }
    ListedRun run = bench_test::listed_run(id_of(n), std::move(rows));
    run.run.name = fmt::format("night {}", n);
    run.run.provenance.device = "NVIDIA H100";
    picture.runs.push_back(std::move(run));
    show_run(picture.state.document.runs, id_of(n));
  }
  return picture;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// L^1 where B follows L is the attention that L^2 is where it does not: the work says which.
TEST(ReportText, GrowthStandsBesideThatOfTheWork) {
  const std::string fixed = report_text(picture_of(1, 0, {"GPU-1"}), {}, "");
  EXPECT_TRUE(has(fixed, "as L^2.00. FLOPs grow as L^2.00.\n")) << fixed;
  const std::string follows = report_text(picture_of(1, 4096, {"GPU-1"}), {}, "");
  EXPECT_TRUE(has(follows, "as L^1.00. FLOPs grow as L^1.00, since B·L = 4096.\n")) << follows;
}

TEST(ReportText, TwoGpusOfOneNameAreTwo) {
  EXPECT_TRUE(has(report_text(picture_of(2, 0, {"GPU-1", "GPU-1"}), {}, ""), "Measured on NVIDIA H100, "));
  const std::string two = report_text(picture_of(2, 0, {"GPU-1", "GPU-2"}), {}, "");
  EXPECT_TRUE(has(two, "Measured on NVIDIA H100 (GPU-1) and NVIDIA H100 (GPU-2), ")) << two;
}

// A sentence says whose it is, and nothing of a window that is not there.
TEST(ReportText, SentencesNameTheirRunAndTheirKernelAsThePlotsDo) {
  PictureSpec picture = picture_of(2, 0, {"GPU-1"});
  picture.state.document.sweep.base.D = picture.state.document.sweep.base.Dv = 32;  // of another sweep
  for (Measurement& m : picture.runs[0].run.rows) m.key.kernel = "torch-flash", m.peer.emplace().title = "cuDNN's";
  const std::string text = report_text(picture, {}, "");
  EXPECT_TRUE(has(text, "**Run B: At L = 512, cpu_flash takes")) << text;
  EXPECT_TRUE(has(text, "- cuDNN's A: time grows")) << text;
  EXPECT_TRUE(has(text, "- cpu_flash B: time grows")) << text;
  EXPECT_FALSE(has(text, "planned")) << text;
  EXPECT_FALSE(has(text, "Tick")) << text;
}

// Every run is told of, whatever their number: by its letter, or as one that stands in the rows alone.
TEST(ReportText, EveryLetterAndEveryRunIsAccountedFor) {
  for (const std::size_t count : {1U, 2U, 8U, 9U, 22U}) {
    const std::string text = report_text(picture_of(count, 0, {"GPU-1"}), {}, "");
    const std::size_t lettered = std::min<std::size_t>(count, kMaxShownRuns);
    for (std::size_t n = 0; n < lettered && count > 1; ++n)
      EXPECT_TRUE(has(text, fmt::format("\n- {}: night {}", static_cast<char>('A' + n), count - lettered + n))) << text;
    EXPECT_EQ(has(text, fmt::format("{} of {} runs are only in rows.csv", count - lettered, count)), count > lettered)
        << text;
  }
}

}  // namespace
}  // namespace attn
