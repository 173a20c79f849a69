// CUPTI PC Sampling: every 2^n cycles each multiprocessor says at which instruction one of its warps stands and why.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/base/result.h"
#include "profiling/cupti/calls.h"
#include "profiling/cupti/readings.h"

namespace attn::cupti {

class PcSampler {
 public:
  explicit PcSampler(std::shared_ptr<const Cupti> cupti) : cupti_(std::move(cupti)) {}

  Result<void> load(const std::function<Result<void>()>& load);
  Result<Sampled> sample(const SamplingSpec& spec, const std::function<Result<void>()>& prepare,
                         const std::function<Result<void>()>& run);

 private:
  struct Buffer;
  class Sums;
  Result<void> enable();
  Result<void> disable();
  Result<void> query_reasons();
  Result<void> configure(std::int32_t period_log2, Buffer& left_over);
  Result<void> launch(const std::function<Result<void>()>& run);
  Result<void> drain(Buffer& buffer, Sums& sums);

  std::shared_ptr<const Cupti> cupti_;
  CUcontext context_ = nullptr;
  std::vector<std::uint32_t> numbers_;  // of the reasons, as CUPTI counts them
  std::vector<std::string> names_;      // parallel
};

// "smsp__pcsamp_warps_issue_stalled_wait_not_issued" -> "wait", true.
struct ReasonName {
  std::string name;
  bool not_issued = false;
};
ReasonName reason_name(std::string_view cupti_name);

}  // namespace attn::cupti
