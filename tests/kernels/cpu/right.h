// cpu_flash on its own problems: what the tests of its options share.
#pragma once

#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "kernels/cpu/run.h"
#include "kernels/judge/verdict.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/inputs.h"

namespace attn::test {

inline const KernelRow& flash() {
  return **find_kernel("cpu_flash");
}

inline Inputs normal_inputs(const Problem& p, std::uint64_t seed) {
  InputSpec spec;
  spec.generator = Generator::normal;
  spec.seed = seed;
  return *make_inputs(p, spec);
}

// Every row is within what the rule allows. `with`: its options, in words.
inline void expect_right(const Problem& p, const Options& o, const Inputs& in, const std::string& with) {
  const RowSample sample = choose_rows(p, true);
  const auto reference = reference_rows(p, in, sample.rows, 1, {});
  ASSERT_TRUE(reference);
  const auto out = run_on_cpu(flash(), p, o, in, 0, {});
  ASSERT_TRUE(out) << out.error().message;
  const Verdict v = judge(p, in, *reference, *out, sample);
  EXPECT_TRUE(v.pass) << describe(p) << ", " << with << ": " << v.reason;
}

}  // namespace attn::test
