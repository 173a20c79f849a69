// The recorder's hooks are nothing in the shipped code: no part of a kernel's hash, no instruction of its machine code.
#include "kernels/gpu/compile/hooks.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/gpu/compile/service.h"
#include "kernels/gpu/rungs/common.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/gpu/rungs/specialise.h"
#include "kernels/gpu/rungs/trace/trace.h"
#include "tests/environment/asked.h"

namespace attn::gpu {
namespace {

constexpr const char* kInclude = "#include \"kernels/gpu/trace.cuh\"";

TEST(Hooks, AreLinesOfTheirOwn) {
  EXPECT_TRUE(is_hook_line("    ATTN_TRACE(trace_column(kTrace.m, at.row, at.tx, m));"));
  EXPECT_TRUE(is_hook_line(kInclude));
  EXPECT_FALSE(is_hook_line("  x = 1; ATTN_TRACE(y);"));
  EXPECT_FALSE(is_hook_line("  ATTN_TRACE(y); x = 1;  // twice"));
  EXPECT_FALSE(is_hook_line("// ATTN_TRACE(y);"));
  EXPECT_EQ(without_hook_lines("a\n  ATTN_TRACE(b);\r\n\nc"), "a\n\nc");
  EXPECT_TRUE(has_hooks("a\nATTN_TRACE(b);\n"));
  EXPECT_FALSE(has_hooks(std::string(kInclude) + "\nATTN_TRACE(b)\n"));
}

TEST(Hooks, AndTheRecordersHeadersAreNoPartOfAHash) {
  const std::vector<SourceText> sources{{"kernels/gpu/trace.cuh", "#include \"kernels/gpu/trace_layout.h\"\n"},
                                        {"kernels/gpu/trace_layout.h", "int x;\n"}};
  const std::string plain = "int f() {\n  return 1;\n}\n";
  const std::string hooked = std::string(kInclude) + "\nint f() {\n  ATTN_TRACE(g());\n  return 1;\n}\n";
  EXPECT_EQ(source_hash("some_rung", plain, sources), source_hash("some_rung", hooked, sources));
  // But machine code is kept under every line of both.
  std::vector<SourceText> other = sources;
  other[1].text = "int y;\n";
  EXPECT_NE(text_hash("some_rung", plain, sources), text_hash("some_rung", hooked, sources));
  EXPECT_NE(text_hash("some_rung", hooked, sources), text_hash("some_rung", hooked, other));
}

// A rung may have its hooks in headers of its own.
TEST(Hooks, OfAHeaderCountAsThoseOfTheText) {
  const std::string text = "#include \"kernels/gpu/part.cuh\"\n";
  const std::vector<SourceText> plain{{"kernels/gpu/part.cuh", "int x;\n"}, {"kernels/gpu/trace_layout.h", "int y;\n"}};
  std::vector<SourceText> hooked = plain;
  hooked[0].text = "#include \"kernels/gpu/hopper_trace.cuh\"\nint x;\nATTN_TRACE(g());\n";
  EXPECT_EQ(source_hash("some_rung", text, plain), source_hash("some_rung", text, hooked));
  std::vector<SourceText> other = hooked;
  other[1].text = "int z;\n";
  EXPECT_NE(text_hash("some_rung", text, hooked), text_hash("some_rung", text, other));
}

TEST(Hooks, EveryRungWithARecorderHasThemAndNoOther) {
  for (const KernelRow& row : gpu_kernel_table()) {
    Problem p;
    p.dtype = row.dtypes.front();
    const auto source = kernel_source(row.id, {});
    ASSERT_TRUE(source);
    EXPECT_EQ(can_record(*source, row.id), trace_facts(row, p, {.threads = 32}).has_value()) << row.id;
    EXPECT_EQ(source->text.find("ATTN_TRACE"), std::string::npos) << row.id;
  }
}

// The sections of a cubin that are run: its code and its constants, by name.
std::map<std::string, std::vector<std::byte>> code_of(const std::vector<std::byte>& elf) {
  const auto read = [&](std::size_t at, auto& to) { std::memcpy(&to, elf.data() + at, sizeof to); };
  struct Section {
    std::uint32_t name, type;
    std::uint64_t flags, address, offset, size;
    std::uint32_t link, info;
    std::uint64_t align, entry;
  };
  std::uint64_t table = 0;
  std::uint16_t entry = 0, count = 0, names = 0;
  read(40, table);
  read(58, entry);
  read(60, count);
  read(62, names);
  const auto section = [&](std::size_t n) {
    Section s{};
    read(static_cast<std::size_t>(table) + n * entry, s);
    return s;
  };
  std::map<std::string, std::vector<std::byte>> code;
  for (std::size_t n = 0; n < count; ++n) {
    const Section s = section(n);
    const std::string name(reinterpret_cast<const char*>(elf.data() + section(names).offset + s.name));
    if (!name.starts_with(".text.") && !name.starts_with(".nv.constant")) continue;
    const auto first = elf.begin() + static_cast<std::ptrdiff_t>(s.offset);
    code[name].assign(first, first + static_cast<std::ptrdiff_t>(s.size));
  }
  return code;
}

class HookedCode : public testing::TestWithParam<std::string_view> {};

// The shipped source with its hooks, and the same text without them.
TEST_P(HookedCode, IsThatOfTheSourceWithoutHooks) {
  const bool usual = GetParam() == kArchRunOn;
  if (!usual && test::asked("ATTNSCOPE_SANITIZED")) GTEST_SKIP() << "one is enough here";
  if (!usual && !test::asked("ATTNSCOPE_LONG_TESTS")) GTEST_SKIP() << "one of the long lists: tests/run.sh --full";
  const auto compiler = open_nvrtc();
  if (!compiler) GTEST_SKIP() << compiler.error().message;
  const Device device = *device_for(GetParam());
  int compared = 0;
  for (const KernelRow& row : gpu_kernel_table()) {
    Problem p;
    p.dtype = row.dtypes.front();
    p.Lq = p.Lk = 300;
    p.D = p.Dv = 32;  // narrow heads compile sooner
    p.mask.causal = true;
    if (!trace_facts(row, p, {.threads = 32}) || !row.supports(row, p, {}, device)) continue;
    const auto plan = row.plan(row, p, {}, device);
    ASSERT_TRUE(plan) << plan.error().message;
    std::vector<std::string> options{"--gpu-architecture=" + device.arch, "--std=c++17", "-default-device"};
    for (const std::string& define : defines_of(*plan, true)) options.push_back("--define-macro=" + define);
    const auto source = kernel_source(row.id, {});
    ASSERT_TRUE(source);
    ASSERT_EQ(source->text.find("ATTN_TRACE"), std::string::npos);
    // The compiler itself makes one of two codes of the same text now and then (seen for sm_75): up to eight tries.
    bool same = false;
    for (int tries = 0; tries < 8 && !same; ++tries) {
      const auto shipped = (*compiler)->compile(with_hooks(*source, row.id), options);
      ASSERT_TRUE(shipped) << shipped.error().message;
      const auto bare = (*compiler)->compile(*source, options);
      ASSERT_TRUE(bare) << bare.error().message;
      const auto code = code_of(shipped->code);
      EXPECT_GE(code.size(), plan->launches.size());
      same = code == code_of(bare->code);
    }
    EXPECT_TRUE(same) << row.id;
    ++compared;
  }
  EXPECT_GE(compared, 3);
}

INSTANTIATE_TEST_SUITE_P(Gpu, HookedCode, testing::ValuesIn(architectures().begin(), architectures().end()),
                         [](const auto& arch) { return std::string(arch.param); });

// With hooks compiled in it compiles where the rung does; the entries are the same, the code is not.
TEST(Hooks, AreCodeWhereTheRunRecordsItself) {
  auto compiler = open_nvrtc();
  if (!compiler) GTEST_SKIP() << compiler.error().message;
  CompileService service(**compiler, {});
  const Device device = *device_for(kArchRunOn);
  for (const KernelRow& row : gpu_kernel_table()) {
    Problem p;
    p.dtype = row.dtypes.back();
    p.Lq = p.Lk = 64;
    p.D = p.Dv = 32;
    p.bias_shape = {1, 1, 64, 64};
    if (!trace_facts(row, p, {.threads = 32})) continue;
    const auto plan = row.plan(row, p, {}, device);
    ASSERT_TRUE(plan) << plan.error().message;
    const auto source = kernel_source(row.id, {});
    std::vector<std::string> defines = defines_of(*plan, true);
    const auto plain = service.compile({*source, device.arch, defines});
    add_traced_defines(*plan, defines);
    const auto traced = service.compile({with_hooks(*source, row.id), device.arch, defines});
    ASSERT_TRUE(plain && traced) << (traced ? plain : traced).error().message;
    EXPECT_TRUE(traced->warnings.empty()) << traced->warnings.front();
    EXPECT_NE(code_of(plain->code), code_of(traced->code)) << row.id;
    EXPECT_EQ(plain->entries.size(), traced->entries.size());
  }
}

}  // namespace
}  // namespace attn::gpu
