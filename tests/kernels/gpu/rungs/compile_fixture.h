// NVRTC behind a service that keeps nothing on disk, for tests of what ptxas says of a rung; skipped with the reason
// where there is none.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "kernels/gpu/compile/service.h"
#include "tests/environment/asked.h"

namespace attn::test {

class CompileTest : public testing::Test {
 protected:
  void SetUp() override {
    if (asked("ATTNSCOPE_SANITIZED")) GTEST_SKIP() << "the compiler is NVIDIA's";
    compiler_ = gpu::open_nvrtc();
    if (!compiler_) GTEST_SKIP() << compiler_.error().message;
    service_.emplace(**compiler_, std::filesystem::path());
  }

  static bool asked_for_all() { return asked("ATTNSCOPE_LONG_TESTS"); }

  Result<std::unique_ptr<gpu::Compiler>> compiler_ = bad_input("not opened");
  std::optional<gpu::CompileService> service_;
};

}  // namespace attn::test
