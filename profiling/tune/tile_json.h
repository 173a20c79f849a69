// A tile that was looked at, as the two files of this program hold it: the export, and what is kept.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "kernels/base/result.h"
#include "profiling/tune/tune.h"

namespace attn {

nlohmann::json tile_to_json(const TriedTile& t);
// The error names the field that does not fit.
Result<TriedTile> tile_from_json(const nlohmann::json& j);

}  // namespace attn
