// CUPTI Activity: one record a kernel, with its time stamps.
#pragma once

#include <memory>
#include <vector>

#include "kernels/base/result.h"
#include "profiling/cupti/calls.h"
#include "profiling/cupti/readings.h"

namespace attn::cupti {

class KernelTimes {
 public:
  explicit KernelTimes(std::shared_ptr<const Cupti> cupti) : cupti_(std::move(cupti)) {}
  Result<void> start();
  Result<std::vector<KernelTime>> take();
  void stop();

 private:
  std::shared_ptr<const Cupti> cupti_;
  bool registered_ = false, on_ = false;
};

}  // namespace attn::cupti
