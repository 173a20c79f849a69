// What a chip can count and in how many passes: CUPTI's host API, which needs no GPU in the machine.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiling/cupti/calls.h"

namespace attn::cupti {

Result<std::vector<std::string>> supported_chips(const Cupti& cupti);

class MetricHost {
 public:
  // `availability`: what the driver says of this very GPU; empty where there is none. `type`: who will count.
  static Result<MetricHost> make(std::shared_ptr<const Cupti> cupti, const std::string& chip,
                                 std::vector<std::uint8_t> availability,
                                 CUpti_ProfilerType type = CUPTI_PROFILER_TYPE_RANGE_PROFILER);
  MetricHost(MetricHost&& other) noexcept;
  MetricHost& operator=(MetricHost&& other) noexcept;
  MetricHost(const MetricHost&) = delete;
  MetricHost& operator=(const MetricHost&) = delete;
  ~MetricHost();

  bool has(std::string_view metric) const;
  // Which metrics are to be counted; once a host.
  Result<void> choose(std::vector<std::string> metrics);
  const std::vector<std::string>& metrics() const { return metrics_; }
  const std::vector<const char*>& names() const { return names_; }  // of the same, as CUPTI takes them
  const std::vector<std::uint8_t>& config() const { return config_; }
  std::size_t passes() const { return passes_; }
  // One value a metric of a range, or of a sample, of a counter data image.
  Result<std::vector<double>> evaluate(std::span<const std::uint8_t> image, std::size_t index = 0) const;

 private:
  MetricHost(std::shared_ptr<const Cupti> cupti, std::vector<std::uint8_t> availability)
      : cupti_(std::move(cupti)), availability_(std::move(availability)) {}
  std::shared_ptr<const Cupti> cupti_;
  std::vector<std::uint8_t> availability_;
  CUpti_Profiler_Host_Object* host_ = nullptr;
  std::vector<std::string> metrics_;
  std::vector<const char*> names_;
  std::vector<std::uint8_t> config_;
  std::size_t passes_ = 0;
};

}  // namespace attn::cupti
