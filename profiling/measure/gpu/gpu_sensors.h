// Clocks, temperature and power of a GPU while it is measured: NVML, opened at run time, behind an interface.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/base/result.h"

namespace attn {

struct SensorReading {
  double sm_clock_mhz = 0;
  double temperature_c = 0;
  // None: this GPU or its driver does not say.
  std::optional<double> memory_clock_mhz{};
  std::optional<double> power_w{};         // on most chips the mean of the last second
  std::optional<double> power_limit_w{};   // the one in force
  std::optional<std::uint64_t> held_by{};  // bits of NVML's reasons why clocks are held down
};

// Those bits in words, "power limit", "heat"; that nothing runs is no reason.
std::vector<std::string> words_of_reasons(std::uint64_t held_by);

class GpuSensors {
 public:
  virtual ~GpuSensors() = default;
  virtual Result<SensorReading> read() = 0;
};

// `pci`: the GPU's address on the bus ("0000:01:00.0"), since NVML numbers GPUs in its own order.
Result<std::unique_ptr<GpuSensors>> open_sensors(const std::string& pci);
// "NVML 13.580.65", or why it is not there.
Result<std::string> sensors_version();

}  // namespace attn
