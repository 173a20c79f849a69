// The recorder of flash_hopper's pipeline costs its code nothing that ptxas counts: with stamps no tile spills, loses
// its overlap, or takes more registers than without.

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/gpu/rungs/hopper/hopper_tile.h"
#include "kernels/gpu/rungs/inspect.h"
#include "kernels/gpu/rungs/own_kernel.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/gpu/rungs/specialise.h"
#include "kernels/gpu/rungs/stamps/stamps.h"
#include "kernels/ladder.h"
#include "tests/environment/paths.h"
#include "tests/kernels/gpu/rungs/compile_fixture.h"

namespace attn::gpu {
namespace {

Problem problem(std::int64_t D, bool causal, std::int64_t L) {
  Problem p;
  p.B = 1;
  p.Hq = p.Hkv = 16;
  p.Lq = p.Lk = L;
  p.D = p.Dv = D;
  p.dtype = DType::f16;
  p.mask.causal = causal;
  return p;
}

class StampsCompile : public test::CompileTest {
 protected:
  void expect_free(const Problem& p, const Options& o = {}) {
    const KernelRow& row = **find_kernel("flash_hopper");
    const auto plan = row.plan(row, p, o, *device_for("sm_90a"));
    ASSERT_TRUE(plan) << plan.error().message;
    const auto source = source_of(row, p, {});
    ASSERT_TRUE(source) << source.error().message;
    std::vector<std::string> defines = defines_of(*plan, true);
    const auto plain = service_->compile({*source, "sm_90a", defines});
    add_stamped_defines(*plan, defines);
    const auto stamped = service_->compile({with_hooks(*source, row.id), "sm_90a", defines});
    ASSERT_TRUE(plain) << plain.error().message;
    ASSERT_TRUE(stamped) << stamped.error().message;
    SCOPED_TRACE(describe(p) + ": " + row.reason(p, plan->options, *device_for("sm_90a")));
    EXPECT_TRUE(stamped->losses.empty()) << stamped->losses.front();
    EXPECT_TRUE(stamped->warnings.empty()) << stamped->warnings.front();
    ASSERT_EQ(stamped->entries.size(), plain->entries.size());
    for (std::size_t n = 0; n < plain->entries.size(); ++n) {
      EXPECT_EQ(stamped->entries[n].registers, plain->entries[n].registers);
      EXPECT_EQ(stamped->entries[n].spill_store_bytes + stamped->entries[n].spill_load_bytes, 0);
    }
    EXPECT_GT(stamped->code.size(), plain->code.size());  // it does record
  }
};

TEST_F(StampsCompile, ARecordedPipelineTakesNoMoreRegistersAndLosesNothing) {
  const bool all = asked_for_all();
  for (const std::int64_t D : {64, 128, 256}) {
    expect_free(problem(D, true, 1024));
    if (!all) continue;
    expect_free(problem(D, false, 4096));
    for (const bool causal : {false, true}) expect_free(problem(D, causal, 16384));
  }
  if (!all) return;
  for (std::int32_t step = 1; step <= kLastStep; ++step) {
    Options o;
    choose(o, kHopperStep, step);
    expect_free(problem(step % 2 == 0 ? 64 : 128, true, 4096), o);
  }
}

// The macros for a kernel of the user's own: nothing where it is measured, marks of the clock where it is recorded.
TEST_F(StampsCompile, AnOwnKernelsMacrosAreNothingUntilItIsRecorded) {
  const auto kernel = read_own_kernel(std::filesystem::path(test::source_folder()) / "tests/gpu/own_timeline.cu");
  ASSERT_TRUE(kernel) << kernel.error().message;
  std::string bare = (*kernel)->cu.text;
  for (const std::string_view macro : {"ATTN_LANE(", "ATTN_STATE(", "ATTN_LANE_DONE("})
    for (std::size_t at = bare.find(macro); at != std::string::npos; at = bare.find(macro))
      bare.erase(at, bare.find(';', at) + 1 - at);
  const auto without = own_kernel_from("own_timeline.cu", std::string_view(bare));
  ASSERT_TRUE(without) << without.error().message;
  for (const char* arch : {"sm_80", "sm_90a"}) {
    const auto plan = (*kernel)->plan(**kernel, problem(64, true, 512), {}, *device_for(arch));
    ASSERT_TRUE(plan) << plan.error().message;
    std::vector<std::string> defines = defines_of(*plan, true);
    const auto plain = service_->compile({(*kernel)->cu, arch, defines});
    const auto erased = service_->compile({(*without)->cu, arch, defines});
    add_stamped_defines(*plan, defines);
    const auto stamped = service_->compile({with_hooks((*kernel)->cu, (*kernel)->id), arch, defines});
    ASSERT_TRUE(plain && erased && stamped) << (stamped ? "" : stamped.error().message);
    EXPECT_EQ(plain->entries.front().registers, erased->entries.front().registers);
    EXPECT_EQ(stamped->entries.front().spill_store_bytes, 0);
    EXPECT_GT(stamped->code.size(), plain->code.size());
    const auto has = [](const std::vector<std::byte>& code, std::string_view name) {
      const std::string_view text(reinterpret_cast<const char*>(code.data()), code.size());
      return text.find(name) != std::string_view::npos;
    };
    EXPECT_TRUE(has(stamped->code, "attn_stamps"));
    EXPECT_FALSE(has(plain->code, "attn_stamps"));
  }
}

}  // namespace
}  // namespace attn::gpu
