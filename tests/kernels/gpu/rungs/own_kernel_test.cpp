// A user's own .cu is a rung like any other, and in no table: planned from its header, compiled for every architecture,
// named by its text.
#include "kernels/gpu/rungs/own_kernel.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "kernels/gpu/rungs/common.h"
#include "kernels/gpu/rungs/inspect.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/ladder.h"
#include "tests/environment/paths.h"

namespace attn::gpu {
namespace {

std::string template_text() {
  std::ostringstream text;
  text << std::ifstream(std::filesystem::path(test::source_folder()) / "assets/kernels/my_attention.cu",
                        std::ios::binary)
              .rdbuf();
  return text.str();
}

std::string with(const std::string& from, const std::string& to) {
  std::string text = template_text();
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

std::shared_ptr<const OwnKernel> kernel_of(const std::string& text) {
  auto kernel = own_kernel_from("my_attention.cu", text);
  EXPECT_TRUE(kernel) << kernel.error().message;
  return kernel ? *kernel : nullptr;
}

Problem problem() {
  Problem p;
  p.B = 2;
  p.Hq = 6;
  p.Hkv = 3;
  p.Lq = 101;
  p.Lk = 77;
  p.D = 40;
  p.Dv = 24;
  return p;
}

std::string refusal(const std::string& text, const Problem& p = problem(), const Options& o = {}) {
  const auto k = kernel_of(text);
  const auto takes = k->supports(*k, p, o, *device_for("sm_90a"));
  return takes ? "taken" : takes.error().message;
}

TEST(OwnKernel, IsNamedByItsTextAndStandsInNoTable) {
  const auto k = kernel_of(template_text());
  EXPECT_EQ(k->id, "my_attention@" + k->cu.hash.substr(0, 8));
  EXPECT_EQ(own_stem(k->id), "my_attention");
  EXPECT_EQ(k->rung, kOwnRung);
  EXPECT_EQ(k->cu.label(k->id), k->id);
  EXPECT_FALSE(find_kernel(k->id));
  EXPECT_EQ(*find_kernel(k->id, {k}), k.get());
  EXPECT_EQ((*find_kernel("naive", {k}))->id, "naive");
  for (const KernelRow* row : ladder()) {
    EXPECT_NE(row->rung, kOwnRung) << row->id;
    EXPECT_EQ(own_source(*row), nullptr) << row->id;
    EXPECT_EQ(own_stem(row->id), "") << row->id;
  }
  EXPECT_EQ(own_source(*k), &k->cu);
  // A tag is no new kernel; anything else is.
  EXPECT_EQ(kernel_of(with("    // @phase m\n", ""))->id, k->id);
  EXPECT_NE(kernel_of(with("1.0f);", "1.00f);"))->id, k->id);
  EXPECT_NE(kernel_of(with("\"default\": 128", "\"default\": 64"))->id, k->id);
}

TEST(OwnKernel, NamesAndTextsThatCannotBe) {
  for (const char* name : {"my.cuh", ".cu", "my attention.cu", "my@1.cu", "a/b.cu"}) {
    const auto k = own_kernel_from(name, template_text());
    ASSERT_FALSE(k) << name;
    EXPECT_NE(k.error().message.find("a kernel's file name must end in .cu and have at most 48 letters"),
              std::string::npos)
        << k.error().message;
  }
  EXPECT_FALSE(own_kernel_from(std::string(60, 'a') + ".cu", template_text()));
  const auto bytes = own_kernel_from("my.cu", template_text() + "// \xff");
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().message, "my.cu is not a text file: it must be UTF-8.");
  EXPECT_FALSE(own_kernel_from("my.cu", template_text() + std::string(1, '\0')));
  EXPECT_FALSE(read_own_kernel("/nowhere/my.cu"));
  EXPECT_EQ(own_stem("naive@12"), "");
}

TEST(OwnKernel, IsPlannedAsItsHeaderSays) {
  const auto k = kernel_of(template_text());
  Options o;
  o.threads = 64;
  const auto plan = k->plan(*k, problem(), o, *device_for("sm_80"));
  ASSERT_TRUE(plan) << plan.error().message;
  ASSERT_EQ(plan->launches.size(), 1U);
  EXPECT_EQ(plan->launches[0].name, "my_attention");
  EXPECT_EQ(plan->launches[0].grid[0], 51 * 2 * 6);  // ceil(101 / 2) blocks of two rows, a head
  EXPECT_EQ(plan->launches[0].block[0], 64);
  EXPECT_EQ(plan->launches[0].shared_bytes, 4 * 24 * 2);
  EXPECT_EQ(k->plan(*k, problem(), {}, *device_for("sm_80"))->options.threads, 128);
}

TEST(OwnKernel, RefusesWhatCannotBeLaunched) {
  EXPECT_EQ(refusal(template_text()), "taken");
  EXPECT_NE(refusal(with("\"4 * Dv", "\"40000 * Dv"))
                .find("requests 3840000 bytes of shared memory ('40000 * Dv * (threads / 32)'); a block on sm_90a can "
                      "have at most 232448"),
            std::string::npos)
      << refusal(with("\"4 * Dv", "\"40000 * Dv"));
  EXPECT_NE(refusal(with("\"block\": \"threads\"", "\"block\": [\"threads\", 16]"))
                .find("has 2048 threads; the limit is 1024"),
            std::string::npos);
  EXPECT_NE(refusal(with("\"block\": \"threads\"", "\"block\": [1, 1, 65]"))
                .find("the block of my_attention is 65 ('65'); use 1 to 64"),
            std::string::npos);
  EXPECT_NE(refusal(with("\"grid\": \"ceil_div(Lq, threads / 32) * B * Hq\"", "\"grid\": \"Lq - Lq\""))
                .find("the grid of my_attention is 0 ('Lq - Lq')"),
            std::string::npos);
  EXPECT_NE(refusal(with("\"grid\": \"ceil_div(Lq, threads / 32) * B * Hq\"", "\"grid\": [1, \"Lq * 1000\"]"))
                .find("is 101000 ('Lq * 1000'); use 1 to 65535"),
            std::string::npos);
  EXPECT_NE(refusal(with("\"grid\": \"ceil_div(Lq, threads / 32) * B * Hq\"", "\"grid\": \"Lq / (B - 2)\""))
                .find("101 / 0 divides by zero"),
            std::string::npos);
  Options o;
  o.threads = 48;
  EXPECT_NE(refusal(template_text(), problem(), o).find("supports threads from 32 to 1024 in steps of 32, not 48"),
            std::string::npos);
  EXPECT_NE(refusal(with("\"f32\", \"f16\", \"bf16\"", "\"f16\"")).find("supports f16, not f32"), std::string::npos);
  EXPECT_NE(refusal(with("\"grouped\": true", "\"grouped\": false")).find("Hq = 6 and Hkv = 3 must be equal"),
            std::string::npos);
}

Plan plan_on(const OwnKernel& k, std::string_view arch) {
  return *k.plan(k, problem(), {}, *device_for(arch));
}

TEST(OwnKernel, WhatWasCompiledMustBeWhatWasDeclared) {
  const auto k = kernel_of(template_text());
  const Plan plan = plan_on(*k, "sm_90a");
  EntryFigures f{"my_attention", 40, 0, 0, 0, 0};
  EXPECT_TRUE(check_compiled(plan, {f}, "sm_90a"));
  const auto words = [&](const EntryFigures& figures) {
    const auto good = check_compiled(plan, {figures}, "sm_90a");
    return good ? "good" : good.error().message;
  };
  f.name = "my_attentio";
  EXPECT_EQ(words(f),
            "my_attention.cu: the header names the entry my_attention, but the source has no extern \"C\" __global__ "
            "function of that name.");
  f = {"my_attention", 40, 232448, 0, 0, 0};  // 227 KiB static, and the launch asks for 384 bytes
  EXPECT_NE(
      words(f).find(
          "needs 232832 bytes of shared memory, 232448 of them static; a block on sm_90a can have at most 232448"),
      std::string::npos)
      << words(f);
  Options o;
  o.threads = 1024;
  const Plan wide = *k->plan(*k, problem(), o, *device_for("sm_90a"));
  const auto heavy = check_compiled(wide, {{"my_attention", 80, 0, 0, 0, 0}}, "sm_90a");
  ASSERT_FALSE(heavy);
  EXPECT_EQ(heavy.error().message,
            "my_attention.cu: my_attention needs 80 registers per thread, too many for a block of 1024 threads; "
            "__launch_bounds__(1024) lets the compiler use fewer.");
}

// What a new user copies.
TEST(OwnKernel, TheTemplateCompilesForEveryArchitectureWithoutSpills) {
  auto compiler = open_nvrtc();
  if (!compiler) GTEST_SKIP() << compiler.error().message;
  CompileService service(**compiler, {});
  const auto k = kernel_of(template_text());
  for (const std::string_view arch : architectures()) {
    for (const DType dtype : k->dtypes) {
      Problem p = problem();
      p.dtype = dtype;
      p.mask.causal = dtype != DType::f32;
      if (dtype == DType::bf16) p.bias_shape = {1, 1, 101, 77};
      const Device device = *device_for(arch);
      const auto plan = k->plan(*k, p, {}, device);
      ASSERT_TRUE(plan) << plan.error().message;
      const auto report = inspect(service, *plan, device, {});
      ASSERT_TRUE(report) << report.error().message;
      ASSERT_EQ(report->entries.size(), 1U);
      EXPECT_EQ(report->entries[0].figures.spill_load_bytes, 0);
      EXPECT_TRUE(report->compiled.warnings.empty());
      EXPECT_EQ(report->compiled.source_hash, k->cu.hash);
    }
  }
}

TEST(OwnKernel, ACompilersErrorsNameTheFileAndTheLine) {
  auto compiler = open_nvrtc();
  if (!compiler) GTEST_SKIP() << compiler.error().message;
  CompileService service(**compiler, {});
  const std::string text = with("last_key(a", "lst_key(a");
  const auto k = kernel_of(text);
  const auto report = inspect(service, plan_on(*k, "sm_80"), *device_for("sm_80"), {});
  ASSERT_FALSE(report);
  const auto line =
      1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.find("lst_key")), '\n');
  EXPECT_NE(
      report.error().message.find("my_attention.cu:" + std::to_string(line) + ": identifier \"lst_key\" is undefined"),
      std::string::npos)
      << report.error().message;
}

}  // namespace
}  // namespace attn::gpu
