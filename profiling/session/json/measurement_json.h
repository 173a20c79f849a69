// Measurements and provenance as JSON: what .attn files and the JSON export hold. For this room.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "kernels/base/result.h"
#include "profiling/figures/measurement.h"

namespace attn {

nlohmann::json provenance_to_json(const Provenance& p);
Result<Provenance> provenance_from_json(const nlohmann::json& j);

// The lowest version of a file that says this row: docs/attn.md.
int attn_version_of(const Measurement& m);
nlohmann::json measurement_to_json(const Measurement& m, bool with_samples);
// Metrics that this version does not know are left out and named in `unknown_metrics` (each once).
Result<Measurement> measurement_from_json(const nlohmann::json& j, const std::string& where,
                                          std::vector<std::string>& unknown_metrics);
// The same without what BesideFigures reads.
Result<Measurement> figures_of_measurement(const nlohmann::json& j, const std::string& where,
                                           std::vector<std::string>& unknown_metrics);

}  // namespace attn
