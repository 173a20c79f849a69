#include "app/worker/open_gpu.h"

#include <utility>

#include <fmt/format.h>

namespace attn {

Result<void> OpenGpu::open_compiler() {
  if (compiler_) return ok();
  auto compiler = parts_.compiler();
  if (!compiler) return tl::unexpected(compiler.error());
  compiler_ = std::move(*compiler);
  return ok();
}

Result<void> OpenGpu::open_libraries() {
  if (!driver_) {
    auto driver = parts_.driver();
    if (!driver) return tl::unexpected(driver.error());
    driver_ = std::move(*driver);
  }
  return open_compiler();
}

Result<void> OpenGpu::open(std::int32_t index) {
  if (auto opened = open_libraries(); !opened) return opened;
  if (queue_) {
    if (properties_.index == index) return ok();
    return bad_input(fmt::format("this worker already uses GPU {}", properties_.index));
  }
  const auto count = driver_->device_count();
  if (!count) return tl::unexpected(count.error());
  if (index < 0 || index >= *count) {
    return fail(ErrorKind::cannot_run, fmt::format("there is no GPU {}: this machine has {}", index, *count));
  }
  auto properties = driver_->properties(index);
  if (!properties) return tl::unexpected(properties.error());
  if (auto opened = driver_->open_device(index); !opened) return opened;
  properties_ = *properties;
  service_ = std::make_unique<gpu::CompileService>(*compiler_, parts_.cache);
  auto queue = gpu::Queue::make(*driver_, *service_, properties->arch(), parts_.edited_kernels);
  if (!queue) return tl::unexpected(queue.error());
  queue_ = std::make_unique<gpu::Queue>(std::move(*queue));
  return ok();
}

Result<gpu::Queue*> OpenGpu::made(std::unique_ptr<gpu::Queue>& queue) {
  if (!queue) {
    auto made = gpu::Queue::make(*driver_, *service_, properties_.arch(), parts_.edited_kernels);
    if (!made) return tl::unexpected(made.error());
    queue = std::make_unique<gpu::Queue>(std::move(*made));
  }
  return queue.get();
}

// What fills the L2 cache and knows this GPU's peaks.
Result<GpuPeaks*> OpenGpu::peaks() {
  if (!peaks_) {
    auto made = GpuPeaks::make(*driver_, *service_, properties_, queue_->stream());
    if (!made) return tl::unexpected(made.error());
    peaks_.emplace(std::move(*made));
  }
  return &*peaks_;
}

Result<GpuClocks> OpenGpu::clocks() {
  const auto made = peaks();
  if (!made) return tl::unexpected(made.error());
  GpuClocks clocks;
  clocks.driver = driver_.get();
  clocks.stream = queue_->stream();
  clocks.peaks = *made;
  return clocks;
}

Result<GpuTools> OpenGpu::tools_for(const Point& p) {
  GpuTools tools;
  tools.queue = queue_.get();
  tools.properties = properties_;
  tools.edited_kernels = parts_.edited_kernels;
  const auto made = peaks();
  if (!made) return tl::unexpected(made.error());
  tools.peaks = *made;
  if (!std::exchange(looked_for_sensors_, true)) sensors_ = parts_.sensors(properties_.pci);
  if (sensors_)
    tools.sensors = sensors_->get();
  else
    tools.no_sensors = sensors_.error().message;
  if (!p.counters) {
    tools.no_profiler = "counters were turned off for this run";
    return tools;
  }
  if (!std::exchange(looked_for_profiler_, true)) {
    const auto version = driver_->version();
    if (!version) return tl::unexpected(version.error());
    profiler_ = parts_.profiler(properties_.index, *version);
  }
  if (profiler_)
    tools.profiler = profiler_->get();
  else
    tools.no_profiler = profiler_.error().message;
  return tools;
}

}  // namespace attn
