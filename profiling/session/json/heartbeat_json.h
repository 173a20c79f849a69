// Counters over the time of a run as JSON: the "heartbeat" of a measurement (docs/profile.md). For this room.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "kernels/base/result.h"
#include "profiling/figures/heartbeat.h"

namespace attn {

nlohmann::json heartbeat_to_json(const Heartbeat& h);
// Trusts nothing: every list, name and number is looked at.
Result<Heartbeat> heartbeat_from_json(const nlohmann::json& j, const std::string& where);
// The same in pieces: first without its counters, then one a call. Whether all are read.
Result<Heartbeat> begin_heartbeat_from_json(const nlohmann::json& j, const std::string& where);
Result<bool> more_heartbeat_from_json(const nlohmann::json& j, const std::string& where, Heartbeat& h);

}  // namespace attn
