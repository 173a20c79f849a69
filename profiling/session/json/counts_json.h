// Counts of instructions as JSON: the "instruction_counts" of a measurement (docs/profile.md). For this room.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "kernels/base/result.h"
#include "profiling/figures/counts.h"

namespace attn {

nlohmann::json counts_to_json(const KernelCounts& c);
// Trusts nothing: every index, name and number is looked at.
Result<KernelCounts> counts_from_json(const nlohmann::json& j, const std::string& where);
// The same in pieces: first without its functions, then some instructions a call. Whether all are read.
Result<KernelCounts> begin_counts_from_json(const nlohmann::json& j, const std::string& where);
Result<bool> more_counts_from_json(const nlohmann::json& j, const std::string& where, KernelCounts& c);

}  // namespace attn
