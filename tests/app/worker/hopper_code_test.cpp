// The machine code of flash_hopper waits for its products where its source says so, and nowhere else: where ptxas gives
// the overlap up it waits after every one.
#include <string_view>

#include <gtest/gtest.h>

#include "app/worker/disassemble.h"
#include "kernels/gpu/rungs/hopper/hopper_tile.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/ladder.h"

namespace attn {
namespace {

std::ptrdiff_t count_of(const gpu::Sass& sass, std::string_view what) {
  std::ptrdiff_t n = 0;
  for (const gpu::SassFunction& f : sass.functions)
    for (const gpu::Instruction& i : f.instructions) n += i.text.find(what) != std::string::npos;
  return n;
}

TEST(HopperCode, WaitsForProductsWhereItsSourceSaysSo) {
  auto compiler = gpu::open_nvrtc();
  if (!compiler) GTEST_SKIP() << compiler.error().message;
  gpu::CompileService service(**compiler, {});
  const KernelRow& row = **find_kernel("flash_hopper");
  const Device d = *gpu::device_for("sm_90a");
  struct Case {
    std::int64_t D;
    std::int32_t step;
  };
  for (const Case& c : {Case{128, 1}, {128, 3}, {128, 4}, {128, 10}, {64, 10}, {192, 10}, {256, 10}}) {
    Problem p;
    p.Hq = p.Hkv = 4;
    p.Lq = p.Lk = 1024;
    p.D = p.Dv = c.D;
    p.dtype = DType::f16;
    p.mask.causal = true;
    Options o;
    choose(o, gpu::kHopperStep, c.step);
    const auto plan = row.plan(row, p, o, d);
    ASSERT_TRUE(plan) << plan.error().message;
    const auto listing = listing_of(service, *plan, d.arch, {}, {});
    ASSERT_TRUE(listing) << listing.error().message;
    if (listing->sass.functions.empty()) GTEST_SKIP() << listing->why_no_sass;
    SCOPED_TRACE(row.reason(p, plan->options, d));
    EXPECT_EQ(count_of(listing->sass, "WARPGROUP.DEPBAR"), gpu::product_waits(gpu::tile_of(plan->options)));
    EXPECT_EQ(count_of(listing->sass, "USETMAXREG"), 2) << "given by who copies, taken by who computes";
  }
}

}  // namespace
}  // namespace attn
