// CUPTI Range Profiler with user replay: we run the work once a pass, so that the L2 cache can be brought into the same
// state before each.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/base/result.h"
#include "profiling/cupti/calls.h"
#include "profiling/cupti/metric_host.h"
#include "profiling/cupti/readings.h"

namespace attn::cupti {

class RangeCounter {
 public:
  RangeCounter(std::shared_ptr<const Cupti> cupti, std::int32_t device) : cupti_(std::move(cupti)), device_(device) {}
  ~RangeCounter() { close(); }
  RangeCounter(const RangeCounter&) = delete;
  RangeCounter& operator=(const RangeCounter&) = delete;

  Result<Counts> count(std::span<const CounterNames> what, const std::function<Result<void>()>& prepare,
                       const std::function<Result<void>()>& run);
  // Ends the session with the driver, if one is open.
  void close();

 private:
  Result<void> query_chip();
  Result<void> choose(std::span<const CounterNames> what);
  Result<void> open();
  Result<void> configure();
  Result<bool> pass(const std::function<Result<void>()>& prepare, const std::function<Result<void>()>& run);
  Result<std::vector<double>> decode();

  std::shared_ptr<const Cupti> cupti_;
  std::int32_t device_;
  std::string chip_;
  std::vector<std::uint8_t> availability_;
  std::vector<std::string> chosen_;   // one for each that was asked; empty: the chip has none
  std::unique_ptr<MetricHost> host_;  // counts the chosen
  CUpti_RangeProfiler_Object* session_ = nullptr;
  std::vector<std::uint8_t> image_;
};

}  // namespace attn::cupti
