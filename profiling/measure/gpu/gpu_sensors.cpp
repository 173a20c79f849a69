#include "profiling/measure/gpu/gpu_sensors.h"

#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "kernels/base/library.h"

namespace attn {
namespace {

// NVML's functions as its manual gives them ("NVML API Reference Guide"); its header is in no wheel, and these have
// not changed since 2014. Every one returns 0 when it worked. The last three are for what single chips do not have.
struct Calls {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  const char* (*error_string)(int) = nullptr;
  int (*version)(char* text, unsigned length) = nullptr;
  int (*driver_version)(char* text, unsigned length) = nullptr;
  int (*by_pci)(const char* address, void** device) = nullptr;
  int (*clock)(void* device, int which, unsigned* mhz) = nullptr;
  int (*temperature)(void* device, int which, unsigned* degrees) = nullptr;
  int (*power)(void* device, unsigned* milliwatt) = nullptr;
  int (*power_limit)(void* device, unsigned* milliwatt) = nullptr;
  int (*reasons)(void* device, unsigned long long* bits) = nullptr;
};
constexpr int kSmClock = 1;      // NVML_CLOCK_SM
constexpr int kMemoryClock = 2;  // NVML_CLOCK_MEM
constexpr int kGpuSensor = 0;    // NVML_TEMPERATURE_GPU

// nvmlClocksThrottleReason..., later called nvmlClocksEventReason...: the bits have stayed.
struct ReasonBit {
  std::uint64_t bit;
  std::string_view words;
};
constexpr std::array kReasonBits{
    ReasonBit{0x4, "power limit"},        ReasonBit{0x20, "heat"},
    ReasonBit{0x40, "heat, by hardware"}, ReasonBit{0x80, "power brake"},
    ReasonBit{0x8, "hardware slowdown"},  ReasonBit{0x2, "application clocks"},
    ReasonBit{0x10, "sync boost"},        ReasonBit{0x100, "display clock"},
};

class Nvml {
 public:
  static Result<Nvml> open() {
    auto library = Library::open("libnvidia-ml.so.1");
    if (!library) {
      return fail(ErrorKind::cannot_run,
                  fmt::format("NVML, part of NVIDIA's driver, was not found ({})", library.error().message));
    }
    Nvml nvml(std::move(*library));
    Calls& c = nvml.calls_;
    nvml.find(c.init, "nvmlInit_v2");
    nvml.find(c.shutdown, "nvmlShutdown");
    nvml.find(c.error_string, "nvmlErrorString");
    nvml.find(c.version, "nvmlSystemGetNVMLVersion");
    nvml.find(c.driver_version, "nvmlSystemGetDriverVersion");
    nvml.find(c.by_pci, "nvmlDeviceGetHandleByPciBusId_v2");
    nvml.find(c.clock, "nvmlDeviceGetClockInfo");
    nvml.find(c.temperature, "nvmlDeviceGetTemperature");
    c.power = nvml.found<decltype(c.power)>("nvmlDeviceGetPowerUsage");
    c.power_limit = nvml.found<decltype(c.power_limit)>("nvmlDeviceGetEnforcedPowerLimit");
    c.reasons = nvml.found<decltype(c.reasons)>("nvmlDeviceGetCurrentClocksThrottleReasons");
    if (!nvml.taken_.missing().empty()) return fail(ErrorKind::cannot_run, "NVML lacks " + nvml.taken_.missing());
    if (auto begun = nvml.check(c.init(), "nvmlInit"); !begun) return tl::unexpected(begun.error());
    nvml.begun_ = true;
    return nvml;
  }
  Nvml(Nvml&& other) noexcept
      : library_(std::move(other.library_)), calls_(other.calls_), begun_(std::exchange(other.begun_, false)) {}
  Nvml& operator=(Nvml&&) = delete;
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  ~Nvml() {
    if (begun_) calls_.shutdown();
  }

  const Calls& call() const { return calls_; }
  Result<void> check(int r, const char* what) const {
    if (r == 0) return ok();
    return fail(ErrorKind::cannot_run, fmt::format("{} failed: {}", what, calls_.error_string(r)));
  }

 private:
  explicit Nvml(Library library) : library_(std::move(library)) {}
  template <class F>
  void find(F& call, const char* name) {
    taken_.take(library_, call, name);
  }
  template <class F>
  F found(const char* name) {
    return reinterpret_cast<F>(library_.symbol(name));
  }
  Library library_;
  Calls calls_;
  TakenSymbols taken_;
  bool begun_ = false;
};

class NvmlSensors final : public GpuSensors {
 public:
  NvmlSensors(Nvml nvml, void* device) : nvml_(std::move(nvml)), device_(device) {}
  Result<SensorReading> read() override {
    unsigned mhz = 0, degrees = 0;
    auto good = nvml_.check(nvml_.call().clock(device_, kSmClock, &mhz), "nvmlDeviceGetClockInfo");
    if (good) good = nvml_.check(nvml_.call().temperature(device_, kGpuSensor, &degrees), "nvmlDeviceGetTemperature");
    if (!good) return tl::unexpected(good.error());
    SensorReading reading{static_cast<double>(mhz), static_cast<double>(degrees)};
    const Calls& call = nvml_.call();
    unsigned value = 0;
    unsigned long long bits = 0;
    if (call.clock(device_, kMemoryClock, &value) == 0) reading.memory_clock_mhz = value;
    if (call.power != nullptr && call.power(device_, &value) == 0) reading.power_w = value / 1000.0;
    if (call.power_limit != nullptr && call.power_limit(device_, &value) == 0) reading.power_limit_w = value / 1000.0;
    if (call.reasons != nullptr && call.reasons(device_, &bits) == 0) reading.held_by = bits;
    return reading;
  }

 private:
  Nvml nvml_;
  void* device_;
};

}  // namespace

std::vector<std::string> words_of_reasons(std::uint64_t held_by) {
  std::vector<std::string> words;
  for (const ReasonBit& reason : kReasonBits)
    if ((held_by & reason.bit) != 0) words.emplace_back(reason.words);
  return words;
}

Result<std::unique_ptr<GpuSensors>> open_sensors(const std::string& pci) {
  auto nvml = Nvml::open();
  if (!nvml) return tl::unexpected(nvml.error());
  void* device = nullptr;
  auto found = nvml->check(nvml->call().by_pci(pci.c_str(), &device), "nvmlDeviceGetHandleByPciBusId");
  if (!found) return tl::unexpected(found.error());
  return std::make_unique<NvmlSensors>(std::move(*nvml), device);
}

Result<std::string> sensors_version() {
  const auto nvml = Nvml::open();
  if (!nvml) return tl::unexpected(nvml.error());
  std::array<char, 80> text{};
  auto got = nvml->check(nvml->call().version(text.data(), text.size()), "nvmlSystemGetNVMLVersion");
  if (!got) return tl::unexpected(got.error());
  std::array<char, 80> driver{};
  got = nvml->check(nvml->call().driver_version(driver.data(), driver.size()), "nvmlSystemGetDriverVersion");
  if (!got) return tl::unexpected(got.error());
  return fmt::format("driver {}, NVML {}", driver.data(), text.data());
}

}  // namespace attn
