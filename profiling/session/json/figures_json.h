// The figures of a measurement as JSON, by the ids of the metric table. For this room.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "kernels/base/result.h"
#include "profiling/figures/measurement.h"

namespace attn {

nlohmann::json figures_to_json(const Measurement& m);
// A metric that the file lacks is not available; one that this version does not know is named in `unknown`, once.
Result<void> read_figures(const nlohmann::json& figures, const std::string& where, Measurement& m,
                          std::vector<std::string>& unknown);

}  // namespace attn
