// The GPU that a worker has open, with all that works there: driver, compiler, queues, and what measures. Each is
// opened when it is first needed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/worker/user_compiler.h"
#include "kernels/base/result.h"
#include "kernels/gpu/compile/service.h"
#include "kernels/gpu/device/driver.h"
#include "kernels/gpu/device/queue.h"
#include "profiling/measure/gpu/gpu_peaks.h"
#include "profiling/measure/gpu/gpu_timing.h"
#include "profiling/measure/gpu/on_gpu.h"

namespace attn {

// What a worker works with; tests put doubles in their place.
struct WorkerParts {
  std::function<Result<std::unique_ptr<gpu::Driver>>()> driver = gpu::open_driver;
  std::function<Result<std::unique_ptr<gpu::Compiler>>()> compiler = compilers_here();
  std::function<Result<std::unique_ptr<Profiler>>(std::int32_t device, std::int32_t driver)> profiler = open_profiler;
  std::function<Result<std::unique_ptr<GpuSensors>>(const std::string& pci)> sensors = open_sensors;
  std::filesystem::path cache = gpu::cubin_cache_folder();
  std::filesystem::path edited_kernels = gpu::edited_kernels_folder();
};

class OpenGpu {
 public:
  explicit OpenGpu(const WorkerParts& parts) : parts_(parts) {}

  Result<void> open_compiler();
  // Driver, then compiler: where that fails the driver may be open.
  Result<void> open_libraries();
  // One GPU a worker: the first that is asked for.
  Result<void> open(std::int32_t index);
  bool has_driver() const { return driver_ != nullptr; }
  // Nothing works in this process any more.
  bool lost() const { return driver_ && driver_->lost(); }

  // Once they are open.
  gpu::Driver& driver() { return *driver_; }
  gpu::Compiler& compiler() { return *compiler_; }
  gpu::CompileService& service() { return *service_; }
  gpu::Queue& queue() { return *queue_; }
  const gpu::GpuProperties& properties() const { return properties_; }

  // By CUDA events, as a measurement without CUPTI is.
  Result<GpuClocks> clocks();
  // What a measurement needs of the GPU; CUPTI only where counters are wanted.
  Result<GpuTools> tools_for(const Point& p);
  // Queues whose kernels are copies, loaded for one way of looking alone.
  Result<gpu::Queue*> sampling_queue() { return made(sampling_queue_); }
  Result<gpu::Queue*> counting_queue() { return made(counting_queue_); }

 private:
  Result<gpu::Queue*> made(std::unique_ptr<gpu::Queue>& queue);
  Result<GpuPeaks*> peaks();

  const WorkerParts& parts_;
  // The order of destruction is the reverse: queues, service, compiler, driver.
  std::unique_ptr<gpu::Driver> driver_;
  std::unique_ptr<gpu::Compiler> compiler_;
  std::unique_ptr<gpu::CompileService> service_;
  gpu::GpuProperties properties_;
  std::unique_ptr<gpu::Queue> queue_, sampling_queue_, counting_queue_;
  std::optional<GpuPeaks> peaks_;
  // Opened for the first measurement that wants them; what could not be had is not asked for again.
  Result<std::unique_ptr<Profiler>> profiler_ = fail(ErrorKind::cannot_run, "");
  Result<std::unique_ptr<GpuSensors>> sensors_ = fail(ErrorKind::cannot_run, "");
  bool looked_for_profiler_ = false, looked_for_sensors_ = false;
};

}  // namespace attn
