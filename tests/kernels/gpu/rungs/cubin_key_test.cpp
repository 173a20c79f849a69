// The key under which a compile lies in the cubin cache on disk: source, headers, defines, flags and compiler. One
// compile a rung is held against a stored value, so that a change of any of these shows, and what was compiled before
// is found again.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "kernels/gpu/compile/service.h"
#include "kernels/gpu/rungs/own_kernel.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/gpu/rungs/specialise.h"

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
  struct Keys {
    std::string_view id, plain, capped;  // capped: with a softcap, whose lines count besides
  };
  // As the program names its cubins; a rung is stored here once bundled files hold it. A stored value is never brought
  // up to date: what was measured and compiled before would be lost.
  constexpr Keys kKeys[] = {
      {"naive", "36ccdc31662a15b2de23579268d81c60", "aabb949f294020f233cc603500c9ebe8"},
      {"tiled", "b8de349f1bd71e9ada34280644d31f0c", "20d47f91b59f5172366fdfc4e2745834"},
      {"flash_simt", "3a99f60f2e7b07eacb62aba628ea63a4", "b0603124642fe3e4b424b1c2ca946db2"},
      {"flash_wmma", "0994c8b6b139be5ee4fbf1007157118c", "3970d366727d2f214ee06aec092194a7"},
      {"flash_mma", "2f099a802608e31d86691a9ece63b683", "ff923c0da9adeaead01cea4ab6c35f88"},
      {"flash_hopper", "50fb06f17820014dcb504de0ee844987", "10225be238c8a12d4d59e2560a683093"},
      {"flash_tf32x3", "c065979b4dc52450949807af044e9de6", "77742b70a7b60d7010624a0059ae2d4e"},
  };
  for (const Keys& keys : kKeys) {
    const auto row = std::ranges::find(gpu_kernel_table(), keys.id, &KernelRow::id);
    ASSERT_NE(row, gpu_kernel_table().end()) << keys.id;
    EXPECT_EQ(key_of(*row, false), keys.plain) << keys.id;
    EXPECT_EQ(key_of(*row, true), keys.capped) << keys.id << " with a softcap";
  }
}

}  // namespace
}  // namespace attn::gpu
