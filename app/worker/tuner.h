// Tiles tuned on this machine, its GPU and its CPU through a worker each; what was chosen is kept.
#pragma once

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>

#include "app/worker/bench.h"
#include "app/worker/cpu_bench.h"
#include "kernels/base/result.h"
#include "kernels/model/kernel.h"
#include "profiling/sweep/sweep.h"
#include "profiling/tune/store.h"
#include "profiling/tune/tune.h"

namespace attn {

// What a tile is tuned on, and with what it is compiled.
struct TunedOn {
  Device device;
  std::string compiler;  // empty on a CPU
};

class Tuner {
 public:
  // `gpu` null: GPU kernels are refused. `folder`: where the chosen tiles lie; empty: none is kept. `cpu` null: CPU
  // kernels are timed in this process.
  explicit Tuner(GpuBench* gpu, std::filesystem::path folder = tuned_folder(), CpuBench* cpu = nullptr)
      : gpu_(gpu), cpu_(cpu), folder_(std::move(folder)) {}

  Result<TunedOn> place(const KernelRow& row, std::int32_t gpu, const std::stop_token& stop = {});
  // What was kept for this problem on that device.
  Result<TuneResult> kept(const KernelRow& row, const Problem& p, const TunedOn& on) const;
  // For run_sweep() and single points: from what was kept.
  TunedOptions options(std::int32_t gpu);

  struct Said {
    std::function<void(const TuneProgress&)> progress;
    std::function<void(const TuneResult& so_far)> changed;
  };
  // Tunes, and keeps the result where one was decided: its date then says so. Could it not be kept, `words` say why.
  Result<TuneResult> tune(const TuneSpec& spec, const Said& said, const std::stop_token& stop);
  // What would be tried, and with `compile` what the compiler says of each, with no GPU: for an architecture.
  Result<TuneResult> plan(const TuneSpec& spec, const Device& device, bool compile,
                          const std::function<void(const TuneProgress&)>& progress, const std::stop_token& stop);

 private:
  TunedKey key_of(const KernelRow& row, const Problem& p, const TunedOn& on) const;

  GpuBench* gpu_;
  CpuBench* cpu_;
  std::filesystem::path folder_;
};

}  // namespace attn
