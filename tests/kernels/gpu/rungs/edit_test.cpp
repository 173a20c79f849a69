// A rung with a changed text, or built in another way, is a kernel of its own: it has the rung's plan, another name for
// another text or option, and its file opens as itself.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "kernels/gpu/compile/sources.h"
#include "kernels/gpu/rungs/own_kernel.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/ladder.h"

namespace attn::gpu {
namespace {

const KernelRow& rung(const char* id) {
  return **find_kernel(id, {});
}
std::string text_of(const char* id) {
  return kernel_source(id, {})->text;
}
std::shared_ptr<const OwnKernel> edit(const char* id, const std::string& text, const BuildChoices& build = {}) {
  auto k = edit_of(rung(id), text, build);
  EXPECT_TRUE(k) << k.error().message;
  return k ? *k : nullptr;
}

Problem problem(DType t) {
  Problem p;
  p.Hq = p.Hkv = 2;
  p.Lq = p.Lk = 300;
  p.D = p.Dv = 64;
  p.dtype = t;
  return p;
}

TEST(EditedRung, IsLaunchedAsTheRungIsWhateverItsTextSays) {
  for (const KernelRow& row : gpu_kernel_table()) {
    SCOPED_TRACE(row.id);
    const auto k = edit(std::string(row.id).c_str(), text_of(std::string(row.id).c_str()) + "// more\n");
    Problem p = problem(row.dtypes.front());
    p.pass = row.passes.front();
    const Device d = *device_for("sm_90a");
    const auto mine = k->plan(*k, p, {}, d), its = row.plan(row, p, {}, d);
    ASSERT_TRUE(mine && its);
    ASSERT_TRUE(k->supports(*k, p, {}, d));
    EXPECT_EQ(mine->kernel, k.get());
    EXPECT_EQ(mine->options, its->options);
    EXPECT_EQ(mine->workspace_bytes, its->workspace_bytes);
    ASSERT_EQ(mine->launches.size(), its->launches.size());
    for (std::size_t n = 0; n < mine->launches.size(); ++n) {
      EXPECT_EQ(mine->launches[n].name, its->launches[n].name);
      EXPECT_TRUE(std::ranges::equal(mine->launches[n].grid, its->launches[n].grid));
      EXPECT_EQ(mine->launches[n].shared_bytes, its->launches[n].shared_bytes);
    }
  }
}

// The lab shows a rung's text without the lines for softcap and ALiBi: an edit of it would leave them out in silence.
TEST(EditedRung, WithoutTheLinesForSoftcapAndAlibiRefusesThem) {
  const auto k = edit("flash_wmma", text_of("flash_wmma"));
  const Device d = *device_for("sm_90a");
  Problem p = problem(DType::f16);
  EXPECT_TRUE(k->plan(*k, p, {}, d));
  p.softcap = 2;
  const auto refused = k->plan(*k, p, {}, d);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("does not support softcap or ALiBi"), std::string::npos);
  const auto whole = edit("flash_wmma", kernel_source("flash_wmma", {}, ScoreLines::in)->text);
  EXPECT_TRUE(whole->plan(*whole, p, {}, d));
  // Its own text has no such lines: they are in the headers that it shares.
  const auto shared = edit("flash_mma", text_of("flash_mma"));
  EXPECT_TRUE(shared->plan(*shared, p, {}, d));
}

TEST(EditedRung, HasTheShippedHashUntilTheTextOrAnOptionIsAnother) {
  const std::string text = text_of("flash_simt");
  const auto same = edit("flash_simt", text);
  EXPECT_EQ(same->cu.hash, kernel_source("flash_simt", {})->hash);
  const auto other = edit("flash_simt", text + "// x\n");
  const auto fast = edit("flash_simt", text, {0, true}), few = edit("flash_simt", text, {64, false});
  for (const auto& [a, b] : {std::pair{same, other}, {same, fast}, {same, few}, {fast, few}})
    EXPECT_NE(a->name, b->name);
  EXPECT_EQ(own_stem(other->name), "flash_simt");
  EXPECT_EQ(build_words(*few), "maxrregcount=64");
  EXPECT_EQ(build_words(rung("flash_simt")), "");
  EXPECT_EQ(few->cu.flags, std::vector<std::string>{"--maxrregcount=64"});
}

TEST(EditedRung, FileOpensAsTheSameKernelUnderAnyName) {
  const auto k = edit("tiled", text_of("tiled") + "// mine\n", {128, true});
  const auto again = own_kernel_from("saved-elsewhere.cu", file_text(*k));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ((*again)->name, k->name);
  EXPECT_EQ((*again)->cu.text, k->cu.text);
  EXPECT_EQ((*again)->build, k->build);
  EXPECT_EQ((*again)->edits, &rung("tiled"));
  const auto twice = edit_of(**again, k->cu.text, k->build);
  ASSERT_TRUE(twice);
  EXPECT_EQ((*twice)->name, k->name) << "an edit of an edit is an edit of the rung";
}

TEST(EditedRung, OfAKernelThatThereIsNotIsRefusedInALine) {
  const auto none = own_kernel_from("my.cu", "// attn-build: {\"edits\": \"cpu_flash\"}\nint x;\n");
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("my.cu, line 1: \"edits\" does not name a GPU rung: 'cpu_flash'; use naive"),
            std::string::npos)
      << none.error().message;
  EXPECT_FALSE(edit_of(rung("cpu_flash"), "int x;", {}));
}

}  // namespace
}  // namespace attn::gpu
