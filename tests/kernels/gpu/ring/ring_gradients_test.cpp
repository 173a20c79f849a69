// A turn's text is that of the rung with its sums left in fp32, and costs the rung's kernels nothing that ptxas counts.
#include "kernels/gpu/ring/ring_gradients.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "kernels/gpu/compile/sources.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/gpu/rungs/specialise.h"
#include "kernels/ladder.h"
#include "tests/kernels/gpu/rungs/compile_fixture.h"

namespace attn::gpu {
namespace {

const KernelRow& rung() {
  return **find_kernel("flash_bwd_hopper");
}

TEST(RingGradients, AreLeftByTheOneRungThatHasTheirLines) {
  for (const KernelRow* row : ladder()) EXPECT_EQ(has_ring_gradients(*row), row == &rung()) << row->id;
  const auto source = kernel_source(rung().id, {});
  ASSERT_TRUE(source) << source.error().message;
  const auto text = text_of_turns(source->text);
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_NE(source->text.find("store(static_cast<Element*>(g.d_k)"), std::string::npos);
  EXPECT_EQ(text->find("store(static_cast<Element*>(g.d_k)"), std::string::npos);
  EXPECT_EQ(text->find("store(static_cast<Element*>(g.d_v)"), std::string::npos);

  const auto other = kernel_source("flash_bwd", {});
  ASSERT_TRUE(other) << other.error().message;
  const auto refused = text_of_turns(other->text);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("exactly once"), std::string::npos) << refused.error().message;
  EXPECT_FALSE(text_of_turns(source->text + source->text));
}

class RingGradientsCompile : public test::CompileTest {};

TEST_F(RingGradientsCompile, TheRungsKernelsTakeNoMoreRegistersAndSpillNothing) {
  for (const std::int64_t D : {64, 128}) {
    Problem p;
    p.pass = Pass::backward;
    p.Hq = p.Hkv = 16, p.Lq = p.Lk = 1024, p.D = p.Dv = D;
    p.dtype = D == 64 ? DType::bf16 : DType::f16;
    const auto plan = rung().plan(rung(), p, {}, *device_for("sm_90a"));
    ASSERT_TRUE(plan) << plan.error().message;
    auto source = kernel_source(rung().id, {});
    ASSERT_TRUE(source) << source.error().message;
    const auto plain = service_->compile({*source, "sm_90a", defines_of(*plan, true)});
    ASSERT_TRUE(plain) << plain.error().message;
    source->text = *text_of_turns(source->text);
    const auto turn = service_->compile({*source, "sm_90a", defines_of(*plan, true)});
    ASSERT_TRUE(turn) << turn.error().message;
    const auto entry = [](const Compiled& c, std::string_view name) {
      const auto at = std::ranges::find(c.entries, name, &EntryFigures::name);
      EXPECT_NE(at, c.entries.end()) << name;
      return at == c.entries.end() ? EntryFigures{} : *at;
    };
    for (const char* name : {"flash_bwd_hopper_rows", "flash_bwd_hopper_keys"})
      EXPECT_EQ(entry(*turn, name).registers, entry(*plain, name).registers) << name;
    for (const char* name :
         {"flash_bwd_hopper_keys", "attnscope_ring_dq", "attnscope_ring_add", "attnscope_ring_round"}) {
      const EntryFigures e = entry(*turn, name);
      EXPECT_GT(e.registers, 0) << name;
      EXPECT_EQ(e.spill_store_bytes + e.spill_load_bytes, 0) << name;
    }
    EXPECT_TRUE(turn->losses.empty()) << turn->losses.front();
  }
}

}  // namespace
}  // namespace attn::gpu
