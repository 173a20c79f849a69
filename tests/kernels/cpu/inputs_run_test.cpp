// The numbers of a problem, some of them at a time: those of one go, a backward's O and LSE too.
#include <utility>

#include <gtest/gtest.h>

#include "kernels/cpu/backward/forward.h"
#include "kernels/model/inputs/input_spec.h"
#include "kernels/model/inputs/inputs.h"

namespace attn {
namespace {

Problem shape(std::int64_t lq, std::int64_t lk, std::int64_t d, std::int64_t dv, DType t = DType::f32) {
  Problem p;
  p.Lq = lq;
  p.Lk = lk;
  p.D = d;
  p.Dv = dv;
  p.dtype = t;
  return p;
}

InputSpec numbers(Generator generator = Generator::normal) {
  InputSpec spec;
  spec.generator = generator;
  spec.seed = 11;
  return spec;
}

// Asked to, it pauses; how many slices it takes.
int in_slices(AllInputsRun& run) {
  for (int slices = 1;; ++slices) {
    const auto there = run.go_on([] { return true; });
    EXPECT_TRUE(there) << (there ? "" : there.error().message);
    if (!there || *there) return slices;
  }
}

TEST(AllInputsRun, InSlicesItHasTheNumbersOfOneGo) {
  Problem plain = shape(40, 700, 64, 48, DType::f16), backward = shape(90, 200, 16, 16), paged = shape(6, 20, 4, 4);
  plain.B = 2;
  plain.bias_shape = {1, 1, 40, 700};
  backward.pass = Pass::backward;
  Problem causal = backward;
  causal.mask.causal = true;
  causal.dtype = DType::bf16;
  paged.storage.page = 8;
  paged.storage.pages = 4;
  for (const Problem& p : {plain, backward, causal, paged, shape(4, 4, 2, 2)}) {
    for (const Generator g : {Generator::normal, Generator::late_outlier, Generator::words, Generator::blackboard}) {
      InputSpec spec = numbers(g);
      spec.edits = {{InputTensor::k, 5, 2.5F}};
      const auto at_once = make_all_inputs(p, spec, in_turn, 0, Stream{});
      ASSERT_TRUE(at_once) << at_once.error().message;
      AllInputsRun run(p, spec);
      const int slices = in_slices(run);
      const Inputs made = run.take();
      EXPECT_EQ(made.q, at_once->q);
      EXPECT_EQ(made.k, at_once->k);
      EXPECT_EQ(made.v, at_once->v);
      EXPECT_EQ(made.bias, at_once->bias);
      EXPECT_EQ(made.d_o, at_once->d_o);
      EXPECT_EQ(made.o, at_once->o);
      EXPECT_EQ(made.lse, at_once->lse);
      EXPECT_EQ(made.page_table, at_once->page_table);
      EXPECT_GT(slices, p.Lk > 100 ? 2 : 0);
    }
  }
}

// Also where one query tile has a lot to do.
TEST(AllInputsRun, TheForwardOfABackwardIsMadeInManySlices) {
  Problem p = shape(64, 2048, 64, 64);
  AllInputsRun without(p, numbers());
  const int inputs = in_slices(without);
  p.pass = Pass::backward;
  AllInputsRun with(p, numbers());
  // Of a tile S and what it gives O are a step each.
  EXPECT_GT(in_slices(with), inputs + 2 * 2048 / 64);
}

TEST(AllInputsRun, RefusesWhatOneGoRefuses) {
  Problem wrong = shape(4, 4, 2, 2);
  wrong.D = 0;
  EXPECT_FALSE(AllInputsRun(wrong, numbers()).go_on({}));
  InputSpec far = numbers();
  far.edits = {{InputTensor::q, 99999, 1}};
  EXPECT_FALSE(AllInputsRun(shape(4, 4, 2, 2), far).go_on({}));
}

}  // namespace
}  // namespace attn
