// Why a peak could not be had goes with its row.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "kernels/formats/container.h"
#include "profiling/measure/cpu/on_cpu.h"
#include "profiling/session/session.h"
#include "tests/kernels/temp_folder.h"
#include "tests/profiling/fake_kernels.h"

namespace attn {
namespace {

using nlohmann::json;

class PeaksInASession : public testing::Test {
 protected:
  PeaksInASession() {
    Point p;
    p.kernel = test::real_row().id;
    p.problem = test::small_problem();
    p.seconds_per_point = 0.01;
    session = session_of(provenance_here(), {measure_on_cpu(test::real_row(), p, {100, 10, 1}, {})});
  }
  Peaks& peaks() { return session.runs[0].rows[0].peaks; }
  Result<Session> read(const json& j) const {
    Container c;
    c.session_json = session_text(j);
    const auto bytes = container_bytes(c);
    const auto file = folder_.path() / "s.attn";
    EXPECT_TRUE(bytes && write_file_atomically(file, *bytes));
    return read_session(file);
  }
  Session session;

 private:
  TempFolder folder_;
};

TEST_F(PeaksInASession, WhyOneCouldNotBeHadIsKept) {
  EXPECT_FALSE(json::parse(to_json(session))["measurements"][0]["yardsticks"].contains("why_not"));
  peaks().why_not = {{kCopyPeak, "2 GB asked"}, {kTensorPeak, "this GPU is sm_75"}};
  json j = json::parse(to_json(session));
  const auto back = read(j);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->runs.at(0).rows[0].peaks.why_not, peaks().why_not);
  for (const json& wrong : {json(7), json{{"copy_gb_per_s", 7}}}) {
    j["measurements"][0]["yardsticks"]["why_not"] = wrong;
    EXPECT_FALSE(read(j)) << wrong.dump();
  }
}

}  // namespace
}  // namespace attn
