// Where a worker gets what it works with.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "app/worker/user_compiler.h"
#include "kernels/gpu/compile/service.h"
#include "kernels/gpu/device/driver.h"
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

}  // namespace attn
