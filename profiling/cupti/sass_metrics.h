// CUPTI SASS Metrics: the machine code is patched so that each instruction counts what it does. Exact, and slow: what
// runs meanwhile is not to be timed.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/base/result.h"
#include "profiling/cupti/calls.h"
#include "profiling/cupti/readings.h"

namespace attn::cupti {

// The metric's number by the name that `chip` has it under; an error where it has none.
Result<std::uint64_t> sass_metric_id(const Cupti& cupti, const std::string& chip, const std::string& metric);

// One configuration for the life of the process: on an H100 a second one, set after the first was taken back, was
// refused (CUPTI_ERROR_OUT_OF_MEMORY). Used before the process's first range session, time stamps, counters and these
// counts alike gave nothing afterwards: whoever counts has had one.
class SassCounter {
 public:
  SassCounter(std::shared_ptr<const Cupti> cupti, std::int32_t device) : cupti_(std::move(cupti)), device_(device) {}
  ~SassCounter();
  SassCounter(const SassCounter&) = delete;
  SassCounter& operator=(const SassCounter&) = delete;

  Result<InstructionCounts> count(const CountSpec& spec, const std::function<Result<void>()>& run);

 private:
  struct Records;
  Result<void> configure(std::span<const CounterNames> what);
  Result<void> enable();
  Result<void> read(Records& records);
  Result<void> disable(std::size_t& dropped);
  void put(const Records& records, std::uint64_t crc, InstructionCounts& counts) const;

  std::shared_ptr<const Cupti> cupti_;
  std::int32_t device_;
  CUcontext context_ = nullptr;
  std::string chip_;
  bool configured_ = false;
  std::vector<std::string> chosen_;  // one for each that was asked; empty: the chip has none
  std::vector<std::uint64_t> ids_;   // parallel; 0 likewise
};

}  // namespace attn::cupti
