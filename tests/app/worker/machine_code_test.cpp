// Machine code by NVRTC and nvdisasm themselves: of two builds it differs, of one it does not; rows of a sweep keep it.
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "app/worker/bench.h"
#include "app/worker/disassemble.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/ladder.h"
#include "tests/app/worker/double.h"
#include "tests/kernels/temp_folder.h"

namespace attn {
namespace {

bool can_list() {
  return gpu::open_nvrtc().has_value() && find_nvdisasm().has_value();
}

Result<gpu::MachineCode> code_of(std::int64_t head_dim) {
  const KernelRow& row = **find_kernel("naive");
  gpu::ListingSubject subject{"naive", {}, {}, "sm_90a"};
  subject.problem.D = subject.problem.Dv = head_dim;
  return machine_code_here(row, subject, {});
}

TEST(MachineCodeHere, OneBuildIsEqualAndAnotherIsNot) {
  if (!can_list()) GTEST_SKIP() << "no NVRTC or no nvdisasm";
  const auto first = code_of(16), again = code_of(16), other = code_of(24);
  ASSERT_TRUE(first) << first.error().message;
  ASSERT_TRUE(again && other);
  EXPECT_GT(first->instructions(), 200U);
  EXPECT_TRUE(gpu::diff_of(*first, *again).same());
  const gpu::CodeDiff diff = gpu::diff_of(*first, *other);
  EXPECT_FALSE(diff.same());
  EXPECT_EQ(diff.removed.total() + diff.common, first->instructions());
  EXPECT_EQ(diff.added.total() + diff.common, other->instructions());
}

TEST(MachineCodeHere, RowsOfASweepKeepItOncePerCubin) {
  if (!can_list()) GTEST_SKIP() << "no NVRTC or no nvdisasm";
  const TempFolder cache;
  GpuBench bench([] { return Result<Child>(fail(ErrorKind::cannot_run, "no worker in this test")); },
                 [] { return gpu::open_nvrtc(); }, cache / "cubins");
  SweepSpec s;
  s.kernels = {"naive"};
  s.values = {128, 256};
  s.base.D = s.base.Dv = 16;
  s.arch = "sm_90a";
  s.verify = false;
  SweepCallbacks callbacks;
  callbacks.gpu = bench.runner(s, {});
  const auto rows = run_sweep(s, callbacks, {});
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 2U);
  ASSERT_NE((*rows)[0].code, nullptr) << (*rows)[0].reason;
  EXPECT_EQ((*rows)[0].code, (*rows)[1].code) << "one cubin, whatever L";
  EXPECT_EQ((*rows)[0].code->functions.size(), 3U) << "scores, softmax, output";
}

}  // namespace
}  // namespace attn
