// Every kernel against the judge on random small problems: any tile, mask and bias, with infinities and NaN planted in
// every tensor. The paired list has the sizes; this has the combinations.
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "kernels/cpu/run.h"
#include "kernels/judge/verdict.h"
#include "kernels/ladder.h"
#include "kernels/model/kernel.h"
#include "kernels/model/problem/validate.h"
#include "tests/environment/asked.h"

namespace attn {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr int kProblems = 600;

// The engine is exact by the standard; distributions are not, so none is used.
class Source {
 public:
  std::int64_t whole(std::int64_t min, std::int64_t max) {
    return min + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(max - min + 1));
  }
  bool one_in(int n) { return whole(1, n) == 1; }
  // About normal: the sum of four uniform numbers, of deviation 1.
  float number() {
    double sum = 0;
    for (int n = 0; n < 4; ++n) sum += static_cast<double>(engine_() >> 11) * 0x1p-53 - 0.5;
    return static_cast<float>(sum * std::sqrt(3.0));
  }
  void fill(Array& a) {
    for (std::int64_t i = 0; i < a.size(); ++i) a.set(i, number());
  }
  void plant(Array& a) {
    constexpr float kValues[] = {kInf, -kInf, std::numeric_limits<float>::quiet_NaN()};
    for (std::int64_t n = whole(1, 3); n > 0; --n) a.set(whole(0, a.size() - 1), kValues[whole(0, 2)]);
  }

 private:
  std::mt19937_64 engine_{20};
};

Problem random_problem(Source& from) {
  Problem p;
  p.B = from.whole(1, 2);
  p.Hkv = from.whole(1, 2);
  p.Hq = p.Hkv * from.whole(1, 2);
  p.Lq = from.whole(1, 40);
  p.Lk = from.whole(1, 50);
  p.D = from.whole(1, 20);
  p.Dv = from.whole(1, 20);
  p.dtype = static_cast<DType>(from.whole(0, 2));
  p.mask.causal = from.one_in(3);
  if (from.one_in(3)) {
    p.mask.window_left = from.whole(-1, 10);
    p.mask.window_right = from.whole(-1, 10);
  }
  if (from.one_in(4)) {
    for (std::int64_t b = 0; b < p.B; ++b) p.mask.key_lengths.push_back(from.whole(0, p.Lk));
  }
  if (from.one_in(3)) {
    for (const std::int64_t extent : {p.B, p.Hq, p.Lq, p.Lk}) p.bias_shape.push_back(from.one_in(2) ? extent : 1);
  }
  if (from.one_in(5)) p.scale = static_cast<double>(from.whole(-3, 3)) * 0.4;
  if (from.one_in(3)) p.softcap = static_cast<double>(from.whole(1, 40)) * 0.25;
  if (from.one_in(3)) {
    p.alibi.emplace();
    if (from.one_in(2)) p.alibi->resize(static_cast<std::size_t>(from.one_in(2) ? p.Hq : p.B * p.Hq));
    for (float& slope : *p.alibi) slope = from.number();
  }
  return p;
}

Inputs random_inputs(const Problem& p, Source& from) {
  Inputs in{Array(p.dtype, {p.B, p.Hq, p.Lq, p.D}), Array(p.dtype, {p.B, p.Hkv, p.Lk, p.D}),
            Array(p.dtype, {p.B, p.Hkv, p.Lk, p.Dv}), std::nullopt};
  for (Array* a : {&in.q, &in.k, &in.v}) {
    from.fill(*a);
    if (from.one_in(2)) from.plant(*a);
  }
  if (!p.has_bias()) return in;
  in.bias.emplace(DType::f32, p.bias_shape);
  from.fill(*in.bias);
  for (std::int64_t i = 0; i < in.bias->size(); ++i) {
    if (from.one_in(4)) in.bias->set(i, -kInf);
  }
  if (from.one_in(2)) from.plant(*in.bias);
  return in;
}

TEST(RandomProblems, AreRightInEveryKernelWhateverIsNotFinite) {
  Source from;
  const int problems = test::asked("ATTNSCOPE_SANITIZED") ? kProblems / 5 : kProblems;
  for (int n = 0; n < problems; ++n) {
    const Problem p = random_problem(from);
    ASSERT_TRUE(validate(p)) << describe(p);
    const Inputs in = random_inputs(p, from);
    Options o;
    o.br = static_cast<std::int32_t>(from.whole(1, 17));
    o.bc = static_cast<std::int32_t>(from.whole(1, 19));
    if (from.one_in(4)) o.key_order = KeyOrder::right_to_left;
    const RowSample sample = choose_rows(p, true);
    const auto reference = reference_rows(p, in, sample.rows, 1, {});
    ASSERT_TRUE(reference);
    for (const KernelRow& row : cpu_kernel_table()) {
      if (row.processor != Processor::cpu) continue;
      const auto answer = run_on_cpu(row, p, o, in, 0, {});
      ASSERT_TRUE(answer) << row.id << ": " << answer.error().message;
      const Verdict v = judge(p, in, *reference, *answer, sample);
      EXPECT_TRUE(v.pass) << "problem " << n << ", " << row.id << ", tile " << o.br << "x" << o.bc << ", "
                          << describe(p) << ": " << v.reason;
    }
  }
}

}  // namespace
}  // namespace attn
