// The first GPU of this machine with a compiler and a queue, for tests that need one; without one they are skipped with
// the reason.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "kernels/gpu/compile/service.h"
#include "kernels/gpu/device/queue.h"
#include "kernels/model/kernel.h"

namespace attn::test {

class GpuTest : public testing::Test {
 protected:
  void SetUp() override {
    auto driver = gpu::open_driver();
    if (!driver) GTEST_SKIP() << driver.error().message;
    driver_ = std::move(*driver);
    const auto count = driver_->device_count();
    if (!count || *count == 0) GTEST_SKIP() << "there is no GPU here";
    auto compiler = gpu::open_nvrtc();
    if (!compiler) GTEST_SKIP() << compiler.error().message;
    compiler_ = std::move(*compiler);
    properties_ = *driver_->properties(0);
    ASSERT_TRUE(driver_->open_device(0));
    service_.emplace(*compiler_, std::filesystem::path());
    auto queue = gpu::Queue::make(*driver_, *service_, properties_.arch(), {});
    ASSERT_TRUE(queue) << queue.error().message;
    queue_.emplace(std::move(*queue));
  }

  bool runs_here(const KernelRow& row) const {
    return std::ranges::find(row.architectures, properties_.arch()) != row.architectures.end();
  }

  // Ended in the reverse order: queue, service, compiler, driver.
  std::unique_ptr<gpu::Driver> driver_;
  std::unique_ptr<gpu::Compiler> compiler_;
  gpu::GpuProperties properties_;
  std::optional<gpu::CompileService> service_;
  std::optional<gpu::Queue> queue_;
};

}  // namespace attn::test
