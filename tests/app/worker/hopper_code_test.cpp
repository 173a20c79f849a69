// The machine code of flash_hopper waits for its products where its source says so, and nowhere else: where ptxas gives
// the overlap up it waits after every one.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "app/worker/disassemble.h"
#include "kernels/gpu/rungs/hopper/hopper_tile.h"
#include "kernels/gpu/rungs/own_kernel.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/gpu/rungs/specialise.h"
#include "kernels/gpu/rungs/stamps/stamps.h"
#include "kernels/ladder.h"
#include "tests/environment/asked.h"

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
  for (const Case& c : {Case{128, 1}, {128, 3}, {128, 4}, {128, 10}, {64, 10}, {64, 11}, {192, 11}, {256, 11}}) {
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

// What the tensor cores are given, what is waited for, and at how many registers.
struct Counts {
  std::ptrdiff_t products = 0, waits = 0, fences = 0, moves = 0;
  int highest = 0;
};
Counts counts_of(const gpu::MachineCode& code) {
  Counts c;
  for (const gpu::CodeFunction& f : code.functions)
    for (const std::string& text : f.instructions) {
      const auto has = [&](std::string_view what) { return text.find(what) != std::string::npos; };
      c.products += has("HGMMA");
      c.waits += has("WARPGROUP.DEPBAR");
      c.fences += has("WARPGROUP.ARRIVE");
      c.moves += has("USETMAXREG");
      for (std::size_t at = text.find('R'); at != std::string::npos; at = text.find('R', at + 1)) {
        const bool begins = at == 0 || std::string_view(" -|~![").find(text[at - 1]) != std::string_view::npos;
        if (begins && at + 1 < text.size() && text[at + 1] >= '0' && text[at + 1] <= '9')
          c.highest = std::max(c.highest, std::stoi(text.substr(at + 1)));
      }
    }
  return c;
}

TEST(HopperCode, ItsRecorderChangesNoProductAndNoWaitAndStaysWithinItsRegisters) {
  auto compiler = gpu::open_nvrtc();
  if (!compiler) GTEST_SKIP() << compiler.error().message;
  if (const auto found = find_nvdisasm(); !found) GTEST_SKIP() << found.error().message;
  gpu::CompileService service(**compiler, {});
  const KernelRow& row = **find_kernel("flash_hopper");
  const Device d = *gpu::device_for("sm_90a");
  KeptCode kept;
  std::vector<std::pair<int, int>> cases{{64, 10}, {128, 10}};  // D, step
  if (test::asked("ATTNSCOPE_LONG_TESTS")) cases.insert(cases.end(), {{128, 3}, {128, 5}, {128, 8}, {256, 10}});
  for (const auto& [D, step] : cases) {
    Problem p;
    p.Hq = p.Hkv = 4;
    p.Lq = p.Lk = 1024;
    p.D = p.Dv = D;
    p.dtype = DType::f16;
    p.mask.causal = true;
    Options o;
    choose(o, gpu::kHopperStep, step);
    const auto plan = row.plan(row, p, o, d);
    ASSERT_TRUE(plan) << plan.error().message;
    const auto source = gpu::source_of(row, p, {});
    ASSERT_TRUE(source);
    SCOPED_TRACE(row.reason(p, plan->options, d));
    std::vector<std::string> defines = gpu::defines_of(*plan, true);
    const auto plain = service.compile({*source, "sm_90a", defines});
    gpu::add_stamped_defines(*plan, defines);
    const auto stamped = service.compile({gpu::with_hooks(*source, row.id), "sm_90a", defines});
    ASSERT_TRUE(plain && stamped);
    const auto a = kept.of(plain->code, d.arch, {}), b = kept.of(stamped->code, d.arch, {});
    ASSERT_TRUE(a != nullptr && b != nullptr);
    const Counts without = counts_of(*a), with = counts_of(*b);
    EXPECT_GT(without.products, 0);
    EXPECT_GT(without.highest, 90);
    EXPECT_EQ(with.products, without.products);
    EXPECT_EQ(with.waits, without.waits);
    EXPECT_EQ(with.fences, without.fences);
    EXPECT_EQ(with.moves, 2);
    const auto shares = row.registers(p, plan->options);
    EXPECT_LT(with.highest, shares.front().registers) << "of a thread that computes";
    const auto marks = [](const gpu::MachineCode& code) {
      std::ptrdiff_t n = 0;
      for (const gpu::CodeFunction& f : code.functions)
        n += std::ranges::count_if(f.instructions, [](const std::string& i) { return i.find("CLOCKLO") < i.size(); });
      return n;
    };
    EXPECT_EQ(marks(*a), 0);
    EXPECT_GT(marks(*b), 20);
  }
}

}  // namespace
}  // namespace attn
