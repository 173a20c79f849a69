// attnscope ring --gpus: the same on GPUs, a process each.
#pragma once

#include <cstdint>
#include <string>

#include "app/cli/arguments/command.h"
#include "app/cli/bench/ring_rows.h"
#include "kernels/base/result.h"
#include "kernels/model/inputs/input_spec.h"
#include "kernels/model/options.h"
#include "kernels/model/problem/problem.h"

namespace attn::cli {

inline constexpr const char* kGpuRingKernel = "flash_hopper";  // where none is named

struct GpuRingArguments {
  std::string gpus, travel = "ipc", deal = "zigzag", kernel = kGpuRingKernel, json_file, csv_file;
  std::int64_t repeats = 20, spared_sms = 24;
  double hang_limit = 60;
  Problem problem;
  Options options;
  InputSpec inputs;
  RingFiles files;
};

Result<int> run_gpu_ring(const GpuRingArguments& a, const Stopper& stopper);

}  // namespace attn::cli
