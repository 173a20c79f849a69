// An answer without LSE, as attention of others gives it: the same rule for O, and nothing is said of what was not
// given.
#include <gtest/gtest.h>

#include "kernels/judge/verdict.h"
#include "kernels/model/inputs/inputs.h"

namespace attn {
namespace {

struct Judged {
  Problem p;
  Inputs in;
  RowSample sample;
  ReferenceRows ref;
  Array right;

  Judged() {
    p.Lq = p.Lk = 6;
    p.D = p.Dv = 8;
    in = *make_inputs(p, {});
    sample = choose_rows(p, true);
    ref = *reference_rows(p, in, sample.rows, 1, {});
    right = Array(DType::f32, {1, 1, 6, 8});
    for (std::int64_t i = 0; i < right.size(); ++i)
      right.set(i, static_cast<float>(ref.out[static_cast<std::size_t>(i)]));
  }
};

TEST(VerdictWithoutLse, ARightOPasses) {
  const Judged j;
  const Verdict v = judge_without_lse(j.p, j.in, j.ref, {j.right, {}}, j.sample);
  EXPECT_TRUE(v.pass) << v.reason;
  EXPECT_TRUE(v.no_lse());
  EXPECT_EQ(v.lse_allowed(), 0);
  EXPECT_EQ(v.judged(), 48);  // the elements of O, no LSE among them
}

TEST(VerdictWithoutLse, AWrongOFailsByTheSameRule) {
  const Judged j;
  Array wrong = j.right;
  wrong.set(17, wrong.get(17) + 1);
  const Verdict v = judge_without_lse(j.p, j.in, j.ref, {wrong, {}}, j.sample);
  EXPECT_FALSE(v.pass);
  const Outputs with_lse{wrong, Array(DType::f32, {1, 1, 6})};
  EXPECT_EQ(v.reason, judge(j.p, j.in, j.ref, with_lse, j.sample).reason);
}

TEST(VerdictWithoutLse, AnotherShapeIsRefused) {
  const Judged j;
  const Verdict v = judge_without_lse(j.p, j.in, j.ref, {Array(DType::f32, {1, 1, 6, 7}), {}}, j.sample);
  EXPECT_FALSE(v.pass);
  EXPECT_NE(v.reason.find("[1, 1, 6, 7]"), std::string::npos) << v.reason;
}

}  // namespace
}  // namespace attn
