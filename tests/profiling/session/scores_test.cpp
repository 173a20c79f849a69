// Softcap and ALiBi in sessions and CSV: what has neither is written as ever, what has one comes back, and a reader of
// version 1 refuses it.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "profiling/figures/metrics.h"
#include "profiling/session/session.h"
#include "tests/kernels/temp_folder.h"
#include "tests/profiling/strict_csv.h"

namespace attn {
namespace {

Measurement row(bool softcap, bool alibi) {
  Measurement m;
  m.key.kernel = "cpu_flash";
  m.key.problem.Hq = m.key.problem.Hkv = 2;
  if (softcap) m.key.problem.softcap = 12.5;
  if (alibi) m.key.problem.alibi.emplace();
  fill_figures(m);
  return m;
}

Session session_with(std::vector<Measurement> rows) {
  Provenance p;
  p.device = "Some CPU";
  p.date = "2026-01-02T03:04:05Z";
  return session_of(std::move(p), std::move(rows));
}

TEST(SessionScores, ComeBackOutOfAFile) {
  const TempFolder folder;
  const Session s = session_with({row(true, false), row(false, true), row(true, true), row(false, false)});
  ASSERT_TRUE(write_session(folder / "s.attn", s));
  const auto back = read_session(folder / "s.attn");
  ASSERT_TRUE(back) << back.error().message;
  ASSERT_EQ(back->runs.size(), 1U);
  for (std::size_t n = 0; n < 4; ++n) EXPECT_EQ(back->runs[0].rows[n].key.problem, s.runs[0].rows[n].key.problem) << n;
}

// Readers of version 1 pass over keys that they do not know: they must not take such a row for one without.
TEST(SessionScores, MakeAFileOfVersion2) {
  const auto version = [](const Session& s) { return nlohmann::json::parse(to_json(s)).at("version").get<int>(); };
  EXPECT_EQ(version(session_with({row(false, false)})), 1);
  EXPECT_EQ(version(session_with({row(false, false), row(true, false)})), 2);
  EXPECT_EQ(version(session_with({row(false, true)})), 2);
}

TEST(SessionScores, HaveColumnsOfTheCsvOnlyWhereARowHasThem) {
  const std::string plain = to_csv(session_with({row(false, false)}));
  EXPECT_EQ(plain.find("softcap"), std::string::npos);
  EXPECT_EQ(plain.find("alibi"), std::string::npos);
  const test::StrictCsv csv(to_csv(session_with({row(false, false), row(true, false), row(false, true)})));
  ASSERT_EQ(csv.rows.size(), 3U);
  EXPECT_EQ(csv.rows[0].at("softcap"), "");
  EXPECT_EQ(csv.rows[0].at("alibi"), "");
  EXPECT_EQ(csv.rows[1].at("softcap"), "12.5");
  EXPECT_EQ(csv.rows[2].at("alibi"), "0.0625 0.00390625");
}

}  // namespace
}  // namespace attn
