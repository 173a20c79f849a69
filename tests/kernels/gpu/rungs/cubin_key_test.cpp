// The key under which a compile lies in the cubin cache on disk: source, headers, defines, flags and compiler. One
// compile a rung is held against a stored value, so that a change of any of these shows, and what was compiled before
// is found again.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "kernels/gpu/compile/service.h"
#include "kernels/gpu/rungs/own_kernel.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/gpu/rungs/specialise.h"
#include "tests/kernels/gpu/rungs/cubin_keys.h"

namespace attn::gpu {
namespace {

// Names a version and compiles nothing: a key needs no more.
class NamedCompiler final : public Compiler {
 public:
  std::string version() override { return "NVRTC 13.0"; }
  Result<Cubin> compile(const KernelSource&, const std::vector<std::string>&) override {
    return fail(ErrorKind::failed, "nothing is compiled here");
  }
};

Problem problem_of(const KernelRow& row, bool capped) {
  Problem p;
  p.B = 1;
  p.Hq = p.Hkv = 16;
  p.Lq = p.Lk = 4096;
  p.D = p.Dv = 64;
  p.dtype = row.dtypes.front();
  p.mask.causal = true;
  p.pass = row.passes.front();
  if (capped) p.softcap = 30;
  return p;
}

std::string key_of(const KernelRow& row, bool capped) {
  const auto device = device_for("sm_90a");
  const Problem p = problem_of(row, capped);
  const auto plan = row.plan(row, p, Options(), *device);
  const auto source = source_of(row, p, {});
  if (!plan || !source) return "refused";
  NamedCompiler compiler;
  const CompileService service(compiler, "cache");
  return service.cache_file({*source, "sm_90a", defines_of(*plan, may_be_aligned(p))}).stem().string();
}

TEST(CubinKey, OfOneCompileARungIsWhatItWas) {
  for (const test::CubinKeys& keys : test::kCubinKeys) {
    const auto row = std::ranges::find(gpu_kernel_table(), keys.id, &KernelRow::id);
    ASSERT_NE(row, gpu_kernel_table().end()) << keys.id;
    EXPECT_EQ(key_of(*row, false), keys.plain) << keys.id;
    EXPECT_EQ(key_of(*row, true), keys.capped) << keys.id << " with a softcap";
  }
}

}  // namespace
}  // namespace attn::gpu
