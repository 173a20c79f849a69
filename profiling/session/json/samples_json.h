// Samples of instructions as JSON: the "samples" of a measurement (docs/profile.md). For this room.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "kernels/base/result.h"
#include "profiling/figures/samples.h"

namespace attn {

nlohmann::json samples_to_json(const KernelSamples& s);
// Trusts nothing: every index, name and number is looked at.
Result<KernelSamples> samples_from_json(const nlohmann::json& j, const std::string& where);
// The same in pieces: first without its functions, then some instructions a call. Whether all are read.
Result<KernelSamples> begin_samples_from_json(const nlohmann::json& j, const std::string& where);
Result<bool> more_samples_from_json(const nlohmann::json& j, const std::string& where, KernelSamples& s);

}  // namespace attn
