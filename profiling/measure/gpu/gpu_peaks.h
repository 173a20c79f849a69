// What this very GPU can do at most, measured with small kernels of ours: fp32 multiply-adds and tensor-core products
// on registers, a plain copy, a reading of its memory, loads from the L2 cache and from shared memory. And the kernel
// that fills the L2 cache with other data, by reading: what was written instead would still have to go to memory while
// the next kernel runs, and be counted as its bytes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "kernels/base/result.h"
#include "kernels/gpu/compile/service.h"
#include "kernels/gpu/device/driver.h"
#include "kernels/model/kernel.h"
#include "profiling/figures/measurement.h"

namespace attn {

// 0 = could not be had: `why_not` says why.
struct GpuPeak {
  double gflops = 0;                            // 2 FLOPs a multiply-add, all SMs
  double copy_gb_per_s = 0;                     // read + written, in units of 1e9
  double read_gb_per_s = 0;                     // read alone, in units of 1e9
  double l2_gb_per_s = 0, shared_gb_per_s = 0;  // loads of 16 bytes a thread by all SMs, in units of 1e9
  PeakReasons why_not;
};

class GpuPeaks {
 public:
  // The names that a profiler sees.
  static constexpr const char* kFlushName = "attnscope_read_l2";
  // The references outlive the object.
  static Result<GpuPeaks> make(gpu::Driver& driver, gpu::CompileService& service, const gpu::GpuProperties& properties,
                               gpu::StreamHandle stream);
  GpuPeaks(GpuPeaks&& other) noexcept;
  GpuPeaks(const GpuPeaks&) = delete;
  GpuPeaks& operator=(const GpuPeaks&) = delete;
  GpuPeaks& operator=(GpuPeaks&&) = delete;
  ~GpuPeaks();

  // Allocates what flush() reads; the first error of the two.
  Result<void> prepare_flush();
  // Enqueues; after it nothing of an earlier kernel is in the L2 cache.
  Result<void> flush();
  // Measured once, some 60 ms; the best of several runs. One that fails leaves the others their turn, and is tried
  // again when it is next asked for; an error: the GPU is lost.
  Result<GpuPeak> peak();
  // Of the tensor cores by mma.sync, or wgmma, in the pipe's type, 2 FLOPs a multiply-add, all SMs; `dtype` tells f16
  // from bf16, which share a pipe and not the power that it draws. An error on a chip whose products have other shapes.
  // Measured once, some 40 ms.
  Result<double> tensor_gflops(Pipe pipe, DType dtype);

 private:
  GpuPeaks(gpu::Driver& driver, const gpu::GpuProperties& properties, gpu::StreamHandle stream)
      : driver_(&driver), properties_(properties), stream_(stream) {}
  static constexpr std::uint32_t kBlocksPerSm = 8, kThreads = 256;
  struct Shape {
    std::uint32_t blocks = kBlocksPerSm, threads = kThreads;  // of a multiprocessor, of a block
  };
  Result<void> launch(const char* entry, const void* argument, Shape shape);
  // Milliseconds of the fastest of several launches.
  Result<double> fastest_ms(const char* entry, const void* argument, Shape shape);
  Result<double> fastest_ms(const char* entry, const void* argument);
  Result<double> multiply_add_gflops();
  Result<double> copy_gb_per_s();
  // The better of loads by all threads and, where there are some, of bulk copies.
  Result<double> read_gb_per_s();
  Result<double> loaded_gb_per_s(const char* entry, std::uint64_t turns);

  gpu::Driver* driver_;
  gpu::GpuProperties properties_;
  gpu::StreamHandle stream_;
  gpu::Module module_ = nullptr;
  std::map<std::string, gpu::Function> entries_;
  std::unique_ptr<gpu::Memory> flushed_;
  std::optional<GpuPeak> peak_;
  std::map<std::string, double> tensor_gflops_;  // by the name of the measuring kernel
};

}  // namespace attn
