// What a measurement's JSON has beside its figures: samples and counts of instructions, which are thousands, and a
// heartbeat. Read in pieces, each of a few milliseconds. For this room.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "kernels/base/result.h"
#include "profiling/figures/measurement.h"

namespace attn {

class BesideFigures {
 public:
  // Reads the next piece of `j` into `m`, both those of the first call. Whether all is read.
  Result<bool> step(const nlohmann::json& j, const std::string& where, Measurement& m);

 private:
  enum class Next : std::uint8_t { samples, more_samples, heartbeat, more_beats, counts, more_counts, nothing };
  Result<Next> samples(const nlohmann::json& j, const std::string& where, Measurement& m);
  Result<Next> heartbeat(const nlohmann::json& j, const std::string& where, Measurement& m);
  Result<Next> counts(const nlohmann::json& j, const std::string& where, Measurement& m);

  Next next_ = Next::samples;
  std::shared_ptr<KernelSamples> samples_;  // that are being read
  std::shared_ptr<Heartbeat> heartbeat_;
  std::shared_ptr<KernelCounts> counts_;
};

}  // namespace attn
