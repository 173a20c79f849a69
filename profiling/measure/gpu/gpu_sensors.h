// Clock and temperature of a GPU while it is measured: NVML, opened at run time, behind an interface.
#pragma once

#include <memory>
#include <string>

#include "kernels/base/result.h"

namespace attn {

struct SensorReading {
  double sm_clock_mhz = 0;
  double temperature_c = 0;
};

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
