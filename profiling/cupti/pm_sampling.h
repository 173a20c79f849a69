// CUPTI PM Sampling: the GPU's counters, read every few microseconds while something runs.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/base/result.h"
#include "profiling/cupti/calls.h"
#include "profiling/cupti/kernel_times.h"
#include "profiling/cupti/metric_host.h"
#include "profiling/cupti/readings.h"

namespace attn::cupti {

// The counters that fit into one pass, the most wanted first: one name for each that was asked, empty: it has no room
// or the chip has none. The host counts the others.
struct OnePass {
  std::vector<std::string> names;
  std::unique_ptr<MetricHost> host;
};
Result<OnePass> choose_one_pass(const std::shared_ptr<const Cupti>& cupti, const std::string& chip,
                                const std::vector<std::uint8_t>& availability, std::span<const CounterNames> what);

// Turing and GA100 have no trigger by time: theirs counts cycles of the system's clock.
bool triggers_by_time(const std::string& chip);

class PmSampler {
 public:
  PmSampler(std::shared_ptr<const Cupti> cupti, std::int32_t device) : cupti_(std::move(cupti)), device_(device) {}

  // `times` is on; the kernels that it saw are those of `run`.
  Result<Beats> sample(const BeatSpec& spec, KernelTimes& times, const std::function<Result<void>()>& prepare,
                       const std::function<Result<void>()>& run);

 private:
  Result<void> query_chip();
  Result<void> choose(std::span<const CounterNames> what);
  Result<void> enable();
  Result<void> configure(const BeatSpec& spec);
  Result<void> clear_image();
  Result<void> watch(KernelTimes& times, const std::function<Result<void>()>& prepare,
                     const std::function<Result<void>()>& run, Beats& beats);
  Result<void> decode(Beats& beats);
  Result<std::size_t> read(std::size_t completed, Beats& beats);
  Result<void> disable();

  std::shared_ptr<const Cupti> cupti_;
  std::int32_t device_;
  std::string chip_;
  std::vector<std::uint8_t> availability_;
  std::vector<std::vector<std::string>> asked_;  // what `one_pass_` was chosen of
  OnePass one_pass_;
  CUpti_PmSampling_Object* session_ = nullptr;
  std::vector<std::uint8_t> image_;
  std::uint64_t read_until_ns_ = 0;
};

}  // namespace attn::cupti
