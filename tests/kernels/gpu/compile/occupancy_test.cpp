// Our occupancy against NVIDIA's own calculator (cuda_occupancy.h) over a grid of block sizes, registers and shared
// memory, on every architecture both know.
#include <gtest/gtest.h>

#include "kernels/gpu/compile/occupancy.h"

#if __has_include(<cuda_occupancy.h>)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <cuda_occupancy.h>
#pragma GCC diagnostic pop
#define HAVE_CALCULATOR 1
#endif

namespace attn::gpu {
namespace {

TEST(Occupancy, KnownValues) {
  // A100, 256 threads, 128 registers: 2 blocks by registers, 16 of 64 warps.
  const Occupancy a = occupancy(*limits_of("sm_80"), 256, 128, 0);
  EXPECT_EQ(a.blocks, 2);
  EXPECT_EQ(a.warps, 16);
  EXPECT_DOUBLE_EQ(a.percent(), 25);
  EXPECT_EQ(a.limiter, "registers");
  // H100: 100 KiB of shared memory twice fit into 228.
  const Occupancy h = occupancy(*limits_of("sm_90a"), 128, 64, 100 * 1024);
  EXPECT_EQ(h.blocks, 2);
  EXPECT_EQ(h.limiter, "shared memory");
  EXPECT_EQ(occupancy(*limits_of("sm_86"), 32, 16, 0).limiter, "blocks");
  EXPECT_EQ(occupancy(*limits_of("sm_86"), 256, 16, 0).limiter, "threads");
  EXPECT_EQ(occupancy(*limits_of("sm_89"), 256, 16, 99 * 1024 + 1).blocks, 0);
  EXPECT_EQ(occupancy(*limits_of("sm_75"), 2048, 16, 0).blocks, 0);
  EXPECT_FALSE(limits_of("sm_61"));
}

#ifdef HAVE_CALCULATOR
std::int32_t calculated(const ArchLimits& arch, std::int32_t threads, std::int32_t registers, std::int64_t shared) {
  const std::int32_t number = std::stoi(std::string(arch.arch.substr(3)));
  cudaOccDeviceProp device{};
  device.computeMajor = number / 10;
  device.computeMinor = number % 10;
  device.maxThreadsPerBlock = kMaxThreads;
  device.maxThreadsPerMultiprocessor = arch.threads;
  device.regsPerBlock = kRegistersOfSm;
  device.regsPerMultiprocessor = kRegistersOfSm;
  device.warpSize = kWarp;
  device.sharedMemPerBlock = 48 * 1024;
  device.sharedMemPerMultiprocessor = static_cast<std::size_t>(arch.shared);
  device.numSms = 100;
  device.sharedMemPerBlockOptin = static_cast<std::size_t>(arch.shared_block);
  device.reservedSharedMemPerBlock = static_cast<std::size_t>(arch.shared_kept);
  cudaOccFuncAttributes kernel{};
  kernel.maxThreadsPerBlock = kMaxThreads;
  kernel.numRegs = registers;
  kernel.partitionedGCConfig = PARTITIONED_GC_OFF;
  kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  kernel.maxDynamicSharedSizeBytes = static_cast<std::size_t>(arch.shared_block);
  cudaOccDeviceState state{};
  state.cacheConfig = CACHE_PREFER_SHARED;
  state.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;
  cudaOccResult result{};
  const cudaOccError error = cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &kernel, &state, threads,
                                                                     static_cast<std::size_t>(shared));
  EXPECT_EQ(error, CUDA_OCC_SUCCESS) << arch.arch;
  return result.activeBlocksPerMultiprocessor;
}

TEST(Occupancy, AgreesWithTheCalculatorOfTheToolkit) {
  for (const ArchLimits& arch : all_archs()) {
    for (const std::int32_t threads : {32, 96, 128, 224, 256, 512, 992, 1024}) {
      for (const std::int32_t registers : {16, 31, 32, 40, 63, 64, 65, 96, 127, 128, 168, 200, 255}) {
        for (const std::int64_t shared : {0, 100, 1024, 8192, 40960, 49152, 60000, 65536, 98304, 101376, 200000}) {
          if (shared > arch.shared_block) continue;
          EXPECT_EQ(occupancy(arch, threads, registers, shared).blocks, calculated(arch, threads, registers, shared))
              << arch.arch << " threads " << threads << " registers " << registers << " shared " << shared;
        }
      }
    }
  }
}
#endif

}  // namespace
}  // namespace attn::gpu
